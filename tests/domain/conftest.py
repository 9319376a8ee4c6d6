from hypothesis import settings

# The same examples in every run: a failure here must be one that everybody sees.
settings.register_profile("domain", deadline=None, derandomize=True, max_examples=80)
settings.load_profile("domain")

import os

# The long form, which `make kill` runs, takes minutes.
collect_ignore = [] if "DUEBOOK_KILLS" in os.environ else ["test_storm.py"]

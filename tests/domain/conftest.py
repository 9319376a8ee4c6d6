from collections.abc import Iterator

import pytest
import whenever
from hypothesis import settings

# The same examples in every run: a failure here must be one that everybody sees.
settings.register_profile("domain", deadline=None, derandomize=True, max_examples=80)
settings.load_profile("domain")


@pytest.fixture
def oracle_reads_the_package() -> Iterator[None]:
    """`whenever` would prefer the system's copy of the zone rules, which is another release."""
    whenever.reset_tzpath(())
    whenever.clear_tzcache()
    yield
    whenever.reset_tzpath()
    whenever.clear_tzcache()

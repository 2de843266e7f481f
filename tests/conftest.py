"""Settings for all tests."""

from contextlib import suppress

with suppress(ImportError):  # tests that need hypothesis say so and are skipped without it
    from hypothesis import settings

    settings.register_profile("kit", derandomize=True, deadline=None)
    settings.load_profile("kit")

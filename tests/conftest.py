"""Settings and fixtures for all tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.browser import Browser, NoBrowser

signal.signal(signal.SIGINT, signal.default_int_handler)
"""What a shell runs in the background ignores Ctrl-C, and so would the commands under test."""

with suppress(ImportError):  # tests that need hypothesis say so and are skipped without it
    from hypothesis import settings

    settings.register_profile("kit", derandomize=True, deadline=None)
    settings.load_profile("kit")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        browser = Browser()
    except NoBrowser as reason:
        pytest.skip(str(reason))
    yield browser
    browser.close()

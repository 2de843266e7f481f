"""Settings and fixtures for all tests; what the quick run leaves out, and what the gate forbids."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests import needs
from tests.browser import Browser

signal.signal(signal.SIGINT, signal.default_int_handler)
"""What a shell runs in the background ignores Ctrl-C, and so would the commands under test."""

with suppress(ImportError):  # tests that need hypothesis say so and are skipped without it
    from hypothesis import settings

    settings.register_profile("kit", derandomize=True, deadline=None)
    settings.load_profile("kit")

QUICK = "not full"
"""How pyproject.toml chooses the quick run (`-m`)."""

QUICK_IN_FILES = "not slow"
"""What a run of named files leaves out."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def outside_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands of a test print the same wherever the tests run."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


def pytest_configure(config: pytest.Config) -> None:
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    if named and config.option.markexpr == QUICK and not hasattr(config, "workerinput"):
        config.option.markexpr = QUICK_IN_FILES


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they use, and with `full` what the quick run leaves out."""
    for item in items:
        for marker in needs.NEEDS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(marker)
        if any(marker in item.keywords for marker in ("slow", *needs.NEEDS)):
            item.add_marker("full")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in needs.NEEDS:
        if item.get_closest_marker(marker) and (reason := needs.lacking(marker)):
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    return _without_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    return _without_skip((yield))


def _without_skip(report: Any) -> Any:
    """Return a report; that of a skip which the gate does not allow has become a failure."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if needs.is_failure(reason):
            report.outcome = "failed"
            report.longrepr = f"skipped where everything was installed: {reason}"
    return report

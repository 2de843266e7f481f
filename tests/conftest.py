"""Settings and fixtures for all tests; what the quick run leaves out, and what the gate forbids."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Sequence
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

QUICK_IN_FILES = f"not {needs.SLOW}"
"""What a run of named files leaves out."""

LEFT_OUT = pytest.StashKey[Counter[str]]()
"""How many tests a run left out, by their marker."""


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
    config.stash[LEFT_OUT] = Counter()
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    if named and config.option.markexpr == QUICK and not hasattr(config, "workerinput"):
        config.option.markexpr = QUICK_IN_FILES


def markers_of(names: Any) -> list[str]:
    """Return those of a test's markers for which the quick run leaves it out."""
    return [marker for marker in (needs.SLOW, *needs.NEEDS) if marker in names]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they use, and with `full` what the quick run leaves out."""
    for item in items:
        for marker in needs.NEEDS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(marker)
        if markers_of(item.keywords):
            item.add_marker("full")


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        option = item.config.option
        if option.markexpr in (QUICK, QUICK_IN_FILES) and not option.keyword:
            item.config.stash[LEFT_OUT].update(markers_of(item.keywords)[:1])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in needs.NEEDS:
        if item.get_closest_marker(marker) and (reason := needs.lacking(marker)):
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    return forbid_skip(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    return forbid_skip(report)


def reason_of(report: Any) -> str:
    """Return why a test was skipped."""
    reason: str = report.longrepr[2].removeprefix("Skipped: ")
    return reason


def forbid_skip(report: Any) -> Any:
    """Return a report; that of a skip which the gate does not allow has become a failure."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = reason_of(report)
        if needs.is_failure(reason):
            report.outcome = "failed"
            report.longrepr = f"skipped where everything was installed: {reason}"
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker of xdist left out; each of them has collected all tests."""
    left_out = getattr(node, "workeroutput", {}).get("left_out")
    if left_out is not None:
        node.config.stash[LEFT_OUT] = Counter(left_out)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> Iterator[None]:
    """Say at the very end, after the list of skips, what was left out and how to get it."""
    yield
    left_out = Counter(config.stash[LEFT_OUT])
    for report in terminalreporter.stats.get("skipped", []):
        if not reason_of(report).startswith(needs.NEVER_MENDED):
            names = getattr(report, "keywords", ())  # a module skipped as a whole has none
            left_out.update([*markers_of(names), "skipped as said above"][:1])
    if line := needs.left_out_line(left_out):
        terminalreporter.write_line(line)

"""Measure what the system-call filter breaks: `python3 -m benchmarks.syscalls [MODULE ...]`.

Runs the standard library's tests that Python includes (package `test`), without the filter of
`connect4.isolation.seccomp` and with it. Reports the share of the tests passing without the filter
that also pass with it, and which refused calls (found by strace) the others made. `--each` lists
them one by one. `--numpy` runs numpy's own tests instead (requires pytest and hypothesis); MODULE
is then a package such as `numpy.linalg`.
`--trace` (requires strace) runs the tests without the filter and lists the system calls that they
make, with how the filter treats each.
`--cost` times system calls with the filter and without it.

It runs under any Python: `PYTHONPATH=. /path/to/python3.13 -m benchmarks.syscalls`.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from connect4.isolation import seccomp

KIT: Final = Path(__file__).resolve().parent.parent

STANDARD: Final = """
    abc array ast base64 binascii bisect bool builtin bytes bz2 calendar charmapcodec cmath
    codecs collections colorsys complex concurrent_futures contextlib copy copyreg csv ctypes
    dataclasses datetime decimal defaultdict deque dict difflib dis enum enumerate exceptions
    faulthandler float format fractions frame fstring functools funcattrs gc generators
    genericpath getopt global graphlib hash hashlib heapq hmac index inspect int io isinstance
    iter itertools json keyword linecache list locale logging long lzma math memoryio
    memoryview mmap named_expressions ntpath numeric_tower opcodes operator optparse
    ordered_dict os pickle platform plistlib posixpath pow pprint property pstats queue random
    range re repr reprlib resource sched secrets select selectors set shelve signal slice sort
    statistics str strftime string struct sum super syntax sys tempfile textwrap thread
    threading threading_local threadsignals time timeit tokenize traceback tracemalloc tuple
    types typing unicodedata unpack userdict uuid warnings weakref weakset zipfile zipimport
    zlib
"""
"""Tests of modules with which an agent computes, keeps time or runs threads, and of `os`."""

NUMERIC: Final = (
    "numpy.linalg numpy.fft numpy.random numpy.polynomial numpy.lib numpy.ma numpy._core"
)

WAITS: Final = {"logging": 10}
"""Modules whose tests wait without end for a thread that a refused call has ended: the seconds
after which such a test fails, by an alarm. Other modules test alarms themselves."""

NO_NEW_PRIVILEGES: Final = 38
MARK: Final = "/test begins/"
TIMES: Final = 200_000


# -- in a process of its own


def filter_this_process() -> None:
    """Put the filter on this process, as an agent gets it beside Landlock."""
    ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    seccomp.install(landlocked=True)


def mark(test: str) -> None:
    """Leave the test's name where strace sees it: among the calls that fail."""
    with contextlib.suppress(OSError, ValueError):
        os.stat(f"{MARK}{test}")


def _too_long(number: int, frame: object) -> None:
    raise TimeoutError("the test waits for something that was refused")


class _Results(unittest.TestResult):
    """Keeps what each test came to; a test may take `seconds`, 0 for as long as it likes."""

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._seconds = seconds

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        mark(test.id())
        if self._seconds:
            signal.signal(signal.SIGALRM, _too_long)
            signal.alarm(self._seconds)

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        if self._seconds:
            signal.alarm(0)

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.found.setdefault(test.id(), "passed")

    def _note(self, test: unittest.TestCase, err: Any) -> None:
        first = str(err[1]).partition("\n")[0][:80]
        self.found[test.id()] = f"{err[0].__name__}: {first}"

    addError = addFailure = _note

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note(test, err)


def run_standard(module: str, filtered: bool) -> dict[str, str]:
    """Run one module of the package `test`; return what each of its tests came to."""
    from test import support

    support.verbose = 0
    suite = unittest.defaultTestLoader.loadTestsFromName(f"test.test_{module}")
    results = _Results(WAITS.get(module, 0))
    if filtered:
        filter_this_process()
    suite.run(results)
    return results.found


class _Reports:
    """A plugin of pytest that keeps what each test came to."""

    def __init__(self, filtered: bool) -> None:
        self.found: dict[str, str] = {}
        self._filtered = filtered

    def pytest_collection_finish(self) -> None:
        """Put the filter on once all is imported; pytest itself needs files of its own."""
        if self._filtered:
            filter_this_process()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test begins."""
        mark(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note one step of a test."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.found[report.nodeid] = str(crash.message if crash else "failed")[:100]
        elif report.when == "call" and report.passed:
            self.found.setdefault(report.nodeid, "passed")


def run_numpy(module: str, filtered: bool) -> dict[str, str]:
    """Run the tests of one package of numpy; return what each of its tests came to."""
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("plain", database=None, deadline=None)
    hypothesis.settings.load_profile("plain")
    reports = _Reports(filtered)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=no"]
    pytest.main([*options, "-m", "not slow", "--pyargs", module], plugins=[reports])
    return reports.found


def run_here(module: str, filtered: bool) -> None:
    """Run the tests of a module and write what they came to, as JSON on the last line."""
    answer = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    run = run_numpy if module.startswith("numpy") else run_standard
    found = {}
    with contextlib.suppress(unittest.SkipTest), contextlib.redirect_stdout(io.StringIO()):
        found = run(module, filtered)
    with os.fdopen(answer, "w") as stream:
        stream.write("\n" + json.dumps(found))
        stream.flush()
        os._exit(0)


# -- the comparison


def run_module(
    module: str, how: str, prefix: Sequence[str] = (), seconds: int = 900
) -> dict[str, str] | None:
    """Return what a module's tests came to in a process of their own; None if it died."""
    command = [*prefix, sys.executable, "-m", "benchmarks.syscalls", "--here", how, module]
    try:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env={
                    **os.environ,
                    "PYTHONPATH": str(KIT),
                    "OPENBLAS_NUM_THREADS": "1",
                    "TMPDIR": folder,
                },
                cwd=folder,
                timeout=seconds,
                check=False,
            )
        found: dict[str, str] = json.loads(done.stdout.rpartition(b"\n")[2])
    except (ValueError, subprocess.TimeoutExpired):
        return None
    return found


def refused_calls(module: str) -> dict[str, set[str]]:
    """Return, for each test of a module, the calls that the filter refused it."""
    refused: dict[str, set[str]] = {}
    test = "its module or class"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "calls")
        options = ["strace", "-f", "-qq", "--signal=none", "-s", "200", "-e", "status=failed"]
        run_module(module, "filtered", [*options, "-o", str(file)])
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if found := re.search(f'"{MARK}(.+?)"', line):
                test = found[1]
            elif (found := re.match(r"\d+ +(\w+)\(", line)) and "EPERM" in line:
                refused.setdefault(test, set()).add(found[1])
    return refused


def compare(modules: list[str], each: bool) -> None:
    """Print the share of each module that passes under the filter, and what fails."""
    sums: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for module in modules:
        plain, filtered = run_module(module, "plain"), run_module(module, "filtered")
        if not plain:
            print(f"{module:24} has no tests here", flush=True)
            continue
        passing = {test for test, outcome in plain.items() if outcome == "passed"}
        lost = {test for test in passing if (filtered or {}).get(test) != "passed"}
        sums["plain"] += len(passing)
        sums["filtered"] += len(passing) - len(lost)
        note = " (the process ended)" if filtered is None else ""
        print(f"{module:24} {len(passing - lost):6} of {len(passing):6}{note}", flush=True)
        refused = refused_calls(module) if lost and shutil.which("strace") else {}
        for test in sorted(lost):
            shown = test.replace("\n", "\\n")  # as strace writes it
            calls = " ".join(sorted(refused.get(shown, refused.get("its module or class", ()))))
            reasons[calls] += 1
            if each:
                print(f"    {test}: {calls}: {(filtered or {}).get(test, 'not run')}")
    print(f"{'all':24} {sums['filtered']:6} of {sums['plain']:6}; the others were refused")
    for reason, number in reasons.most_common():
        print(f"{number:6} {reason or '(nothing that strace saw)'}")


# -- the trace


def verdict(name: str) -> str:
    """Return what the filter makes of a call."""
    if name in seccomp.CALLS:
        return "allowed"
    return "by its arguments" if name in seccomp.CONDITIONAL else "refused"


def trace(modules: list[str]) -> None:
    """Print the system calls of the modules' tests: how often, in how many modules, and which."""
    calls: Counter[str] = Counter()
    where: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            file = Path(folder, "calls")
            run_module(module, "plain", ["strace", "-f", "-qq", "--signal=none", "-o", str(file)])
            with file.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if found := re.match(r"\d+ +(\w+)\(", line):
                        calls[found[1]] += 1
                        where.setdefault(found[1], set()).add(module)
    for name, number in sorted(calls.items(), key=lambda item: (verdict(item[0]), -item[1])):
        some = " ".join(sorted(where[name])[:6])
        print(f"{verdict(name):17} {name:24} {number:8} in {len(where[name]):3}: {some}")


# -- what it costs


def _clocked(call: Callable[[], object]) -> float:
    """Return the nanoseconds that a call takes: the best of 9 rounds."""
    rounds = []
    for _ in range(9):
        began = time.perf_counter()
        for _ in range(TIMES // 9):
            call()
        rounds.append((time.perf_counter() - began) / (TIMES // 9))
    return min(rounds) * 1e9


def cost_here(filtered: bool) -> None:
    """Print what some system calls take in this process."""
    reader = os.open("/dev/null", os.O_RDONLY)
    calls: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "getppid": os.getppid,
        "read of 1 byte": lambda: os.read(reader, 1),
        "clock of the process": lambda: time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID),
        "isatty (ioctl)": lambda: os.isatty(reader),
        "getsid": lambda: os.getsid(0),
    }
    if filtered:
        filter_this_process()
    for name, call in calls.items():
        print(f"{name:24} {_clocked(call):8.0f} ns")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", metavar="MODULE", nargs="*")
    for option in ("--numpy", "--each", "--trace", "--cost"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--here", choices=("plain", "filtered"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here and options.cost:
        cost_here(options.here == "filtered")
    elif options.here:
        run_here(options.modules[0], options.here == "filtered")
    elif options.cost:
        for how in ("plain", "filtered"):
            print(how, flush=True)
            command = [sys.executable, "-m", "benchmarks.syscalls", "--cost", "--here", how]
            subprocess.run(command, check=True)
    else:
        modules = options.modules or (NUMERIC if options.numpy else STANDARD).split()
        (trace(modules) if options.trace else compare(modules, options.each))


if __name__ == "__main__":
    main()

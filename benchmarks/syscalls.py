"""Measure what the system-call filter breaks: `python3 -m benchmarks.syscalls [MODULE ...]`.

Runs tests that Python and numpy include, with pytest, without the filter of
`connect4.isolation.seccomp` and with it. Reports how many of the tests that pass without the filter
also pass with it; `--each` lists the others. MODULE is a module of tests such as `test.test_math`
or a package such as `numpy.linalg`.

It runs under any Python that has numpy, pytest and hypothesis:
`PYTHONPATH=. /path/to/python3.13 -m benchmarks.syscalls`. Run it again for each new version of
Python, and review new system calls of Linux before you increase `LAST_KNOWN`.

Of the tests that pass without the filter, these pass with it: CPython 3.13.0, 94 modules, 14,747 of
15,750; 3.11.7, 64 modules, 9,200 of 9,890; 3.12.1, ten modules, 1,632 of 1,680; numpy 2.4.6, 46,508
of 46,781. The others start programs or processes, change files, or need a socket pair, shared
memory, a pseudo-terminal or a limit of another process; not each of them was examined. The filter
ran on x86_64; for aarch64 the tests interpret it, and its numbers were compared with the kernel's.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
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
    iter itertools json keyword linecache list locale long lzma math memoryio memoryview mmap
    named_expressions ntpath numeric_tower opcodes operator optparse ordered_dict os pickle
    platform plistlib posixpath pow pprint property pstats queue random range re repr reprlib
    resource sched secrets select selectors set shelve signal slice sort statistics str strftime
    string struct sum super syntax sys tempfile textwrap thread threading threading_local
    threadsignals time timeit tokenize traceback tracemalloc tuple types typing unicodedata
    unpack userdict uuid warnings weakref weakset zipfile zipimport zlib
"""
"""Tests of modules with which an agent computes, keeps time or runs threads, and of `os`.

Those of `logging` are left out: they wait without end for a socket that is refused.
"""

NUMERIC: Final = ("linalg", "fft", "random", "polynomial", "lib", "ma", "_core")

NO_NEW_PRIVILEGES: Final = 38
SECONDS: Final = 900
"""For the tests of one module."""

QUIET: Final = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=no")


class Reports:
    """A plugin of pytest that keeps what each test came to."""

    def __init__(self, filtered: bool) -> None:
        self.found: dict[str, str] = {}
        self._filtered = filtered

    def pytest_collection_finish(self) -> None:
        """Put the filter on once all is imported, as an agent gets it beside Landlock."""
        if self._filtered:
            ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
            seccomp.install(landlocked=True)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note one step of a test."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.found[report.nodeid] = str(crash.message if crash else "failed")[:100]
        elif report.when == "call" and report.passed:
            self.found.setdefault(report.nodeid, "passed")


def run_here(module: str, filtered: bool) -> None:
    """Run the tests of a module and write what they came to, as JSON on the last line."""
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("plain", database=None, deadline=None)
    hypothesis.settings.load_profile("plain")
    answer, quiet = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    reports = Reports(filtered)
    pytest.main([*QUIET, "-m", "not slow", "--pyargs", module], plugins=[reports])
    os.write(answer, b"\n" + json.dumps(reports.found).encode())
    os._exit(0)


def run_module(module: str, how: str) -> dict[str, str]:
    """Return what a module's tests came to in a process of their own; nothing if it died."""
    command = [sys.executable, "-m", "benchmarks.syscalls", "--here", how, module]
    settings = {"PYTHONPATH": str(KIT), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **settings, "TMPDIR": folder},
                cwd=folder,
                timeout=SECONDS,
                check=False,
            )
            found: dict[str, str] = json.loads(done.stdout.rpartition(b"\n")[2])
        except (ValueError, subprocess.TimeoutExpired):
            return {}
    return found


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", metavar="MODULE", nargs="*")
    parser.add_argument("--each", action="store_true", help="list the tests that fail")
    parser.add_argument("--here", choices=("plain", "filtered"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        run_here(options.modules[0], options.here == "filtered")
    usual = [*(f"test.test_{name}" for name in STANDARD.split()), *(f"numpy.{n}" for n in NUMERIC)]
    all_kept = all_passing = 0
    for module in options.modules or usual:
        plain, filtered = run_module(module, "plain"), run_module(module, "filtered")
        passing = [test for test, outcome in plain.items() if outcome == "passed"]
        lost = [test for test in passing if filtered.get(test) != "passed"]
        all_passing += len(passing)
        all_kept += len(passing) - len(lost)
        print(f"{module:28} {len(passing) - len(lost):6} of {len(passing):6}", flush=True)
        for test in lost if options.each else ():
            print(f"    {test}: {filtered.get(test, 'not run')}")
    print(f"{'all':28} {all_kept:6} of {all_passing:6}")


if __name__ == "__main__":
    main()

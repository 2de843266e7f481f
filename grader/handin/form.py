"""The form of a submission, judged without running it: one `Finding` for each broken rule.

A separate process reads the text. If it uses too much time or memory, only the check of that
submission fails. The process is reused for the next text and ends with this one.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from grader.handin.findings import Finding, report_findings, source_findings

if TYPE_CHECKING:  # the process does without the games
    from grader.rubric.model import SubmissionRules

__all__ = ["Finding", "check", "check_report", "check_source"]

READ_SECONDS: Final = 30.0
"""Reading any source of the allowed size takes a tenth of this time."""

MEMORY: Final = 2 << 30
"""Bytes of address space for reading."""

MAX_FINDINGS: Final = 100

ROOT: Final = Path(__file__).resolve().parents[2]
BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from grader.handin.form import serve; serve()"
)


def check(source: str, report: str | None, rules: SubmissionRules) -> list[Finding]:
    """Return the findings of a source and its report, in the order of their lines."""
    return check_source(source, rules) + check_report(report, rules)


def check_source(
    source: str, rules: SubmissionRules, seconds: float = READ_SECONDS
) -> list[Finding]:
    """Return the findings of a source text; reading it takes at most `seconds`."""
    found = _READER.ask({"source": source, "rules": asdict(rules)}, seconds)
    if isinstance(found, str):
        return [Finding(1, "syntax", f"{found}; make the file smaller and simpler")]
    return found


def check_report(report: str | None, rules: SubmissionRules) -> list[Finding]:
    """Return the findings of the text of `report.txt`; None means that the file is missing."""
    found = _READER.ask({"report": report, "rules": asdict(rules)}, READ_SECONDS)
    if isinstance(found, str):
        return [Finding(1, "report", f"{found}; make it shorter", in_report=True)]
    return found


class Reader:
    """The process that reads texts; it starts on first use and again after it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, job: dict[str, Any], seconds: float) -> list[Finding] | str:
        """Return the findings of a text, or one finding that explains why there are none."""
        line = json.dumps({**job, "seconds": seconds}).encode() + b"\n"
        with self._lock:
            process = self._running()
            answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()

            def exchange() -> None:
                answer = b""
                with contextlib.suppress(OSError, ValueError):  # the process has ended
                    assert process.stdin is not None
                    assert process.stdout is not None
                    process.stdin.write(line)
                    process.stdin.flush()
                    answer = process.stdout.readline()
                answers.put(answer)

            threading.Thread(target=exchange, daemon=True).start()
            try:
                answer = answers.get(timeout=seconds)
            except queue.Empty:
                self.end()
                return f"not read within {seconds:g} s"
            except BaseException:  # Ctrl-C: what it answers later is no answer to the next
                self.end()
                raise
            if not answer.endswith(b"\n"):
                self.end()
                return "reading it took more memory than there is"
        return [Finding(**finding) for finding in json.loads(answer)]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():  # a fork has one of its own
            self._owner = os.getpid()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", BOOT, str(ROOT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
                start_new_session=True,  # a Ctrl-C in the terminal is not for it
            )
        return self._process

    def end(self) -> None:
        """End the process if this object has started it."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()


_READER: Final = Reader()
atexit.register(_READER.end)


def serve() -> None:
    """Run as the reading process: read one job per line, write its findings to standard output."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    alarm: Callable[[int], object] = getattr(signal, "alarm", lambda seconds: None)
    for line in sys.stdin.buffer:
        job = json.loads(line)
        alarm(int(job["seconds"]) + 5)  # should nobody be there to end it
        rules = cast("SubmissionRules", SimpleNamespace(**job["rules"]))
        found = (
            source_findings(job["source"], rules)
            if "source" in job
            else report_findings(job["report"], rules)
        )
        alarm(0)
        answer = json.dumps([asdict(finding) for finding in _first(found)])
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


def _first(found: list[Finding]) -> list[Finding]:
    """Return the first findings; if there are more, add their number."""
    rest = found[MAX_FINDINGS:]
    if not rest:
        return found
    required = any(finding.required for finding in rest)
    more = Finding(rest[0].line, "more", f"{len(rest)} more findings; fix these first", required)
    return [*found[:MAX_FINDINGS], more]

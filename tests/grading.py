"""Classes of submissions, small rubrics and runs of the grader, for the tests of `grader`."""

import contextlib
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.command import ROOT, environment

SUBMISSIONS = ROOT / "tests" / "data" / "submissions"
SEARCHER = (SUBMISSIONS / "searcher.py").read_text(encoding="utf-8")
COMMAND = "grader"

SEED = 518230946017753824
"""Of all rubrics here: runs with results files of their own play the same games."""

TINY = "0\n0 0 0 0\n0 0 0 0\n"
"""Two rows and four columns: eight turns."""


def searcher(depth: int = 1, order: int = 1, note: str = "") -> str:
    """Return the source of a deterministic agent; `note` makes it a file of its own."""
    source = re.sub(r"^DEPTH = .*$", f"DEPTH = {depth}", SEARCHER, flags=re.MULTILINE)
    source = re.sub(r"^ORDER = .*$", f"ORDER = {order}", source, flags=re.MULTILINE)
    return f"{source}\n# {note}\n"


def hand_in(folder: Path, name: str, source: str, report: str | None = "Ann, 1\n") -> Path:
    """Write a student's folder; return the file."""
    path = folder / name / "ai.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    if report is not None:
        path.with_name("report.txt").write_text(report, encoding="utf-8")
    return path


def hand_in_each(folder: Path, *names: str) -> None:
    """Hand in a small search for each student; no two files are the same."""
    for name in names:
        hand_in(folder, name, searcher(1, note=name))


def rubric(folder: Path, seconds: float = 1.0, **more: str) -> Path:
    """Write a rubric of one tiny board and a deterministic baseline; `more` adds tables' lines."""
    (folder / "tiny.txt").write_text(TINY, encoding="utf-8")
    baseline = folder / "baseline.py"
    baseline.write_text(searcher(1, -1), encoding="utf-8")
    stage = f'repeats = 1\ntime_limit = {seconds}\nboards = ["tiny.txt"]\n'
    tables = {
        "match": f"time_limit = {seconds}\nseed = {SEED}\n",
        "limits": "startup = 20.0\n",
        "part_a": 'boards = ["tiny.txt"]\n',
        "part_b": (
            'boards = ["tiny.txt"]\n'
            'baselines = [{agent = "ai:baseline.py", points = 10.0, low = -10.0, high = 10.0}]\n'
        ),
        "compare": 'boards = ["tiny.txt"]\nopening_plies = 2\n',
        "tournament": "",
    }
    for name, lines in more.items():
        tables[name] += lines
    text = "".join(f"[{name}]\n{lines}" for name, lines in tables.items())
    text += f'[[tournament.stages]]\nname = "groups"\ngroup_size = 2\npromote = 1\n{stage}'
    text += f'[[tournament.stages]]\nname = "final"\ngroup_size = 0\npromote = 0\n{stage}'
    path = folder / "rubric.toml"
    path.write_text(text, encoding="utf-8")
    return path


def class_of(folder: Path, *names: str, seconds: float = 1.0, **more: str) -> None:
    """Write a small class, and the rubric of `rubric` beside it."""
    rubric(folder, seconds, **more)
    hand_in_each(folder / "class", *names)


def zipped(files: dict[str, str | bytes]) -> bytes:
    """Return a zip of these files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def start(*arguments: str | Path, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """Start `python3 -m grader arguments` and leave it running."""
    return subprocess.Popen(
        [sys.executable, "-m", COMMAND, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **options,
    )


def execute(results: Path, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Execute a statement in a results file, as another program could; return the rows."""
    with contextlib.closing(sqlite3.connect(results)) as database, database:
        return database.execute(statement, values).fetchall()


def games(results: Path) -> dict[str, tuple[Any, ...]]:
    """Return the entry of each game in a results file, apart from times and workers."""
    rows = execute(
        results,
        "SELECT key, player1, player2, score1, score2, ending, turns, timeouts1, invalid1, "
        "errors1, timeouts2, invalid2, errors2, attempts, fault FROM game",
    )
    return {row[0]: row[1:] for row in rows}


def id_of(results: Path, name: str) -> str:
    """Return what games name a student's file by in a results file."""
    return execute(results, "SELECT sha256 FROM author WHERE name = ?", name)[0][0]


def all_records(results: Path) -> dict[str, dict[str, Any]]:
    """Return the stored records by the keys of their games."""
    rows = execute(results, "SELECT key, zlib FROM record")
    return {key: json.loads(zlib.decompress(packed)) for key, packed in rows}


def stored_records(results: Path) -> dict[str, dict[str, Any]]:
    """Return the stored records without what differs between two runs of the same game."""
    records = all_records(results)
    for record in records.values():
        for turn in record["turns"]:
            for measured in ("seconds", "cpu_seconds", "overrun", "starved"):
                del turn[measured]
            if turn["outcome"] == "timeout":  # by how much, and where the code was
                turn["detail"] = turn["detail"].partition(" (")[0]
    return records


def stored_turns(results: Path) -> list[dict[str, Any]]:
    """Return the turns of all stored records."""
    return [turn for record in all_records(results).values() for turn in record["turns"]]


def count(results: Path) -> int:
    """Return how many games a results file has so far; 0 where it is not there yet."""
    with contextlib.suppress(sqlite3.Error):
        return len(games(results)) if results.is_file() else 0
    return 0


def wait_for_games(results: Path, number: int) -> None:
    """Wait until a running grader has stored so many games, for half a minute at most."""
    deadline = time.monotonic() + 30
    while count(results) < number and time.monotonic() < deadline:
        time.sleep(0.05)


def descendants(process: int) -> set[tuple[int, str]]:
    """Return `(id, start time)` of every process below one."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1]), fields[19]
    found: set[tuple[int, str]] = set()
    pending = {process}
    while pending:
        children = {number for number, (parent, _) in parents.items() if parent in pending}
        found |= {(number, parents[number][1]) for number in children}
        pending = children
    return found


def alive(processes: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """Return which of the processes are still there and no zombies."""
    left = set()
    for number, began in processes:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            if fields[19] == began and fields[0] != "Z":
                left.add((number, began))
    return left


def wait_until_gone(processes: set[tuple[int, str]], seconds: float = 10) -> set[tuple[int, str]]:
    """Return which of the processes are still there after a while."""
    deadline = time.monotonic() + seconds
    while (left := alive(processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def kill(process: subprocess.Popen[str]) -> set[tuple[int, str]]:
    """Kill a running grader with SIGKILL; return the processes that it had below it."""
    below = descendants(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    return below


@contextlib.contextmanager
def burners(core: int, number: int) -> Iterator[None]:
    """Keep a core busy with some processes while the block runs, for three minutes at most."""
    code = (
        f"import os, time; os.sched_setaffinity(0, {{{core}}}); end = time.monotonic() + 180\n"
        "while time.monotonic() < end: pass"
    )
    running = [  # sessions of their own: Linux may share a core out by session
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        for _ in range(number)
    ]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()

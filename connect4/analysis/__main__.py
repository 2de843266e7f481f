"""Run the command `python3 -m connect4.analysis`."""

from __future__ import annotations

from connect4 import entry  # first: it handles errors of the imports below

# isort: split
import os
import sys
import time
from pathlib import Path

from connect4 import record as records
from connect4.analysis.costs import analyse, summary
from connect4.cli import Parser, check_place, count, fail, time_limit
from connect4.errors import InputError


class ProgressLine:
    """Reports progress on standard error: in place on a terminal, else after each tenth."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, what: str, done: int, todo: int) -> None:
        """Report progress; see `Progress`."""
        if not done:
            self._began = time.monotonic()
        left = ""
        if 0 < done < todo:
            seconds = (time.monotonic() - self._began) / done * (todo - done)
            left = f", about {int(seconds) // 60}:{int(seconds) % 60:02} left"
        line = f"{what}: {done} of {todo}{left}"
        if sys.stderr.isatty():
            end = "\n" if done == todo else ""
            print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
        elif done * 10 // max(1, todo) > (done - 1) * 10 // max(1, todo):
            print(line, file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(
        prog="python3 -m connect4.analysis",
        description="Find out what each move of a recorded game cost, and add it to the record.",
        epilog="example: python3 -m connect4.analysis game.json --time 1 && "
        "python3 -m connect4.views.page game.json -o game.html",
    )
    add = parser.add_argument
    add("record", metavar="RECORD", type=Path, help="a game's record (.json)")
    add("--time", type=time_limit, default=1.0, help="seconds per search (default 1)")
    add("-o", metavar="OUT", type=Path, help="where the record goes (default: where it was)")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    add("--jobs", type=count, default=cores, help="searches at once (default: one per core)")
    arguments = parser.parse_args(argv)
    place = arguments.o or arguments.record
    try:
        entry.ready()
        record = records.read(arguments.record)
        check_place("-o", place)
        found = analyse(record, arguments.time, arguments.jobs, ProgressLine())
        record.extra["analysis"] = found
        records.write(record, place)
    except InputError as error:
        return fail(error)
    except KeyboardInterrupt:
        print("stopped; the record is as it was", file=sys.stderr)
        return 130
    for line in summary(record, found):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())

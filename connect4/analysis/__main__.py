"""Run the command `python3 -m connect4.analysis`."""

import os
import sys
from pathlib import Path

from connect4 import record as records
from connect4.analysis.costs import analyse, thoughts
from connect4.cli import Parser, check_place, count, fail, time_limit
from connect4.errors import InputError


def report(done: int, todo: int) -> None:
    """Report each tenth of the searches on standard error."""
    if done * 10 // todo > (done - 1) * 10 // todo:
        print(f"positions: {done} of {todo}", file=sys.stderr, flush=True)


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
    add("-o", metavar="OUT", type=Path, help="the record to write (default: RECORD)")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    add("--jobs", type=count, default=cores, help="searches at once (default: one per core)")
    arguments = parser.parse_args(argv)
    place = arguments.o or arguments.record
    try:
        record = records.read(arguments.record)
        if arguments.o is None and "episode" in record.extra:
            raise InputError(f"{place}: an episode of Kaggle's is not overwritten; give -o OUT")
        check_place("-o", place)
        found = analyse(record, arguments.time, arguments.jobs, report)
        record.extra["analysis"] = found.to_json()
        records.write(record, place)
    except InputError as error:
        return fail(error)
    except KeyboardInterrupt:
        print("stopped; the record is as it was", file=sys.stderr)
        return 130
    print("\n".join([*thoughts(record, found), str(found)]))
    print(f"{place} has these costs now: its page shows them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run the command `python3 -m connect4.views.page RECORD... -o game.html`."""

from __future__ import annotations

from connect4 import entry  # first: it handles errors of the imports below

# isort: split
import sys
from pathlib import Path

from connect4 import record as records
from connect4.cli import Parser, fail
from connect4.errors import InputError
from connect4.views import document
from connect4.views.page.page import page


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(
        prog="python3 -m connect4.views.page",
        description="Make one HTML file that replays recorded games in any browser.",
        epilog="example: python3 -m connect4.views.page game.json -o game.html",
    )
    parser.add_argument("records", metavar="RECORD", nargs="+", type=Path, help="a game's record")
    parser.add_argument("-o", metavar="FILE", type=Path, required=True, help="the page to write")
    arguments = parser.parse_args(argv)
    try:
        entry.ready()
        text = page([records.read(path) for path in arguments.records])
        document.write(text, arguments.o)
    except InputError as error:
        return fail(error)
    count = len(arguments.records)
    size = f"{len(text.encode()) / 1000:.0f} kB"
    print(f"{arguments.o}: {count} game{'s' if count > 1 else ''}, {size}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run the command `connect4` or `python3 -m connect4`: the start page, or a game."""

import contextlib
import io
import sys
from pathlib import Path

from connect4 import ConnectFour
from connect4 import record as records
from connect4.cli import Parser, end_on_sigterm, fail, port_number
from connect4.errors import InputError
from connect4.table import TablePlan
from connect4.views.web_pages import StartServer, no_browser, opened

IN_THE_TERMINAL = "python3 -m connect4.ConnectFour human ai"


def planned(words: list[str]) -> list[TablePlan]:
    """Return the games of a command line of `connect4.ConnectFour`; raises `InputError`."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            arguments = ConnectFour.make_parser().parse_intermixed_args(words)
        except SystemExit:
            line = said.getvalue().strip().removeprefix("error: ")
            raise InputError(line.removesuffix(" (--help shows examples)")) from None
    return ConnectFour.plans_of(arguments)


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status.

    With two or more arguments, it runs `connect4.ConnectFour`, for example `ai random case4`.
    """
    argv = sys.argv[1:] if argv is None else argv
    if len(argv) > 1 and not argv[0].startswith("--port"):
        return ConnectFour.main(argv)
    parser = Parser(
        prog="python3 -m connect4",
        usage="python3 -m connect4 [--port N] [RECORD]\n"
        "       python3 -m connect4 AGENT AGENT [START] [options]",
        description="Open the start page in a browser; with RECORD, replay that game. "
        "With two agents, play a game.",
        epilog="python3 -m connect4.ConnectFour --help lists the options of a game.",
    )
    parser.add_argument("record", metavar="RECORD", nargs="?", type=Path, help="a game's record")
    parser.add_argument("--port", type=port_number, help="the page's port")
    arguments = parser.parse_args(argv)
    end_on_sigterm()
    try:
        record = records.read(arguments.record) if arguments.record else None
        start = StartServer(arguments.port, planned)
        path = "" if record is None else start.open_record(record)
        with start.server, opened(start.server.address + path):
            if no_browser() is not None:
                print(f"A game in the terminal: {IN_THE_TERMINAL}", file=sys.stderr)
            print("Ctrl-C ends the pages; they also end when the last one is closed.")
            start.serve()
    except InputError as error:
        return fail(error)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

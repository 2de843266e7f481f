"""Run the command `connect4` or `python3 -m connect4`: the window's start page, or a game."""

from __future__ import annotations

from connect4 import entry  # first: it handles errors of the imports below

# isort: split
import shlex
import sys
from pathlib import Path

from connect4 import ConnectFour
from connect4 import record as records
from connect4.cli import Parser, fail
from connect4.errors import InputError
from connect4.views.window.choices import load_choices
from connect4.views.window.display import open_window


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status.

    With two or more arguments, it runs `connect4.ConnectFour`, for example `ai random case4`.
    """
    argv = sys.argv[1:] if argv is None else argv
    if len(argv) > 1:
        return ConnectFour.main(argv)
    parser = Parser(
        prog="python3 -m connect4",
        usage="python3 -m connect4 [RECORD]\n"
        "       python3 -m connect4 AGENT AGENT [START] [options]",
        description="Open the window's start page; with RECORD, replay that game in the window. "
        "With two agents, play a game.",
        epilog="python3 -m connect4.ConnectFour --help lists the options of a game.",
    )
    parser.add_argument("record", metavar="RECORD", nargs="?", type=Path, help="a game's record")
    arguments = parser.parse_args(argv)
    try:
        entry.ready()
        record = records.read(arguments.record) if arguments.record else None
        try:
            window = open_window()
        except InputError as error:
            instead = load_choices().command()
            if record is not None:
                page = ["python3", "-m", "connect4.views.page", str(arguments.record)]
                instead = shlex.join([*page, "-o", "game.html"])
            raise InputError(f"{error}; in the terminal: {instead}") from None
        if record is None:
            window.show_start_page()
        else:
            window.replay(record, arguments.record.name)
        window.run()
    except InputError as error:
        return fail(error)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

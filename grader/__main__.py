"""The command `python3 -m grader COMMAND`: calls the function of a command with its options."""

from __future__ import annotations

from connect4 import entry  # first: it speaks for the imports below

# isort: split
import math
import os
import sys
from collections.abc import Callable
from typing import Any, Final

from connect4.cli import end_on_sigterm, fail
from connect4.errors import InputError
from grader.options import has_command, parsed
from grader.output.github import commands_stopped

STOPPED: Final = 3
"""The exit status after Ctrl-C."""


def command_of(name: str) -> Callable[..., int]:  # noqa: PLR0912 - a table
    """Return the function of a command, whose parameters are called as its options.

    Raises `InputError` if this edition lacks the command.
    """
    if not has_command(name):
        raise InputError(f"{name}: only the teachers' edition has it")
    run: Callable[..., int]
    match name:
        case "check":
            from grader.commands.check import check as run
        case "compare":
            from grader.commands.compare import compare_and_say as run
        case "correct":
            from grader.commands.student import correct as run
        case "doctor":
            from grader.commands.doctor import doctor as run
        case "forget":
            from grader.commands.forget import forget as run
        case "fuel":
            from grader.commands.hours import fuel as run
        case "grade":
            from grader.commands.grade import grade as run
        case "handout":
            from grader.handout import handout as run
        case "ladder":
            from grader.commands.ladder import ladder as run
        case "playground":
            from grader.playground import playground as run
        case "publish-game":
            from grader.commands.student import publish_game as run
        case "report":
            from grader.commands.report import report as run
        case "similar":
            from grader.similar import similar as run
        case "tournament":
            from grader.commands.grade import tournament as run
        case "viva":
            from grader.commands.viva import viva as run
        case _:
            raise AssertionError(name)
    return run


PLAYING: Final = ("rubric", "time", "fuel", "isolation", "jobs", "force_jobs", "scheduler")
"""The options that say how games are played."""

OUTPUTS: Final = (
    *("out", "records", "details", "gradebook", "gradebook_column", "gradebook_maximum"),
    *("feedback_zip", "yes"),
)
"""The options that say what a run writes."""


def with_values(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a command with one value for how games are played and one for files."""
    named = dict(options)
    if options.get("yes") and "max_hours" in options:
        named["max_hours"] = math.inf
    if "jobs" in options:
        from grader.commands.common import playing

        named["playing"] = playing(*map(named.pop, PLAYING))
    if "details" in options:
        from grader.commands.report import Outputs

        named["outputs"] = Outputs(*map(named.pop, OUTPUTS))
    return named


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = parsed(sys.argv[1:] if argv is None else argv)
    end_on_sigterm()
    with commands_stopped():
        try:
            command = command_of(options.pop("command"))
            entry.ready()
            return command(**with_values(options))
        except InputError as error:
            return fail(error)
        except KeyboardInterrupt:
            return STOPPED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1


if __name__ == "__main__":
    sys.exit(main())

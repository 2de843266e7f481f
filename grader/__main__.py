"""The command `python3 -m grader COMMAND`: its options, and the dispatch to the commands.

The command line ends here: a command is a function whose parameters are called as its options.
"""

import argparse
import importlib
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeAlias

from connect4 import cli
from connect4.errors import InputError
from grader.output import commands_stopped

STOPPED: Final = 3

NOT_FOR_STUDENTS: Final = (
    *("correct", "desk", "doctor", "forget", "handout", "ladder", "playground"),
    *("publish-game", "similar", "viva"),
)
"""Commands that the students' edition lacks."""

STATUS: Final = """exit status: 0 done, 1 a broken rule, a missing guarantee or no agreement,
2 bad usage or input, 3 stopped before the end, games without a result or points withheld"""

EXAMPLES: Final = {
    "check": """examples:
  python3 -m grader check connect4/players/ai.py     one file, report.txt beside it
  python3 -m grader check submissions/               a whole class""",
    "practice": """examples:
  python3 -m grader practice connect4/players/ai.py                   what does it see, in 30 s?
  python3 -m grader practice connect4/players/ai.py --against old.py  points a move, pair by pair
  python3 -m grader practice submissions/                             a line for each of a class""",
    "grade": """examples:
  python3 -m grader grade connect4/players/ai.py --quick       your own file, a first look
  python3 -m grader grade submissions/ --out marks/            a class, every file below marks/
  python3 -m grader grade submissions.zip --dry-run            how long would that take?
Stop it whenever you like: the same command continues where it stopped.""",
    "compare": """examples:
  python3 -m grader compare ai.py old.py --time 0.2 --part b --games 20   in two minutes
  python3 -m grader compare ai.py old.py --fuel 5G       the same result on every machine
  python3 -m grader compare ai.py old.py --time 1 --part b --records games""",
    "tournament": """examples:
  python3 -m grader tournament submissions/ --out night/   standings.html shows how it goes""",
    "ladder": """examples:
  python3 -m grader ladder hand-ins/                       rate new versions for 30 minutes at most
  python3 -m grader ladder hand-ins/ --site site/          and write the site, also during play
Stop it whenever you like: the same command continues where it stopped.""",
    "report": """examples:
  python3 -m grader report grade.db
  python3 -m grader report grade.db --out marks/ --placement tournament.db""",
    "publish-game": """example:
  python3 -m grader publish-game marks.db alice 7 12 --out for-alice/""",
    "correct": """examples:
  python3 -m grader correct alice --results marks.db --adjust 2.5 --reason "game 12 was starved"
  python3 -m grader correct 1001 --results marks.db --percent -20 --reason "no report"
Then `report marks.db --out marks/` writes everything again.""",
    "viva": """example:
  python3 -m grader viva alice --results marks.db -o viva/alice.html""",
    "forget": """example:
  python3 -m grader forget alice --results marks.db --out marks/
Names, keys, source, games and pages go. Scores against others stay, under "withdrawn-1".""",
    "handout": """examples:
  python3 -m grader handout connect4-kit.zip
  python3 -m grader handout autograder.zip --gradescope --rubric short.toml
  python3 -m grader handout autograder.zip --classroom50 --rubric short.toml""",
    "playground": """examples:
  python3 -m grader playground site/
  python3 -m grader playground site/ --runtime pyodide/    for a closed network
Put the folder on a web server, such as GitHub Pages. To try it: python3 -m http.server -d site/""",
}


Add: TypeAlias = Callable[..., argparse.Action]
"""Adds an argument to the parser of a command."""


def make_parser() -> cli.Parser:
    """Return the parser of all commands."""
    parser = cli.Parser(
        prog="python3 -m grader",
        description="Check, measure and grade agents; see also python3 -m grader COMMAND --help.",
        epilog=STATUS,
    )
    if has_command("desk"):
        how: dict[str, Any] = {"action": "store_true", "default": argparse.SUPPRESS}
        parser.add_argument("--json", **how, help="without a command: as JSON")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (help_text, add_arguments) in COMMANDS.items():
        listed: dict[str, Any] = {"help": help_text} if has_command(name) else {}
        command = commands.add_parser(
            name,
            **listed,
            description=help_text[0].upper() + help_text[1:] + ".",
            epilog=EXAMPLES.get(name, ""),
        )
        add_arguments(command.add_argument)
    return parser


def _check(add: Add) -> None:
    add("paths", metavar="FILE", nargs="+", type=Path)
    add("--form-only", action="store_true", help="do not ask for moves")
    _add_rubric(add)


def _practice(add: Add) -> None:
    add("text", metavar="FILE", help="a file, an agent's name, or a folder of files")
    text = "stop asking after N seconds (default 30)"
    add("--seconds", metavar="N", type=cli.span, default=30.0, help=text)
    text = "ask every position, however long that takes"
    add("--all", dest="seconds", action="store_const", const=math.inf, help=text)
    text = "seconds per move (default: the least at which the file plays, 0.2 or more)"
    add("--time", type=cli.time_limit, help=text)
    text = "how many points a move FILE is better than OLD, in the same positions"
    add("--against", metavar="OLD", help=text)
    text = "also ask the positions of this file, in the format of grader/solved/positions.txt"
    add("--positions", metavar="FILE", type=Path, help=text)
    add("--page", metavar="FILE", type=Path, help="also write a page (.html) with pictures")
    _add_rubric(add)
    _add_isolation(add)
    _add_jobs(add)


def _grade(add: Add) -> None:
    add("paths", metavar="PATH", nargs="+", type=Path)
    add("--name", help="treat PATH as one submission with this name")
    add("--quick", action="store_true", help="a first look at one file, in about two minutes")
    _add_roster(add)
    _add_playing(add)
    _add_run(add)


def _add_roster(add: Add) -> None:
    text = "a list of the class (CSV), also given twice: they complete each other; none: no roster"
    add("--roster", metavar="FILE", type=Path, action="append", default=[], help=text)


def _compare(add: Add) -> None:
    add("new", metavar="NEW", help="a file, or an agent's name such as random")
    add("old", metavar="OLD", help="a file, or an agent's name")
    add("--games", type=cli.count, help="at most N games of NEW in each part")
    text = "a: get_expectimax_move, b: get_intelligent_move (default both)"
    add("--part", choices=("a", "b", "both"), default="both", help=text)
    cli.refuse_gone(add, "--game", 'a file with [match] and game = "popout" goes to --rubric')
    add("--records", metavar="DIR", type=Path, help="write the records of the games below DIR")
    cli.refuse_gone(add, "--page", "python3 -m connect4.views.page DIR/*.json -o g.html writes it")
    _add_playing(add)


def _tournament(add: Add) -> None:
    add("folder", metavar="FOLDER", type=Path)
    _add_playing(add)
    _add_run(add)


def _ladder(add: Add) -> None:
    add("paths", metavar="PATH", nargs="+", type=Path, help="the hand-ins, as for grade")
    add("--results", metavar="FILE", type=Path, help="the results file (default ladder.db)")
    add("--site", metavar="DIR", type=Path, help="write the site below DIR")
    add("--playground", metavar="URL", help="link from the site to that of `playground`")
    text = "play an unrated match of two versions, such as `alice` and `bob v2`, and write its page"
    add("--challenge", metavar=("A", "B"), nargs=2, default=(), help=text)
    text = "play for N minutes at most (default 30)"
    add("--minutes", metavar="N", type=cli.span, default=30, help=text)
    cli.refuse_gone(add, "--watch", "give the command again, by cron or in a loop of the shell")
    cli.refuse_gone(add, "--serve", "python3 -m http.server -d SITE shows the site")
    cli.refuse_gone(add, "--date", "delete it; a version has the day on which it is found")
    _add_playing(add)


def _report(add: Add) -> None:
    add("path", metavar="RESULTS", type=Path, help="the .db file of a run")
    text = "add the points of a tournament (its .db), also in later runs; none: remove them"
    add("--placement", metavar="FILE", type=Path, help=text)
    _add_roster(add)
    text = "none: forget what you answered on hand-ins for a gradebook"
    add("--pairs", choices=("none",), help=text)
    _add_output(add)
    add("--yes", action="store_true", help="fill a gradebook without asking about hand-ins")


def _add_student(add: Add, of: str) -> None:
    add("text", metavar="NAME", help="the student, by name, number, login or address")
    add("--results", dest="path", metavar="FILE", type=Path, required=True, help=of)


def _correct(add: Add) -> None:
    _add_student(add, "the .db file of a grading")
    text = "add points to the mark; a negative number takes them"
    add("--adjust", metavar="POINTS", type=float, help=text)
    text = "add N percent to the mark; a negative number takes them"
    add("--percent", metavar="N", type=float, help=text)
    add("--mark", metavar="POINTS", type=float, help="set the mark, regardless of the games")
    text = "take back a mark that was set"
    add("--unset-mark", dest="mark", action="store_const", const=-math.inf, help=text)
    add("--reason", metavar="TEXT", required=True, help="the reason, which the student reads")


def _viva(add: Add) -> None:
    _add_student(add, "the results of the class")
    add("-o", dest="place", metavar="FILE", type=Path, required=True, help="the page (.html)")


def _forget(add: Add) -> None:
    _add_student(add, "the .db file of a run")
    text = "the files of this run: written again without NAME; may be given several times"
    add("--out", dest="outs", metavar="DIR", type=Path, action="append", default=[], help=text)
    add("--site", metavar="DIR", type=Path, help="the site of a ladder: written again without NAME")
    add("--yes", action="store_true", help="do not ask")


def _publish_game(add: Add) -> None:
    add("path", metavar="RESULTS", type=Path, help="the .db file of a run")
    add("text", metavar="NAME", help="the submission")
    add("numbers", metavar="GAME", nargs="+", type=cli.count, help="numbers of games on its page")
    add("--out", metavar="DIR", type=Path, required=True, help="write the files below DIR")
    add("--yes", action="store_true", help="do not ask before the seeds become public")


def _handout(add: Add) -> None:
    add("out", metavar="OUT", type=Path, help="the zip to write")
    add("--gradescope", action="store_true", help="make a Gradescope autograder instead")
    add("--classroom50", action="store_true", help="make a Classroom 50 autograder instead")
    _add_rubric(add)


def _playground(add: Add) -> None:
    add("out", metavar="DIR", type=Path, help="write the site below DIR")
    text = "Pyodide 0.27.7: a folder to copy, or an address (default its public address)"
    add("--runtime", metavar="DIR|URL", help=text)


def _similar(add: Add) -> None:
    add("paths", metavar="PATH", nargs="+", type=Path)
    add("--against", metavar="PATH", nargs="+", type=Path, default=[], help="earlier hand-ins")
    add("--base", metavar="FILE", type=Path, nargs="+", default=[], help="code all were given")
    cli.refuse_gone(add, "--source-only", "delete it; sources alone are compared")
    cli.refuse_gone(add, "--positions", "delete it; moves are no longer compared")
    cli.refuse_gone(add, "--time", "delete it; moves are no longer compared")
    text = "the report (default similar.html)"
    add("--out", metavar="FILE", type=Path, default=Path("similar.html"), help=text)
    _add_rubric(add)


def _doctor(add: Add) -> None:
    add("--results", metavar="FILE", type=Path, help="also store the table in this results file")
    _add_rubric(add)
    _add_isolation(add)


def _fuel(add: Add) -> None:
    text = "also print what this budget takes here, such as 2G"
    add("budget", metavar="BUDGET", nargs="?", type=_budget, help=text)


COMMANDS: Final[dict[str, tuple[str, Callable[[Add], None]]]] = {
    "check": ("check the form of submissions, and ask each for a few moves", _check),
    "practice": ("ask positions with a known answer, and say what a file sees", _practice),
    "grade": ("play submissions against random and the baselines, and give points", _grade),
    "compare": ("find out whether a new agent is better than an old one", _compare),
    "tournament": ("play a staged tournament among submissions", _tournament),
    "ladder": ("rate every version that a class hands in over a term", _ladder),
    "report": ("write tables and files again from stored results, without playing", _report),
    "correct": ("change a student's mark, with a reason and today's date", _correct),
    "viva": ("choose five positions of a student's games, for a talk with the author", _viva),
    "forget": ("remove a student from a results file and what was written from it", _forget),
    "publish-game": ("give a student a marked game with its seed, to repeat it", _publish_game),
    "handout": ("make the students' edition of the kit, as a zip", _handout),
    "playground": ("write a site on which students write and play, in a browser", _playground),
    "similar": ("screen a class for pairs of files that share source", _similar),
    "doctor": ("test in two minutes what this machine guarantees while agents play", _doctor),
    "fuel": ("measure how fast this machine runs games by fuel, and what a budget takes", _fuel),
}
"""What each command does, and what adds its arguments."""


def _add_rubric(add: Add) -> None:
    text = "a rubric with the keys that differ from grader/rubric.toml"
    add("--rubric", metavar="FILE", type=Path, help=text)


def _add_playing(add: Add) -> None:
    _add_rubric(add)
    _add_isolation(add)
    _add_jobs(add)
    add("--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler")
    add("--time", type=cli.time_limit, help="seconds per move, in place of the rubric's")
    text = "instructions per move in place of seconds, such as 5G: results repeat exactly"
    add("--fuel", metavar="BUDGET", type=_budget, help=text)


def _budget(text: str) -> int:
    """Return the fuel that a text names."""
    from connect4.isolation.wasm.level import fuel_option  # late: it loads numpy

    return fuel_option(text)


def _add_jobs(add: Add) -> None:
    text = "games or submissions at once (default: one for each physical core)"
    add("--jobs", type=cli.count, help=text)
    add("--force-jobs", action="store_true", help="allow more jobs than there are cores")


def _add_isolation(add: Add) -> None:
    text = "how agents are isolated (default auto)"
    add("--isolation", choices=("auto", "process", "strong", "wasm"), default="auto", help=text)


def _add_run(add: Add) -> None:
    add("--results", metavar="FILE", type=Path, help="the results file (default COMMAND.db)")
    text = "print games and core-hours, ask each file for moves, keep the answers; play no game"
    add("--dry-run", action="store_true", help=text)
    cli.refuse_gone(add, "--max-hours", "--yes plays for more than 100 core-hours")
    text = "ask nothing: play for more than 100 core-hours, and fill every gradebook"
    add("--yes", action="store_true", help=text)
    text = "play the games of a file that was set aside because it ended the grader"
    add("--try-again", metavar="NAME", action="append", default=[], help=text)
    _add_output(add)


def _add_output(add: Add) -> None:
    add("--out", metavar="DIR", type=Path, help="write every file below DIR")
    add("--records", action="store_true", help="write the record of each game below DIR too")
    add("--details", action="store_true", help="show every board of every match on the terminal")
    text = "fill in an export of Canvas, Moodle, Brightspace or Blackboard, written below DIR"
    add("--gradebook", metavar="FILE", type=Path, action="append", default=[], help=text)
    text = "write the pages as feedback files for Moodle, and a .csv for a mail merge"
    add("--feedback-zip", metavar="FILE", type=Path, help=text)
    add("--gradebook-column", metavar="NAME", help="the assignment's column in these exports")
    text = "scale marks to this maximum if the export states none"
    add("--gradebook-maximum", metavar="POINTS", type=cli.span, help=text)


NEEDS: Final = (
    ("records", "out", "--records: --out names the folder for them"),
    ("challenge", "site", "--challenge: --site names the folder of the site for its page"),
    ("playground", "site", "--playground: --site names the folder of the site that links to it"),
    ("feedback_zip", "out", "--feedback-zip: --out names the folder for the pages"),
    ("gradebook", "out", "--gradebook: --out names the folder for the file to import"),
)
"""Options that need another one, and the error without it."""


def has_command(name: str) -> bool:
    """Return whether this edition of the kit has the command."""
    return name not in NOT_FOR_STUDENTS or Path(__file__).with_name("handout.toml").is_file()


def parsed(words: list[str]) -> dict[str, Any]:
    """Return the options of a command, by the names of its parameters; without one, of the desk."""
    parser = make_parser()
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        from connect4.games import nearest  # late: only an error needs it

        hint = nearest(words[0], filter(has_command, COMMANDS))
        parser.error(f"there is no command {words[0]!r}{hint}")
    options = vars(parser.parse_args(words if words or has_command("desk") else ["--help"]))
    if options["command"] is not None and "json" in options:
        parser.error("--json: it goes without a command")
    for option, other, text in NEEDS:
        if options.get(option) and options.get(other, True) is None:
            parser.error(text)
    return options


FUNCTIONS: Final = {
    "practice": "commands.practice:practice_and_say",
    "compare": "commands.compare:compare_and_say",
    "tournament": "commands.grade:tournament",
    "correct": "commands.student:correct",
    "publish-game": "commands.student:publish_game",
    "handout": "handout:handout",
    "playground": "playground:playground",
    "similar": "similar:similar",
    "fuel": "commands.grade:fuel",
}
"""The functions of commands that are not `commands.NAME:NAME`."""


def command_of(name: str) -> Callable[..., int]:
    """Return the function of a command; raises `InputError` if this edition lacks it."""
    if not has_command(name):
        raise InputError(f"{name}: only the teachers' edition has it")
    module, _, function = FUNCTIONS.get(name, f"commands.{name}:{name}").partition(":")
    run: Callable[..., int] = getattr(importlib.import_module(f"grader.{module}"), function)
    return run


def with_values(options: dict[str, Any], words: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options of a command with one value for how games are played and one for files."""
    named = dict(options)
    if "scheduler" in options:
        from grader.commands import Playing, read_rubric

        path, isolation = named.pop("rubric"), named.pop("isolation")
        rules = read_rubric(path, named.pop("time"), named.pop("fuel"), isolation)
        rest = {name: named.pop(name) for name in ("jobs", "force_jobs", "scheduler")}
        named["playing"] = Playing(rules, isolation, path=path, words=tuple(words), **rest)
    if "details" in options:
        from grader.commands.report import Outputs

        named["outputs"] = Outputs(**{one.name: named.pop(one.name) for one in fields(Outputs)})
    return named


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    options = parsed(words)
    name = options.pop("command")
    cli.end_on_sigterm()
    with commands_stopped():
        try:
            if name is None:
                from grader.commands.desk import desk

                return 0 if desk("json" in options) else main(["--help"])
            return command_of(name)(**with_values(options, words))
        except InputError as error:
            return cli.fail(error)
        except KeyboardInterrupt:
            return STOPPED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1


if __name__ == "__main__":
    sys.exit(main())

"""Run the command `python3 -m connect4.ConnectFour AGENT AGENT [START] [options]`.

This module only connects the parts.
"""

import argparse
import io
import os
import random
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from connect4 import cli, safe
from connect4.config import DEFAULT_SECONDS
from connect4.errors import InputError, IsolationError, one_line
from connect4.games import GAMES, begin, find_game
from connect4.games.base import Ending, Game, Option, Player, State
from connect4.games.falling import after_moves
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import LEVELS, choose_level, level_named
from connect4.isolation.wasm.level import add_option, limit_of
from connect4.players.base import GRADED_KB, STUDENT_FILE, AgentName, Seat, student_file
from connect4.players.human import HumanSeat
from connect4.players.registry import PLAYERS, check_board, parse_agent
from connect4.record import Record
from connect4.referee import TurnEnded
from connect4.table import Table, TablePlan, Terms
from connect4.views import summary
from connect4.views.page import page
from connect4.views.terminal import TerminalView
from connect4.views.web_pages import no_browser, open_address, play_on_page

FAULT_RECORD: Final = "connect4-fault.json"
"""The file for the record of a game with a failed turn, without `--record`."""

WITH_MOVES: Final = ("classic", "classic-full", "popout")

VIEWS: Final = ("auto", "browser", "terminal", "none")

VIEW_VARIABLE: Final = "CONNECT4_VIEW"
"""The environment variable that sets the default of `--view`."""

VIEW_HELP: Final = (
    f"auto: a page if a browser can open, else the terminal; {VIEW_VARIABLE} sets the default"
)

WITH_REPLAY_TURN: Final = (
    *("replay_turn", "agent1", "time", "startup", "isolation", "log", "view", "debug", "yes"),
)
"""The options that `--replay-turn` accepts; the view is one because of its variable."""

EXAMPLES: Final = """
examples:
  python3 -m connect4.ConnectFour ai random case4.txt --time 20
      the agent of connect4/players/ai.py against the random player
  python3 -m connect4.ConnectFour human ai case1 --human-clock
      play against it; the time limit counts for you too
  python3 -m connect4.ConnectFour ai ai:old/ai.py case2.txt --swap --seed 7
      two versions against each other, once from each side
  python3 -m connect4.ConnectFour ai random case1 --view none --record game.json
      no pictures, only the scores, and a record of the game
  python3 -m connect4.ConnectFour ai random case1 --page game.html
      and one file that replays it in any browser
  python3 -m connect4.ConnectFour human random --game classic --columns 8
      the first four in a row wins; classic-full: the most fours on a full board
  python3 -m connect4.ConnectFour random random b --game dynamic --max-turns 60
      pieces slide; b is one of connect4/initial_states/dynamic
  python3 -m connect4.ConnectFour --replay-turn game.json:12
      play turn 12 of that game again, same agent; --debug for a debugger

{agents}
starts: a state file, or one of connect4/initial_states with or without .txt
a move is typed as 3 (drop into column 3) or 3P (pop out of column 3), in
dynamic as 71W (the piece in column 7, row 1, one square west); q leaves
"""


def make_parser() -> cli.Parser:
    """Return the command line's parser."""
    agents = ", ".join(kind.usage.replace(" ", "\0") for kind in PLAYERS.values())
    wrapped = textwrap.fill(f"agents: {agents}", 79, subsequent_indent="  ", break_on_hyphens=False)
    parser = cli.Parser(
        prog="python3 -m connect4.ConnectFour",
        description="Play one game between two agents and print the scores.",
        epilog=EXAMPLES.format(agents=wrapped.replace("\0", " ")),
    )
    add = parser.add_argument
    add("agent1", metavar="AGENT1", nargs="?", help="the agent of player 1, who moves first")
    add("agent2", metavar="AGENT2", nargs="?", help="the agent of player 2")
    add("start", metavar="START", nargs="?", help="the first position")
    add_game(parser.add_argument_group("the game"))
    add_conditions(parser.add_argument_group("the conditions"))
    add_views(parser.add_argument_group("what is shown and kept"))
    return parser


def add_game(group: argparse._ArgumentGroup) -> None:
    """Add the options for the game and its empty board, and those of single games."""
    add = group.add_argument
    add("--game", default="extended", help=f"one of {', '.join(GAMES)} (default extended)")
    moves = f"{', '.join(WITH_MOVES)}: the first drops in place of START, as 4445 or d1 d2 d3 e1"
    add("--moves", help=moves)
    add("--swap", action="store_true", help="play a second game with sides swapped")
    sized = ", ".join(game.name for game in GAMES.values() if game.resizable)
    add("--rows", type=cli.count, help=f"rows of the empty board ({sized})")
    add("--columns", type=cli.count, help="columns of the empty board")
    for option, games in options_of_games().items():
        switch = {"action": "store_true", "default": None}
        kind: dict[str, Any] = switch if option.kind is bool else {"type": cli.count}
        add(f"--{option.name.replace('_', '-')}", help=f"{', '.join(games)}: {option.help}", **kind)


def add_conditions(group: argparse._ArgumentGroup) -> None:
    """Add the conditions of the game."""
    add = group.add_argument
    add("--time", type=cli.time_limit, help=f"seconds per move (default {DEFAULT_SECONDS:g})")
    add_option(add, "the game repeats exactly (docs/fuel.md)")
    usual = Limits().start_seconds
    startup = f"seconds to load an agent in a process (default {usual:g})"
    add("--startup", metavar="SECONDS", type=cli.time_limit, default=usual, help=startup)
    add("--seed", type=cli.seed_number, help="deterministic agents repeat the game of a seed")
    add("--human-clock", action="store_true", help="apply the time limit to people too")
    add(
        "--human-strict",
        action="store_true",
        help="a person's illegal move loses the turn; without it the person is asked again",
    )
    add("--ask", choices=("expectimax", "intelligent"), help="the method of AIPlayer to call")
    add("--isolation", default="auto", help=f"{', '.join(LEVELS)} or auto (default auto)")
    add(
        "--lifetime",
        choices=("game", "move"),
        default="game",
        help="how long one AIPlayer plays (default game)",
    )


def add_views(group: argparse._ArgumentGroup) -> None:
    """Add the options for the views and the output files."""
    add = group.add_argument
    add("--view", choices=VIEWS, default=os.environ.get(VIEW_VARIABLE) or "auto", help=VIEW_HELP)
    add("--verbose", action="store_true", help="in the terminal, say what agents think of a turn")
    add(
        "--port",
        metavar="N",
        type=cli.port_number,
        default=0,
        help="the port of the browser's page",
    )
    add("--record", metavar="FILE", type=Path, help="write the game's record (.json)")
    add("--page", metavar="FILE", type=Path, help="write a page that replays the game (.html)")
    add("--open", action="store_true", help="open the page of --page in the browser")
    add("--log", metavar="FILE", type=Path, help="write what the agents print")
    add(
        "--replay-turn",
        metavar="RECORD:N",
        help="play turn N of a recorded game again; accepts --time, --startup, --isolation, --log",
    )
    add(
        "--debug",
        action="store_true",
        help="with --replay-turn: run the agent in this process without a clock, for a debugger",
    )
    add(
        "--yes",
        action="store_true",
        help="do not ask before --debug or --isolation none runs a file in this process",
    )


def options_of_games() -> dict[Option, list[str]]:
    """Return every option of a game, with the names of its games."""
    games = GAMES.values()
    options = dict.fromkeys(option for game in games for option in game.options)
    return {each: [game.name for game in games if each in game.options] for each in options}


def plans_of(arguments: argparse.Namespace) -> list[TablePlan]:
    """Return the games of the command line; raises `InputError`.

    Missing protections are reported on standard error.
    """
    game = find_game(arguments.game)
    one, two = (parse_agent(text, game.name) for text in (arguments.agent1, arguments.agent2))
    start = start_position(game, arguments)
    for agent in (one, two):
        check_board(agent, start)
        file = student_file(agent)
        if agent.kind == "ai" and file.is_file() and file.stat().st_size > 1000 * GRADED_KB:
            large = f"{one_line(file)} has {file.stat().st_size / 1000:.0f} kB"
            tell(f"{large}; when it is graded, at most {GRADED_KB} kB count")
    for option in ("record", "page", "log"):
        if path := getattr(arguments, option):
            cli.check_place(f"--{option}", path)
    seconds, isolation = limit_of(arguments.fuel, arguments.time, arguments.isolation)
    level, notes = choose_level(str(isolation))
    if level == "none":
        ask_to_run_here([one, two], "--isolation none", arguments.yes)
    LEVELS[level].prepare(tell)
    terms = Terms(
        seconds or DEFAULT_SECONDS,
        random.SystemRandom().randrange(2**31) if arguments.seed is None else arguments.seed,
        level=level,
        method=arguments.ask,
        human_clock=arguments.human_clock,
        human_strict=arguments.human_strict,
        limits=Limits(arguments.startup),
        lifetime=arguments.lifetime,
    )
    plans = []
    title = f"{game.title}, {arguments.start or arguments.moves or 'the usual start'}"
    place = arguments.record or Path(FAULT_RECORD)
    for number, agents in enumerate([(one, two), (two, one)][: 1 + arguments.swap], 1):
        name = f"{place.stem}-{number}{place.suffix}" if arguments.swap else place.name
        plans.append(TablePlan(game, start, agents, terms, title, str(place.with_name(name))))
    for line in notes:  # once all arguments are valid: an error is a single line
        tell(line)
    return plans


def play(arguments: argparse.Namespace) -> int:
    """Play the games of the command line; return the exit status; raises `InputError`."""
    in_browser = chooses_browser(arguments.view)
    plans = plans_of(arguments)
    if arguments.log:
        summary.write_text(arguments.log, "")
    status, games = play_all(plans, in_browser, arguments)
    if arguments.page and games:
        safe.write_text(arguments.page, page(games), "the page")
        print(f"The page is in {arguments.page}.")
        if arguments.open:
            open_address(arguments.page.resolve().as_uri())
    if any(game.result and game.result.ending is Ending.NOT_LOADED for game in games):
        return status or 1
    if not status:
        summary.tell_what_would_help(games, plans[0].terms.level)
    if len(games) == 2 and not status:
        one, two = plans[0].agents
        summary.tell_average(one.text, two.text, [game.result for game in games if game.result])
    return status


def chooses_browser(view: str) -> bool:
    """Return whether `--view` asks for a page; raises `InputError` for a view that is none."""
    if view not in VIEWS:
        raise InputError(f"{VIEW_VARIABLE}={view}: expected one of {', '.join(VIEWS)}")
    by_itself = view == "auto" and not os.environ.get("CI") and no_browser() is None
    return by_itself or view == "browser"


def start_position(game: Game, arguments: argparse.Namespace) -> State:
    """Return the first position of the game; raises `InputError`."""
    in_place = game.name in WITH_MOVES and arguments.start is None
    if arguments.moves is not None and not in_place:
        raise InputError(f"--moves takes the place of START in {', '.join(WITH_MOVES)}")
    names = [option.name for option in options_of_games()]
    options = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    state = begin(game, arguments.start, arguments.rows, arguments.columns, options)
    return state if arguments.moves is None else after_moves(state, arguments.moves, "--moves")


def ask_to_run_here(agents: Iterable[AgentName], option: str, yes: bool) -> None:
    """Ask before somebody else's file runs in this process; raises `InputError` if it may not.

    Files of one's own are that of the agent `ai`, and those in the current folder itself: in the
    folders below it may be a class. What a link leads to lies where it leads to.
    """
    own_folder = Path.cwd().resolve()
    for agent in [] if yes else agents:
        if agent.kind not in ("ai", "kaggle"):
            continue
        file = student_file(agent).resolve()
        if file == STUDENT_FILE.resolve() or file.parent == own_folder:
            continue
        told = f"{option} runs {file} in this process: it can do all that you can do here"
        if not cli.agreed([told], "Run it?", f"{told}; without a terminal, give --yes"):
            raise InputError(f"{file} was not run; without {option} it has a process of its own")


def tell(line: str) -> None:
    """Report a slow preparation or a missing protection."""
    print(f"note: {line}", file=sys.stderr, flush=True)


def play_all(
    plans: list[TablePlan], in_browser: bool, arguments: argparse.Namespace
) -> tuple[int, list[Record]]:
    """Play on a page, or in the terminal; return the exit status and the records."""
    games: list[Record] = []
    status = 0

    def over(record: Record, logs: Sequence[str]) -> None:
        summary.keep(record, logs, plans[len(games)], arguments.log, arguments.record)
        games.append(record)

    if in_browser:
        stop = play_on_page(plans, arguments.port, over)
        return (status if stop is None else 130), games
    for plan in plans:
        status, record, logs = play_in_terminal(plan, arguments.view != "none", arguments.verbose)
        over(record, logs)
        if status or (record.result is not None and record.result.ending.undecided):
            break
    return status, games


def play_in_terminal(plan: TablePlan, shown: bool, verbose: bool) -> tuple[int, Record, list[str]]:
    """Play one game; return the exit status, the record, and the output of the agents."""
    view = TerminalView(plan, verbose=verbose)
    shown = shown or plan.is_person(1) or plan.is_person(2)

    def seat_person(player: Player) -> Seat:
        return HumanSeat(plan.game, player, view.read_line, view.say, plan.terms.human_strict)

    status = 0
    with Table(plan.game, plan.start, plan.agents, plan.terms, seat_person) as table:
        try:
            if shown:
                view.begin()
            for event in table.events():
                if shown:
                    printed = table.printed(event.turn) if isinstance(event, TurnEnded) else ""
                    view.see(event, printed)
        except KeyboardInterrupt:
            table.abandon(Ending.LEFT)
            status = 130
            if shown:
                view.say("interrupted")
        logs = [table.log(player) for player in (1, 2)]
    return status, table.record, logs


def repeat_turn(arguments: argparse.Namespace) -> int:
    """Run `--replay-turn`; return the exit status; raises `InputError`."""
    usual = make_parser().parse_args([])
    for name, value in vars(arguments).items():
        if name not in WITH_REPLAY_TURN and value != getattr(usual, name):
            option = f"--{name.replace('_', '-')}"
            said = value if name in ("agent1", "agent2", "start") else option
            raise InputError(
                f"--replay-turn takes --time, --startup, --isolation, --log and the agent of the "
                f"turn, not {said}: the record has the rest"
            )
    record, turn, state = summary.read_place(arguments.replay_turn)
    seconds = arguments.time or record.time_limit
    setup = summary.setup_of(record, turn.player, seconds, arguments.agent1)
    if arguments.debug:
        ask_to_run_here([setup.agent], "--debug", arguments.yes)
        return summary.debug_turn(turn.number, state, setup)
    as_recorded = level_named(record.isolation).exact and arguments.isolation == "auto"
    level, notes = choose_level(record.isolation if as_recorded else arguments.isolation)
    if level == "none":
        ask_to_run_here([setup.agent], "--isolation none", arguments.yes)
    if arguments.log:
        summary.write_text(arguments.log, "")
    LEVELS[level].prepare(tell)
    for line in notes:
        tell(line)
    limits = Limits(arguments.startup)
    status, heading, log = summary.replay_turn(record, turn, state, setup, level, limits)
    if log:
        summary.keep_log(heading, log, arguments.log)
    return status


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser()
    arguments = parser.parse_intermixed_args(argv)
    cli.end_on_sigterm()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # any byte that a person types is text
    try:
        if arguments.replay_turn is not None:
            return repeat_turn(arguments)
        if arguments.debug:
            raise InputError("--debug goes with --replay-turn RECORD:N")
        if arguments.agent2 is None:
            parser.error("two agents are needed, such as: ai random case4.txt")
        return play(arguments)
    except IsolationError as error:
        print(f"error: {error}; --isolation none runs agents without protection", file=sys.stderr)
        return 1
    except InputError as error:
        return cli.fail(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())

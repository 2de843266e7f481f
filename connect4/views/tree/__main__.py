"""Run the command `python3 -m connect4.views.tree`."""

from __future__ import annotations

from connect4 import entry  # first: it handles errors of the imports below

# isort: split
import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from connect4 import record as records
from connect4.cli import Parser, check_place, count, fail, seed_number, time_limit
from connect4.config import DEFAULT_SECONDS
from connect4.errors import IllegalAction, InputError
from connect4.games import GAMES, begin, find_game
from connect4.games.base import State
from connect4.players.base import Setup
from connect4.players.names import AgentName
from connect4.players.registry import parse_agent
from connect4.search.trace import Flag, Node
from connect4.views import document
from connect4.views.tree.tree import explain, facts, tree_page

EXAMPLES: Final = """
examples:
  python3 -m connect4.views.tree case1 --agent alphabeta:depth=3 -o tree.html
      one search from a state file
  python3 -m connect4.views.tree game.json:12 -o tree.html
      the search of turn 12 of a recorded game, by the agent that played it
  python3 -m connect4.views.tree --game classic --rows 5 --columns 6 --agent mcts -o tree.html
      a board of another size
"""

KNOWN: Final = (
    "{count:,} positions were known from the transposition table and not searched again; "
    "the option tt=off searches them{why}"
)

PUBLISHED: Final = ("v1", "v2")
"""Heuristics of the published agent, which has no transposition table."""


def make_parser() -> Parser:
    """Return the command line's parser."""
    parser = Parser(
        prog="python3 -m connect4.views.tree",
        description="Make one HTML file that shows the tree of an agent's search.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add(
        "start",
        metavar="START",
        nargs="?",
        help="the position: a state file, or RECORD:N, turn N of a record "
        "(default: the game's usual start)",
    )
    add("--game", help=f"one of {', '.join(GAMES)} (default extended, or the record's)")
    add("--rows", type=count, help="rows of the usual start")
    add("--columns", type=count, help="columns of the usual start")
    add("--agent", help="whose search (default alphabeta, or who played the record's turn)")
    add("--time", type=time_limit, help="seconds it may take (default 20, or the record's)")
    add("--seed", type=seed_number, help="for agents that draw at random (default 0)")
    add("-o", metavar="FILE", type=Path, required=True, help="the page to write")
    return parser


def asked_search(arguments: argparse.Namespace) -> tuple[Setup, State]:
    """Return who searches which position; raises `InputError`."""
    start = arguments.start
    turn = None if start is None else re.fullmatch("(.+):([0-9]{1,9})", start)
    if turn and not Path(start).exists():
        return recorded_search(arguments, Path(turn[1]), int(turn[2]))
    game = find_game(arguments.game or "extended")
    state = begin(game, start, arguments.rows, arguments.columns, {})
    agent = parse_agent("alphabeta" if arguments.agent is None else arguments.agent, game.name)
    seconds = arguments.time or DEFAULT_SECONDS
    return Setup(agent, state.mover, game, seconds, arguments.seed or 0), state


def recorded_search(arguments: argparse.Namespace, path: Path, number: int) -> tuple[Setup, State]:
    """Return who searches the position of a recorded turn; raises `InputError`."""
    for name in ("game", "rows", "columns"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name} is not for a record, which has its own game and board")
    record, state = records.read_turn(path, number)
    name = record.players[state.mover - 1].agent if arguments.agent is None else arguments.agent
    setup = Setup(
        parse_agent(name, record.game.name),
        state.mover,
        record.game,
        arguments.time or record.time_limit,
        record.seed if arguments.seed is None else arguments.seed,
    )
    return setup, state


def notes(agent: AgentName, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield notes about the counts of a tree."""
    known = sum(Flag.KNOWN in node.flags for node in nodes)
    if known and agent.kind == "alphabeta":
        is_published = agent.options.get("heuristic") in PUBLISHED
        yield KNOWN.format(count=known, why=" and gives the published counts" * is_published)


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = make_parser().parse_args(argv)
    remarks: list[str] = []
    try:
        entry.ready()
        check_place("-o", arguments.o)
        setup, state = asked_search(arguments)
        game, agent = setup.game, setup.agent
        nodes = explain(setup, state, remarks.append)
        document.write(tree_page(game, state, agent.text, nodes), arguments.o)
    except IllegalAction as error:
        print(f"error: the tree holds an action that is none: {error}", file=sys.stderr)
        return 2
    except InputError as error:
        return fail(error)
    except KeyboardInterrupt:
        print("stopped; no page was written", file=sys.stderr)
        return 130
    print(f"{arguments.o}: {', '.join(facts(game, nodes))}")
    for remark in (*remarks, *notes(agent, nodes)):
        print(remark)
    return 0


if __name__ == "__main__":
    sys.exit(main())

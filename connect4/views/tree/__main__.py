"""The command `python3 -m connect4.views.tree`."""

from __future__ import annotations

from connect4 import entry  # first: it speaks for the imports below

# isort: split
import sys
from pathlib import Path

from connect4.cli import Parser, seed_number, time_limit
from connect4.config import DEFAULT_SECONDS
from connect4.errors import IllegalAction, InputError
from connect4.games import GAMES, find_game, load_start
from connect4.players.registry import parse_agent
from connect4.views import document
from connect4.views.tree.tree import explain, facts, tree_page


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(
        prog="python3 -m connect4.views.tree",
        description="Make one HTML file that shows the tree of an agent's search.",
        epilog="example: python3 -m connect4.views.tree --game classic-full "
        "--agent alphabeta:depth=4,heuristic=v1 -o tree.html",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("start", metavar="START", nargs="?", help="the position (default: the game's usual start)")
    add("--game", default="extended", help=f"one of {', '.join(GAMES)} (default extended)")
    add("--agent", default="alphabeta", help="whose search (default alphabeta)")
    add("--time", type=time_limit, default=DEFAULT_SECONDS, help="seconds it may take (default 20)")
    add("--seed", type=seed_number, default=0, help="for agents that draw at random")
    add("-o", metavar="FILE", type=Path, required=True, help="the page to write")
    arguments = parser.parse_args(argv)
    try:
        entry.ready()
        game = find_game(arguments.game)
        agent = parse_agent(arguments.agent, game.name)
        state = load_start(game, arguments.start) if arguments.start else game.start(None, None)
        nodes = explain(agent, game, state, arguments.time, arguments.seed)
        document.write(tree_page(game, state, agent.text, nodes), arguments.o)
    except IllegalAction as error:
        print(f"error: the tree holds an action that is none: {error}", file=sys.stderr)
        return 2
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{arguments.o}: {', '.join(facts(game, nodes))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

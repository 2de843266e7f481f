"""Print how many states the searches expand: `python3 -m benchmarks.search_table`.

The first table is that of the published set-up: the 64-bit agent from the empty board, with the
published figures. Then each game uses its usual heuristic and start (`case1` for the main game),
without and with pruning, as deep as `--depth` and `--seconds` allow. Exits with status 1 if a
published figure is missed.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

from tabulate import tabulate

from connect4.games import GAMES, load_start
from connect4.games.base import resolve
from connect4.search.heuristics import of_tokens, with_endings
from connect4.search.minimax import AlphaBeta, Minimax
from connect4.search.ordering import center
from connect4.search.transposition import TableAlphaBeta

PUBLISHED = {
    ("v1", Minimax): (8, 57, 400, 2801, 19608),
    ("v1", AlphaBeta): (8, 21, 76, 210, 699),
    ("v2", Minimax): (8, 57, 400, 2801, 19608),
    ("v2", AlphaBeta): (8, 21, 87, 220, 917),
}
"""States expanded from the empty board, 1 to 5 plies deep."""
VALUES = {"v1": (0, 0, 2, 0, 4), "v2": (0, 0, 4, 0, 6)}
KINDS = {"no pruning": Minimax, "alpha-beta": AlphaBeta, "and table": TableAlphaBeta}
PUBLISHED_HEADERS = (
    "heuristic", "depth", "pruning", "states expanded", "published", "value", "published",
    "best column", "seconds", "",
)  # fmt: skip
HEADERS = ("depth", "pruning", "states expanded", "seconds", "value", "best")


def fresh(name, game):
    """Return a heuristic's evaluation that remembers nothing yet."""
    heuristic = game.heuristic(name)
    return with_endings(heuristic, of_tokens(resolve(heuristic.function).__wrapped__))


def searched(kind, name, game, state, depth):
    """Return what one search found, and its seconds."""
    search = kind(fresh(name, game), center)
    began = perf_counter()
    found = search.search(state, depth)
    return found, perf_counter() - began


def published():
    """Print the published table; return whether every figure is met."""
    rows, right = [], True
    for (name, kind), states in PUBLISHED.items():
        for depth, (expanded, value) in enumerate(zip(states, VALUES[name], strict=True), 1):
            game = GAMES["classic-full"]
            found, seconds = searched(kind, name, game, game.start(6, 7), depth)
            ok = (found.nodes, found.value, found.move) == (expanded, value, 3)
            right = right and ok
            pruning = "off" if kind is Minimax else "on"
            figures = name, depth, pruning, found.nodes, expanded, found.value, value
            rows.append((*figures, found.move, seconds, "ok" if ok else "not met"))
    print("The published 64-bit agent, empty 6 by 7 board")
    print(tabulate(rows, PUBLISHED_HEADERS, floatfmt=".4f"))
    return right


def game_table(game, deepest, limit):
    """Print the table of one game."""
    start = load_start(game, "case1") if game.name == "extended" else game.start(None, None)
    name = game.heuristic().name
    rows = []
    too_slow = set()
    for depth in range(1, deepest + 1):
        for words, kind in KINDS.items():
            if words in too_slow:
                continue
            found, seconds = searched(kind, name, game, start, depth)
            if seconds * 5 > limit:  # a ply more costs at least that much
                too_slow.add(words)
            move = game.format_action(found.move)
            rows.append((depth, words, f"{found.nodes:,}", seconds, f"{found.value:g}", move))
    print(f"\n{game.title}, {name}, from its usual start")
    print(tabulate(rows, HEADERS, floatfmt=".4f"))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.search_table", description=__doc__)
    parser.add_argument("--depth", type=int, default=7, help="the deepest search of each game")
    parser.add_argument(
        "--seconds", type=float, default=10, help="do not begin a search that would take longer"
    )
    arguments = parser.parse_args(argv)
    right = published()
    for game in GAMES.values():
        game_table(game, arguments.depth, arguments.seconds)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

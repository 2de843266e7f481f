"""The search-tree page: the nodes that a search visited, their order, and why it skipped the rest.

The page stores the nodes in search order, as columns. `python3 -m connect4.views.tree` makes one.
The nodes of a student's search come from an isolated process and are checked one by one.
"""

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from connect4 import record as records
from connect4 import safe
from connect4.cli import Parser, check_place, count, fail, seed_number, time_limit
from connect4.config import DEFAULT_SECONDS
from connect4.errors import IllegalAction, InputError, IsolationError
from connect4.games import GAMES, begin, find_game
from connect4.games.base import Game, State
from connect4.isolation.seat import IsolatedSeat, choose_level, open_seat
from connect4.players.base import POLICIES, AgentName, Setup, note_of
from connect4.players.registry import build, parse_agent
from connect4.players.student import read_answer
from connect4.search import WIN, Move, value_text
from connect4.search.trace import MAX_NODES, Flag, Kind, Node
from connect4.views.board import changed_cells, shape_data
from connect4.views.document import Page
from connect4.views.words import first_line

EXAMPLES: Final = """
examples:
  python3 -m connect4.views.tree case1 --agent alphabeta:depth=3 -o tree.html
      one search from a state file
  python3 -m connect4.views.tree game.json:12 -o tree.html
      the search of turn 12 of a recorded game, by the agent that played it
  python3 -m connect4.views.tree --game classic --rows 5 --agent mcts -o t.html
      a board of another size
"""

DEEPEST: Final = "At the search's depth: the value is the heuristic's estimate."

LEAVES: Final = {
    "minimax": DEEPEST,
    "alphabeta": DEEPEST,
    "expectimax": DEEPEST,
    "montecarlo": "At the search's depth: the value is the mean of random games from here.",
    "mcts": "Not gone beyond: the value is the mean of the playouts from here.",
}
"""The name of a node without children, by the kind of agent."""

PARTS: Final = ("base", "theme", "board", "tree")
"""The assets of the page."""

COLUMNS: Final = ("depth", "move", "change", "kind", "flags", "value", "alpha", "beta")

MAX_VALUE: Final = 1e100
"""More than a search needs, also for a win."""

NOTES: Final = {
    "best": Flag.BEST, "pruned": Flag.PRUNED, "cut": Flag.CUT, "known": Flag.KNOWN,
}  # fmt: skip
"""The notes on a node that a student's `explain` may return."""


def tree_page(game: Game, start: State, agent: str, nodes: Iterable[Node]) -> str:
    """Return the page of a search as one HTML document.

    `nodes` is in search order: the root first, each node followed by its subtree. Raises
    `InputError` for an illegal action.
    """
    nodes = list(nodes)
    kind = agent.partition(":")[0]
    try:
        columns = tree_data(game, start, nodes)
    except IllegalAction as error:
        raise InputError(f"agent {agent!r}: the tree holds an illegal action: {error}") from None
    data = {
        **columns,
        "title": game.title,
        "agent": agent,
        "facts": facts(game, nodes),
        "max_is": f"player {start.mover}, who searches",
        "min_is": f"player {3 - start.mover}",
        "win": WIN,
        "leaf": LEAVES.get(kind, "A leaf of the search."),
        "checked": kind == "ai",
        "windowed": has_bounds(nodes),
    }
    return Page(f"Search tree of {agent}", PARTS, data=data).alone()


def facts(game: Game, nodes: list[Node]) -> list[str]:
    """Return the counts of a search, and its result."""
    pruned = sum(Flag.PRUNED in node.flags for node in nodes)
    cuts = sum(Flag.CUT in node.flags for node in nodes)
    best = next((node for node in nodes if node.depth == 1 and Flag.BEST in node.flags), None)
    found = [
        f"{len(nodes) - pruned:,} nodes",
        *([f"{cuts:,} cut-offs", f"{pruned:,} branches pruned"] if has_bounds(nodes) else []),
        f"{max(node.depth for node in nodes)} plies deep",
    ]
    if best is not None and best.value is not None:
        found.append(f"best move {write_move(game, best.move)}, {value_text(best.value)}")
    return found


def has_bounds(nodes: Sequence[Node]) -> bool:
    """Return whether a search prunes by bounds; the kit's expectimax does not."""
    if any(node.flags & (Flag.PRUNED | Flag.CUT) for node in nodes):
        return True
    bounded = any(math.isfinite(node.alpha) or math.isfinite(node.beta) for node in nodes)
    return bounded and all(node.kind is not Kind.CHANCE for node in nodes)


def write_move(game: Game, move: Move) -> str:
    """Return a move as typed; None is a pass."""
    return "pass" if move is None else game.format_action(move)


def tree_data(game: Game, start: State, nodes: Sequence[Node]) -> dict[str, Any]:
    """Return the nodes as columns, with each board as its changes from the parent's board."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    path = [(start, start.board())]
    for node in nodes:
        changed: list[int] = []
        if node.depth:
            del path[node.depth :]
            above, before = path[-1]
            state = above.after(node.move)
            path.append((state, state.board()))
            changed = changed_cells(before, path[-1][1])
        bounds = map(plain_number, (node.value, node.alpha, node.beta))
        move = write_move(game, node.move)
        row = (node.depth, move, changed, int(node.kind), int(node.flags), *bounds)
        for name, value in zip(COLUMNS, row, strict=True):
            columns[name].append(value)
    return {**shape_data(start), **columns}


def plain_number(value: float | None) -> float | None:
    """Return a number as the page writes it; None for no number and for no bound."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else round(value, 3)


def explain(
    setup: Setup, state: State, tell: Callable[[str], object] = lambda note: None
) -> list[Node]:
    """Ask an agent for the tree of its search from a position, whose mover it plays.

    A file's method `explain(state)` runs in a process with the limits of a game. `tell` receives a
    note on the tree, if there is one. Raises `InputError` if the agent searches no tree, or returns
    one that cannot be drawn.
    """
    agent = setup.agent
    if state.is_over():
        raise InputError("the game is over in that position; there is nothing to search")
    if agent.kind in ("human", *POLICIES):
        raise InputError(f"agent {agent.text!r} searches no tree")
    if agent.kind == "ai":
        level, _ = choose_level("auto")
        with closing(open_seat(replace(setup, method="intelligent"), level)) as seat:
            assert isinstance(seat, IsolatedSeat)
            key, value = seat.call("explain", state, setup.seconds)
        return read_nodes(agent, setup.game, key, value)
    player: Any = build(setup)
    if not hasattr(player, "explain"):
        raise InputError(f"agent {agent.text!r} searches no tree of MAX and MIN")
    nodes: list[Node] = player.explain(state, setup.seconds)
    if not nodes:
        raise InputError(f"agent {agent.text!r} searched no depth whole; give it more time")
    if note := note_of(player):
        tell(note)
    return nodes


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
    add(
        "--agent",
        help="the agent that searches (default alphabeta, or the one of the record's turn)",
    )
    add("--time", type=time_limit, help="seconds for the search (default 20, or the record's)")
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


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = make_parser().parse_args(argv)
    remarks: list[str] = []
    try:
        check_place("-o", arguments.o)
        setup, state = asked_search(arguments)
        game, agent = setup.game, setup.agent
        nodes = explain(setup, state, remarks.append)
        safe.write_text(arguments.o, tree_page(game, state, agent.text, nodes), "the page")
    except InputError as error:
        return fail(error)
    except IsolationError as error:
        return fail(error, 1)
    except KeyboardInterrupt:
        print("stopped; no page was written", file=sys.stderr)
        return 130
    print(f"{arguments.o}: {', '.join(facts(game, nodes))}", *remarks, sep="\n")
    return 0


def read_nodes(agent: AgentName, game: Game, key: str, value: Any) -> list[Node]:
    """Return the nodes of an answer of `StudentAgent.call`, its `key` and `value`.

    The value has `(depth, move, kind, value, alpha, beta, note)` for each node in search
    order, as docs/students.md describes. Raises `InputError` for any other answer.
    """
    name = f"agent {agent.text!r}"
    if key == "missing":
        raise InputError(
            f"{name}: its AIPlayer has no method explain(state); docs/students.md describes it"
        )
    if key == "failed":
        said = value if isinstance(value, str) else safe.shown(value)
        raise InputError(f"{name} {first_line(said)}")
    if key == "" or (isinstance(value, list) and len(value) > MAX_NODES):
        raise InputError(f"{name}: a tree of more than {MAX_NODES} nodes; search less deep")
    if key != "answer" or not isinstance(value, list):
        raise InputError(
            f"{name}: explain returned no list of nodes; docs/students.md has an example"
        )
    nodes: list[Node] = []
    for number, row in enumerate(value):
        try:
            nodes.append(_read_node(row, nodes, game))
        except ValueError as error:
            raise InputError(f"{name}: node {number} of its tree: {error}") from None
    if not nodes:
        raise InputError(f"{name}: explain returned no nodes")
    return nodes


def _read_node(row: Any, before: list[Node], game: Game) -> Node:
    """Return one node of a student's tree; `before` are the nodes before it.

    Raises `ValueError`, of which `InputError` and `IllegalAction` are kinds.
    """
    if not isinstance(row, list) or len(row) != 7:
        raise InputError(
            f"expected [depth, move, kind, value, alpha, beta, note], not {safe.shown(row)}"
        )
    depth, move, kind, value, alpha, beta, note = row
    deepest = 0
    if before:  # a node that was skipped has no children
        last = before[-1]
        deepest = last.depth if Flag.PRUNED in last.flags and last.depth else last.depth + 1
    if type(depth) is not int or not min(len(before), 1) <= depth <= deepest:
        raise InputError(
            f"depth {safe.shown(depth)} does not follow: one root with depth 0, then its children"
        )
    flags = Flag(0)
    for word in safe.text(note, "note").split():
        if word not in NOTES:
            raise InputError(f"note {safe.shown(word)}; expected {', '.join(NOTES)}")
        flags |= NOTES[word]
    if safe.text(kind, "kind") not in Kind.__members__:
        raise InputError(f"kind {safe.shown(kind)}; expected {', '.join(Kind.__members__)}")
    assert game.file_action is not None
    if depth:
        try:
            move = game.file_action(read_answer(tuple(safe.items(move, "move", 2))))
        except ValueError as error:
            said = f"move {safe.shown(move)}; expected (column, is_popout), such as (3, False)"
            raise InputError(f"{said}: {error}") from None
    return Node(
        depth,
        move if depth else None,
        Kind[kind],
        None if value is None else _read_number("value", value),
        _read_number("alpha", alpha),
        _read_number("beta", beta),
        flags,
    )


def _read_number(name: str, value: Any) -> float:
    """Return a number, which may be infinite: a win, or no bound."""
    is_number = type(value) in (int, float)
    if not is_number or not (abs(value) <= MAX_VALUE or abs(value) == math.inf):
        said = f"{name} {safe.shown(value)} is no number"
        raise InputError(f"{said} from {-MAX_VALUE:g} to {MAX_VALUE:g}")
    return float(value)


if __name__ == "__main__":
    sys.exit(main())

"""The Python API behind `import connect4`: positions, games, search trees, advice.

No function here ends the process or leaves another one running, even if it is interrupted. Only
`play` prints, if a person plays.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from connect4 import safe
from connect4.config import DEFAULT_SECONDS
from connect4.errors import InputError
from connect4.games import begin, find_game, load_start
from connect4.games.base import Game, Player, Seconds, State
from connect4.isolation.seat import InProcessSeat, choose_level
from connect4.players.base import AgentName, Method, Seat, Setup, Turn
from connect4.players.human import HumanSeat
from connect4.players.local import KIND, LocalAgent, local_name
from connect4.players.registry import check_board, method_of, parse_agent
from connect4.record import Record
from connect4.referee import TurnEnded
from connect4.search.trace import Node
from connect4.table import Table, Terms
from connect4.views import document
from connect4.views.board import svg

if TYPE_CHECKING:
    from connect4.analysis.costs import Analysis

Agent: TypeAlias = Any
"""An agent's name (`"alphabeta:depth=4"`, `"ai:FILE"`), or an object that plays in this process."""

Start: TypeAlias = "State | str | os.PathLike[str] | None"
"""A position, the name of a state file, or None for the default start of the game."""

DEFAULT_GAME: Final = "extended"


def load(name: str | os.PathLike[str], game: str = DEFAULT_GAME) -> State:
    """Return the position of a state file: a path, or one of the kit's own, such as `case1`.

    Raises `InputError` if there is no such file or game, or the file does not contain a position.

    >>> state = load("case1")
    >>> state.board().shape                       # (rows, columns), row 0 on top
    (6, 8)
    >>> state.legal_actions()[:3]                 # (column, is_popout)
    ((0, False), (1, False), (2, False))
    >>> load("case11")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    connect4.errors...: case11: no such file, ... (did you mean 'case1.txt'?)
    """
    return load_start(find_game(game), os.fspath(name))


def start(
    game: str = DEFAULT_GAME, *, rows: int | None = None, columns: int | None = None, **options: Any
) -> State:
    """Return the first position of a game; `rows` and `columns` are None for the default size.

    `options` are those of the game: `line` of `classic`, `popout` and `dynamic`, `max_turns` and
    `repetition` of `dynamic`. Raises `InputError` for a size or an option that the game lacks.

    >>> state = start("classic", rows=6, columns=8)
    >>> state.legal_actions()
    (0, 1, 2, 3, 4, 5, 6, 7)
    >>> state.apply(3).board()[-1].tolist()
    [0, 0, 0, 1, 0, 0, 0, 0]
    """
    return begin(find_game(game), None, rows, columns, options)


@dataclass(frozen=True, slots=True)
class Picture:
    """A position as SVG; Jupyter displays it, and `save` writes it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture; raises `InputError` if the file cannot be written."""
        safe.write_text(Path(path), self.svg, "the picture")


def picture(state: State) -> Picture:
    """Return a position as a picture.

    >>> "points 0:0" in picture(load("case1")).svg
    True
    """
    return Picture(svg(state))


def _position(start: Start, name: str | None) -> tuple[Game, State]:
    """Return the game and the position of an argument; raises `InputError`."""
    if isinstance(start, State):
        game = start.game
        if name not in (None, game.name):
            raise InputError(f"the position is one of {game.name}, not of {name}")
        return game, start
    game = find_game(DEFAULT_GAME if name is None else name)
    return game, begin(game, start, None, None, {})


def play(
    one: Agent,
    two: Agent,
    start: Start = None,
    *,
    game: str | None = None,
    seconds: Seconds = DEFAULT_SECONDS,
    seed: int | None = None,
    isolation: str = "auto",
    ask: Method | None = None,
    progress: bool = False,
    on_turn: Callable[[State, Turn], object] | None = None,
) -> Record:
    """Play one game between two agents and return its record.

    An agent is a name, as on the command line, or an object. A named agent runs in a separate
    process (`isolation`: `auto`, `strong`, `process`, `none`). An object runs in this process
    without protection, and the record says so. It is a class or an instance with
    `get_expectimax_move(state)` and `get_intelligent_move(state)`, as in `ai.py`; one with
    `choose(state, seconds)`; or a function of a state. A class is called with `(player_number,
    seconds)`. `human` is a person, who sees each position and types the moves, also in a notebook.

    `start` is a position or the name of a state file; None is the default start of `game`.
    `seconds` is the limit of a move. With the same `seed`, a game between deterministic agents
    repeats. `ask` selects the method of `AIPlayer`, `expectimax` or `intelligent`; by default it
    depends on the opponent, as in the assignment. `on_turn(position, turn)` is called after each
    turn with the position after it; `progress=True` shows a progress bar (tqdm).

    A late, illegal or failed turn is a fault in the record, not an error. Raises `InputError` for
    an agent, a start or an option that does not exist, and `IsolationError` if the machine cannot
    run an agent. All processes have ended when it raises, even if `on_turn` or Ctrl-C causes the
    exception.

    >>> record = play("greedy", "random", "case1", seconds=1, seed=7)
    >>> record
    <Record of extended: greedy 234, random 98; player 1 wins (no_action), 72 turns>
    >>> record.scores, record.margin, record.winner, record.ending.value, record.faults
    ((234, 98), 136, 1, 'no_action', ())
    """
    rules, position = _position(start, game)
    agents = _agent(one, rules, position), _agent(two, rules, position)
    level, _ = choose_level(isolation)
    if all(agent.kind == KIND for agent in agents):
        level = "none"
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    terms = Terms(_positive(seconds), seed, level=level, method=ask)

    def seat_here(player: Player) -> Seat:
        name, player_object = agents[player - 1], (one, two)[player - 1]
        if name.kind == "human":
            return HumanSeat(rules, player, input, print, show=_show)
        method = method_of(name, agents[2 - player], ask)
        setup = Setup(name, player, rules, seconds, seed, method)
        return InProcessSeat(setup, lambda setup: LocalAgent(player_object, setup))

    with ExitStack() as stack:
        bar = show_progress(stack, "turns") if progress else None
        table = stack.enter_context(Table(rules, position, agents, terms, seat_here))
        for event in table.events():
            if isinstance(event, TurnEnded):
                if bar is not None:
                    bar.set_postfix_str("{}:{}".format(*event.state.scores()), refresh=False)
                    bar.update()
                if on_turn is not None:
                    on_turn(event.state, event.turn)
    return table.record


def _agent(agent: Agent, game: Game, state: State) -> AgentName:
    """Return the name of an agent after checking it; raises `InputError`."""
    if not isinstance(agent, str):
        return local_name(agent, game)
    name = parse_agent(agent, game.name)
    check_board(name, state)
    return name


def _show(state: State) -> None:
    """Display a position for the person who moves: as a picture in a notebook, else as text."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        ipython.display.display(state)
    else:
        print(state)


def _positive(seconds: Any) -> Seconds:
    """Return a time limit; raises `InputError` if it is not above 0."""
    if not (isinstance(seconds, int | float) and 0 < seconds < 1e6):
        raise InputError(f"{seconds!r} is not a time limit; expected seconds above 0")
    return seconds


def show_progress(stack: ExitStack, unit: str) -> Any:
    """Return a tqdm progress bar that `stack` closes.

    Raises `InputError` if tqdm is missing.
    """
    try:
        return stack.enter_context(importlib.import_module("tqdm.auto").tqdm(unit=f" {unit}"))
    except ImportError:
        raise InputError("progress=True needs tqdm: pip install -e '.[progress]'") from None


def analyse(record: Record, *, seconds: Seconds = 1.0, progress: bool = False) -> Analysis:
    """Return the cost of each move of a game; each search takes `seconds`.

    The record stores the result, so its page shows it and `record.save` writes it. The searches run
    one after the other in this process; `python3 -m connect4.analysis` uses all cores.

    >>> record = play("random", "random", start("classic"), seconds=1, seed=3)
    >>> advice = analyse(record, seconds=0.02)
    >>> len(advice.costs) == len(record.turns)
    True
    """
    from connect4.analysis import costs  # late, as the searches take time to load

    with ExitStack() as stack:
        bar = show_progress(stack, "searches") if progress else None

        def step(done: int, todo: int) -> None:
            if bar is not None and not done:
                bar.reset(todo)
            elif bar is not None:
                bar.update()

        found = costs.analyse(record, _positive(seconds), 0, step)
    record.extra["analysis"] = found.to_json()
    return found


@dataclass(frozen=True)
class SearchTree:
    """The nodes of a search in search order, the root first."""

    game: Game
    start: State
    agent: str
    nodes: Sequence[Node]

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<SearchTree of {self.agent}: {len(self)} nodes>"

    def to_html(self) -> str:
        """Return the tree as one HTML document, for any browser."""
        from connect4.views.tree import tree_page  # late, as above

        return tree_page(self.game, self.start, self.agent, self.nodes)

    def _repr_html_(self) -> str:
        return document.frame(self.to_html())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML document; raises `InputError` if the file cannot be written."""
        safe.write_text(Path(path), self.to_html(), "the page")


def search_tree(
    agent: str,
    start: Start = None,
    *,
    game: str | None = None,
    seconds: Seconds = DEFAULT_SECONDS,
    seed: int = 0,
) -> SearchTree:
    """Return the tree of an agent's search from a position.

    For an iterative deepening search, it is the tree of the last completed depth. A student's file
    needs the method `explain` (see docs/students.md) and runs in a separate process. Raises
    `InputError` if the agent does not search a tree.

    >>> tree = search_tree("alphabeta:depth=2", "case4")
    >>> tree
    <SearchTree of alphabeta:depth=2: 43 nodes>
    """
    rules, position = _position(start, game)
    name = _agent(agent, rules, position)
    setup = Setup(name, position.mover, rules, _positive(seconds), seed)
    from connect4.views.tree import explain  # late, as above

    return SearchTree(rules, position, name.text, explain(setup, position))

"""The Python API behind `import connect4`: positions, games, search trees, advice.

No function here ends the process or leaves another one running, even if it is interrupted. Only
`play` prints, if a person plays.
"""

import importlib
import operator
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from connect4 import safe
from connect4.config import DEFAULT_SECONDS
from connect4.errors import AgentError, IllegalAction, InputError, headline
from connect4.games import begin, find_game, load_start
from connect4.games.base import Game, Player, Seconds, State
from connect4.isolation.seat import InProcessSeat, Level, choose_level, open_seat
from connect4.players.base import AgentName, Method, Outcome, Seat, Setup, Turn, thought_of
from connect4.players.human import HumanSeat
from connect4.players.local import KIND, LocalAgent, local_name
from connect4.players.registry import build, check_board, method_of, parse_agent
from connect4.players.thoughts import PASS, checked, said_by
from connect4.record import Record
from connect4.referee import TurnEnded, step
from connect4.search import Move, Thought
from connect4.search.trace import Flag, Node, with_children
from connect4.table import Table, Terms
from connect4.views import document

if TYPE_CHECKING:
    from connect4.analysis.costs import Analysis

Agent: TypeAlias = Any
"""An agent's name (`"alphabeta:depth=4"`, `"ai:FILE"`), or an object that plays in this process."""

Start: TypeAlias = "State | str | os.PathLike[str] | None"
"""A position, the name of a state file, or None for the default start of the game."""

DEFAULT_GAME: Final = "extended"

FILES: Final = ("ai", "kaggle", "env")
"""Kinds of agents that run a file of somebody's, always in a process of its own by default."""


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


def _position(start: Start, name: str | None) -> tuple[Game, State]:
    """Return the game and the position of an argument; raises `InputError`."""
    usual = start.game.name if isinstance(start, State) else DEFAULT_GAME
    game = find_game(usual if name is None else name)
    state = begin(game, start, None, None, {})
    if state.game is not game:
        raise InputError(f"the position is one of {state.game.name}, not of {game.name}")
    return game, state


def play(
    one: Agent,
    two: Agent,
    start: Start = None,
    *,
    game: str | None = None,
    seconds: Seconds = DEFAULT_SECONDS,
    seed: int | None = None,
    isolation: str | None = None,
    ask: Method | None = None,
    progress: bool = False,
    on_turn: Callable[[State, Turn], object] | None = None,
) -> Record:
    """Play one game between two agents and return its record.

    An agent is a name, as on the command line (`human` is a person), or an object (`docs/api.md`).
    `start` is a position or a state file, `seconds` the limit of a move. With the same `seed`, a
    game between deterministic agents repeats. `ask` selects the method of `AIPlayer`, in place of
    the opponent. `on_turn(position, turn)` is called after each turn; `progress=True` shows a bar.

    A game with a file (`ai:`, `kaggle:`, `env:`) runs its named agents in processes of their own,
    any other in this process, where a move that never returns cannot be stopped. `isolation`
    (`auto`, `strong`, `process`, `none`) decides otherwise, but not for an object.

    A late, illegal or failed turn is a fault in the record. Raises `InputError` for a wrong
    argument, `IsolationError` if the machine cannot run an agent.

    >>> play("greedy", "random", "case1", seconds=1, seed=7)
    <Record of extended: greedy 234, random 98; player 1 wins (no_action), 72 turns>
    """
    rules, position = _position(start, game)
    names = _agent(one, rules, position), _agent(two, rules, position)
    _check_method(ask)
    terms = Terms(_positive(seconds), _seed(seed), level=level_for(isolation, *names), method=ask)

    def seat_here(player: Player) -> Seat:
        method = method_of(names[player - 1], names[2 - player], ask)
        setup = Setup(names[player - 1], player, rules, seconds, terms.seed, method)
        return _seat((one, two)[player - 1], setup)

    with ExitStack() as stack:
        table = stack.enter_context(Table(rules, position, names, terms, seat_here))
        bar = show_progress(stack, "turns") if progress else None
        for event in table.events():
            if bar is not None and isinstance(event, TurnEnded):
                bar.set_postfix_str("{}:{}".format(*event.state.scores()), refresh=False)
                bar.update()
            if on_turn is not None and isinstance(event, TurnEnded):
                on_turn(event.state, event.turn)
    return table.record


def think(
    agent: Agent,
    state: Start = None,
    seconds: Seconds | None = None,
    seed: int | None = None,
    ask: Method = "intelligent",
) -> Thought:
    """Return the action that an agent chooses in a position, and what it says about it.

    `agent` is a name or an object, as in `play`. A file runs in a process of its own. `seconds` is
    the limit of the move; None is no limit for the kit's agents, and 20 s for all others. A file or
    an object says more than its action only if it sets `self.thought`. Raises `InputError` if there
    is nothing to choose, `IllegalAction` for an illegal answer, and `AgentError` if the agent fails
    or a file is late.

    >>> thought = think("minimax:depth=2", start("classic"))
    >>> thought.action, thought.value, thought.depth, thought.nodes
    (3, -6, 2, 65)
    """
    rules, position = _position(state, None)
    name = _agent(agent, rules, position)
    if name.kind == "human":
        raise InputError(f"agent {name.text!r} is no program")
    if not position.legal_actions():
        raise InputError("the side to move has no action in that position")
    _check_method(ask)
    limit = None if seconds is None else _positive(seconds)
    if limit is None and name.kind in (*FILES, KIND):
        limit = DEFAULT_SECONDS
    method = method_of(name, name, ask)
    setup = Setup(name, position.mover, rules, limit or DEFAULT_SECONDS, _seed(seed), method)
    if name.kind in FILES:
        return _answer_of_file(setup, position)
    player = LocalAgent(agent, setup) if name.kind == KIND else build(setup)
    began = time.monotonic()
    action = player.choose(position, limit)
    took = time.monotonic() - began
    thought = thought_of(player)
    if not isinstance(thought, Thought):
        thought = _as_thought(action, checked(said_by(player), rules)[0], rules)
    return replace(thought, seconds=took)


def _as_thought(action: Any, said: Mapping[str, Any], game: Game) -> Thought:
    """Return a thought from its form in a record."""
    read = game.parse_action
    values = {read(text): value for text, value in said.get("values", {}).items()}
    line = tuple(None if text == PASS else read(text) for text in said.get("line", ()))
    return Thought(action, **{**said, "values": values, "line": line})


def _answer_of_file(setup: Setup, state: State) -> Thought:
    """Return a file's answer from a process; raises `IllegalAction` or `AgentError`."""
    with closing(open_seat(setup, level_for(None, setup.agent))) as seat:
        turn, _ = step(1, state, seat.ask(state, setup.seconds))
    if turn.outcome is Outcome.PLAYED:
        thought = _as_thought(turn.action, turn.thought or {}, setup.game)
        return replace(thought, seconds=turn.seconds)
    why = turn.detail or turn.outcome.value
    said = f"agent {setup.agent.text!r}: {headline(why)}"
    raise IllegalAction(said) if turn.outcome is Outcome.INVALID else AgentError(said, why)


def _seed(seed: int | None) -> int:
    """Return a seed, at random if none was given; raises `InputError`."""
    try:
        return random.SystemRandom().randrange(2**31) if seed is None else operator.index(seed)
    except TypeError:
        raise InputError(f"{seed!r} is not a seed; expected a whole number") from None


def _check_method(ask: Method | None) -> None:
    """Raise `InputError` if `ask` names no method of `AIPlayer`."""
    if ask not in (None, *get_args(Method)):
        raise InputError(f"ask={ask!r}: expected one of {', '.join(get_args(Method))}")


def level_for(isolation: str | None, *agents: AgentName) -> Level:
    """Return the level at which a game runs its named agents; raises `InputError`.

    If `isolation` is None, only a game with a file needs processes. Objects have no level.
    """
    if isolation is None:
        isolation = "auto" if any(agent.kind in FILES for agent in agents) else "none"
    level, _ = choose_level(isolation)
    return "none" if all(agent.kind == KIND for agent in agents) else level


def _seat(agent: Agent, setup: Setup) -> Seat:
    """Return the seat of a person or of an object."""
    if setup.agent.kind == "human":
        return HumanSeat(setup.game, setup.player, input, print, show=_show)
    return InProcessSeat(setup, lambda setup: LocalAgent(agent, setup))


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
        raise InputError(f"{seconds!r} is not a time limit; expected seconds above 0 and below 1e6")
    return seconds


def show_progress(stack: ExitStack, unit: str) -> Any:
    """Return a tqdm progress bar that `stack` closes.

    Raises `InputError` if tqdm is missing.
    """
    try:
        return stack.enter_context(importlib.import_module("tqdm.auto").tqdm(unit=f" {unit}"))
    except ImportError:
        raise InputError("progress=True needs tqdm: pip install -e '.[progress]'") from None


def analyse(record: Record, *, seconds: Seconds = 1.0) -> "Analysis":
    """Return the cost of each move of a game; each search takes `seconds`.

    The record stores the result, so its page shows it and `record.save` writes it. The searches run
    one after the other in this process; `python3 -m connect4.analysis` uses all cores.

    >>> record = play("random", "random", start("classic"), seconds=1, seed=3)
    >>> advice = analyse(record, seconds=0.02)
    >>> len(advice.costs) == len(record.turns)
    True
    """
    from connect4.analysis import costs  # late, as the searches take time to load

    found = costs.analyse(record, _positive(seconds), 0)
    record.extra["analysis"] = found.to_json()
    return found


@dataclass(frozen=True)
class SearchTree:
    """The nodes of a search in search order, the root first; each has its `children`."""

    game: Game
    start: State
    agent: str
    nodes: Sequence[Node]

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<SearchTree of {self.agent}: {len(self)} nodes>"

    @property
    def best(self) -> Move:
        """The action that the search chose; None is a pass."""
        return self._chosen.move

    @property
    def value(self) -> float | None:
        """The value of that action for the side to move."""
        return self._chosen.value

    @property
    def _chosen(self) -> Node:
        root = self.nodes[0]
        return next((node for node in root.children if Flag.BEST in node.flags), root)

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
    agent: Agent,
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
    >>> tree, tree.best, tree.value
    (<SearchTree of alphabeta:depth=2: 43 nodes>, (2, False), -2)
    """
    if not isinstance(agent, str):
        shown = getattr(agent, "__name__", type(agent).__name__)
        raise InputError(f"{shown}: search_tree takes an agent's name, such as ai:FILE")
    rules, position = _position(start, game)
    name = _agent(agent, rules, position)
    setup = Setup(name, position.mover, rules, _positive(seconds), _seed(seed))
    from connect4.views.tree import explain  # late, as above

    return SearchTree(rules, position, name.text, with_children(explain(setup, position)))

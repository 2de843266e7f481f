"""Positions whose answer is known exactly, and what an agent answers in them.

A skill has a few positions with one clearly right action; a position of the kind `regret` has the
value of every action. `positions.txt` has both. Part A is play against the uniformly random player,
part B against best play. `questions` says what the answers suggest, `report` prints them.
"""

import math
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest
from pathlib import Path
from queue import SimpleQueue
from statistics import fmean, stdev
from typing import Final, cast

import numpy as np

from connect4 import config
from connect4.errors import IllegalAction, InputError
from connect4.games import extended
from connect4.games.base import Seconds, opponent
from connect4.games.extended import ExtendedState
from connect4.games.falling import ExtendedAction, parse_action
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import LEVELS, IsolatedSeat, Level, open_seat
from connect4.players.base import Outcome, Setup, Turn
from connect4.referee import step
from grader.handin.positions import METHOD_OF, Part

POSITIONS: Final = Path(__file__).with_name("positions.txt")

REGRET: Final = "regret"
"""The kind of the positions in which every action has a value."""

KILLS: Final = "kills_"
"""The beginning of a kind whose positions tell one bug from play without it; its name follows."""

POINTS: Final = [0, 0, 2, 5, 20]
"""The points of runs for which the answers hold."""

LEAST: Final = 0.2
"""The seconds of a move; a file that needs more gets more."""

TWIN_OF_EACH: Final = 5
"""Of each skill, one position in so many is asked with the sides exchanged too."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A position with its right actions; of the kind `regret` also with the value of each action.

    A value is the mover's final margin, in the order of `legal_actions`: with best play of both
    sides in part B, the expected one against the random player in part A.
    """

    part: Part
    kind: str
    state: ExtendedState
    right: tuple[ExtendedAction, ...]
    values: tuple[float, ...] = ()
    is_twin: bool = False
    """Whether this is a position of the file with the sides exchanged."""

    @property
    def is_skill(self) -> bool:
        """Return whether the position is one of a skill, as it stands in the file."""
        return not (self.is_twin or self.kind == REGRET or self.kind.startswith(KILLS))

    def regret(self, action: ExtendedAction | None) -> float:
        """Return the points that an action gives away; for None those of the worst action."""
        place = None if action is None else self.state.legal_actions().index(action)
        return max(self.values) - (min(self.values) if place is None else self.values[place])

    def twin(self) -> "Solved":
        """Return the same position of a skill with players and columns exchanged."""
        board = self.state.board()[:, ::-1]
        exchanged = np.where(board > 0, 3 - board, 0)
        one, two = self.state.popouts
        state = extended.position(exchanged, (two, one), opponent(self.state.mover))
        last = self.state.grid.columns - 1
        right = tuple(sorted((last - column, popout) for column, popout in self.right))
        return Solved(self.part, self.kind, state, right, is_twin=True)


def largest(positions: Iterable[Solved]) -> ExtendedState:
    """Return the position on the largest board, of which a file is asked first."""
    return max((one.state for one in positions), key=lambda state: state.board().size)


def text_of(state: ExtendedState) -> str:
    """Return a position in one line: rows, columns, pop-outs of each, mover, columns from below."""
    rows, columns = state.shape
    board = state.board()
    stacks = ("".join(str(token) for token in column[::-1] if token) for column in board.T.tolist())
    one, two = state.popouts
    return f"{rows} {columns} {one} {two} {state.mover} {'/'.join(stacks)}"


def state_of(text: str) -> ExtendedState:
    """Return the position that `text_of` wrote; raises `ValueError`."""
    *numbers, stacked = text.split(" ")
    rows, columns, one, two, mover = map(int, numbers)
    stacks = stacked.split("/")
    fits = len(stacks) == columns and max(map(len, stacks)) <= rows and set(stacked) <= {*"12/"}
    if not fits or columns % 2 or mover not in (1, 2) or min(one, two, rows - 1) < 0:
        raise ValueError(f"{' '.join(numbers)} and {stacked} are no position")
    board = np.zeros((rows, columns), dtype=np.int64)
    for column, stack in enumerate(stacks):
        for height, token in enumerate(stack):
            board[rows - 1 - height, column] = int(token)
    return extended.position(board, (one, two), 1 if mover == 1 else 2)


def linked_state(text: str) -> ExtendedState:
    """Return the position of a link to the playground: `text_of` with `_` for each space.

    Raises `InputError`.
    """
    try:
        return state_of(text.replace("_", " "))
    except ValueError:
        raise InputError(f"the link names no position: #{text}") from None


FORM: Final = "PART KIND ROWS COLUMNS POPOUTS1 POPOUTS2 MOVER STACKS RIGHT"


def read(path: Path = POSITIONS) -> list[Solved]:
    """Return the positions of a file; raises `InputError` with the line that is wrong.

    A line is `FORM`: the stacks are the columns from below, separated by `/`; `RIGHT` has the right
    actions (`3|4P`), for the kind `regret` the value of each legal action, separated by commas.
    Lines that begin with `#` are comments.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                found.append(_solved(line.rstrip()))
            except (ValueError, IllegalAction) as error:
                raise InputError(f"{path}:{number}: expected {FORM}: {error}") from None
    return found


def _solved(line: str) -> Solved:
    """Return the position of a line; raises `ValueError`."""
    part, kind, rest = line.split(" ", 2)
    position, _, known = rest.rpartition(" ")
    if part not in METHOD_OF:
        raise ValueError(f"part {part!r} is neither a nor b")
    state = state_of(position)
    legal = state.legal_actions()
    if kind == REGRET:
        values = tuple(map(float, known.split(",")))
        if not all(map(math.isfinite, values)):
            raise ValueError(f"{known} is no number for each legal action")
        best = tuple(a for a, value in zip(legal, values, strict=True) if value == max(values))
        return Solved(part, kind, state, best, values)
    right = tuple(map(parse_action, known.split("|")))
    if not set(right) <= set(legal):
        raise ValueError(f"{known} is not legal there")
    return Solved(part, kind, state, right)


def in_order(positions: Iterable[Solved]) -> list[Solved]:
    """Return positions in the order of asking, with twins of some.

    First come skills, of all kinds in turn, and twins; then the others in a fixed random order.
    """
    kinds: dict[tuple[str, str], list[Solved]] = {}
    others = []
    for solved in positions:
        if solved.is_skill:
            kinds.setdefault((solved.part, solved.kind), []).append(solved)
        else:
            others.append(solved)
    first = []
    for number, row in enumerate(zip_longest(*kinds.values())):
        skills = [solved for solved in row if solved is not None]
        twins = [solved.twin() for solved in skills] if number % TWIN_OF_EACH == 0 else []
        first += [*skills, *twins]
    random.Random(1).shuffle(others)
    return first + others


def known_positions(more: Path | None) -> list[Solved]:
    """Return the kit's positions and those of another file, in the order in which they are asked.

    Raises `InputError` for a wrong file, and if runs have other points than the answers hold for.
    """
    if config.win_pts != POINTS:
        raise InputError(
            f"connect4/config.py: win_pts is {config.win_pts}; the answers of the positions hold "
            f"for {POINTS} only"
        )
    return in_order([*read(), *(read(more) if more is not None else ())])


# -- asking


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answered in a position: a turn, as the referee of a game judges it."""

    solved: Solved
    turn: Turn

    @property
    def action(self) -> ExtendedAction | None:
        """Return the action, None for an answer that is late, illegal or an error."""
        action: ExtendedAction | None = self.turn.action
        return action

    @property
    def is_right(self) -> bool:
        return self.action in self.solved.right

    @property
    def regret(self) -> float:
        """Return the points that it gives away, those of the worst action for a fault."""
        return self.solved.regret(self.action)


def ask(
    setup: Setup,
    level: Level,
    limits: Limits,
    positions: Sequence[Solved],
    seconds: Seconds,
    jobs: int = 1,
) -> Iterator[Answer]:
    """Yield an agent's answers, each of a new player, until `seconds` are over.

    `setup` names the agent and the time of a move; `jobs` positions are asked at once, at an exact
    level one, because its library is for one thread. A turn that is late because the machine was
    too busy is left out.
    """
    from grader.play.one_game import spread  # late: a browser has none of it

    jobs = 1 if LEVELS[level].exact else jobs
    end = time.monotonic() + seconds
    seats = SimpleQueue[IsolatedSeat]()

    def answer(number: int, solved: Solved) -> Turn:
        method, player = METHOD_OF[solved.part], solved.state.mover
        seat = seats.get()
        try:
            seat.restart(replace(setup, player=player, method=method, seed=number))
            return step(1, solved.state, seat.ask(solved.state, setup.seconds))[0]
        finally:
            seats.put(seat)

    with ExitStack() as stack:
        for _ in range(jobs):
            seat = cast("IsolatedSeat", open_seat(setup, level, limits))
            seats.put(stack.enter_context(closing(seat)))
        executor = stack.enter_context(ThreadPoolExecutor(jobs))
        numbered = ((solved, (number, solved)) for number, solved in enumerate(positions))
        ahead = takewhile(lambda _: time.monotonic() < end, numbered)
        for solved, future in stack.enter_context(closing(spread(executor, answer, ahead, jobs))):
            turn = future.result()
            if not (turn.starved and turn.outcome is Outcome.TIMEOUT):
                yield Answer(solved, turn)


# -- results


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of points a move, with half of its 95 % interval (nan for fewer than two)."""

    value: float
    half: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.half:.2f}" if self.count > 1 else "-"


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of points a move."""
    if len(values) < 2:
        return Mean(values[0] if values else math.nan, math.nan, len(values))
    return Mean(fmean(values), 1.96 * stdev(values) / math.sqrt(len(values)), len(values))


@dataclass(frozen=True, slots=True)
class Practice:
    """The answers of an agent. It has no total: skills are not strength."""

    agent: str
    seconds: Seconds
    """The time of a move."""
    positions: tuple[Solved, ...]
    """All positions; those without an answer were not asked."""
    answers: tuple[Answer, ...]
    remark: str = ""
    """What to know of the place where it was asked."""

    @property
    def plays(self) -> bool:
        """Return whether an answer is a valid action; without one nothing is known of skills."""
        return any(answer.action for answer in self.answers)

    @property
    def skills(self) -> dict[tuple[Part, str], int]:
        """Return the number of positions of each skill, those of part B first."""
        kinds = Counter((one.part, one.kind) for one in self.positions if one.is_skill)
        return dict(sorted(kinds.items(), key=lambda item: item[0][0], reverse=True))

    def skill(self, part: Part, kind: str) -> list[Answer]:
        """Return the answers in the positions of a skill."""
        own = (a for a in self.answers if a.solved.is_skill)
        return [a for a in own if (a.solved.part, a.solved.kind) == (part, kind)]

    @property
    def unseen(self) -> list[tuple[Part, str]]:
        """Return the skills of which the agent has less than half of the answers right."""
        found = ((skill, self.skill(*skill)) for skill in self.skills)
        return [skill for skill, own in found if 2 * sum(a.is_right for a in own) < len(own)]

    def regrets(self, part: Part) -> list[Answer]:
        """Return the answers in the positions of a part in which every action has a value."""
        return [a for a in self.answers if (a.solved.part, a.solved.kind) == (part, REGRET)]

    def points_lost(self, part: Part) -> Mean:
        """Return the points that a move gives away."""
        return mean_of([answer.regret for answer in self.regrets(part)])

    def points_won(self, old: "Practice", part: Part) -> Mean:
        """Return how many points less a move gives away than one of `old`, position by position."""
        before = {text_of(answer.solved.state): answer.regret for answer in old.regrets(part)}
        own = ((text_of(answer.solved.state), answer.regret) for answer in self.regrets(part))
        return mean_of([before[place] - regret for place, regret in own if place in before])


def pairs_of(answers: Iterable[Answer]) -> list[tuple[Answer, Answer]]:
    """Return the answers in skills that were asked from both sides: player 1's, player 2's."""
    found: dict[tuple[str, str, str], list[Answer]] = {}
    for answer in sorted(answers, key=lambda one: one.solved.state.mover):
        solved = answer.solved.twin() if answer.solved.is_twin else answer.solved
        if solved.kind != REGRET:
            asked = (solved.part, solved.kind, text_of(solved.state))
            found.setdefault(asked, []).append(answer)
    return [(pair[0], pair[1]) for pair in found.values() if len(pair) == 2]

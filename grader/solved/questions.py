"""What the answers suggest: questions to the author.

A `Fault` is a typical mistake, told as what a player that makes it sees when it looks one move
ahead. Where that player prefers an action that is neither right nor the choice of a player without
the mistake, the file's answer decides. The other rules go by shares of answers; a share of few
answers is nan, and no rule holds for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Final, NamedTuple, TypeAlias

from connect4.games.base import opponent
from connect4.games.board import Grid
from connect4.games.extended import ExtendedState, points_of
from connect4.games.falling import ExtendedAction
from connect4.players.base import Outcome
from grader.marks.tally import METHOD_OF, Part
from grader.solved import KILLS, REGRET, Answer

SOUND: Final = 0.95
"""A file with a larger share of right answers has no fault of `FAULTS`."""

FEW: Final = 4
"""A share of fewer answers is unknown."""


# -- faults: what a player sees that makes one of them

Tokens: TypeAlias = tuple[int, int]
"""The tokens of player 1 and of player 2, as masks."""

Move: TypeAlias = Callable[[ExtendedState, int], Tokens]
"""Returns the tokens after a drop into a column, or a pop-out of it."""


def _height(state: ExtendedState, column: int) -> int:
    return ((state.one | state.two) & state.grid.column_cells[column]).bit_count()


def _placed(state: ExtendedState, column: int, height: int) -> Tokens:
    """Return the tokens with one of the mover's in a cell, whatever was there."""
    token = state.grid.bottoms[column] << height & state.grid.column_cells[column]
    one, two = state.one & ~token, state.two & ~token
    return (one | token, two) if state.mover == 1 else (one, two | token)


def _dropped(state: ExtendedState, column: int) -> Tokens:
    return _placed(state, column, _height(state, column))


def _token_of_one(state: ExtendedState, column: int) -> Tokens:
    one, two = _dropped(state, column)
    token = (one | two) & ~(state.one | state.two)
    return one | token, two & ~token


def _upwards(state: ExtendedState, column: int) -> Tokens:
    cells = state.grid.column_cells[column]
    one, two = (own & ~cells | (own & cells) << 1 & cells for own in (state.one, state.two))
    return one, two


def _popped(state: ExtendedState, column: int) -> Tokens:
    bottom, cells = state.grid.drops[column]
    one, two = (own & ~cells | (own & cells & ~bottom) >> 1 for own in (state.one, state.two))
    return one, two


def _cleared(state: ExtendedState, column: int, height: int) -> Tokens:
    """Return the tokens without the one in a cell."""
    cell = state.grid.bottoms[column] << height
    return state.one & ~cell, state.two & ~cell


@cache
def _grid(rows: int, columns: int, seen: Sequence[int]) -> Grid:
    """Return a grid with some of the directions: up a column, along a row, falling, rising."""
    grid = Grid(rows, columns, 4)
    grid.shifts = tuple(grid.shifts[direction] for direction in seen)
    return grid


def _points(state: ExtendedState, tokens: Tokens) -> tuple[int, int]:
    """Return the points of the mover and of the opponent."""
    one, two = points_of(state.grid, tokens[0]), points_of(state.grid, tokens[1])
    return (one, two) if state.mover == 1 else (two, one)


def _margin(state: ExtendedState, tokens: Tokens) -> int:
    own, other = _points(state, tokens)
    return own - other


def _margin_of(player: int) -> Callable[[ExtendedState, Tokens], int]:
    return lambda state, tokens: _margin(state, tokens) * (1 if state.mover == player else -1)


def _seeing(*seen: int) -> Callable[[ExtendedState, Tokens], int]:
    """Return the margin of runs in some of the directions of `_grid`."""

    def margin(state: ExtendedState, tokens: Tokens) -> int:
        one, two = (points_of(_grid(*state.shape, seen), own) for own in tokens)
        return one - two if state.mover == 1 else two - one

    return margin


def _after(state: ExtendedState, tokens: Tokens, of_same: bool) -> int:
    """Return the mover's best margin after another move, of the same player or of the opponent."""
    mover = state.mover if of_same else opponent(state.mover)
    after = ExtendedState(state.grid, *tokens, mover, state.popouts, state.maximum)
    margins = (after.apply(action).margin(state.mover) for action in after.legal_actions())
    return max(margins, default=after.margin(state.mover))


class Fault(NamedTuple):
    """A mistake: its question, and how a player that makes it moves and values a position."""

    question: str
    drop: Move = _dropped
    pop: Move = _popped
    worth: Callable[[ExtendedState, Tokens], float] = _margin

    def preferred(self, state: ExtendedState) -> set[ExtendedAction]:
        """Return the actions that the player prefers."""
        values = {
            action: self.worth(state, (self.pop if action[1] else self.drop)(state, action[0]))
            for action in state.legal_actions()
        }
        best = max(values.values())
        return {action for action, value in values.items() if value == best}


NO_FAULT: Final = Fault("")

SIGN: Final = Fault(
    "Prefers what is worst for it: is the sign of your evaluation right, and do you choose the "
    "largest value?",
    worth=lambda state, tokens: -_margin(state, tokens),
)

ONE: Final = "Plays for player 1 on both sides: does something ask for player 1?"

FAULTS: Final = (
    SIGN,
    Fault(
        "Counts its own points alone: are the opponent's points subtracted?",
        worth=lambda state, tokens: _points(state, tokens)[0],
    ),
    Fault(
        "Counts the opponent's points alone: are your own points added?",
        worth=lambda state, tokens: -_points(state, tokens)[1],
    ),
    Fault(ONE, worth=_margin_of(1)),
    Fault(ONE, _token_of_one, worth=_margin_of(1)),
    Fault(
        "Plays for player 2 on both sides: does something ask for player 2?",
        worth=_margin_of(2),
    ),
    Fault(
        "Drops a token of player 1 on both sides: whose token does your own move add?",
        _token_of_one,
    ),
    Fault("Does not see diagonals: are both of them counted?", worth=_seeing(0, 1)),
    Fault("Does not see falling diagonals: are both diagonals counted?", worth=_seeing(0, 1, 3)),
    Fault("Does not see rising diagonals: are both diagonals counted?", worth=_seeing(0, 1, 2)),
    Fault("Does not see rows: are runs across the board counted?", worth=_seeing(0, 2, 3)),
    Fault(
        "Drops as if a token stayed in the top cell: does your own move fall?",
        lambda state, column: _placed(state, column, state.grid.rows - 1),
    ),
    Fault(
        "Drops as if a token stopped one cell too high: where does your own move land?",
        lambda state, column: _placed(
            state, column, min(_height(state, column) + 1, state.grid.rows - 1)
        ),
    ),
    Fault(
        "Plays as if row 0 were the bottom: it is the top row of the array.",
        lambda state, column: _placed(state, column, state.grid.rows - 1 - _height(state, column)),
        _upwards,
    ),
    Fault(
        "Drops as if a token landed one column further left: is the column right?",
        lambda state, column: _placed(
            state, (column - 1) % state.grid.columns, _height(state, column)
        ),
    ),
    Fault(
        "Drops as if a token landed one column further right: is the column right?",
        lambda state, column: _placed(
            state, (column + 1) % state.grid.columns, _height(state, column)
        ),
    ),
    Fault(
        "Plays as if the board were mirrored: do you count columns from the left?",
        lambda state, column: _dropped(state, state.grid.columns - 1 - column),
        lambda state, column: _popped(state, state.grid.columns - 1 - column),
    ),
    Fault(
        "Pops out as if the tokens above stayed where they are: do they fall?",
        pop=lambda state, column: _cleared(state, column, 0),
    ),
    Fault(
        "Pops out as if the top token went: it is the bottom one.",
        pop=lambda state, column: _cleared(state, column, _height(state, column) - 1),
    ),
    Fault(
        "Pops out as if it were the next column: is the column right?",
        pop=lambda state, column: _popped(state, (column + 1) % state.grid.columns),
    ),
    Fault(
        "Expects replies that help it: does the opponent choose the smallest value?",
        worth=lambda state, tokens: _after(state, tokens, of_same=False),
    ),
    Fault(
        "Expects to move twice in a row: whose turn is it in your search?",
        worth=lambda state, tokens: _after(state, tokens, of_same=True),
    ),
)


# -- questions


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the author, with an answer that made it likely."""

    text: str
    evidence: Answer


class Seen:
    """The answers that the questions are about: all but those of the kind `regret`."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self.all = [answer for answer in answers if answer.solved.kind != REGRET]
        self.valid = [answer for answer in self.all if answer.action is not None]
        self.skills = [a for a in self.valid if not a.solved.kind.startswith(KILLS)]

    def right(self, part: Part, *kinds: str) -> float:
        """Return the share of right answers of some kinds."""
        own = (a for a in self.valid if a.solved.part == part and a.solved.kind in kinds)
        return share([answer.is_right for answer in own])


def share(found: Sequence[bool]) -> float:
    """Return the share of what holds, nan for few."""
    return sum(found) / len(found) if len(found) >= FEW else math.nan


def questions(answers: Iterable[Answer]) -> list[Question]:
    """Return at most three questions; none where nothing is clear.

    A rule holds only where those before it do not, because their faults look like many others.
    """
    seen = Seen(answers)
    for rule in RULES:
        if found := rule(seen):
            return found
    return []


def _on_no_answers(seen: Seen) -> list[Question]:
    text = "Answers nothing in its time: does your file keep more in reserve?"
    late = [answer for answer in seen.all if answer.turn.outcome is Outcome.TIMEOUT]
    return [Question(text, late[0])] if late and not seen.valid else []


def _on_one_action(seen: Seen) -> list[Question]:
    """Return a question for each method that plays the first or the last action nearly always."""
    found = []
    for part, method in METHOD_OF.items():
        own = [answer for answer in seen.skills if answer.solved.part == part]
        if len(own) < 10 or all(answer.is_right for answer in own):
            continue
        text = ""
        if share([a.action == a.solved.state.legal_actions()[0] for a in own]) >= 0.8:
            text = (
                "the first valid action nearly always: does the search finish, and does each "
                "action get its own value, from its own copy of the board?"
            )
        elif (
            share([a.action == a.solved.state.legal_actions()[-1] for a in own]) >= 0.4
            and share([answer.is_right for answer in own]) <= 0.4
        ):
            text = "the last valid action often: is each tried on its own copy of the board?"
        if text:
            wrong = next(answer for answer in own if not answer.is_right)
            found.append(Question(f"get_{method}_move answers {text}", wrong))
    return found


def _on_popouts(seen: Seen) -> list[Question]:
    """Return the question on a file that never pops out, or whenever it can."""
    due: list[Answer] = []
    not_due: list[Answer] = []
    for answer in seen.valid:
        kinds = {popout for _, popout in answer.solved.state.legal_actions()}
        right = {popout for _, popout in answer.solved.right}
        if len(kinds) == 2 and len(right) == 1:
            (due if right == {True} else not_due).append(answer)
    if min(len(due), len(not_due)) < 10:
        return []
    pops = [answer for answer in not_due if answer.action in _popouts(answer)]
    if not pops and not any(answer.action in _popouts(answer) for answer in due):
        text = (
            "Never pops out: do your actions include pop-outs, of even columns for player 1 and of "
            "odd ones for player 2?"
        )
        return [Question(text, due[0])]
    if len(pops) >= 0.8 * len(not_due) and share([answer.is_right for answer in due]) >= 0.5:
        return [Question("Pops out whenever it can: do your actions include drops?", pops[0])]
    return []


def _popouts(answer: Answer) -> list[ExtendedAction]:
    return [action for action in answer.solved.state.legal_actions() if action[1]]


def _on_faults(seen: Seen) -> list[Question]:
    """Return the question of the fault that explains most of the answers that it tells apart."""
    if not seen.valid or share([answer.is_right for answer in seen.valid]) >= SOUND:
        return []
    told: list[list[Answer]] = [[] for _ in FAULTS]
    fitting: list[list[Answer]] = [[] for _ in FAULTS]
    for answer in seen.valid:
        state = answer.solved.state
        plain = NO_FAULT.preferred(state).union(answer.solved.right)
        for number, fault in enumerate(FAULTS):
            chosen = fault.preferred(state)
            if not chosen & plain:
                told[number].append(answer)
                if answer.action in chosen:
                    fitting[number].append(answer)
    fit = [
        len(hits) / len(all_of) if len(all_of) >= 8 else 0.0
        for hits, all_of in zip(fitting, told, strict=True)
    ]
    best = FAULTS.index(SIGN) if fit[FAULTS.index(SIGN)] >= 0.5 else fit.index(max(fit))
    text, count = FAULTS[best].question, len(told[best])
    second = max(fit[place] for place, fault in enumerate(FAULTS) if fault.question != text)
    is_clear = fit[best] >= (0.7 if count < 15 else 0.55)
    stands_out = count >= 25 and fit[best] >= 0.45 and fit[best] >= 1.5 * second
    return [Question(text, fitting[best][0])] if is_clear or stands_out else []


def _on_columns(seen: Seen) -> list[Question]:
    """Return the question on columns that are never played."""
    limits: tuple[tuple[Callable[[ExtendedState], int], str], ...] = (
        (lambda state: 7, "after column 6: does a loop end at 7 columns?"),
        (
            lambda state: state.grid.rows,
            "whose number is the number of rows or more: are rows and columns exchanged?",
        ),
    )
    for limit, text in limits:
        beyond: list[Answer] = []
        others: list[Answer] = []
        for answer in seen.valid:
            first = limit(answer.solved.state)
            due = all(column >= first for column, _ in answer.solved.right)
            (beyond if due else others).append(answer)
        played = (a for a in seen.valid if a.action and a.action[0] >= limit(a.solved.state))
        right = share([answer.is_right for answer in others])
        if len(beyond) >= 6 and right >= 0.6 and next(played, None) is None:
            return [Question(f"Plays in no column {text}", beyond[0])]
    return []


def _on_the_start(seen: Seen) -> list[Question]:
    """Return the question on a search whose best value starts above values that come."""
    behind: list[tuple[Answer, bool, bool]] = []
    ahead: list[tuple[Answer, bool, bool]] = []
    for answer in seen.all:
        margin, turn = _kept(answer.solved.state), answer.turn
        nothing = turn.outcome is Outcome.INVALID and "not None" in (turn.detail or "")
        first = answer.action == answer.solved.state.legal_actions()[0] and not answer.is_right
        if margin and answer.solved.part == "b":
            (behind if margin < 0 else ahead).append((answer, nothing, first))
    for place, what in ((1, "nothing"), (2, "the first valid action")):
        lost = [item[0] for item in behind if item[place]]
        kept = share([bool(item[place]) for item in ahead])
        if len(behind) >= 10 and len(lost) >= 0.6 * len(behind) and kept <= 0.1:
            text = (
                f"Answers {what} where every action leaves it behind: does the best value begin "
                "below every other value?"
            )
            return [Question(text, lost[0])]
    return []


def _kept(state: ExtendedState) -> float:
    """Return the margin that the mover keeps after the best reply to its best action."""
    other = opponent(state.mover)
    after = (state.apply(action) for action in state.legal_actions())
    return max(
        -max((one.apply(reply).margin(other) for reply in one.legal_actions()), default=0)
        for one in after
    )


KILLED: Final[dict[str, tuple[Part, str]]] = {
    "no_decrement": ("b", "Errs where pop-outs run out: does your search count them down?"),
    "shared_popouts": ("b", "Errs where pop-outs run out: does each try have its own counters?"),
    "mean_own": ("a", "Errs where it moves again: does your side choose the largest value there?"),
}
"""The part of the positions that tell a bug apart, and its question, by the bug's name."""


def _on_kills(seen: Seen) -> list[Question]:
    """Return the question on a bug whose positions go wrong in a file that looks further."""
    if not (seen.right("b", "block_four") >= 0.7 and seen.right("b", "combination") >= 0.6):
        return []
    rights = {bug: seen.right(part, KILLS + bug) for bug, (part, _) in KILLED.items()}
    for bug, (_, text) in KILLED.items():
        others = fmean(right for other, right in rights.items() if other != bug)
        own = [answer for answer in seen.valid if answer.solved.kind == KILLS + bug]
        if len(own) >= 8 and rights[bug] <= 0.1 and others >= 0.6:
            return [Question(text, next(answer for answer in own if not answer.is_right))]
    return []


RULES: Final = (
    *(_on_no_answers, _on_one_action, _on_popouts, _on_faults, _on_columns, _on_the_start),
    _on_kills,
)

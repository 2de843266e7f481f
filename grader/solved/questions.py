"""What the answers suggest: questions to the author, and descriptions that are no fault.

A `Fault` is a typical mistake, told as the value that a player with this mistake gives each action
when it looks one move ahead. Where it prefers an action that is neither right nor the choice of a
player without the mistake, the file's answer decides. Rules over the shares of right answers find
what no such player shows. A share of few answers is nan, and no rule holds for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from connect4.games.base import Player, opponent
from connect4.games.board import Grid
from connect4.games.extended import ExtendedState, points_of
from connect4.games.falling import ExtendedAction
from connect4.players.base import Outcome
from grader.marks.tally import METHOD_OF, Part
from grader.solved import KILLS, REGRET, Answer, text_of

MOST: Final = 3
"""More questions than these are not asked."""

SOUND: Final = 0.95
"""A file with a larger share of right answers has no fault of `FAULTS`."""

FEW: Final = 4
"""A share of fewer answers is unknown."""


# -- faults, as a player with one of them values an action

Value: TypeAlias = Callable[[ExtendedState, ExtendedAction], float]

Tokens: TypeAlias = tuple[int, int]
"""The tokens of player 1 and of player 2, as masks."""

ALL: Final = (0, 1, 2, 3)
"""The directions of `Grid.shifts`: up a column, along a row, two diagonals."""


@cache
def _grid(rows: int, columns: int, seen: Sequence[int]) -> Grid:
    """Return a grid that has some of its directions only."""
    grid = Grid(rows, columns, 4)
    grid.shifts = tuple(grid.shifts[direction] for direction in seen)
    return grid


def _points(state: ExtendedState, tokens: Tokens, seen: Sequence[int] = ALL) -> tuple[int, int]:
    """Return the points of the mover and of the opponent for runs in directions that are seen."""
    grid = _grid(*state.shape, seen)
    one, two = points_of(grid, tokens[0]), points_of(grid, tokens[1])
    return (one, two) if state.mover == 1 else (two, one)


def _margin(state: ExtendedState, tokens: Tokens, seen: Sequence[int] = ALL) -> int:
    own, other = _points(state, tokens, seen)
    return own - other


def _right(state: ExtendedState, action: ExtendedAction) -> float:
    return _margin(state, state.moved(action))


def _seeing(*seen: int) -> Value:
    return lambda state, action: _margin(state, state.moved(action), seen)


def _beside(step: int) -> Value:
    """Return the values of a player that sets its token beside the cell where it would land."""

    def value(state: ExtendedState, action: ExtendedAction) -> float:
        column, popout = action
        if popout:
            return _right(state, action)
        beside = (column + step) % state.grid.columns
        return _margin(state, _placed(state, beside, _height(state, column)))

    return value


def _mirrored(state: ExtendedState, action: ExtendedAction) -> float:
    column, popout = state.grid.columns - 1 - action[0], action[1]
    if popout:
        return _margin(state, _popped(state, column))
    return _margin(state, _placed(state, column, _height(state, column)))


def _popping_next(state: ExtendedState, action: ExtendedAction) -> float:
    column, popout = action
    if not popout:
        return _right(state, action)
    return _margin(state, _popped(state, (column + 1) % state.grid.columns))


def _helped(after: ExtendedState, player: Player) -> float:
    """Return the best margin of a player after the next move."""
    replies = (after.apply(action).margin(player) for action in after.legal_actions())
    return max(replies, default=after.margin(player))


def _dropping(height_of: Callable[[int, int], int]) -> Value:
    """Return the values of a player whose drops land elsewhere in their column."""

    def value(state: ExtendedState, action: ExtendedAction) -> float:
        column, popout = action
        if popout:
            return _right(state, action)
        return _margin(
            state, _placed(state, column, height_of(_height(state, column), state.grid.rows))
        )

    return value


def _popping(change: Callable[[int, int, int], int]) -> Value:
    """Return the values of a player whose pop-outs change the cells of a column in another way.

    `change` gets the tokens of one player in the column, the column's bottom and its top token.
    """

    def value(state: ExtendedState, action: ExtendedAction) -> float:
        column, popout = action
        if not popout:
            return _right(state, action)
        bottom, cells = state.grid.drops[column]
        top = bottom << _height(state, column) - 1
        one, two = (own & ~cells | change(own & cells, bottom, top) for own in _tokens(state))
        return _margin(state, (one, two))

    return value


def _upside_down(state: ExtendedState, action: ExtendedAction) -> float:
    """Return the value for a player that takes row 0 for the bottom, where row 0 is on top."""
    column, popout = action
    cells = state.grid.drops[column][1]
    if popout:
        one, two = (own & ~cells | (own & cells) << 1 & cells for own in _tokens(state))
        return _margin(state, (one, two))
    return _margin(state, _placed(state, column, state.grid.rows - 1 - _height(state, column)))


def _token_of_one(state: ExtendedState, action: ExtendedAction) -> float:
    column, popout = action
    if popout:
        return _right(state, action)
    one, two = _placed(state, column, _height(state, column))
    dropped = (one | two) & ~(state.one | state.two)
    return _margin(state, (one | dropped, two & ~dropped))


def _tokens(state: ExtendedState) -> Tokens:
    return state.one, state.two


def _height(state: ExtendedState, column: int) -> int:
    return ((state.one | state.two) & state.grid.drops[column][1]).bit_count()


def _popped(state: ExtendedState, column: int) -> Tokens:
    bottom, cells = state.grid.drops[column]
    one, two = (own & ~cells | (own & cells & ~bottom) >> 1 for own in _tokens(state))
    return one, two


def _placed(state: ExtendedState, column: int, height: int) -> Tokens:
    """Return the tokens with one of the mover's in a cell, whatever was there."""
    token = state.grid.bottoms[column] << height & state.grid.drops[column][1]
    one, two = (own & ~token for own in _tokens(state))
    return (one | token, two) if state.mover == 1 else (one, two | token)


class Fault(NamedTuple):
    """A mistake: its question, and the value of an action to a player that makes it."""

    question: str
    value: Value


FAULTS: Final = (
    Fault(
        "Prefers what is worst for it: is the sign of your evaluation right, and is it the largest "
        "value that you choose?",
        lambda state, action: -_right(state, action),
    ),
    Fault(
        "Counts its own points alone: are the opponent's points subtracted?",
        lambda state, action: _points(state, state.moved(action))[0],
    ),
    Fault(
        "Counts the opponent's points alone: are your own points added?",
        lambda state, action: -_points(state, state.moved(action))[1],
    ),
    Fault(
        "Plays for player 1 on both sides: does something ask for player 1?",
        lambda state, action: _right(state, action) * (1 if state.mover == 1 else -1),
    ),
    Fault(
        "Plays for player 1 on both sides: does something ask for player 1?",
        lambda state, action: _token_of_one(state, action) * (1 if state.mover == 1 else -1),
    ),
    Fault(
        "Plays for player 2 on both sides: does something ask for player 2?",
        lambda state, action: _right(state, action) * (1 if state.mover == 2 else -1),
    ),
    Fault("Does not see diagonals: are both of them counted?", _seeing(0, 1)),
    Fault("Does not see rows: are runs across the board counted?", _seeing(0, 2, 3)),
    Fault("Does not see falling diagonals: are both diagonals counted?", _seeing(0, 1, 3)),
    Fault("Does not see rising diagonals: are both diagonals counted?", _seeing(0, 1, 2)),
    Fault(
        "Drops as if a token stayed in the top cell: does your own move fall?",
        _dropping(lambda height, rows: rows - 1),
    ),
    Fault(
        "Drops as if a token stopped one cell too high: where does your own move land?",
        _dropping(lambda height, rows: min(height + 1, rows - 1)),
    ),
    Fault("Plays as if row 0 were the bottom: it is the top row of the array.", _upside_down),
    Fault(
        "Plays as if a drop landed one column further left: is the column right?",
        _beside(-1),
    ),
    Fault(
        "Plays as if a drop landed one column further right: is the column right?",
        _beside(1),
    ),
    Fault(
        "Plays as if the board were mirrored: do you count columns from the left?",
        _mirrored,
    ),
    Fault(
        "Drops a token of player 1 on both sides: whose token does your own move add?",
        _token_of_one,
    ),
    Fault(
        "Pops out as if the tokens above stayed where they are: do they fall?",
        _popping(lambda own, bottom, top: own & ~bottom),
    ),
    Fault(
        "Pops out as if the top token went: it is the bottom one.",
        _popping(lambda own, bottom, top: own & ~top),
    ),
    Fault(
        "Pops out as if the whole column went: only its bottom token does.",
        _popping(lambda own, bottom, top: 0),
    ),
    Fault(
        "Pops out as if it were the next column: is the column right?",
        _popping_next,
    ),
    Fault(
        "Expects replies that help it: does the opponent choose the smallest value?",
        lambda state, action: _helped(state.apply(action), state.mover),
    ),
    Fault(
        "Expects to move twice in a row: whose turn is it in your search?",
        lambda state, action: _helped(state.apply(action).skip(), state.mover),
    ),
)


def preferred(state: ExtendedState, value: Value) -> set[ExtendedAction]:
    """Return the actions that a player prefers who looks one move ahead."""
    values = {action: value(state, action) for action in state.legal_actions()}
    best = max(values.values())
    return {action for action, worth in values.items() if worth == best}


# -- what the answers show


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the author, with an answer that made it likely."""

    text: str
    evidence: Answer | None = None


class Seen:
    """The answers that the questions are about: all but those of the kind `regret`."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self.all = [answer for answer in answers if answer.solved.kind != REGRET]
        self.valid = [answer for answer in self.all if answer.action is not None]
        self.faults = [answer for answer in self.all if answer.action is None]
        self.skills = [a for a in self.valid if not a.solved.kind.startswith(KILLS)]

    def right(self, part: Part, *kinds: str) -> float:
        """Return the share of right answers of some kinds."""
        own = (a for a in self.valid if a.solved.part == part and a.solved.kind in kinds)
        return share([answer.is_right for answer in own])


def share(found: Sequence[bool]) -> float:
    """Return the share of what holds, nan for few."""
    return sum(found) / len(found) if len(found) >= FEW else math.nan


SKILLS: Final[dict[tuple[Part, str], str]] = {
    ("b", "take_row"): "takes a four in a row",
    ("b", "take_column"): "takes a four in a column",
    ("b", "take_diagonal"): "takes a four on a diagonal",
    ("b", "bigger_gain"): "takes the bigger of two gains",
    ("b", "block_four"): "blocks a four",
    ("b", "no_gift"): "gives no four away",
    ("b", "pop_break"): "pops out to break a four",
    ("b", "only_pops"): "chooses among pop-outs only",
    ("b", "last_moves"): "plays the last moves right",
    ("b", "combination"): "sees the gain of its move after next",
    ("a", "take_points"): "takes points",
    ("a", "pop_out"): "pops out for points",
    ("a", "last_moves"): "plays the last moves right",
    ("a", "fearless"): "does not fear what random play seldom does",
}
"""The skills of the kit's positions, in words."""


def descriptions(answers: Iterable[Answer]) -> list[str]:
    """Return what describes the search of a file that is no fault: its depth, its opponent."""
    seen, found = Seen(answers), []
    takes = seen.right("b", "take_row", "take_column", "take_diagonal")
    blocks, sees = seen.right("b", "block_four"), seen.right("b", "combination")
    if takes >= 0.9 and blocks <= 0.2 and seen.right("b", "no_gift") <= 0.5:
        found.append("get_intelligent_move looks one move ahead: it sees no reply")
    elif takes >= 0.9 and blocks >= 0.8 and sees <= 0.4:
        found.append("get_intelligent_move looks two moves ahead: it sees the reply to its move")
    elif takes >= 0.9 and blocks >= 0.8 and sees >= 0.8:
        found.append("get_intelligent_move looks three moves ahead or more")
    if seen.right("a", "fearless") <= 0.3 and seen.right("a", "take_points") >= 0.7:
        found.append(
            "get_expectimax_move fears what a random player seldom does, as with a minimum in "
            "place of a mean"
        )
    return found


def questions(answers: Iterable[Answer]) -> list[Question]:
    """Return at most `MOST` questions, the surest first; none where nothing is clear."""
    seen = Seen(answers)
    for rule in (_on_no_answers, _on_changes, _on_one_action, _on_popouts, _on_faults, _on_sides):
        if found := rule(seen):
            return found
    return [*_on_columns(seen), *_on_the_start(seen)][:MOST]


def _on_no_answers(seen: Seen) -> list[Question]:
    if not seen.all or seen.valid:
        return []
    late = seen.faults[0].turn.outcome is Outcome.TIMEOUT
    text = "Answers nothing in its time: does your file keep more in reserve?"
    return [Question(text, seen.faults[0])] if late else []


def _on_one_action(seen: Seen) -> list[Question]:
    """Return questions on a method that plays the first or the last action nearly always."""
    found = []
    for part, method in METHOD_OF.items():
        own = [answer for answer in seen.skills if answer.solved.part == part]
        wrong = [answer for answer in own if not answer.is_right]
        first = share([a.action == a.solved.state.legal_actions()[0] for a in own])
        last = share([a.action == a.solved.state.legal_actions()[-1] for a in own])
        if first >= 0.8 and len(own) >= 10:
            text = (
                f"get_{method}_move answers the first valid action nearly always: does the search "
                "finish, and does each action get its own value, from its own copy of the board?"
            )
            found.append(Question(text, wrong[0]))
        elif last >= 0.4 and share([answer.is_right for answer in own]) <= 0.4:
            text = (
                f"get_{method}_move answers the last valid action often: do the tries share one "
                "board? Copy it for each."
            )
            found.append(Question(text, wrong[0]))
    return found


def _on_faults(seen: Seen) -> list[Question]:
    """Return the question of the fault that explains most of the answers that it tells apart."""
    if share([answer.is_right for answer in seen.valid]) >= SOUND:
        return []
    told: list[list[Answer]] = [[] for _ in FAULTS]
    fitting: list[list[Answer]] = [[] for _ in FAULTS]
    for answer in seen.valid:
        state = answer.solved.state
        plain = preferred(state, _right).union(answer.solved.right)
        for number, fault in enumerate(FAULTS):
            chosen = preferred(state, fault.value)
            if not chosen & plain:
                told[number].append(answer)
                if answer.action in chosen:
                    fitting[number].append(answer)
    fit = [len(fitting[n]) / len(told[n]) if len(told[n]) >= 8 else 0.0 for n in range(len(FAULTS))]
    best = 0 if fit[0] >= 0.5 else fit.index(max(fit))
    text = FAULTS[best].question
    second = max(fit[n] for n, fault in enumerate(FAULTS) if fault.question != text)
    count = len(told[best])
    if fit[best] >= (0.7 if count < 15 else 0.55) or (
        count >= 25 and fit[best] >= 0.45 and fit[best] >= 1.5 * second
    ):
        return [Question(text, fitting[best][0])]
    return []


def _on_popouts(seen: Seen) -> list[Question]:
    due = [a for a in seen.valid if all(p for _, p in a.solved.right) and _has_drop(a)]
    not_due = [a for a in seen.valid if not any(p for _, p in a.solved.right) and _has_popout(a)]
    if len(due) >= 10 and not any(_pops(answer) for answer in due + not_due):
        text = (
            "Never pops out: do your actions include pop-outs, of even columns for player 1 and of "
            "odd ones for player 2?"
        )
        return [Question(text, due[0])]
    always = share([_pops(answer) for answer in not_due]) >= 0.8
    if len(not_due) >= 10 and always and share([answer.is_right for answer in due]) >= 0.5:
        wrong = next(answer for answer in not_due if _pops(answer))
        return [Question("Pops out whenever it can: do your actions include drops?", wrong)]
    return []


def _pops(answer: Answer) -> bool:
    return answer.action is not None and answer.action[1]


def _has_drop(answer: Answer) -> bool:
    return not all(popout for _, popout in answer.solved.state.legal_actions())


def _has_popout(answer: Answer) -> bool:
    return any(popout for _, popout in answer.solved.state.legal_actions())


def _on_changes(seen: Seen) -> list[Question]:
    """Return the question on a file that changes the board that it is given, and errs."""
    changed = [a for a in seen.valid if a.turn.changed is not None]
    errs = share([answer.is_right for answer in changed]) < 0.5
    text = "Changes the board that it is given while it tries actions: do you copy it for each?"
    return [Question(text, changed[0])] if errs and len(changed) >= len(seen.valid) / 2 else []


def _on_sides(seen: Seen) -> list[Question]:
    """Return the question on a file that is right as one player only, by what both were asked."""
    places: dict[str, list[Answer]] = {}
    for answer in seen.skills:
        solved = answer.solved
        plain = solved.twin() if solved.is_twin else solved
        places.setdefault(text_of(plain.state), []).append(answer)
    pairs = [pair for pair in places.values() if len(pair) == 2]
    one_sided = [pair for pair in pairs if pair[0].is_right != pair[1].is_right]
    for player in (1, 2):
        wrong = [a for pair in one_sided for a in pair if not a.is_right]
        own = [answer for answer in wrong if answer.solved.state.mover == player]
        if len(pairs) >= 10 and len(own) >= len(pairs) / 2 and len(wrong) - len(own) <= 2:
            text = (
                f"Right as player {3 - player}, wrong as player {player} in {len(own)} of "
                f"{len(pairs)} positions: does something ask for player {3 - player}?"
            )
            return [Question(text, own[0])]
    return []


def _on_columns(seen: Seen) -> list[Question]:
    """Return the question on columns that are never played."""
    limits = (
        (lambda state: 7, "Plays in no column after column 6: does a loop end at 7 columns?"),
        (
            lambda state: state.grid.rows,
            "Plays in no column whose number is the number of rows or more: are rows and columns "
            "exchanged?",
        ),
    )
    for limit, text in limits:
        beyond = [
            answer
            for answer in seen.valid
            if all(column >= limit(answer.solved.state) for column, _ in answer.solved.right)
        ]
        played = any(a.action[0] >= limit(a.solved.state) for a in seen.valid if a.action)
        others = [answer.is_right for answer in seen.valid if answer not in beyond]
        if len(beyond) >= 6 and not played and share(others) >= 0.6:
            return [Question(text, beyond[0])]
    return []


def _on_the_start(seen: Seen) -> list[Question]:
    """Return the question on a search whose best value starts above values that come."""
    behind = [a for a in seen.all if a.solved.part == "b" and _best_margin(a) < 0]
    ahead = [a for a in seen.all if a.solved.part == "b" and _best_margin(a) > 0]
    for what, gives_up in (("nothing", _is_none), ("the first valid action", _is_first)):
        lost = [gives_up(answer) and not answer.is_right for answer in behind]
        kept = [gives_up(answer) and not answer.is_right for answer in ahead]
        if min(len(lost), len(kept)) >= 10 and share(lost) >= 0.6 and share(kept) <= 0.1:
            text = (
                f"Answers {what} where every action leaves it behind: does the best value begin "
                "below every other value?"
            )
            return [Question(text, behind[lost.index(True)])]
    return []


def _best_margin(answer: Answer) -> float:
    """Return the margin that the mover keeps after the best reply to its best action."""
    state = answer.solved.state
    player = opponent(state.mover)
    return max(-_helped(state.apply(action), player) for action in state.legal_actions())


def _is_none(answer: Answer) -> bool:
    return answer.turn.outcome is Outcome.INVALID and "not None" in (answer.turn.detail or "")


def _is_first(answer: Answer) -> bool:
    return answer.action == answer.solved.state.legal_actions()[0]

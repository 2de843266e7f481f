"""What the answers suggest: questions to the author.

Each typical mistake is a player that makes it and looks one move ahead. A position tells it apart
where that player's move is neither right nor that of a player without the mistake. The other rules
use shares of answers; a share of few answers is nan, and no rule holds for it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from connect4.games.base import Player, opponent
from connect4.games.extended import ExtendedState
from connect4.games.falling import ExtendedAction
from connect4.players.base import Outcome
from connect4.utils import points_of_bits
from grader.handin.positions import METHOD_OF, Part
from grader.solved import KILLS, REGRET, Answer, pairs_of

SOUND: Final = 0.95
"""A file with a larger share of right answers has no fault of `FAULTS`."""

FEW: Final = 4
"""A share of fewer answers is unknown."""


class Question(NamedTuple):
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


# -- typical mistakes


def _seeing(*seen: int) -> Callable[[ExtendedState, Player], int]:
    """Return the margin of runs in some directions: up a column, along a row, falling, rising."""

    def margin(after: ExtendedState, mover: Player) -> int:
        shifts = [after.grid.shifts[direction] for direction in seen]
        one, two = (points_of_bits(own, shifts) for own in after.bitboards())
        return one - two if mover == 1 else two - one

    return margin


def _best_reply(after: ExtendedState, mover: Player) -> int:
    """Return the mover's margin after the reply that is best for it."""
    margins = (after.apply(action).margin(mover) for action in after.legal_actions())
    return max(margins, default=after.margin(mover))


class Fault(NamedTuple):
    """A mistake: its question, and how a player that makes it moves and values a position."""

    question: str
    worth: Callable[[ExtendedState, Player], int] = ExtendedState.margin
    """The value of the position after a move of that player."""
    height: Callable[[int, int], int] = lambda tokens, rows: tokens
    """The height at which a token lands, by the tokens in the column and the rows."""
    popped: Callable[[int, int], int] = lambda own, cells: own >> 1 & cells
    """A player's tokens in a column after a pop-out; the lowest of `cells` is the bottom."""
    token: Callable[[Player], Player] = lambda mover: mover
    """The player whose token is dropped."""

    def preferred(self, state: ExtendedState) -> set[ExtendedAction]:
        """Return the actions that the player prefers."""
        grid, mover, values = state.grid, state.mover, {}
        for action in state.legal_actions():
            column, is_popout = action
            cells, tokens = grid.column_cells[column], list(state.bitboards())
            if is_popout:
                tokens = [own & ~cells | self.popped(own & cells, cells) for own in tokens]
            else:
                height = self.height((sum(tokens) & cells).bit_count(), grid.rows)
                token = grid.bottoms[column] << height & cells
                tokens = [own & ~token for own in tokens]
                tokens[self.token(mover) - 1] |= token
            one, two = tokens
            after = ExtendedState(grid, one, two, opponent(mover), state.popouts, state.maximum)
            values[action] = self.worth(after, mover)
        best = max(values.values())
        return {action for action, value in values.items() if value == best}


NO_FAULT: Final = Fault("")

SIGN: Final = Fault(
    "Prefers what is worst for it: is the sign of your evaluation right, and do you choose the "
    "largest value?",
    lambda after, mover: -after.margin(mover),
)

FAULTS: Final = (
    SIGN,
    Fault(
        "Counts its own points alone: are the opponent's points subtracted?",
        lambda after, mover: after.scores()[mover - 1],
    ),
    Fault(
        "Counts the opponent's points alone: are your own points added?",
        lambda after, mover: -after.scores()[2 - mover],
    ),
    Fault("Does not see diagonals: are both of them counted?", _seeing(0, 1)),
    Fault("Does not see falling diagonals: are both diagonals counted?", _seeing(0, 1, 3)),
    Fault("Does not see rising diagonals: are both diagonals counted?", _seeing(0, 1, 2)),
    Fault("Does not see rows: are runs across the board counted?", _seeing(0, 2, 3)),
    Fault(
        "Expects replies that help it: does the opponent choose the smallest value?",
        _best_reply,
    ),
    Fault(
        "Drops as if a token stayed in the top cell: does your own move fall?",
        height=lambda tokens, rows: rows - 1,
    ),
    Fault(
        "Drops as if a token stopped one cell too high: where does your own move land?",
        height=lambda tokens, rows: min(tokens + 1, rows - 1),
    ),
    Fault(
        "Drops as if a token took the place of the top one: where does your own move land?",
        height=lambda tokens, rows: max(tokens - 1, 0),
    ),
    Fault(
        "Plays as if row 0 were the bottom: it is the top row of the array.",
        height=lambda tokens, rows: rows - 1 - tokens,
        popped=lambda own, cells: own << 1 & cells,
    ),
    Fault(
        "Pops out as if the tokens above rose: do they fall?",
        popped=lambda own, cells: own << 1 & cells,
    ),
    Fault(
        "Pops out as if the tokens above stayed where they are: do they fall?",
        popped=lambda own, cells: own & cells << 1,
    ),
    Fault(
        "Drops a token of the opponent: whose token does your own move add?",
        token=opponent,
    ),
    Fault(
        "Plays for player 1 on both sides: does something ask for player 1?",
        lambda after, mover: after.margin(1),
        token=lambda mover: 1,
    ),
)


# -- rules


def questions(answers: Iterable[Answer]) -> list[Question]:
    """Return at most two questions; none where nothing is clear.

    A rule holds only where those before it do not, because their faults look like many others.
    """
    seen = Seen(answers)
    for rule in RULES:
        if found := rule(seen):
            return found
    return []


def _on_no_answers(seen: Seen) -> list[Question]:
    text = (
        "Answers nothing in its time: does the search end, and does your file keep more than that "
        "in reserve?"
    )
    late = [answer for answer in seen.all if answer.turn.outcome is Outcome.TIMEOUT]
    return [Question(text, late[0])] if late and not seen.valid else []


def _on_one_action(seen: Seen) -> list[Question]:
    """Return a question for each method that plays the first or the last action nearly always."""
    found = []
    for part, method in METHOD_OF.items():
        own = [answer for answer in seen.skills if answer.solved.part == part]
        wrong = [answer for answer in own if not answer.is_right]
        first, last = (
            share([a.action == a.solved.state.legal_actions()[place] for a in own])
            for place in (0, -1)
        )
        if len(own) < 10 or not wrong:
            continue
        if first >= 0.8 or (last >= 0.4 and len(wrong) >= 0.6 * len(own)):
            which = (
                "first valid action nearly always" if first >= 0.8 else "last valid action often"
            )
            text = (
                f"get_{method}_move answers the {which}: does the search finish, and is each "
                "action tried on its own copy of the board?"
            )
            found.append(Question(text, wrong[0]))
    return found


def _on_popouts(seen: Seen) -> list[Question]:
    """Return the question on a file that never pops out where it could drop."""
    moves = [(answer, answer.solved.state.legal_actions()) for answer in seen.valid]
    both = [answer for answer, legal in moves if not legal[0][1] and legal[-1][1]]
    due = [answer for answer in both if all(popout for _, popout in answer.solved.right)]
    if len(due) < 10 or any(answer.action and answer.action[1] for answer in both):
        return []
    text = (
        "Never pops out: do your actions include pop-outs, of even columns for player 1 and of "
        "odd ones for player 2?"
    )
    return [Question(text, due[0])]


def _on_sides(seen: Seen) -> list[Question]:
    """Return the question on a file that is right as one player only, by what both were asked."""
    pairs = [pair for pair in pairs_of(seen.valid) if pair[0].is_right != pair[1].is_right]
    many = len(pairs_of(seen.valid))
    for player in (1, 2):
        wrong = [pair[player - 1] for pair in pairs if not pair[player - 1].is_right]
        if many >= 10 and len(wrong) >= many / 2 and len(pairs) - len(wrong) <= 2:
            text = (
                f"Right as player {3 - player}, wrong as player {player} in {len(wrong)} of "
                f"{many} positions: is a player's number, 1 or 2, written where your own or "
                "the opponent's belongs?"
            )
            return [Question(text, wrong[0])]
    return []


def _on_faults(seen: Seen) -> list[Question]:
    """Return the question of the fault that explains most of the answers that it tells apart."""
    few = 2 * len(seen.valid) <= len(seen.all)
    if few or share([answer.is_right for answer in seen.valid]) >= SOUND:
        return []
    told: dict[Fault, list[Answer]] = {fault: [] for fault in FAULTS}
    fitting: dict[Fault, list[Answer]] = {fault: [] for fault in FAULTS}
    for answer in seen.valid:
        state = answer.solved.state
        plain = NO_FAULT.preferred(state).union(answer.solved.right)
        for fault in FAULTS:
            chosen = fault.preferred(state)
            if not chosen & plain:
                told[fault].append(answer)
                if answer.action in chosen:
                    fitting[fault].append(answer)
    fit = {
        fault: len(fitting[fault]) / len(told[fault]) if len(told[fault]) >= 8 else 0.0
        for fault in FAULTS
    }
    best = SIGN if fit[SIGN] >= 0.5 else max(FAULTS, key=fit.__getitem__)
    second = max(fit[fault] for fault in FAULTS if fault is not best)
    is_clear = fit[best] >= (0.7 if len(told[best]) < 15 else 0.55)
    stands_out = len(told[best]) >= 25 and fit[best] >= max(0.45, 1.5 * second)
    return [Question(best.question, fitting[best][0])] if is_clear or stands_out else []


def _on_fours(seen: Seen) -> list[Question]:
    """Return the question on a file that takes no four and lets the opponent have each."""
    kinds = ("take_row", "take_column", "take_diagonal", "block_four", "pop_break")
    own = [a for a in seen.skills if a.solved.part == "b" and a.solved.kind in kinds]
    if len(own) < 25 or share([answer.is_right for answer in own]) > 0.05:
        return []
    text = (
        "Takes no four and blocks none: is a sign wrong where the search stops, or is the worst "
        "value chosen?"
    )
    return [Question(text, next(answer for answer in own if not answer.is_right))]


def _on_columns(seen: Seen) -> list[Question]:
    """Return the question on the last columns, which are never played."""
    for of_each, least in ((False, 6), (True, 4)):  # counted from the left, from each board's end
        ends = [(answer, answer.solved.state.grid.columns * of_each) for answer in seen.valid]
        last = max((one.action[0] - end for one, end in ends if one.action), default=0)
        beyond: list[Answer] = []
        others: list[Answer] = []
        for answer, end in ends:
            is_beyond = all(column - end > last for column, _ in answer.solved.right)
            (beyond if is_beyond else others).append(answer)
        if len(beyond) >= least and share([answer.is_right for answer in others]) >= 0.6:
            text = f"Plays in no column after column {last}: does a loop end there?"
            never = "Never plays the last column of a board: does a loop end before it?"
            return [Question(never if of_each else text, beyond[0])]
    return []


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
    *(_on_no_answers, _on_one_action, _on_popouts, _on_sides, _on_faults, _on_columns),
    *(_on_fours, _on_kills),
)

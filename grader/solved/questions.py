"""What the answers suggest: questions to the author.

Where a player with a `Fault` prefers an action that is neither right nor the choice of a player
without it, the file's answer decides. The other rules go by shares of answers; a share of few
answers is nan, and no rule holds for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from connect4.games.base import opponent
from connect4.games.extended import ExtendedState
from connect4.games.falling import ExtendedAction
from connect4.players.base import Outcome
from grader.marks.tally import METHOD_OF, Part
from grader.solved import KILLS, REGRET, Answer, text_of
from grader.solved.faults import FAULTS, NO_FAULT, SIGN

SOUND: Final = 0.95
"""A file with a larger share of right answers has no fault of `FAULTS`."""

FEW: Final = 4
"""A share of fewer answers is unknown."""


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
    few = 2 * len(seen.valid) <= len(seen.all)
    if few or share([answer.is_right for answer in seen.valid]) >= SOUND:
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


def _on_sides(seen: Seen) -> list[Question]:
    """Return the question on a file that is right as one player only, by what both were asked."""
    places: dict[str, list[Answer]] = {}
    for answer in seen.skills:
        plain = answer.solved.twin() if answer.solved.is_twin else answer.solved
        places.setdefault(text_of(plain.state), []).append(answer)
    pairs = [pair for pair in places.values() if len(pair) == 2]
    wrong = [a for a, b in pairs if b.is_right] + [b for a, b in pairs if a.is_right]
    for player in (1, 2):
        own = [a for a in wrong if a.solved.state.mover == player and not a.is_right]
        others = [a for a in wrong if a.solved.state.mover != player and not a.is_right]
        if len(pairs) >= 10 and len(own) >= len(pairs) / 2 and len(others) <= 2:
            text = (
                f"Right as player {3 - player}, wrong as player {player} in {len(own)} of "
                f"{len(pairs)} positions: is a player's number, 1 or 2, written where your own or "
                "the opponent's belongs?"
            )
            return [Question(text, own[0])]
    return []


def _on_columns(seen: Seen) -> list[Question]:
    """Return the question on the last columns, which are never played."""
    played, reach = 0, dict[int, int]()
    for answer in seen.valid:
        rows, columns = answer.solved.state.shape
        column = answer.action[0] if answer.action else 0
        played = max(played, column)
        if columns > rows:
            reach[rows] = max(reach.get(rows, 0), column)
    exchanged = len(reach) > 1 and all(last == rows - 1 for rows, last in reach.items())
    text = f"after column {played}: does a loop end there?"
    if exchanged:
        text = "whose number is the number of rows or more: are rows and columns exchanged?"
    beyond: list[Answer] = []
    others: list[Answer] = []
    for answer in seen.valid:
        last = answer.solved.state.grid.rows - 1 if exchanged else played
        due = all(column > last for column, _ in answer.solved.right)
        (beyond if due else others).append(answer)
    if len(beyond) >= 6 and share([answer.is_right for answer in others]) >= 0.6:
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
    *(_on_no_answers, _on_one_action, _on_popouts, _on_faults, _on_sides, _on_columns),
    *(_on_the_start, _on_kills),
)

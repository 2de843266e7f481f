"""Explains the points of a mark and its lost turns, in sentences with the numbers in them.

Pages, Gradescope and GitHub show the same text, so that nobody has to ask how a mark was
computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from connect4.errors import headline
from connect4.games import GAMES
from connect4.games.base import FaultPolicy
from connect4.views.words import kind_of_fault
from grader.handin import without_folders
from grader.marks import MatchMark
from grader.marks.tally import FEW_PAIRS, Tally, baseline_of, few_games
from grader.output.tables import faults_text, level_text
from grader.play import schedule
from grader.play.schedule import PlannedGame
from grader.results import LostTurn
from grader.rubric.model import Rubric

MAX_REASONS: Final = 20

CLIPPED: Final = 1500
"""Maximum characters of a reason in files that others show; of a traceback, the end is kept."""

TOO_FEW: Final = "Too few games for an interval."
"""What stands in place of an interval of a single pair."""

PLACE: Final = re.compile(r'^ *File "([^"\n]*)", line (\d+)', re.MULTILINE)
"""A line of a traceback that names a file."""


def explained(match: MatchMark, rubric: Rubric) -> list[str]:
    """Return an explanation of the points of a match, one sentence per line."""
    return [*told_plainly(match, rubric), *formula(match, rubric)]


def told_plainly(match: MatchMark, rubric: Rubric) -> list[str]:
    """Return what happened in a match and what its points require, without the formula."""
    total = match.tally
    if not total.complete:
        played = f"{total.games} of {total.planned} games are played"
        lines = [f"Not finished: {played}; the points are withheld until all are."]
        return [*lines, *([f"{without_folders(match.withheld)}."] if match.withheld else [])]
    lines = [_happened(total)]
    if match.points >= match.max_points:
        lines.append(f"These are all {match.max_points:g} points.")
    elif match.match.part == schedule.PART_A:
        cap = rubric.part_a.cap_percent
        lines.append(
            f"Points start above a margin of 0 %; all {match.max_points:g} need {cap:+g} %. "
            f"Yours is {total.percent:+.1f} %."
        )
    else:
        step = baseline_of(match.match, rubric)
        lines.append(
            f"Points start above a mean margin of {_signed(step.low)}; all "
            f"{match.max_points:g} need {_signed(step.high)}. "
            f"Yours is {total.mean_margin:+.{total.digits}f}."
        )
    if total.shown_faults.total:
        skips = GAMES[rubric.match.game].on_fault is FaultPolicy.SKIP
        cost = "the opponent then moves twice in a row" if skips else "each loses its game"
        lines.append(f"You lost turns ({faults_text(total.shown_faults)}); {cost}.")
    return lines


def _happened(total: Tally) -> str:
    """Return the results of a match as a student would tell them."""
    counts = {"won": total.wins, "drew": total.draws, "lost": total.losses}
    parts = [f"{verb} {count}" for verb, count in counts.items() if count]
    told = f"You {' and '.join([', '.join(parts[:-1]), parts[-1]] if parts[1:] else parts)}"
    told += f" of {total.games} games" if total.games > 1 else " game"
    if len(parts) == 1 and total.games > 1:
        told = f"You {parts[0].split()[0]} all {total.games} games"
    if not total.counts_points:
        return f"{told}."
    mean = total.mean_margin
    if not mean:
        return f"{told}, with equal points on average."
    return f"{told}, {'ahead' if mean > 0 else 'behind'} by {abs(mean):.1f} points on average."


def formula(match: MatchMark, rubric: Rubric) -> list[str]:
    """Return how the points of a match follow from its games; nothing while games are missing."""
    total, lines = match.tally, []
    if not total.complete:
        return []
    if not total.counts_points:
        mean = f"a mean of {total.mean_margin:+.2f} a game"
        lines.append(f"A win counts 1, a draw 0, a loss -1: {mean}.")
    is_a = match.match.part == schedule.PART_A
    lines += _part_a(match, rubric) if is_a else _part_b(match, rubric)
    return [*lines, _certainty(match, rubric)]


def _part_a(match: MatchMark, rubric: Rubric) -> Iterator[str]:
    part, total = rubric.part_a, match.tally
    if total.counts_points and total.hidden_games:
        yield (
            "Margin in percent: the mean margin of all games over the opponent's mean points on "
            f"the boards that are not hidden, 100 x {total.mean_margin:.2f} / {total.unit:.2f} = "
            f"{total.percent:+.2f} %."
        )
    elif total.counts_points:
        other = max(total.other, 1)
        yield (
            "Margin in percent of the opponent's points: "
            f"100 x ({total.own} - {total.other}) / {other} = {total.percent:+.2f} %."
        )
    else:
        yield (
            "Wins less losses in percent of all games: "
            f"100 x ({total.wins} - {total.losses}) / {total.games} = {total.percent:+.2f} %."
        )
    counted = min(max(total.percent, 0.0), part.cap_percent)
    limits = f"a margin counts from 0 % to {part.cap_percent:g} %"
    if counted != total.percent:
        limits += f", so {total.percent:+.2f} % counts as {counted:g} %"
    yield (
        f"Points: {part.points:g} x {counted:.2f} / {part.cap_percent:g} = {match.points:.2f} "
        f"of {part.points:g} ({limits})."
    )


def _part_b(match: MatchMark, rubric: Rubric) -> Iterator[str]:
    step, margin = baseline_of(match.match, rubric), match.tally.mean_margin
    counted = min(max(margin, step.low), step.high)
    limits = f"a mean margin counts from {_signed(step.low)} to {_signed(step.high)}"
    if counted != margin:
        limits += f", so {margin:+.2f} counts as {_signed(counted)}"
    yield (
        f"Points: {step.points:g} x ({counted:.2f} - {_term(step.low)}) / ({step.high:g} - "
        f"{_term(step.low)}) = {match.points:.2f} of {step.points:g} ({limits})."
    )


def _signed(number: float) -> str:
    return f"{number:+g}" if number else "0"


def _term(number: float) -> str:
    return f"{number:g}" if number >= 0 else f"({number:g})"


def _certainty(match: MatchMark, rubric: Rubric) -> str:
    pairs = len(match.tally.pairs)
    if match.bounds is None:
        return TOO_FEW
    low, high = match.bounds
    few = (
        f" Few games: with fewer than {FEW_PAIRS} pairs this is rough." if few_games(pairs) else ""
    )
    return (
        "With other pairs of games like these the points would lie between "
        f"{low:.2f} and {high:.2f} ({level_text(rubric.statistics)} confidence interval of "
        f"{pairs} pairs).{few}"
    )


@dataclass(frozen=True, slots=True)
class Reason:
    """Why turns of a player were lost: the first such turn, its game, and how many there are."""

    game: PlannedGame
    turn: LostTurn
    count: int = 1

    @property
    def title(self) -> str:
        """Return the game, the turn and the outcome."""
        return f"{self.game.title}, turn {self.turn.number}: {self.turn.outcome}"

    @property
    def number_of_turns(self) -> str:
        """Return how many turns were lost for this reason, in words."""
        return "1 turn" if self.count == 1 else f"{self.count} turns"

    @property
    def cause(self) -> str:
        """Return why the turns were lost, in one line."""
        return headline(self.turn.detail) if self.turn.detail else self.turn.outcome

    @property
    def where(self) -> str:
        """Return the place of the exception, as `ai.py, line 10`; empty if there is none."""
        places = PLACE.findall(self.turn.detail)
        return f"{places[-1][0]}, line {places[-1][1]}" if places else ""

    @property
    def text(self) -> str:
        """Return the reason with the position, in several lines; a long reason is cut."""
        detail = self.turn.detail
        if len(detail) > CLIPPED:
            detail = "...\n" + detail[-CLIPPED:].partition("\n")[2]
        position = ("the position (0: empty, 1 and 2: the players):", self.turn.board)
        others = f"and {self.count - 1} more like it" if self.count > 1 else ""
        parts = (self.title, detail, *position, self.turn.pop_outs, others)
        return "\n".join(filter(None, parts))


def reasons(games: Sequence[PlannedGame], lost: Mapping[str, Sequence[LostTurn]]) -> list[Reason]:
    """Return the reasons for which the player `match.one` of each game lost turns.

    `lost` has the lost turns of both players, by the key of the game. Games on hidden boards are
    left out: a program may tell its author about the board by what it loses, and why.
    """
    found: dict[tuple[str, str], Reason] = {}
    for game in games:
        for turn in lost.get(game.key, ()) if not game.board.hidden else ():
            if turn.player != game.side:
                continue
            kind = kind_of_fault(turn.outcome, turn.detail), ""
            if turn.outcome == "invalid":
                kind = kind[0], turn.detail
            before = found.get(kind)
            found[kind] = (
                Reason(game, turn) if before is None else replace(before, count=before.count + 1)
            )
    return list(found.values())

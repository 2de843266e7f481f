"""Plans a run for a number of core-hours: boards, pairs of games and seconds per move.

A plan is chosen by the variance of a mark, as in generalizability theory (R. L. Brennan,
"Generalizability Theory", 2001). The results of games vary, boards differ, and agents play
differently with a shorter time limit than the rubric's. `make_plan` considers all plans that fit
the hours and respect the minimum of `[budget]`. It returns the one whose marks are closest to those
of an unlimited number of games by the rubric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from connect4.errors import InputError
from connect4.games.base import Seconds
from grader.marks.intervals import t_quantile
from grader.marks.plan import later_games
from grader.marks.tournament import stages
from grader.play.schedule import (
    PART_A,
    PART_B,
    START_SECONDS,
    Contestant,
    PlannedGame,
    grade_games,
    seconds_of_turn,
    timed_turns,
)
from grader.rubric.model import Board, BudgetRules, Rubric, Values

SCATTER: Final = 0.15
"""The standard deviation of a pair of games, as a share of the margins that earn points.

`benchmarks.ladder_steps` measured 0.09 to 0.24 on the default rubric.
"""

BOARDS: Final = 0.1
"""The standard deviation of a submission's margin between boards, as the same share."""

HALVING: Final = 0.03
"""How much a submission's margin changes when the time is halved, as the same share."""

SECONDS: Final = 3600.0

TOURNAMENT: Final = "tournament"

PART_NAMES: Final = ("part_a", "part_b")
"""The sections of a grading, named as their tables in the rubric."""


@dataclass(frozen=True, slots=True)
class BoardCost:
    """One round of pairs of all contestants on one board."""

    board: Board
    games: int
    turns: float
    """The turns that use the whole time limit; by fuel, the real seconds for a virtual second."""

    def seconds(self, time_limit: Seconds) -> Seconds:
        """Return the core-seconds if each of these turns uses the whole time."""
        return self.games * START_SECONDS + self.turns * time_limit


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the grading or a stage of a tournament, as the rubric defines it."""

    name: str
    boards: tuple[BoardCost, ...]
    repeats: int
    time_limit: Seconds
    points: tuple[float, ...]
    """The points of each match of a contestant."""

    def cheapest(self, count: int) -> list[BoardCost]:
        """Return `count` boards in the rubric's order.

        The cheapest board that is not hidden comes first, because percentages require one; then the
        hidden boards, then the others by their cost.
        """
        costs = [board.seconds(self.time_limit) for board in self.boards]
        hidden = [board.board.hidden > 0 for board in self.boards]
        order = sorted(range(len(costs)), key=lambda place: (hidden[place], costs[place]))
        order = [
            *order[:1],
            *sorted(order[1:], key=lambda place: (not hidden[place], costs[place])),
        ]
        return [self.boards[place] for place in sorted(order[:count])]


@dataclass(frozen=True, slots=True)
class PlannedSection:
    """The games of a section that a plan plays."""

    name: str
    boards: tuple[str, ...]
    repeats: int
    time_limit: Seconds

    @property
    def pairs(self) -> int:
        """Return the pairs of a match."""
        return len(self.boards) * self.repeats


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for a class; `core_seconds` is its cost if everybody uses the whole time."""

    kind: str
    """`grade` or `tournament`."""
    hours: float
    sections: tuple[PlannedSection, ...]
    core_seconds: Seconds
    whole_core_seconds: Seconds
    """The cost of the rubric without a plan."""
    spread: float
    """The standard deviation of a total from that of unlimited games, in points."""
    whole_spread: float
    shift: float
    """The part of `spread` that comes from fewer boards and less time; no interval shows it."""
    half_width: float | None
    """Half the expected interval of a total, in points; None for one pair."""
    whole_half_width: float | None

    def to_json(self) -> Values:
        """Return the plan as plain values."""
        return asdict(self)


def from_json(values: dict[str, Any]) -> Plan:
    """Return a plan from the values of `to_json`."""
    sections = (
        PlannedSection(**{**item, "boards": tuple(item["boards"])}) for item in values["sections"]
    )
    return Plan(**{**values, "sections": tuple(sections)})


def grade_sections(submissions: Sequence[Contestant], rubric: Rubric) -> list[Section]:
    """Return both parts of a grading; submissions with equal content share their games."""
    once = _one_round(rubric)
    different = len({item.sha256 for item in submissions})
    games = grade_games(submissions[:1], once)
    points_b = tuple(step.points for step in rubric.part_b.baselines)
    match = rubric.match
    parts = (
        (PART_A, rubric.part_a.boards, (rubric.part_a.points,)),
        (PART_B, rubric.part_b.boards, points_b),
    )
    found = []
    for name, (part, boards, points) in zip(PART_NAMES, parts, strict=True):
        own = [game for game in games if game.match.part == part]
        costs = tuple(_cost(board, own, different) for board in boards)
        found.append(Section(name, costs, match.repeats, match.time_limit, points))
    return found


def tournament_sections(contestants: Sequence[Contestant], rubric: Rubric) -> list[Section]:
    """Return the stages of a tournament, all of them before the first game."""
    once = _one_round(rubric)
    begun = stages(contestants, {}, once)
    games = {begun[0].stage.name: [game for group in begun[0].groups for game in group.games]}
    games |= later_games(begun, once)
    return [
        Section(
            stage.name,
            tuple(_cost(board, games[stage.name]) for board in stage.boards),
            stage.repeats,
            stage.time_limit,
            (1.0,),
        )
        for stage in rubric.tournament.stages
    ]


def _one_round(rubric: Rubric) -> Rubric:
    """Return the rubric with one pair on each board."""
    rules = rubric.tournament
    once = tuple(replace(stage, repeats=1) for stage in rules.stages)
    return replace(
        rubric,
        match=replace(rubric.match, repeats=1),
        tournament=replace(rules, stages=once),
    )


def _cost(board: Board, games: Iterable[PlannedGame], times: int = 1) -> BoardCost:
    turns = [
        timed_turns(game) * seconds_of_turn(1.0, game.limits)
        for game in games
        if game.board.name == board.name
    ]
    return BoardCost(board, len(turns) * times, sum(turns) * times)


def make_plan(kind: str, contestants: Sequence[Contestant], hours: float, rubric: Rubric) -> Plan:
    """Return the best plan within the hours.

    Raises `InputError` if even the shortest plan that `[budget]` allows takes longer.
    """
    floor = rubric.budget
    sections = (tournament_sections if kind == TOURNAMENT else grade_sections)(contestants, rubric)
    candidates = [
        _plan(kind, sections, chosen, hours, rubric)
        for count in range(1, max(len(section.boards) for section in sections) + 1)
        for repeats in range(1, max(floor.most_repeats, _most(sections)) + 1)
        if (chosen := _within(sections, count, repeats, hours, floor)) is not None
    ]
    if not candidates:
        least = _shortest(sections, floor)
        raise InputError(
            f"--budget {hours:.3g}h: the shortest plan that [budget] of {rubric.source} allows "
            f"takes {least / SECONDS:.2g} core-hours; a lower least_time_limit (now "
            f"{floor.least_time_limit:g} s) or least_pairs (now {floor.least_pairs}) shortens it"
        )
    return min(candidates, key=lambda plan: (round(plan.spread, 6), plan.core_seconds))


def _most(sections: Sequence[Section]) -> int:
    return max(section.repeats for section in sections)


def _repeats(section: Section, repeats: int, sections: Sequence[Section]) -> int:
    """Return a section's repeats if the largest number of any section is `repeats`."""
    return max(1, round(section.repeats * repeats / _most(sections)))


Chosen = list[tuple[Section, list[BoardCost], int, Seconds]]


def _within(
    sections: Sequence[Section], count: int, repeats: int, hours: float, floor: BudgetRules
) -> Chosen | None:
    """Return the sections with at most `count` boards and the longest times that fit.

    Return None if `[budget]` or the hours do not allow it.
    """
    picked = [
        (section, section.cheapest(count), _repeats(section, repeats, sections))
        for section in sections
    ]
    for section, boards, rounds in picked:
        if len(boards) < min(floor.least_boards, len(section.boards)):
            return None
        if len(boards) * rounds < min(floor.least_pairs, section.repeats * len(section.boards)):
            return None

    def timed(share: float) -> Chosen:
        return [
            (section, boards, rounds, _time_limit(section, share, floor))
            for section, boards, rounds in picked
        ]

    if _seconds(timed(1.0)) <= hours * SECONDS:
        return timed(1.0)
    if _seconds(timed(0.0)) > hours * SECONDS:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if _seconds(timed(middle)) <= hours * SECONDS:
            low = middle
        else:
            high = middle
    return timed(low)


def _time_limit(section: Section, share: float, floor: BudgetRules) -> Seconds:
    """Return a share of a time limit, rounded down to two digits, but at least the minimum."""
    if share >= 1:
        return section.time_limit
    least = min(floor.least_time_limit, section.time_limit)
    seconds = max(least, section.time_limit * share)
    unit = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return max(least, round(math.floor(seconds / unit + 1e-9) * unit, 9))


def _seconds(chosen: Chosen) -> Seconds:
    return sum(
        board.seconds(time_limit) * repeats
        for _, boards, repeats, time_limit in chosen
        for board in boards
    )


def _whole(sections: Sequence[Section]) -> Chosen:
    """Return the plan that plays the whole rubric."""
    return [
        (section, list(section.boards), section.repeats, section.time_limit) for section in sections
    ]


def _shortest(sections: Sequence[Section], floor: BudgetRules) -> Seconds:
    """Return the cost of the shortest plan that `[budget]` allows."""
    found = []
    for count in range(1, max(len(section.boards) for section in sections) + 1):
        for repeats in range(1, max(floor.most_repeats, _most(sections)) + 1):
            chosen = _within(sections, count, repeats, math.inf, floor)
            if chosen is not None:
                least = [(*item[:3], _time_limit(item[0], 0.0, floor)) for item in chosen]
                found.append(_seconds(least))
    return min(found)


def _plan(
    kind: str, sections: Sequence[Section], chosen: Chosen, hours: float, rubric: Rubric
) -> Plan:
    whole = _whole(sections)
    confidence = rubric.statistics.confidence
    return Plan(
        kind,
        hours,
        tuple(
            PlannedSection(
                section.name, tuple(board.board.name for board in boards), repeats, time_limit
            )
            for section, boards, repeats, time_limit in chosen
        ),
        _seconds(chosen),
        _seconds(whole),
        math.hypot(_noise(chosen), _shift(chosen)),
        _noise(whole),
        _shift(chosen),
        _half_width(chosen, confidence),
        _half_width(whole, confidence),
    )


def _noise(chosen: Chosen) -> float:
    """Return the standard deviation of a total that comes from few games, in points."""
    return math.hypot(
        *(
            points * SCATTER / math.sqrt(len(boards) * repeats)
            for section, boards, repeats, _ in chosen
            for points in section.points
        )
    )


def _shift(chosen: Chosen) -> float:
    """Return the standard deviation of a total that comes from boards and times, in points."""
    variance = 0.0
    for section, boards, _, time_limit in chosen:
        share = BOARDS**2 * (1 / len(boards) - 1 / len(section.boards))
        share += (HALVING * math.log2(section.time_limit / time_limit)) ** 2
        variance += share * sum(points**2 for points in section.points)
    return math.sqrt(variance)


def _half_width(chosen: Chosen, confidence: float) -> float | None:
    """Return half the expected interval of a total, None if a match has a single pair.

    Points lie between 0 and their maximum, so half an interval is at most half of that.
    """
    parts = []
    for section, boards, repeats, _ in chosen:
        pairs = len(boards) * repeats
        if pairs < 2:
            return None
        reach = t_quantile((1 + confidence) / 2, pairs - 1) / math.sqrt(pairs)
        parts += [points * min(0.5, SCATTER * reach) for points in section.points]
    return math.hypot(*parts)


def planned_values(values: Values, plan: Plan) -> Values:
    """Return a rubric's values with the boards, repeats and time limits of a plan."""
    by_name = {section.name: _values_of(section) for section in plan.sections}
    if plan.kind == TOURNAMENT:
        rules = values["tournament"]
        listed = [{**stage, **by_name[stage["name"]]} for stage in rules["stages"]]
        return {**values, "tournament": {**rules, "stages": listed}}
    parts = {name: {**values[name], "boards": held["boards"]} for name, held in by_name.items()}
    shared = {key: by_name[PART_NAMES[0]][key] for key in ("repeats", "time_limit")}
    return {**values, **parts, "match": {**values["match"], **shared}}


def _values_of(section: PlannedSection) -> Values:
    return {
        "boards": list(section.boards),
        "repeats": section.repeats,
        "time_limit": section.time_limit,
    }


def basis(rubric: Rubric, kind: str) -> Values:
    """Return the values that a plan depends on; if they change, it is no longer valid."""
    values = rubric.values
    if kind == TOURNAMENT:
        keys = ("name", "group_size", "promote", "boards", "repeats", "time_limit")
        listed = [{key: stage[key] for key in keys} for stage in values["tournament"]["stages"]]
        return {"game": rubric.match.game, "stages": listed, "budget": values["budget"]}
    return {
        "game": rubric.match.game,
        **{key: values["match"][key] for key in ("time_limit", "repeats")},
        **{name: list(values[name]["boards"]) for name in PART_NAMES},
        "budget": values["budget"],
    }

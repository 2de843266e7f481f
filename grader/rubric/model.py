"""The rubric as values: every key of the file, with its check, is a field of a class.

`level_of_games` says what limits a move: seconds, or what an agent executes.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from connect4.config import ALLOWED_MODULES
from connect4.games import GAMES, nearest
from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED
from connect4.isolation.levels import Isolation
from connect4.isolation.seat import GRADED, Level, level_named
from grader import rubric as checks

LEAST_SECRET: Final = 10**15
"""Smaller seeds can be found by trying all of them."""

PRACTICE_SEED: Final = 20240
"""The seed if a rubric names none; it is public."""

Boards: TypeAlias = Annotated[tuple[checks.Board, ...], checks.boards]
TieBreak: TypeAlias = Literal["rating", "mean_margin", "wins", "faults", "name"]


@dataclass(frozen=True, slots=True)
class MatchRules:
    """The rules of all matches in parts A and B."""

    time_limit: Annotated[Seconds, checks.number(above=0)]
    repeats: Annotated[int, checks.whole(1)]
    seed: Annotated[int | None, checks.whole(0)] = None
    """None if the rubric names no seed."""
    seed_for: Literal["class", "source"] = "class"
    """Whether all submissions play with the same seeds, or each source with seeds of its own."""
    hidden: Annotated[tuple[str, ...], checks.list_of(checks.text)] = ()
    """The boards that count but are not shown."""
    game: Annotated[str, checks.choice(*checks.PLAYABLE)] = EXTENDED.name

    @property
    def counts_points(self) -> bool:
        """Return whether a game is worth its points; else a win is 1, a draw 0 and a loss -1."""
        return GAMES[self.game].counts_points

    @property
    def playing_seed(self) -> int:
        """Return the seed, or the practice seed if the rubric names none."""
        return PRACTICE_SEED if self.seed is None else self.seed


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The limits of an agent's process; those that are not the default are in a game's key."""

    startup: Annotated[Seconds, checks.number(above=0)] = 10.0
    memory_mb: Annotated[int, checks.whole(64)] = 1024
    time_margin: Annotated[Seconds, checks.number(minimum=0)] = 0.005
    lifetime: Literal["game", "move"] = "game"
    startup_total: Annotated[Seconds, checks.number(minimum=0)] = 10.0
    """For all loading after the first in a game."""
    require: Annotated[Level | None, checks.choice(*GRADED)] = None
    """The lowest isolation level at which games count; None for any."""
    module: Annotated[str | None, checks.text] = None
    """What counts what an agent executes: package, module and the kit's own part of a game."""
    allowed: tuple[str, ...] = ALLOWED_MODULES
    """As in `SubmissionRules`: the allowed imports affect the course of a game."""


@dataclass(frozen=True, slots=True)
class PartA:
    """Points for the percentage margin over a weak opponent."""

    points: Annotated[float, checks.number(minimum=0)]
    cap_percent: Annotated[float, checks.number(above=0)]
    opponent: Annotated[checks.KitAgent, checks.kit_agent]
    boards: Boards


@dataclass(frozen=True, slots=True)
class Baseline:
    """One baseline of part B: points by mean margin, linear from `low` to `high`."""

    agent: Annotated[checks.KitAgent, checks.kit_agent]
    points: Annotated[float, checks.number(minimum=0)]
    low: Annotated[float, checks.number()]
    high: Annotated[float, checks.number()]


@dataclass(frozen=True, slots=True)
class PartB:
    """Points for margins against the baselines."""

    boards: Boards
    baselines: Annotated[tuple[Baseline, ...], checks.tables(Baseline)]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a tournament; `group_size` 0 puts all into one group."""

    name: Annotated[str, checks.text]
    group_size: Annotated[int, checks.whole(0)]
    promote: Annotated[int, checks.whole(0)]
    repeats: Annotated[int, checks.whole(1)]
    time_limit: Annotated[Seconds, checks.number(above=0)]
    boards: Boards


@dataclass(frozen=True, slots=True)
class TournamentRules:
    """The stages, and the rules for their order."""

    points: Annotated[tuple[float, ...], checks.list_of(checks.number(minimum=0))]
    tie_breaks: Annotated[tuple[TieBreak, ...], checks.list_of(checks.choice(*get_args(TieBreak)))]
    ridge: Annotated[float, checks.number(above=0)]
    stages: Annotated[tuple[Stage, ...], checks.tables(Stage)]


@dataclass(frozen=True, slots=True)
class CompareRules:
    """The rules for the end of `compare`."""

    boards: Boards
    opening_plies: Annotated[int, checks.whole(0)]
    max_games: Annotated[int, checks.whole(2)]
    min_pairs: Annotated[int, checks.whole(2)]
    error: Annotated[float, checks.number(above=0, below=1)]
    effect: Annotated[float, checks.number(above=0)]
    equal_within: Annotated[float, checks.number(minimum=0)]


@dataclass(frozen=True, slots=True)
class LadderRules:
    """The rules of the ladder, which rates every version of a term."""

    policy: Literal["best", "latest"]
    names: Literal["pseudonym", "real", "own"]
    rungs: Annotated[tuple[checks.KitAgent, ...], checks.list_of(checks.kit_agent)]
    """The fixed agents of the scale; the first has rating 0."""
    boards: Boards
    opening_plies: Annotated[int, checks.whole(0)]
    time_limit: Annotated[Seconds, checks.number(above=0)]
    width: Annotated[float, checks.number(above=0)]
    """A version plays until its confidence interval is at most this wide."""
    address: Annotated[str, checks.text] = ""
    """Where the site is published."""


@dataclass(frozen=True, slots=True)
class StatisticsRules:
    """The rules for confidence intervals."""

    confidence: Annotated[float, checks.number(above=0, below=1)]


@dataclass(frozen=True, slots=True)
class SubmissionRules:
    """The rules for a submission."""

    max_source_kb: Annotated[int, checks.whole(1)]
    max_archive_mb: Annotated[int, checks.whole(1)]
    max_archive_files: Annotated[int, checks.whole(1)]
    report_pages: Annotated[int, checks.whole(0)]
    report_lines: Annotated[int, checks.whole(1)]
    report_columns: Annotated[int, checks.whole(1)]
    allowed: Annotated[tuple[str, ...], checks.list_of(checks.text)]
    """Modules that a submission may import, besides the standard library and numpy."""


def _moment(value: Any, place: checks.Place) -> str:
    """Check a date with a time."""
    with suppress(ValueError):
        if ":" in checks.text(value, place) and datetime.fromisoformat(value):
            return str(value)
    raise place.wrong(f"expected a date and a time such as 2030-01-31 23:59, got {value!r}")


def _zone(value: Any, place: checks.Place) -> str:
    """Check the name of a time zone."""
    with suppress(ValueError, OSError, ZoneInfoNotFoundError):
        return ZoneInfo(value).key
    hint = nearest(str(value), available_timezones())
    raise place.wrong(f"{value!r} is no time zone here, such as Europe/Berlin{hint}")


@dataclass(frozen=True, slots=True)
class LateRules:
    """What late days cost; nothing without a deadline."""

    deadline: Annotated[str, _moment] = ""
    zone: Annotated[str, _zone] = "UTC"
    points_a_day: Annotated[float, checks.number(minimum=0)] = 0.0
    percent_a_day: Annotated[float, checks.number(minimum=0)] = 0.0
    grace_days: Annotated[int, checks.whole(0)] = 0
    cap_percent: Annotated[float, checks.number(minimum=0)] = 100.0


@dataclass(frozen=True, slots=True)
class Rubric:
    """A checked rubric; `values` are its plain values for the results file."""

    source: str
    values: checks.Values
    match: MatchRules
    limits: AgentLimits
    submission: SubmissionRules
    part_a: PartA
    part_b: PartB
    tournament: TournamentRules
    compare: CompareRules
    statistics: StatisticsRules
    ladder: LadderRules
    late: LateRules


TABLES: Final[Mapping[str, type]] = {
    name: kind for name, kind in get_type_hints(Rubric).items() if name not in ("source", "values")
}
"""The tables of a rubric, each with the class of its keys; they are read in this order."""


def kit_agents(rubric: Rubric) -> list[checks.KitAgent]:
    """Return every agent that the rubric names; some may occur twice."""
    return [rubric.part_a.opponent, *(step.agent for step in rubric.part_b.baselines)]


def all_boards(rubric: Rubric) -> list[checks.Board]:
    """Return every board that the rubric names; some may occur more than once."""
    return [
        *rubric.part_a.boards,
        *rubric.part_b.boards,
        *rubric.compare.boards,
        *rubric.ladder.boards,
        *(board for stage in rubric.tournament.stages for board in stage.boards),
    ]


def level_of_games(rubric: Rubric) -> Isolation:
    """Return the level that a rubric requires, which says what limits a move."""
    return level_named(rubric.limits.require)


def limit_of_move(rubric: Rubric, seconds: Seconds) -> str:
    """Return the limit of a move in words, as a rubric's games count it."""
    return level_of_games(rubric).limit_text(seconds)

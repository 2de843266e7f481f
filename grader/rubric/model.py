"""The rubric as values: every constant of grading, checked when it is read (`reading.py`)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from connect4.config import ALLOWED_MODULES
from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED

LEAST_SECRET: Final = 10**15
"""Smaller seeds can be found by trying them all."""

PRACTICE_SEED: Final = 20240
"""Stands in where a rubric names no seed. Everybody knows it."""

FIRST_SCHEME: Final = 1
"""Seeds and keys as version 0.1.0 of the kit had them: its results are read, never added to."""

NAMED_SCHEME: Final = 2
"""Keys that hold the names of submissions: results of that time are added to in the same way."""

CONTENT_SCHEME: Final = 3
"""Keys that hold contents alone: a submission under a new name has its games already."""

TieBreak: TypeAlias = Literal["rating", "mean_margin", "wins", "faults", "name"]
TIE_BREAKS: Final = ("rating", "mean_margin", "wins", "faults", "name")

Values: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Board:
    """A start: its name in the rubric and its position as a record writes it."""

    name: str
    start: Values
    digest: str
    """Hash of `start`."""
    hidden: int = 0
    """Its place among the boards that are marked and not shown, 0 where it is none of them."""
    game: str = EXTENDED.name
    """The game that it is a start of; only `compare` plays another one."""

    @property
    def label(self) -> str:
        """Return what everything that comes out calls it."""
        return f"hidden board {self.hidden}" if self.hidden else self.name


@dataclass(frozen=True, slots=True)
class MatchRules:
    """What all matches of parts A and B share."""

    time_limit: Seconds
    repeats: int
    seed: int | None
    """None where the rubric names no seed."""
    opponent_faults: Literal["withhold", "count"] = "withhold"
    """Whether games count that an opponent of the rubric lost by its own fault."""
    hidden: tuple[str, ...] = ()
    """The boards that are marked and not shown."""

    @property
    def playing_seed(self) -> int:
        """Return the seed, the practice seed where the rubric names none."""
        return PRACTICE_SEED if self.seed is None else self.seed


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """What an agent's process may use."""

    startup: Seconds
    memory_mb: int
    time_margin: Seconds
    lifetime: Literal["game", "move"]
    startup_total: Seconds = 10.0
    """For all loading after the first in a game."""
    restarts: int = 5
    """How often that may be in a game."""
    require: Literal["process", "strong"] | None = None
    """The least level of isolation that games count at; None for any."""
    allowed: tuple[str, ...] = ALLOWED_MODULES
    """As in `SubmissionRules`: what a process may import decides how a game goes."""


@dataclass(frozen=True, slots=True)
class KitAgent:
    """An agent that the rubric names: an opponent of submissions."""

    written: str
    """As the rubric writes it."""
    agent: str
    """As `parse_agent` reads it: a file has its full path."""
    sha256: str | None
    """Of its file; None for an agent of the kit."""
    name: str
    """What tables and pages call it: never a path."""


@dataclass(frozen=True, slots=True)
class PartA:
    """Points for the percentage margin over a weak opponent."""

    points: float
    cap_percent: float
    opponent: KitAgent
    boards: tuple[Board, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """One step of the ladder: points by mean margin, linear from `low` to `high`."""

    agent: KitAgent
    points: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PartB:
    """Points for margins against the ladder."""

    boards: tuple[Board, ...]
    baselines: tuple[Baseline, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a tournament; `group_size` 0 puts all into one group."""

    name: str
    group_size: int
    promote: int
    repeats: int
    time_limit: Seconds
    boards: tuple[Board, ...]


@dataclass(frozen=True, slots=True)
class TournamentRules:
    """The stages and how their standings are ordered."""

    points: tuple[float, ...]
    tie_breaks: tuple[TieBreak, ...]
    ridge: float
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class CompareRules:
    """When `compare` has seen enough."""

    boards: tuple[Board, ...]
    opening_plies: int
    max_games: int
    min_pairs: int
    error: float
    effect: float
    equal_within: float


@dataclass(frozen=True, slots=True)
class StatisticsRules:
    """How confidence intervals are made."""

    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class SubmissionRules:
    """What a submission may be."""

    max_source_kb: int
    max_archive_mb: int
    max_archive_files: int
    report_pages: int
    report_lines: int
    report_columns: int
    allowed: tuple[str, ...]
    """Modules that a submission may import, besides the standard library and numpy."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """A checked rubric. `values` is what it was made of, for the results file."""

    source: str
    values: Values
    match: MatchRules
    limits: AgentLimits
    part_a: PartA
    part_b: PartB
    tournament: TournamentRules
    compare: CompareRules
    statistics: StatisticsRules
    submission: SubmissionRules
    scheme: int = CONTENT_SCHEME
    """Which way seeds and keys of games are made."""


def make_board(name: str, start: Values, game: str = EXTENDED.name) -> Board:
    """Return a board with its hash."""
    text = json.dumps(start, sort_keys=True)
    return Board(name, start, hashlib.sha256(text.encode()).hexdigest(), game=game)


def kit_agents(rubric: Rubric) -> list[KitAgent]:
    """Return every agent that the rubric names, some of them perhaps twice."""
    return [rubric.part_a.opponent, *(step.agent for step in rubric.part_b.baselines)]


def all_boards(rubric: Rubric) -> list[Board]:
    """Return every board that is named anywhere, some of them more than once."""
    return [
        *rubric.part_a.boards,
        *rubric.part_b.boards,
        *rubric.compare.boards,
        *(board for stage in rubric.tournament.stages for board in stage.boards),
    ]

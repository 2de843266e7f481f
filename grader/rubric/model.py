"""The rubric as values: every constant of grading; `reading.py` checks them.

By fuel, a budget of instructions is a number of virtual seconds at level `wasm`: in the values of a
rubric that was read, `time_limit` has the virtual seconds, `[limits] require` is `wasm`, and
`[limits] module` names the Python that counts.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from connect4.config import ALLOWED_MODULES
from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED
from connect4.isolation.wasm import budget

LEAST_SECRET: Final = 10**15
"""Smaller seeds can be found by trying all of them."""

PRACTICE_SEED: Final = 20240
"""The seed if a rubric names none; it is public."""

TieBreak: TypeAlias = Literal["rating", "mean_margin", "wins", "faults", "name"]
TIE_BREAKS: Final = ("rating", "mean_margin", "wins", "faults", "name")

Values: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Board:
    """A start: its name in the rubric and its position in the form of a record."""

    name: str
    start: Values
    digest: str
    """Hash of `start`."""
    hidden: int = 0
    """The number of a hidden board, 0 for other boards."""
    game: str = EXTENDED.name
    """The game of the position."""

    @property
    def label(self) -> str:
        """Return the board's name in all output."""
        return f"hidden board {self.hidden}" if self.hidden else self.name


@dataclass(frozen=True, slots=True)
class MatchRules:
    """The rules of all matches in parts A and B."""

    time_limit: Seconds
    repeats: int
    seed: int | None = None
    """None if the rubric names no seed."""
    seed_for: Literal["class", "source"] = "class"
    """Whether all submissions play with the same seeds, or each source with seeds of its own."""
    opponent_faults: Literal["withhold", "count"] = "withhold"
    """Whether games count that an opponent of the rubric lost by its own fault."""
    hidden: tuple[str, ...] = ()
    """The boards that count but are not shown."""
    game: str = EXTENDED.name

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
    """The limits of an agent's process."""

    startup: Seconds
    memory_mb: int
    time_margin: Seconds
    lifetime: Literal["game", "move"]
    startup_total: Seconds = 10.0
    """For all loading after the first in a game."""
    require: Literal["process", "strong", "wasm"] | None = None
    """The lowest isolation level at which games count; None for any. `wasm`: games by fuel."""
    module: str | None = None
    """What counts the fuel: the package, its module and the kit's own part of a game."""
    allowed: tuple[str, ...] = ALLOWED_MODULES
    """As in `SubmissionRules`: the allowed imports affect the course of a game."""


@dataclass(frozen=True, slots=True)
class KitAgent:
    """An agent in the rubric: an opponent of submissions."""

    written: str
    """The name in the rubric."""
    agent: str
    """The name as `parse_agent` reads it, with the full path of a file."""
    sha256: str | None
    """The hash of its file; None for an agent of the kit."""
    name: str
    """The name in tables and pages, never a path."""


@dataclass(frozen=True, slots=True)
class PartA:
    """Points for the percentage margin over a weak opponent."""

    points: float
    cap_percent: float
    opponent: KitAgent
    boards: tuple[Board, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """One baseline of the ladder: points by mean margin, linear from `low` to `high`."""

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
    """The stages, and the rules for their order."""

    points: tuple[float, ...]
    tie_breaks: tuple[TieBreak, ...]
    ridge: float
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class CompareRules:
    """The rules for the end of `compare`."""

    boards: tuple[Board, ...]
    opening_plies: int
    max_games: int
    min_pairs: int
    error: float
    effect: float
    equal_within: float


@dataclass(frozen=True, slots=True)
class LadderRules:
    """The rules of the ladder, which rates every version of a term."""

    policy: Literal["best", "latest"]
    names: Literal["pseudonym", "real", "own"]
    rungs: tuple[KitAgent, ...]
    """The fixed agents of the scale; the first has rating 0."""
    boards: tuple[Board, ...]
    opening_plies: int
    time_limit: Seconds
    width: float
    """A version plays until its confidence interval is at most this wide."""
    address: str = ""
    """Where the site is published."""


@dataclass(frozen=True, slots=True)
class StatisticsRules:
    """The rules for confidence intervals."""

    confidence: float


@dataclass(frozen=True, slots=True)
class SubmissionRules:
    """The rules for a submission."""

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
    """A checked rubric; `values` are its plain values for the results file."""

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
    ladder: LadderRules


def make_board(name: str, start: Values, game: str = EXTENDED.name) -> Board:
    """Return a board with its hash."""
    text = json.dumps(start, sort_keys=True)
    return Board(name, start, hashlib.sha256(text.encode()).hexdigest(), game=game)


def kit_agents(rubric: Rubric) -> list[KitAgent]:
    """Return every agent that the rubric names; some may occur twice."""
    return [rubric.part_a.opponent, *(step.agent for step in rubric.part_b.baselines)]


def all_boards(rubric: Rubric) -> list[Board]:
    """Return every board that the rubric names; some may occur more than once."""
    return [
        *rubric.part_a.boards,
        *rubric.part_b.boards,
        *rubric.compare.boards,
        *rubric.ladder.boards,
        *(board for stage in rubric.tournament.stages for board in stage.boards),
    ]


WASM: Final = "wasm"


def without_fuel(values: Values, given: Values, source: str) -> Values:
    """Return values with seconds in place of `match.fuel` and the stages' `fuel`.

    `given` is what the rubric's file has itself. Raises `InputError` with source and key.
    """
    match, tournament, limits = (values[name] for name in ("match", "tournament", "limits"))
    if not all(isinstance(table, dict) for table in (match, tournament, limits)):
        return values  # what is wrong there is reported with its key
    own, stages = given.get("match", {}), tournament["stages"]
    if not isinstance(stages, list):
        return values
    for place, stage in enumerate(stages, 1):
        if isinstance(stage, dict) and "fuel" in stage and "fuel" not in own:
            where = f"{source}: tournament.stages[{place}].fuel"
            raise InputError(f"{where}: [match] has no fuel; all games count fuel or none does")
    if "fuel" not in own:
        return values
    if "time_limit" in own:
        raise InputError(f"{source}: match.fuel takes the place of match.time_limit; keep one")
    seconds = _seconds(match["fuel"], f"{source}: match.fuel")
    rest = {key: value for key, value in match.items() if key != "fuel"}
    return in_fuel({**values, "match": rest}, seconds, source)


def in_fuel(values: Values, seconds: Seconds, source: str = "") -> Values:
    """Return values by fuel, with a budget for each move; stages may have their own."""
    stages = values["tournament"]["stages"]
    limits = values["limits"]
    if limits.get("require") not in (None, WASM, "process", "strong"):
        return values  # what is wrong there is reported with its key
    return {
        **values,
        "match": {**values["match"], "time_limit": seconds},
        "tournament": {
            **values["tournament"],
            "stages": [_stage(stage, n, seconds, source) for n, stage in enumerate(stages, 1)],
        },
        "limits": {**limits, "require": WASM},
    }


def _stage(stage: Any, place: int, seconds: Seconds, source: str) -> Any:
    """Return a stage with virtual seconds: its own fuel's, or those of the matches."""
    if not isinstance(stage, dict):
        return stage
    named = stage.get("fuel")
    where = f"{source}: tournament.stages[{place}].fuel"
    own = seconds if named is None else _seconds(named, where)
    return {key: value for key, value in stage.items() if key != "fuel"} | {"time_limit": own}


def _seconds(value: object, where: str) -> Seconds:
    """Return the virtual seconds of a budget, written as `5e9` or as `"5G"`."""
    try:
        if isinstance(value, str):
            return budget.seconds_of(budget.read_fuel(value))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return budget.seconds_of(budget.checked(value, str(value)))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    raise InputError(f'{where}: expected fuel such as 5e9 or "5G", not {value!r}')


def by_fuel(rubric: Rubric) -> bool:
    """Return whether games count fuel."""
    return rubric.limits.require == WASM


def pinned(values: Values, source: str) -> Values:
    """Return values by fuel that name the module which counts here.

    Raises `InputError` if the rubric names another one, or if there is none here.
    """
    from connect4.isolation.wasm import images, package

    reason = package.why_not()
    if reason is not None:
        raise InputError(f"isolation wasm: {reason}")
    named, here = values["limits"].get("module"), images.identity_text()
    if named not in (None, here):
        raise InputError(
            f"{source}: limits.module requires {named!r}, and {here!r} is here: it counts in "
            "another way"
        )
    return {**values, "limits": {**values["limits"], "module": here}}

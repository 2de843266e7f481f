"""Reads a rubric from TOML and checks all of it: one clear line for each mistake.

`grader/rubric.toml` is the default. Another file contains only the keys that differ.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.extended import EXTENDED
from connect4.isolation.seat import LEVELS
from connect4.players.base import split_name
from grader.rubric import KitAgent, Place, Values, checks_of, model, read_table, shown
from grader.rubric.model import (
    PRACTICE_SEED,
    TABLES,
    Rubric,
    all_boards,
    kit_agents,
)

DEFAULT: Final = Path(__file__).parents[1] / "rubric.toml"

PUBLIC_SEED: Final = (
    "{source}: match.seed 20240 is the practice seed: everybody can work out the random player's "
    "moves; leave it out, and a secret one is made, or name a secret number of 18 digits"
)

MATCH_TABLE: Final = re.compile(r"^[ \t]*\[[ \t]*match[ \t]*\][ \t]*(#.*)?$", re.MULTILINE)

EQUAL_WINS: Final = 0.1
"""Where only winning counts, a mean margin this close to 0 is no difference that matters."""

LADDER_WIDTH: Final = 0.3
"""The width of the ladder's intervals where only winning counts."""

STORED: Final = ("boards", "agents")
"""Tables that `stored_values` adds."""


def read(path: Path | None = None) -> Rubric:
    """Read a rubric file, the default one for None; raises `InputError` with file and key."""
    default = _load(DEFAULT)
    if path is None:
        return from_values(default, DEFAULT.name, DEFAULT.parent)
    given = _load(path)
    values = _overlay(_default_of_game(default, given), given, str(path))
    for level in LEVELS.values():
        values = level.read_rubric(values, given, str(path))
    values = _with_zone(values)
    rubric = from_values(values, str(path), path.parent)
    for key, what in _mistakes(rubric):
        raise InputError(f"{path}: {key}: {what}")
    for name in rubric.match.hidden:
        if not (path.parent / name).is_file():
            raise InputError(
                f"{path}: match.hidden: board {name!r} is the kit's own, so students have it"
            )
    return rubric


def _with_zone(values: Values) -> Values:
    """Return values whose deadline is a text and has a zone, by default the machine's."""
    late = values["late"]
    if "deadline" not in late:
        return values
    here = os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    zone = os.environ.get("TZ", "").removeprefix(":") or here
    return {**values, "late": {"zone": zone, **late, "deadline": str(late["deadline"])}}


def from_stored(values: Values, source: str) -> Rubric:
    """Return a rubric from a results file; keys that the file lacks get their defaults."""
    known = {key: value for key, value in values.items() if key not in STORED}
    merged = _overlay(_load(DEFAULT), known, source)
    stored = {key: values.get(key, {}) for key in STORED}
    return from_values({**merged, **stored}, source, None)


def _default_of_game(default: Values, given: Values) -> Values:
    """Change the default rubric to that for the game of `given`, and return it.

    The boards and margins of `rubric.toml` are those of ExtendedConnect4. In another game each list
    of boards is its usual start, and a baseline's points begin at margin 0 and are full at 1.
    """
    match = given.get("match")
    game = GAMES.get(str(match.get("game"))) if isinstance(match, dict) else None
    if game is None or game is EXTENDED:
        return default
    compare, ladder = default["compare"], default["ladder"]
    part_a, part_b, stages = default["part_a"], default["part_b"], default["tournament"]["stages"]
    for table in (part_a, part_b, compare, ladder, *stages):
        table["boards"] = [game.name]
    for step in part_b["baselines"]:
        step.update(low=0.0, high=1.0)
    if not game.counts_points:
        compare["equal_within"] = EQUAL_WINS
        ladder["width"] = LADDER_WIDTH
    return default


def _load(path: Path) -> Values:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: the rubric cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the rubric is not a TOML file: {error}") from None


def _overlay(base: Values, over: Values, source: str) -> Values:
    """Return `base` with the values of `over`; unknown keys are rejected."""
    top = Place(source)
    merged = dict(base)
    for name, values in over.items():
        if name not in TABLES:
            raise top.unknown(name, TABLES)
        if not isinstance(values, dict):
            raise top.at(name).wrong(f"expected a table, got {shown(values)}")
        for key in values:
            of_levels = (level.rubric_keys.get(name, ()) for level in LEVELS.values())
            known = [*checks_of(TABLES[name]), *chain.from_iterable(of_levels)]
            if key not in known:
                raise top.at(name).unknown(key, known)
        merged[name] = {**base[name], **values}
    return merged


def from_values(values: Values, source: str, folder: Path | None) -> Rubric:
    """Check plain values; raises `InputError` with source and key.

    Files of boards and agents lie below `folder`; `stored_values` require no files.
    """
    top = Place(source)
    for name in TABLES:
        if name not in values:
            raise top.at(name).wrong("is missing")
    match = read_table(values["match"], model.MatchRules, top.at("match"))
    top = Place(
        source,
        game=GAMES[match.game],
        folder=folder,
        hidden=match.hidden,
        stored_boards=values.get("boards", {}),
        stored_agents=values.get("agents", {}),
    )
    read: dict[str, Any] = {"match": match}
    for name, kind in TABLES.items():
        if name not in read:
            read[name] = read_table(values[name], kind, top.at(name))
    part_a, part_b = read["part_a"], read["part_b"]
    read["limits"] = replace(read["limits"], allowed=read["submission"].allowed)
    read["part_a"] = replace(part_a, opponent=_renamed(part_a.opponent, part_a.name))
    steps = [replace(step, agent=_renamed(step.agent, step.name)) for step in part_b.baselines]
    read["part_b"] = replace(part_b, baselines=tuple(steps))
    return Rubric(source, values, **read)


def _renamed(agent: KitAgent, name: str) -> KitAgent:
    """Return an agent with the name that the rubric gives it, if it gives one."""
    return replace(agent, name=name) if name else agent


def with_secret_seed(text: str, rubric: Rubric) -> str:
    """Return a rubric's TOML text with seeds for an autograder: each source has seeds of its own.

    A secret seed is added if the text names none, and `seed_for` if it is not in the text. Raises
    `InputError` if no line can be added, or if the text names the practice seed.
    """
    if rubric.match.seed == PRACTICE_SEED:
        raise InputError(PUBLIC_SEED.format(source=rubric.source))
    held = tomllib.loads(text).get("match", {})
    added = "" if "seed" in held else f"\nseed = {secrets.randbits(256)}"
    added += "" if "seed_for" in held else '\nseed_for = "source"'
    done, places = MATCH_TABLE.subn(lambda found: found[0] + added, text, count=1)
    if added and not places:
        done = f"{text}\n[match]{added}\n"
    try:
        assert {"seed", "seed_for"} <= tomllib.loads(done)["match"].keys()
    except tomllib.TOMLDecodeError:
        raise InputError(f"{rubric.source}: write its [match] as a table of its own") from None
    return done


def stored_values(rubric: Rubric) -> Values:
    """Return the values with each board's position and each agent's file and hash.

    A report therefore requires only the results file.
    """
    boards = {board.name: board.start for board in all_boards(rubric)}
    named = (*kit_agents(rubric), *rubric.ladder.rungs)
    agents = {item.written: {"agent": item.agent, "sha256": item.sha256} for item in named}
    return {**rubric.values, "boards": boards, "agents": agents}


def code_from_elsewhere(rubric: Rubric) -> list[str]:
    """Return a note on each agent of a rubric whose code is not in the rubric's folder."""
    folder = Path(rubric.source).resolve().parent
    named = {item.written: item.agent for item in (*kit_agents(rubric), *rubric.ladder.rungs)}
    notes = []
    for written, agent in named.items():
        name = split_name(agent)
        is_file = name.kind == "ai" and name.rest
        is_here = is_file and Path(name.rest).is_relative_to(folder)
        if name.kind in ("env", "kaggle") or (is_file and not is_here):
            what = "code from outside the rubric's folder, which runs in every game against it"
            notes.append(f"{rubric.source}: the agent {written!r} is {what}")
    return notes


def changes(before: Values, now: Values, where: str = "") -> list[str]:
    """Return the keys that differ between the stored values of two rubrics, with both values.

    Of a board and of an agent's file only that they differ is said, and seeds are not shown.
    """
    found = []
    for key in [*now, *(before.keys() - now.keys())]:
        old, new = before.get(key), now.get(key)
        if where == "agents":  # the same file may lie elsewhere
            old, new = (one and (one["sha256"] or one["agent"]) for one in (old, new))
        place = f"{where}.{key}".lstrip(".")
        if isinstance(old, dict) and isinstance(new, dict) and where not in STORED:
            found += changes(old, new, place)
        elif isinstance(old, list) and isinstance(new, list) and _are_tables(old, new):
            for number, (one, two) in enumerate(zip(old, new, strict=True), 1):
                found += changes(one, two, f"{place}[{number}]")
        elif old != new and where in STORED:
            if old is not None and new is not None:  # else the list of boards or agents says it
                found.append(f"{where[:-1]} {key!r} is another one")
        elif old != new:
            shown = [_shown(value) for value in (old, new)]
            text = "" if key == "seed" else f" was {shown[0]} and is {shown[1]}"
            found.append(f"{place}{text or ' has changed'}")
    return found


def _are_tables(old: list[Any], new: list[Any]) -> bool:
    """Return whether two lists are of as many tables, such as the baselines."""
    return len(old) == len(new) and all(isinstance(item, dict) for item in (*old, *new))


def _shown(value: object) -> str:
    """Return a value as a rubric has it; None is a key without a value."""
    return "not set" if value is None else json.dumps(value, default=str, ensure_ascii=False)


MOST_CELLS: Final = 12
"""Rows, and columns, of the largest board in the assignment."""

MOST_POPOUTS: Final = 10

LEAST_SECONDS: Final = 5
MOST_SECONDS: Final = 20

COLUMNS_WITH_POPOUTS: Final = 10
"""On more columns, a position may have more than the 15 actions of the assignment."""


def _mistakes(rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield each mistake of a rubric, with its key."""
    yield from _mistakes_of_baselines(rubric)
    yield from _mistakes_of_stages(rubric)
    yield from _mistakes_of_boards(rubric)
    marked = {board.name for board in (*rubric.part_a.boards, *rubric.part_b.boards)}
    for name in rubric.match.hidden:
        if name not in marked:
            yield "match.hidden", f"board {name!r} is none of the boards of part A or B"
    if rubric.match.counts_points and all(board.hidden for board in rubric.part_a.boards):
        yield (
            "match.hidden",
            "every board of part A is hidden; its margin is in percent of the opponent's points on "
            "the others, so leave one that is not",
        )
    late = rubric.values["late"]
    if late and "deadline" not in late:
        yield "late.deadline", "is missing: late days count from it"
    if {"points_a_day", "percent_a_day"} <= late.keys():
        yield "late", "expected points_a_day or percent_a_day, not both"
    for place, (better, worse) in enumerate(pairwise(rubric.tournament.points), 1):
        if worse > better:
            yield (
                "tournament.points",
                f"place {place + 1} earns {worse:g}, more than place {place} with {better:g}; "
                "points must not rise",
            )


def _mistakes_of_baselines(rubric: Rubric) -> Iterator[tuple[str, str]]:
    steps = rubric.part_b.baselines
    for number, step in enumerate(steps, 1):
        here, low, high = f"part_b.baselines[{number}]", step.low, step.high
        if high <= low:
            yield f"{here}.high", f"{high:g} is not above low, {low:g}"
        if not rubric.match.counts_points and not -1 <= low < high <= 1:
            key, value = ("low", low) if low < -1 else ("high", high)
            worth = f"a game of {rubric.match.game} is worth 1, 0 or -1"
            yield f"{here}.{key}", f"{value:g} is not a possible mean margin: {worth}"
    agents = [step.agent.agent for step in steps]
    names = [step.agent.name for step in steps]
    for agent in (step.agent for step in steps):
        if agents.count(agent.agent) > 1:
            yield "part_b.baselines", f"agent {agent.written!r} is listed twice"
        if names.count(agent.name) > 1:
            what = f'two baselines are called {agent.name!r}; give each its own name = "..."'
            yield "part_b.baselines", what


def _mistakes_of_stages(rubric: Rubric) -> Iterator[tuple[str, str]]:
    stages = rubric.tournament.stages
    for number, stage in enumerate(stages, 1):
        here, size = f"tournament.stages[{number}]", stage.group_size
        if size == 1:
            yield f"{here}.group_size", "a group has 2 or more, 0 means all"
        if number < len(stages) and not stage.promote:
            yield f"{here}.promote", "nobody would reach the next stage"
        if number < len(stages) and size and stage.promote >= size:
            what = f"{stage.promote} of {size} would all reach the next stage"
            yield f"{here}.promote", f"{what}; promote {size - 1} at most"
    if not stages or len({stage.name for stage in stages}) < len(stages):
        yield "tournament.stages", "expected one or more stages, each with a name of its own"
    rungs = rubric.ladder.rungs
    if len(rungs) < 2 or len({rung.name for rung in rungs}) < len(rungs):
        yield "ladder.rungs", "expected two or more agents, each with a name of its own"


def _mistakes_of_boards(rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Yield each position that is in a list twice: its games would be the same."""
    lists = {
        "part_a": rubric.part_a.boards,
        "part_b": rubric.part_b.boards,
        "compare": rubric.compare.boards,
    }
    for number, stage in enumerate(rubric.tournament.stages, 1):
        lists[f"tournament.stages[{number}]"] = stage.boards
    for key, boards in lists.items():
        first: dict[str, str] = {}
        for board in boards:
            name = first.get(board.digest)
            if name == board.name:
                yield f"{key}.boards", f"board {name!r} is listed twice"
            elif name is not None:
                what = f"boards {name!r} and {board.name!r} are one position"
                yield f"{key}.boards", what
            first[board.digest] = board.name


def outside_assignment(rubric: Rubric) -> str | None:
    """Return a note on what exceeds the assignment's limits, None if nothing does."""
    if rubric.match.game != EXTENDED.name:
        return None
    times = {"match.time_limit": rubric.match.time_limit}
    for place, stage in enumerate(rubric.tournament.stages, 1):
        times[f"tournament.stages[{place}].time_limit"] = stage.time_limit
    found = [
        f"{key} is {seconds:g}"
        for key, seconds in times.items()
        if not LEAST_SECONDS <= seconds <= MOST_SECONDS
    ]
    for board in all_boards(rubric):
        cells, held = board.start["board"], board.start.get("popouts", 0)
        rows, columns = len(cells), len(cells[0])
        popouts = max(held) if isinstance(held, list) else held
        most = COLUMNS_WITH_POPOUTS if popouts else MOST_CELLS
        if popouts > MOST_POPOUTS or rows > MOST_CELLS or columns > most:
            found.append(f"board {board.name!r} has {rows}x{columns} cells, {popouts} pop-outs")
    if not found:
        return None
    return (
        f"{rubric.source}: outside the assignment's limits (5 to 20 s a move, 15 actions, 10 "
        f"pop-outs, 12x12): {'; '.join(found)}"
    )

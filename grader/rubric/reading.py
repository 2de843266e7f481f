"""Reads a rubric from TOML and checks all of it: one clear line for each mistake.

`grader/rubric.toml` is the default. Another file contains only the keys that differ.
"""

import json
import os
import re
import secrets
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from connect4.games import GAMES, nearest_file
from connect4.games.extended import EXTENDED
from connect4.isolation.seat import LEVELS
from grader.rubric import Place, Values, model, read_table, shown

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


def read(path: Path | None = None) -> model.Rubric:
    """Read a rubric file, the default one for None; raises `InputError` with file and key."""
    default = _load(DEFAULT)
    if path is None:
        return from_values(default, DEFAULT.name, DEFAULT.parent)
    given = _load(path)
    values = _overlay(_default_of_game(default, given), given, str(path))
    for level in LEVELS.values():
        values = level.read_rubric(values, given, str(path))
    if "deadline" in (late := values["late"]):  # a text with a zone, by default the machine's
        here = os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
        zone = os.environ.get("TZ", "").removeprefix(":") or here
        values = {**values, "late": {"zone": zone, **late, "deadline": str(late["deadline"])}}
    rubric = from_values(values, str(path), path.parent)
    for key, what in _mistakes(rubric):
        raise InputError(f"{path}: {key}: {what}")
    for name in rubric.match.hidden:
        if not (path.parent / name).is_file():
            raise InputError(
                f"{path}: match.hidden: board {name!r} is the kit's own, so students have it"
            )
    return rubric


def from_stored(values: Values, source: str) -> model.Rubric:
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
        why = f"{error.strerror}{nearest_file(path, '*.toml')}"
        raise InputError(f"{path}: the rubric cannot be read: {why}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the rubric is not a TOML file: {error}") from None


GONE: Final = {
    "match.opponent_faults": "is gone: such games count for nobody; fix the agent and give the "
    "same command, or `correct` a mark"
}
"""Keys of 2.0.0, and what to do instead."""


def _overlay(base: Values, over: Values, source: str) -> Values:
    """Return `base` with the values of `over`; unknown tables are rejected."""
    top = Place(source)
    merged = dict(base)
    for name, values in over.items():
        if name not in model.TABLES:
            raise top.unknown(name, model.TABLES)
        if not isinstance(values, dict):
            raise top.at(name).wrong(f"expected a table, got {shown(values)}")
        for key in values:
            if f"{name}.{key}" in GONE:
                raise top.at(name).at(key).wrong(GONE[f"{name}.{key}"])
        merged[name] = {**base[name], **values}
    return merged


def from_values(values: Values, source: str, folder: Path | None) -> model.Rubric:
    """Check plain values; raises `InputError` with source and key.

    Files of boards and agents lie below `folder`; `stored_values` require no files.
    """
    top = Place(source)
    match = read_table(values.get("match"), model.MatchRules, top.at("match"))
    top = Place(
        source,
        game=GAMES[match.game],
        folder=folder,
        hidden=match.hidden,
        stored_boards=values.get("boards", {}),
        stored_agents=values.get("agents", {}),
    )
    read: dict[str, Any] = {"match": match}
    for name, kind in model.TABLES.items():
        if name not in read:
            read[name] = read_table(values.get(name), kind, top.at(name))
    read["limits"] = replace(read["limits"], allowed=read["submission"].allowed)
    return model.Rubric(source, values, **read)


def with_secret_seed(text: str, rubric: model.Rubric) -> str:
    """Return a rubric's TOML text with seeds for an autograder: each source has seeds of its own.

    A secret seed is added if the text names none, and `seed_for` if it is not in the text. Raises
    `InputError` if no line can be added, or if the text names the practice seed.
    """
    if rubric.match.seed == model.PRACTICE_SEED:
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


def stored_values(rubric: model.Rubric) -> Values:
    """Return the values with each board's position and each agent's file and hash.

    A report therefore requires only the results file.
    """
    boards = {board.name: board.start for board in model.all_boards(rubric)}
    named = (*model.kit_agents(rubric), *rubric.ladder.rungs)
    agents = {item.written: {"agent": item.agent, "sha256": item.sha256} for item in named}
    return {**rubric.values, "boards": boards, "agents": agents}


def changes(before: Values | None, now: model.Rubric) -> list[str]:
    """Return the keys in which a rubric differs from stored values, with both values.

    Of a board and of an agent's file only that they differ is said, and seeds are not shown.
    """
    if before is None:
        return []
    old, new = _flat(before), _flat(json.loads(json.dumps(stored_values(now))))
    found = []
    for key in [*new, *(old.keys() - new.keys())]:
        table, _, name = key.partition(".")
        if old.get(key) == new.get(key):
            continue
        if table not in STORED:
            shown = [
                "not set" if value is None else json.dumps(value, default=str, ensure_ascii=False)
                for value in (old.get(key), new.get(key))
            ]
            is_seed = key == "match.seed"
            found.append(
                f"{key} has changed" if is_seed else f"{key} was {shown[0]} and is {shown[1]}"
            )
        elif key in old and key in new:  # else the list of boards or agents says it
            found.append(f"{table[:-1]} {name!r} is another one")
    return found


def _flat(values: Values, where: str = "") -> Values:
    """Return the values of nested tables by their whole keys; an agent by the hash of its file."""
    found: Values = {}
    for key, value in values.items():
        place = f"{where}.{key}".lstrip(".")
        if where == "agents":  # the same file may lie elsewhere
            found[place] = value["sha256"] or value["agent"]
        elif isinstance(value, dict) and where != "boards":
            found |= _flat(value, place)
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            for number, one in enumerate(value, 1):
                found |= _flat(one, f"{place}[{number}]")
        else:
            found[place] = value
    return found


def _mistakes(rubric: model.Rubric) -> Iterator[tuple[str, str]]:
    """Yield each mistake of a rubric that would spoil a mark, with its key."""
    yield from _mistakes_of_lists(rubric)
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


def _mistakes_of_lists(rubric: model.Rubric) -> Iterator[tuple[str, str]]:
    steps, stages = rubric.part_b.baselines, rubric.tournament.stages
    for number, step in enumerate(steps, 1):
        if step.high <= step.low:
            what = f"{step.high:g} is not above low, {step.low:g}"
            yield f"part_b.baselines[{number}].high", what
    for name, times in Counter(step.agent.name for step in steps).items():
        if times > 1:
            what = f"two baselines are called {name!r}; results tell them by name"
            yield "part_b.baselines", what
    lists = {"part_a": rubric.part_a.boards, "part_b": rubric.part_b.boards}
    for number, stage in enumerate(stages, 1):
        here = f"tournament.stages[{number}]"
        lists[here] = stage.boards
        if stage.group_size == 1:
            yield f"{here}.group_size", "a group has 2 or more, 0 means all"
        if number < len(stages) and not stage.promote:
            yield f"{here}.promote", "nobody would reach the next stage"
    for here, boards in lists.items():
        if len({board.digest for board in boards}) < len(boards):
            yield f"{here}.boards", "names a board twice; `repeats` says how often each is played"
    if not stages or len({stage.name for stage in stages}) < len(stages):
        yield "tournament.stages", "expected one or more stages, each with a name of its own"
    if len(rubric.ladder.rungs) < 2:
        yield "ladder.rungs", "expected two or more agents"

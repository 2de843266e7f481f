"""Reads a rubric from TOML and checks all of it: one clear line for each mistake.

`grader/rubric.toml` is the default. Another file contains only the keys that differ.
"""

from __future__ import annotations

import re
import secrets
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from connect4.errors import InputError
from connect4.games import GAMES, nearest
from connect4.games.extended import EXTENDED
from connect4.players.names import split_name
from grader.rubric import model
from grader.rubric.fuel import without_fuel
from grader.rubric.mistakes import refuse_mistakes
from grader.rubric.model import PRACTICE_SEED, TIE_BREAKS, Rubric, Values, all_boards, kit_agents
from grader.rubric.names import Names
from grader.rubric.toml_table import TomlTable

DEFAULT: Final = Path(__file__).parents[1] / "rubric.toml"

PUBLIC_SEED: Final = (
    "{source}: match.seed 20240 is the practice seed: everybody can work out the random player's "
    "moves; leave it out, and a secret one is made, or name a secret number of 18 digits"
)

MATCH_TABLE: Final = re.compile(r"\s*\[\s*match\s*\]\s*(#.*)?")

OPTIONAL: Final = {
    "match.": frozenset({"seed", "seed_for", "hidden", "opponent_faults", "game", "fuel"}),
    "limits.": frozenset({"require", "module"}),
    "part_a.": frozenset({"name"}),
    "statistics.": frozenset({"resamples", "seed"}),
    "ladder.": frozenset({"address"}),
}
"""Optional keys that the default rubric does not contain, by table."""

REMOVED: Final = {
    "limits.restarts": "is gone: delete the line; startup_total alone bounds how often an agent is "
    "loaded again",
    "budget": "is gone: delete the table, and choose boards, repeats and time_limit by the "
    "core-hours that --dry-run prints",
    "match.stop": "is gone: delete the line; every match plays all pairs of `repeats`",
}
"""Keys of earlier versions, and what to do instead; results files still contain them."""

LEVELS: Final[tuple[Literal["process", "strong", "wasm"], ...]] = ("process", "strong", "wasm")
"""The isolation levels that a rubric may require."""

WITHOUT_EFFECT: Final = ("resamples", "seed")
"""Keys of `[statistics]` that are accepted and have no effect."""

PLAYABLE: Final = tuple(name for name, game in GAMES.items() if game.file_action is not None)
"""The games that students' files play."""

EQUAL_WINS: Final = 0.1
"""Where only winning counts, a mean margin this close to 0 is no difference that matters."""

LADDER_WIDTH: Final = 0.3
"""The width of the ladder's intervals where only winning counts."""

STORED: Final = ("boards", "agents")
"""Tables that `stored_values` adds."""


def read(path: Path | None = None, allow_large: bool = False) -> Rubric:
    """Read a rubric file, the default one for None; raises `InputError` with file and key.

    More than 12 rows or columns, or more than 10 pop-outs, are rejected unless `allow_large`.
    """
    default = _load(DEFAULT)
    if path is None:
        return from_values(default, DEFAULT.name, DEFAULT.parent)
    given = _load(path)
    values = _overlay(_default_of_game(default, given), given, str(path), "")
    values = without_fuel(values, given, str(path))
    rubric = from_values(values, str(path), path.parent)
    refuse_mistakes(rubric, allow_large)
    for name in rubric.match.hidden:
        if not (path.parent / name).is_file():
            raise InputError(
                f"{path}: match.hidden: board {name!r} is the kit's own, so students have it"
            )
    return rubric


def from_stored(values: Values, source: str) -> Rubric:
    """Return a rubric from a results file; keys that the file lacks get their defaults."""
    if "stop" in values.get("match", {}):
        raise InputError(
            f"{source}: [match] stop, which is gone, ended matches early; `grade` with a rubric "
            "without it plays the missing games"
        )
    known = {key: value for key, value in _without_removed(values).items() if key not in STORED}
    merged = _overlay(_load(DEFAULT), known, source, "")
    stored = {key: values.get(key, {}) for key in STORED}
    return from_values({**merged, **stored}, source, None)


def _without_removed(values: Values, where: str = "") -> Values:
    """Return stored values without the keys of `REMOVED`."""
    return {
        key: _without_removed(value, f"{where}{key}.") if isinstance(value, dict) else value
        for key, value in values.items()
        if f"{where}{key}" not in REMOVED
    }


def _default_of_game(default: Values, given: Values) -> Values:
    """Return the default rubric for the game of `given`.

    The boards and margins of `rubric.toml` are those of ExtendedConnect4. In another game each list
    of boards is its usual start, and a baseline's points begin at margin 0 and are full at 1.
    """
    match = given.get("match")
    game = GAMES.get(str(match.get("game"))) if isinstance(match, dict) else None
    if game is None or game is EXTENDED:
        return default
    boards = [game.name]
    part_b, tournament, compare = default["part_b"], default["tournament"], default["compare"]
    baselines = [{**step, "low": 0.0, "high": 1.0} for step in part_b["baselines"]]
    return {
        **default,
        "part_a": {**default["part_a"], "boards": boards},
        "part_b": {**part_b, "boards": boards, "baselines": baselines},
        "tournament": {
            **tournament,
            "stages": [{**stage, "boards": boards} for stage in tournament["stages"]],
        },
        "compare": {
            **compare,
            "boards": boards,
            "equal_within": compare["equal_within"] if game.counts_points else EQUAL_WINS,
        },
        "ladder": {
            **default["ladder"],
            "boards": boards,
            "width": default["ladder"]["width"] if game.counts_points else LADDER_WIDTH,
        },
    }


def _load(path: Path) -> Values:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: the rubric cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the rubric is not a TOML file: {error}") from None


def _overlay(base: Values, over: Values, source: str, where: str) -> Values:
    """Return `base` with the values of `over`; a key that `base` lacks must be optional."""
    merged = dict(base)
    known = {*base, *OPTIONAL.get(where, ())}
    for key, value in over.items():
        if f"{where}{key}" in REMOVED:
            raise InputError(f"{source}: {where}{key} {REMOVED[f'{where}{key}']}")
        if key not in known:
            raise InputError(f"{source}: {where}{key}: unknown key{nearest(key, known)}")
        both_tables = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _overlay(base[key], value, source, f"{where}{key}.") if both_tables else value
    return merged


def from_values(values: Values, source: str, folder: Path | None) -> Rubric:
    """Check plain values; raises `InputError` with source and key.

    Files of boards and agents lie below `folder`; `stored_values` require no files.
    """
    top = TomlTable(values, source, "")
    match = _match(top.table("match"))
    game = GAMES[match.game]
    names = Names(game, folder, match.hidden, values.get("boards", {}), values.get("agents", {}))
    submission = _submission(top.table("submission"))
    rubric = Rubric(
        source,
        values,
        match,
        replace(_limits(top.table("limits")), allowed=submission.allowed),
        _part_a(top.table("part_a"), names),
        _part_b(top.table("part_b"), names),
        _tournament(top.table("tournament"), names),
        _compare(top.table("compare"), names),
        _statistics(top.table("statistics")),
        submission,
        _ladder(top.table("ladder"), names),
    )
    top.finish(*STORED)
    return rubric


def with_secret_seed(text: str, rubric: Rubric) -> str:
    """Return a rubric's TOML text with seeds for an autograder: each source has seeds of its own.

    A secret seed is added if the text names none, and `seed_for` if it is not in the text. Raises
    `InputError` if no line can be added, or if the text names the practice seed.
    """
    if rubric.match.seed == PRACTICE_SEED:
        raise InputError(PUBLIC_SEED.format(source=rubric.source))
    held = tomllib.loads(text).get("match", {})
    added = [] if "seed" in held else [f"seed = {secrets.randbits(256)}"]
    added += [] if "seed_for" in held else ['seed_for = "source"']
    if not added:
        return text
    lines = text.splitlines()
    place = next((n for n, line in enumerate(lines) if MATCH_TABLE.fullmatch(line)), None)
    if place is None:
        lines += ["", "[match]"]
        place = len(lines) - 1
    lines[place + 1 : place + 1] = added
    done = "\n".join(lines) + "\n"
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


def without_effect(rubric: Rubric) -> str | None:
    """Return a note on keys of a rubric that have no effect, None if it has none."""
    keys = [key for key in WITHOUT_EFFECT if key in rubric.values["statistics"]]
    if not keys:
        return None
    have = "have" if len(keys) > 1 else "has"
    named = " and ".join(keys)
    return (
        f"{rubric.source}: [statistics] {named} {have} no effect: intervals use no random samples"
    )


def code_from_elsewhere(rubric: Rubric) -> list[str]:
    """Return a note on each agent of a rubric whose code is not in the rubric's folder."""
    folder = Path(rubric.source).resolve().parent
    named = {item.written: item.agent for item in (*kit_agents(rubric), *rubric.ladder.rungs)}
    notes = []
    for written, agent in named.items():
        name = split_name(agent)
        is_file = name.kind == "ai" and name.rest
        if name.kind == "env" or (is_file and not Path(name.rest).is_relative_to(folder)):
            what = "code from outside the rubric's folder, which runs in every game against it"
            notes.append(f"{rubric.source}: the agent {written!r} is {what}")
    return notes


def changed_limits(before: Values, now: Values) -> list[str]:
    """Return the limits and time limits that differ between two rubrics' values, in words."""
    found = []
    for table, key in (("match", "time_limit"), *(("limits", key) for key in now["limits"])):
        old, new = before.get(table, {}).get(key), now[table].get(key)
        if old != new:
            was = "not set" if old is None else old
            found.append(f"[{table}] {key} was {was} and is {new}")
    return found


def _match(table: TomlTable) -> model.MatchRules:
    return model.MatchRules(
        table.number("time_limit", above=0),
        table.whole("repeats", 1),
        table.whole("seed", 0) if table.has("seed") else None,
        seed_for=table.choice("seed_for", ("class", "source"))
        if table.has("seed_for")
        else "class",
        hidden=table.list("hidden", lambda item: table.text_value("hidden", item))
        if table.has("hidden")
        else (),
        opponent_faults=table.choice("opponent_faults", ("withhold", "count"))
        if table.has("opponent_faults")
        else "withhold",
        game=table.choice("game", PLAYABLE) if table.has("game") else EXTENDED.name,
    )


def _limits(table: TomlTable) -> model.AgentLimits:
    return model.AgentLimits(
        table.number("startup", above=0),
        table.whole("memory_mb", 64),
        table.number("time_margin", minimum=0),
        table.choice("lifetime", ("game", "move")),
        table.number("startup_total", minimum=0),
        table.choice("require", LEVELS) if table.has("require") else None,
        table.text("module") if table.has("module") else None,
    )


def _part_a(table: TomlTable, names: Names) -> model.PartA:
    return model.PartA(
        table.number("points", minimum=0),
        table.number("cap_percent", above=0),
        names.agent(table, "opponent"),
        names.boards(table),
    )


def _part_b(table: TomlTable, names: Names) -> model.PartB:
    baselines = []
    for step in table.tables("baselines"):
        low = step.number("low")
        baseline = model.Baseline(
            names.agent(step, "agent"), step.number("points", minimum=0), low, step.number("high")
        )
        if baseline.high <= low:
            raise step.wrong("high", f"{baseline.high:g} is not above low, {low:g}")
        if not names.game.counts_points and not -1 <= low < baseline.high <= 1:
            key, value = ("low", low) if low < -1 else ("high", baseline.high)
            worth = f"a game of {names.game.name} is worth 1, 0 or -1"
            raise step.wrong(key, f"{value:g} is not a possible mean margin: {worth}")
        baselines.append(baseline)
    agents = [baseline.agent.agent for baseline in baselines]
    shown = [baseline.agent.name for baseline in baselines]
    for held in (baseline.agent for baseline in baselines):
        if agents.count(held.agent) > 1:
            raise table.wrong("baselines", f"agent {held.written!r} is listed twice")
        if shown.count(held.name) > 1:
            what = f'two baselines are called {held.name!r}; give each its own name = "..."'
            raise table.wrong("baselines", what)
    return model.PartB(names.boards(table), tuple(baselines))


def _tournament(table: TomlTable, names: Names) -> model.TournamentRules:
    stages = []
    for item in table.tables("stages"):
        stages.append(
            model.Stage(
                item.text("name"),
                item.whole("group_size", 0),
                item.whole("promote", 0),
                item.whole("repeats", 1),
                item.number("time_limit", above=0),
                names.boards(item),
            )
        )
    for place, stage in enumerate(stages, 1):
        if stage.group_size == 1:
            raise table.wrong(f"stages[{place}].group_size", "a group has 2 or more, 0 means all")
        if place < len(stages) and not stage.promote:
            raise table.wrong(f"stages[{place}].promote", "nobody would reach the next stage")
    if not stages or len({stage.name for stage in stages}) < len(stages):
        raise table.wrong("stages", "expected one or more stages, each with a name of its own")
    return model.TournamentRules(
        table.list("points", lambda item: table.number_value("points", item, minimum=0)),
        table.list("tie_breaks", lambda item: table.choice_value("tie_breaks", item, TIE_BREAKS)),
        table.number("ridge", above=0),
        tuple(stages),
    )


def _compare(table: TomlTable, names: Names) -> model.CompareRules:
    return model.CompareRules(
        names.boards(table),
        table.whole("opening_plies", 0),
        table.whole("max_games", 2),
        table.whole("min_pairs", 2),
        table.share("error"),
        table.number("effect", above=0),
        table.number("equal_within", minimum=0),
    )


def _ladder(table: TomlTable, names: Names) -> model.LadderRules:
    rungs = table.list("rungs", lambda item: names.listed_agent(table, "rungs", item))
    if len(rungs) < 2 or len({rung.name for rung in rungs}) < len(rungs):
        raise table.wrong("rungs", "expected two or more agents, each with a name of its own")
    return model.LadderRules(
        table.choice("policy", ("best", "latest")),
        table.choice("names", ("pseudonym", "real", "own")),
        rungs,
        names.boards(table),
        table.whole("opening_plies", 0),
        table.number("time_limit", above=0),
        table.number("width", above=0),
        table.text("address") if table.has("address") else "",
    )


def _statistics(table: TomlTable) -> model.StatisticsRules:
    for key in WITHOUT_EFFECT:
        if table.has(key):
            table.whole(key, 0)
    return model.StatisticsRules(table.share("confidence"))


def _module(table: TomlTable, item: object) -> str:
    name = table.text_value("allowed", item)
    if not all(part.isidentifier() for part in name.split(".")):
        raise table.wrong("allowed", f"expected the name of a module, got {name!r}")
    return name


def _submission(table: TomlTable) -> model.SubmissionRules:
    return model.SubmissionRules(
        table.whole("max_source_kb", 1),
        table.whole("max_archive_mb", 1),
        table.whole("max_archive_files", 1),
        table.whole("report_pages", 1),
        table.whole("report_lines", 1),
        table.whole("report_columns", 1),
        table.list("allowed", lambda item: _module(table, item)),
    )

"""Rubrics by fuel: a budget of instructions is a number of virtual seconds at level `wasm`.

In the values of a rubric that was read, `time_limit` has the virtual seconds, `[limits] require` is
`wasm`, and `[limits] module` names the Python that counts.
"""

from __future__ import annotations

from typing import Any, Final

from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation.wasm import budget
from grader.rubric.model import Rubric, Values

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

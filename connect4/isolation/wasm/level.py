"""The level `wasm`: its entry in the table of levels, and budgets of fuel.

Fuel counts the WebAssembly instructions that an agent's Python executes. The count is the same on
every machine. A budget is converted to seconds of virtual time.
"""

import argparse
import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final

from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation.levels import Isolation, Log, Report, Runner, Values
from connect4.isolation.sandbox import Limits
from connect4.isolation.wasm import package
from connect4.players.base import POLICIES, Setup, Turn

FUEL_PER_SECOND: Final = 25_000_000_000
"""The fuel of one virtual second: the work of ordinary Python in one second on a laptop.

It is constant, so that no mark depends on a machine. `benchmarks.fuel` measures that work.
"""

NAME: Final = "wasm"

LEAST: Final = 1_000_000
MOST: Final = 10**15

OTHER_FUEL: Final = (20 * 10**9, 5 * 10**9, 10**9)

UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def read_fuel(text: str) -> int:
    """Return the fuel that `text` names, such as `5G`, `500M` or `5e9`; raises `InputError`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]{1,2})?)([KMGT]?)", text.strip())
    if found is None:
        expected = "a number with K, M, G or T, such as 5G, or 5e9"
        raise InputError(f"fuel {text!r}: expected {expected}")
    fuel = float(found[1]) * UNITS[found[2]]
    if not LEAST <= fuel <= MOST:
        raise InputError(f"fuel {text}: expected 1M to 1000T")
    return round(fuel)


def fuel_option(text: str) -> int:
    """Read the value of `--fuel`."""
    try:
        return read_fuel(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_option(add: Callable[..., Any], gain: str) -> None:
    """Add `--fuel` to the options of a command; `gain` says what it is good for."""
    told = f"instructions per move in place of seconds, such as 5G: {gain}"
    add("--fuel", metavar="BUDGET", type=fuel_option, help=told)


def limit_of(
    fuel: int | None, seconds: Seconds | None, isolation: str | None
) -> tuple[Seconds | None, str | None]:
    """Return the seconds of a move and the isolation for `--fuel`, `--time` and `--isolation`.

    A budget becomes virtual seconds. Raises `InputError` if the options contradict each other.
    """
    if fuel is None:
        return seconds, isolation
    if seconds is not None:
        raise InputError("--fuel takes the place of --time; give one of them")
    if isolation not in (None, "auto", NAME):
        raise InputError(f"--fuel requires isolation {NAME}, not {isolation}")
    return seconds_of(fuel), NAME


def fuel_of(seconds: Seconds) -> int:
    """Return the fuel of virtual seconds, the inverse of `seconds_of`."""
    return round(seconds * FUEL_PER_SECOND)


def seconds_of(fuel: int) -> Seconds:
    """Return the virtual seconds of an amount of fuel."""
    return fuel / FUEL_PER_SECOND


def shown(fuel: int) -> str:
    """Return fuel as text, rounded to four digits: `5G`, `1.5G`, `737M`."""
    for unit, size in reversed(UNITS.items()):
        if fuel >= size:
            return f"{fuel / size:.4g}{unit}"
    return str(fuel)


class ByFuel(Isolation):
    """Agents run in a Python of their own that counts fuel.

    In the values of a rubric that was read, `time_limit` has virtual seconds, `[limits] require` is
    `wasm`, and `[limits] module` names the Python that counts.
    """

    exact = True
    outside = POLICIES
    why_outside = "runs elsewhere and cannot play by fuel"

    def __init__(self) -> None:
        super().__init__(_runner)

    def why_not(self) -> str | None:
        compiled = None if package.is_compiled() else "the WebAssembly module is not compiled yet"
        return package.why_not() or compiled

    def check(self) -> None:
        package.check()

    def prepare(self, report: Report) -> None:
        """Compile Python, which takes minutes."""
        package.compiled(report)

    def missing(self) -> tuple[str, ...]:
        return ()

    def record_fields(self, seconds: Seconds) -> tuple[dict[str, str], dict[str, Any]]:
        from connect4.isolation.wasm import images

        fields = {"fuel": fuel_of(seconds), "fuel_per_second": FUEL_PER_SECOND}
        return {**package.identity(), "kit": images.kit_digest()}, fields

    def check_same(self, planned: str | None) -> None:
        from connect4.isolation.wasm import images

        here = images.identity_text()
        if planned not in (None, here):
            raise InputError(f"this machine counts fuel by {here!r}, the run by {planned!r}")

    def limit_text(self, seconds: Seconds) -> str:
        return f"{shown(fuel_of(seconds))} fuel"

    def option(self, seconds: Seconds) -> tuple[str, str]:
        return "--fuel", str(fuel_of(seconds))

    def spent_text(self, turn: Turn, digits: int) -> str:
        return f"{shown(turn.fuel or 0)} fuel"

    def seconds_of(self, turn: Turn) -> Seconds:
        return seconds_of(turn.fuel or 0)

    def wall_seconds(self, seconds: Seconds) -> Seconds:
        return fuel_of(seconds) / fuel_a_second()

    def other_limits(self) -> dict[str, Seconds]:
        return {shown(fuel): seconds_of(fuel) for fuel in OTHER_FUEL}

    def read_rubric(self, values: Values, given: Values, source: str) -> Values:
        own, stages = given.get("match", {}), values["tournament"]["stages"]
        for place, stage in enumerate(_tables(stages), 1):
            if "fuel" in stage and "fuel" not in own:
                where = f"{source}: tournament.stages[{place}].fuel"
                raise InputError(f"{where}: [match] has no fuel; all games count fuel or none does")
        if "fuel" not in own:
            return values
        if "time_limit" in own:
            raise InputError(f"{source}: match.fuel takes the place of match.time_limit; keep one")
        seconds = _seconds(own["fuel"], f"{source}: match.fuel")
        rest = {key: value for key, value in values["match"].items() if key != "fuel"}
        return in_fuel({**values, "match": rest}, seconds, source)

    def pinned(self, values: Values, source: str) -> Values:
        """Return values that name the module which counts here.

        Raises `InputError` if the rubric names another one, or if there is none here.
        """
        from connect4.isolation.wasm import images

        self.check()
        try:
            self.check_same(values["limits"].get("module"))
        except InputError as error:
            raise InputError(f"{source}: limits.module: {error}") from None
        return {**values, "limits": {**values["limits"], "module": images.identity_text()}}


def _runner(setup: Setup, limits: Limits, log: Log, name: str) -> Runner:
    from connect4.isolation.wasm.images import FuelAgent

    return FuelAgent(setup, limits, log, name)


USUAL_SPEED: Final = 4_000_000_000
"""The fuel of a wall-clock second on a typical machine, used until one is measured."""

SPEED_FILE: Final = "speed.json"


@cache
def fuel_a_second() -> float:
    """Return the fuel a second that was measured on this machine, or a typical value."""
    with suppress(ValueError, TypeError, KeyError):
        return float(json.loads(package.read_cached(SPEED_FILE) or b"")["fuel_a_second"])
    return USUAL_SPEED


# -- budgets in a rubric


def in_fuel(values: Values, seconds: Seconds, source: str = "") -> Values:
    """Return values by fuel, with a budget for each move; stages may have their own."""
    limits = values["limits"]
    if limits.get("require") not in (None, NAME, "process", "strong"):
        return values  # what is wrong there is reported with its key
    stages, timed = values["tournament"]["stages"], []
    for place, stage in enumerate(_tables(stages), 1):
        rest = {key: value for key, value in stage.items() if key != "fuel"}
        where = f"{source}: tournament.stages[{place}].fuel"
        own = _seconds(stage["fuel"], where) if stage.get("fuel") is not None else seconds
        timed.append({**rest, "time_limit": own})
    return {
        **values,
        "match": {**values["match"], "time_limit": seconds},
        "tournament": {**values["tournament"], "stages": timed or stages},
        "limits": {**limits, "require": NAME},
    }


def _tables(stages: Any) -> list[Values]:
    """Return the stages; those of a wrong form are reported with their key later."""
    well = isinstance(stages, list) and all(isinstance(stage, dict) for stage in stages)
    return stages if well else []


def _seconds(value: object, where: str) -> Seconds:
    """Return the virtual seconds of a budget, written as `5e9` or as `"5G"`."""
    try:
        return seconds_of(read_fuel(str(value)))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None

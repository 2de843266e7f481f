"""What this machine can do, before it is used for marks: the commands `doctor` and `fuel`.

`doctor` tests what it guarantees while agents play, `fuel` how fast it runs games by fuel.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from connect4.errors import InputError, IsolationError, headline
from connect4.isolation.seat import prepare
from connect4.isolation.wasm import images
from connect4.isolation.wasm.budget import FUEL_PER_SECOND, seconds_of, shown
from grader.commands.common import DONE, FAILED, OTHER_FUEL, read_rubric, required_level, say
from grader.output.results import PROOF
from grader.output.tables import text_table
from grader.results.store import Store


def doctor(results: Path | None = None, rubric: Path | None = None, isolation: str = "auto") -> int:
    """Run the self-test and print its table; return 1 if the rubric requires more."""
    from grader.doctor.guarantees import NEEDS, Diagnosis, Proof, measure, missing
    from grader.doctor.trial import Targets, prove  # late: the students' edition lacks these

    if not hasattr(os, "fork"):
        raise InputError("doctor: this system cannot isolate agents; use Linux")
    rules = read_rubric(rubric, isolation=isolation)
    if results is not None:
        with Store(results, writing=True):
            pass  # a file that cannot be locked or written is refused before the tests
    level, refusal = None, ""
    try:
        level = required_level(isolation, rules)[0]
    except InputError as error:  # `grade` would refuse to play
        refusal = str(error)
    lacks, machine = missing(), measure()
    proofs: dict[str, Proof] = {}
    for offer in (name for name, needs in NEEDS.items() if not lacks.keys() & needs):
        try:
            with Targets() as targets:
                proofs[offer] = prove(offer, targets, tell)
        except IsolationError as error:
            raise InputError(f"doctor: level {offer}: {headline(str(error))}") from None
    if "wasm" in proofs:
        tell("wasm: fuel a second")
        rate = images.measure_speed()[1]
        seconds = FUEL_PER_SECOND / rate
        machine.append(
            f"by fuel: {rate / 1e9:.1f} gigafuel a second; a virtual second takes {seconds:.0f} s"
        )
    tell("")
    demanded = rules.limits.require or "process"
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    host, source = platform.node(), rules.source
    found = Diagnosis(at, host, machine, lacks, proofs, level, demanded, source, refusal)
    print(found.text())
    if results is not None:
        with Store(results, writing=True) as store:
            store.set_meta({PROOF: json.dumps(found.to_json())})
        print(f"{results}: stores this table; the marks in it will show it")
    return FAILED if found.lacking() else DONE


def tell(text: str) -> None:
    """Show on a terminal what the command is doing."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


TURNS: Final = 40
"""Turns of a typical game in which both agents search: an 8x6 board with a few pop-outs."""


def fuel(budget: int | None = None) -> int:
    """Measure this machine and print how many seconds each budget takes here."""
    prepare("wasm", say)
    rounds, median = images.measure_speed()
    medians = [statistics.median(values) for values in rounds.values()]
    rows = [
        (name, *(f"{value / 1e9:.2f}" for value in (sorted(values)[i] for i in (0, 2, -1))))
        for name, values in rounds.items()
    ]
    print(text_table(rows, ("what runs", "slowest", "median", "fastest")))
    print(f"\nGigafuel a second, {images.ROUNDS} rounds. Median of all: {median / 1e9:.2f}.\n")
    budgets = sorted({*OTHER_FUEL, *([budget] if budget else [])})
    games = f"games of {TURNS} full turns an hour, a core"
    rows = [
        (
            shown(one),
            f"{seconds_of(one):g}",
            f"{one / max(medians):.1f} to {one / min(medians):.1f}",
            f"{3600 / (TURNS * one / median):.0f}",
        )
        for one in budgets
    ]
    print(text_table(rows, ("budget", "virtual s", "seconds a move here", games)))
    print("\nMarks do not depend on these figures. --dry-run estimates hours from them.")
    print(f"What counts here: {images.identity_text()}")
    return DONE

"""The command `doctor`: tests what this machine guarantees, before it is used for marks."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from connect4.errors import InputError, IsolationError, headline
from connect4.isolation.wasm import budget, images
from grader.commands.common import DONE, FAILED, read_rubric, required_level
from grader.doctor.guarantees import NEEDS, Diagnosis, Proof, measure, missing
from grader.doctor.trial import Targets, prove
from grader.output.results import PROOF
from grader.results.store import Store


def doctor(results: Path | None = None, rubric: Path | None = None, isolation: str = "auto") -> int:
    """Run the self-test and print its table; return 1 if the rubric requires more."""
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
        seconds = budget.FUEL_PER_SECOND / rate
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

"""The command `doctor`: tests what this machine guarantees, before it is used for marks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime

from connect4.errors import InputError, IsolationError, headline
from connect4.isolation.seat import LEVELS
from grader.commands.common import DONE, FAILED, read_rubric, required_level
from grader.doctor.guarantees import NEEDS, Diagnosis, Proof, measure, missing
from grader.doctor.trial import Targets, prove
from grader.output.results import PROOF
from grader.results.store import Store
from grader.rubric.model import Rubric


def run_doctor(arguments: argparse.Namespace) -> int:
    """Run the self-test and print its table; return 1 if the rubric requires more."""
    if not hasattr(os, "fork"):
        raise InputError("doctor: this system cannot isolate agents; use Linux")
    rubric = read_rubric(arguments)
    if arguments.results is not None:
        with Store(arguments.results, writing=True):
            pass  # a file that cannot be locked or written is refused before the tests
    level, refusal = level_of_grade(arguments.isolation, rubric)
    lacks, machine = missing(), measure()
    proofs: dict[str, Proof] = {}
    for offer in (name for name, needs in NEEDS.items() if not lacks.keys() & needs):
        try:
            with Targets() as targets:
                proofs[offer] = prove(offer, targets, tell)
        except IsolationError as error:
            raise InputError(f"doctor: level {offer}: {headline(str(error))}") from None
    speeds = (level.speed(tell) for name, level in LEVELS.items() if name in proofs)
    machine += [line for line in speeds if line is not None]
    tell("")
    demanded = rubric.limits.require or "process"
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    host, source = platform.node(), rubric.source
    found = Diagnosis(at, host, machine, lacks, proofs, level, demanded, source, refusal)
    print(found.text())
    if arguments.results is not None:
        with Store(arguments.results, writing=True) as store:
            store.set_meta({PROOF: json.dumps(found.to_json())})
        print(f"{arguments.results}: stores this table; the marks in it will show it")
    return FAILED if found.lacking() else DONE


def level_of_grade(asked: str, rubric: Rubric) -> tuple[str | None, str]:
    """Return the level at which `grade` would play with this rubric, or None and why it refuses."""
    try:
        return required_level(asked, rubric)[0], ""
    except InputError as error:
        return None, str(error)


def tell(text: str) -> None:
    """Show on a terminal what the command is doing."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

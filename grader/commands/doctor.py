"""The command `doctor`: tests what this machine guarantees, before it is used for marks."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from dataclasses import replace
from typing import Final

from connect4.errors import InputError, IsolationError, headline
from connect4.isolation.wasm import speed
from grader.commands.common import DONE, FAILED, read_rubric, required_level
from grader.doctor.guarantees import protections
from grader.doctor.table import LEVELS, Diagnosis, measure, now
from grader.doctor.trial import Proof, Targets, prove
from grader.output.results import PROOF
from grader.results.store import Store

NEEDS: Final = {"strong": "bubblewrap", "wasm": "wasm"}
"""The protection without which a level is not available."""


def run_doctor(arguments: argparse.Namespace) -> int:
    """Run the self-test and print its table; return 1 if the rubric requires more."""
    if not hasattr(os, "fork"):
        raise InputError("doctor: this system cannot isolate agents; use Linux")
    rubric = read_rubric(arguments)
    if arguments.results is not None:
        with Store(arguments.results, writing=True):
            pass  # a file that cannot be locked or written is refused before the tests
    level: str | None = None  # that of `grade`, which would refuse to play without one
    with contextlib.suppress(InputError):
        level = required_level(arguments.isolation, rubric)[0]
    has = protections()
    measured = measure()
    offered = [level for level in LEVELS if NEEDS.get(level) in (None, *has.present)]
    proofs: dict[str, Proof] = {}
    for offer in offered:
        try:
            with Targets() as targets:
                proofs[offer] = prove(offer, targets, tell)
        except IsolationError as error:
            raise InputError(f"doctor: level {offer}: {headline(str(error))}") from None
    if "wasm" in offered:
        tell("wasm: fuel a second")
        measured = replace(measured, fuel=speed.measure().median)
    tell("")
    demanded = rubric.limits.require or "process"
    found = Diagnosis(now(), measured, has, proofs, level, demanded, rubric.source)
    print(found.text())
    if arguments.results is not None:
        with Store(arguments.results, writing=True) as store:  # the pages of its marks show it
            store.set_meta({PROOF: json.dumps(found.to_json())})
        print(f"{arguments.results}: stores this table; the marks in it will show it")
    return FAILED if found.lacking() else DONE


def tell(text: str) -> None:
    """Show on a terminal what the command is doing."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

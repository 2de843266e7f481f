"""The command `doctor`: tests what this machine guarantees, before it is used for marks."""

import json
import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from connect4.errors import InputError, IsolationError, headline
from connect4.isolation.seat import Level
from grader.commands import DONE, FAILED, read_rubric, required_level
from grader.doctor import OFFERED, lacking, missing, prove, table, to_json, unavailable
from grader.output.results import PROOF
from grader.output.tables import wrapped
from grader.play import load_text, other_load, physical_cores
from grader.results.store import Store


def doctor(results: Path | None = None, rubric: Path | None = None, isolation: str = "auto") -> int:
    """Run the self-test and print its table; return 1 if the rubric requires more."""
    if sys.platform != "linux":
        raise InputError("doctor: this system cannot isolate agents; use Linux")
    rules = read_rubric(rubric, isolation=isolation)
    if results is not None:
        with Store(results, writing=True):
            pass  # a file that cannot be locked or written is refused before the tests
    try:
        level, refusal = required_level(isolation, rules)[0], ""
    except InputError as error:
        level, refusal = None, str(error)
    user = "root" if os.geteuid() == 0 else "an ordinary user"
    cores, load = len(physical_cores()), other_load()
    machine = [f"{platform.system()} {platform.release()} {platform.machine()}, as {user}"]
    machine.append(f"physical cores, and games at once: {cores}")
    machine += [] if load is None else [load_text(load)]
    absent, lacks = unavailable(), missing()
    try:
        proofs = {offer: prove(offer, lacks, tell) for offer in OFFERED if offer not in absent}
    except IsolationError as error:
        raise InputError(f"doctor: {headline(str(error))}") from None
    tell("")
    at, host = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), platform.node()
    print(wrapped(f"What this machine guarantees when an agent plays ({host}, {at})"))
    print(f"\n{table(proofs, absent, machine)}\n")
    demand = f"{rules.source} requires level {rules.limits.require or 'process'}"
    lost = [refusal] if level is None else lacking(proofs[level], rules.limits.require)
    print(
        f"no: `grade` does not play: {refusal}" if level is None else verdict(level, demand, lost)
    )
    if results is not None:
        with Store(results, writing=True) as store:
            store.set_meta({PROOF: json.dumps(to_json(at, host, proofs))})
        print(f"{results}: stores this table; the marks in it will show it")
    return FAILED if lost else DONE


def verdict(level: Level, demand: str, lost: Sequence[str]) -> str:
    """Return whether `grade` may play at a level, and which guarantees of its rubric are lost."""
    if lost:
        return f"no: {demand}, but an agent here: {'; '.join(lost)}: not guaranteed"
    return f"yes: `grade` plays at level {level}, and {demand}"


def tell(text: str) -> None:
    """Show on a terminal what the command is doing."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

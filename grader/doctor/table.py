"""The table of a self-test: what is guaranteed, what is not, why, and on which machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from connect4 import record
from connect4.isolation.seat import Level
from connect4.isolation.wasm import budget
from grader.doctor import guarantees
from grader.doctor.guarantees import GUARANTEES, HOW, WHY, Guarantee, Protections
from grader.doctor.trial import Proof
from grader.output.tables import text_table, wrapped
from grader.play.executors import load_text, other_load, physical_cores, processor_quota

FORMAT: Final = "connect4-doctor/1"
LEVELS: Final[tuple[Level, ...]] = ("process", "strong", "wasm")


@dataclass(frozen=True)
class Diagnosis:
    """All results of a self-test."""

    at: str
    machine: Machine
    protections: Protections
    proofs: dict[str, Proof]
    """By level; a level that this machine does not offer is missing."""
    grade_level: str | None
    """The level at which `grade` runs; None if it refuses."""
    demanded: str
    """The level that the rubric requires; process if it names none: `grade` always isolates."""
    rubric: str

    def holds(self, guarantee: Guarantee, level: str) -> bool:
        """Return whether the machine has the protection and no agent got around it."""
        proof = self.proofs.get(level)
        wanted = guarantee.requires(level)
        has = not wanted or any(name in self.protections.present for name in wanted)
        return proof is not None and has and proof.holds(guarantee.key)

    def _explained(self, guarantee: Guarantee, level: str) -> str:
        """Return what happened, why a guarantee does not hold, and how to get it."""
        required = guarantee.requires(level)
        lacking = [name for name in required if name not in self.protections.present]
        if guarantee.key == "honest":
            why, how = guarantees.TOO_BUSY, guarantees.LESS_LOAD
        elif len(lacking) < max(1, len(required)):
            why, how = guarantees.HELD_NOT, guarantees.REPORT_IT
        else:
            why = "; ".join(self.protections.notes.get(name, WHY[name]) for name in lacking)
            how = ", or ".join(HOW[name] for name in lacking)
        lines = [f"level {level}: {guarantee.text}"]
        breaches = self.proofs[level].breaches.get(guarantee.key, [])
        if breaches:
            more = f" and {len(breaches) - 3} more" if len(breaches) > 3 else ""
            lines.append(f"  what happened: {'; '.join(breaches[:3])}{more}")
        return "\n".join([*lines, f"  why: {why}", f"  how to get it: {how}"])

    def lacking(self) -> list[str]:
        """Return why `grade` cannot meet the rubric's requirement; empty if it can."""
        if self.grade_level is None:
            return [f"{self.rubric} requires {self.demanded}, and this machine does not offer it"]
        strong = self.demanded in ("strong", "wasm")
        return [
            item.text
            for item in GUARANTEES
            if item.key != "honest"
            and (strong or not item.process)  # what level process guarantees on every machine
            and not self.holds(item, self.grade_level)
        ]

    def verdict(self) -> str:
        """Return the last line: what `grade` offers and what the rubric requires."""
        lacking = self.lacking()
        demand = f"{self.rubric} requires level {self.demanded}"
        if self.grade_level is None:
            return f"no: {lacking[0]}: `grade` does not play"
        if lacking:
            return f"no: {demand}, but an agent here: {'; '.join(lacking)}: not guaranteed"
        return f"yes: `grade` plays at level {self.grade_level}, and {demand}"

    def to_json(self) -> dict[str, Any]:
        """Return what the pages of the marks show, as JSON values for the results file."""
        return {
            "format": FORMAT,
            "at": self.at,
            "machine": asdict(self.machine),
            "levels": list(self.proofs),
            "guarantees": [
                {"text": item.text, **{level: self.holds(item, level) for level in self.proofs}}
                for item in GUARANTEES
            ],
        }

    def text(self) -> str:
        """Return the table, the missing guarantees and the verdict."""
        rows = [
            [item.text, *(self._cell(item, level) for level in LEVELS), self._tried(item)]
            for item in GUARANTEES
        ]
        head = (
            f"What this machine guarantees when an agent plays ({self.machine.host}, "
            f"{self.machine.system}, {self.machine.user}, {self.at})"
        )
        headers = ("an agent", *LEVELS, "attempts")
        parts = [wrapped(head), "", text_table(rows, headers)]
        lost = [
            self._explained(item, level)
            for level in self.proofs
            for item in GUARANTEES
            if not self.holds(item, level)
        ]
        parts += _listed("Not guaranteed here", lost)
        missing = {"strong": "bubblewrap", "wasm": "compiled"}
        if "fuel" in self.protections.notes:
            missing["wasm"] = "fuel"
        absent = []
        for level, name in missing.items():
            if level not in self.proofs:
                why = self.protections.notes.get(name, WHY[name])
                absent.append(f"level {level}\n  why: {why}\n  how to get it: {HOW[name]}")
        parts += _listed("Not available here", absent)
        late = max((proof.late for proof in self.proofs.values()), default=0.0)
        lines = [
            *self.machine.lines(),
            f"an agent that does not answer was ended at most {1e3 * late:.0f} ms after its limit",
        ]
        parts += _listed("The machine", lines)
        return "\n".join([*parts, "", self.verdict()])

    def _cell(self, item: Guarantee, level: str) -> str:
        if level not in self.proofs:
            return "absent"
        return "yes" if self.holds(item, level) else "no"

    def _tried(self, item: Guarantee) -> str:
        total = sum(proof.tried.get(item.key, 0) for proof in self.proofs.values())
        return str(total) if total else "by design"


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return ["", title, *(f"- {item}" for item in items)] if items else []


@dataclass(frozen=True, slots=True)
class Machine:
    """What was measured; `load` is a share of all cores."""

    host: str
    system: str
    user: str
    versions: dict[str, str]
    threads: int
    cores: int
    quota: float | None
    """The number of cores that a control group allows; None without such a limit."""
    load: float | None
    fuel: float | None = None
    """Instructions a second at level wasm; None where that level is not available."""

    def lines(self) -> list[str]:
        """Return the measurements in words, with a remark where one of them is a problem."""
        cores, games = (
            (f"{self.cores} physical cores", f"{self.cores} games")
            if self.cores > 1
            else ("1 physical core", "1 game")
        )
        found = [f"{cores}, {self.threads} threads: {games} at once"]
        if self.quota is not None and self.quota < self.cores:
            found.append(
                f"this container may use only {self.quota:g} cores: give --jobs "
                f"{max(1, int(self.quota))}"
            )
        if self.load is not None:
            found.append(load_text(self.load))
        if self.fuel is not None:
            found.append(
                f"level wasm runs {self.fuel / 1e9:.1f} gigafuel a second: a virtual second takes "
                f"{budget.FUEL_PER_SECOND / self.fuel:.0f} s"
            )
        return found


def measure() -> Machine:
    """Measure this machine."""
    user = "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "an ordinary user"
    return Machine(
        platform.node(),
        f"{platform.system()} {platform.release()} {platform.machine()}",
        user,
        record.agent_versions(),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        len(physical_cores()),
        processor_quota(),
        other_load(),
    )

"""Under which protection the games of a results file were played; every mark names it."""

from __future__ import annotations

import html
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from connect4.isolation import machine
from grader.output.pages import card, table
from grader.results.store import Store

RUNS: Final = "protection"
"""The name in a results file of the list of protections that games were played under."""

PROOF: Final = "doctor"
"""The name of the table that `doctor` stored."""

LEVELS: Final = {
    "none": "At level none, all agents run in one process.",
    "process": "At level process, each agent runs in a process of its own, with limits.",
    "strong": (
        "At level strong, each agent runs in a process of its own. It sees only Python and the "
        "kit, no other process and no network."
    ),
    "wasm": "At level wasm, each agent runs in WebAssembly, with a budget of instructions.",
}
"""What a student should know of each isolation level."""


@dataclass(frozen=True)
class Protection:
    """What a results file holds on this; both are empty in a file of version 1.0.0."""

    runs: Sequence[Mapping[str, Any]] = ()
    """The isolation level, what was missing, and the machine: one for each combination."""
    proof: Mapping[str, Any] | None = None

    def lines(self) -> list[str]:
        """Return the protections in words, for students; no machine is named."""
        found = []
        for run in self.runs:
            missing = "; ".join(run["missing"])
            lacking = f" Missing on that machine: {missing}." if missing else ""
            text = f"Games were played at isolation level {run['level']}.{lacking}"
            if text not in found:
                found.append(text)
        if found and self.proof is not None:
            found.append(_proof_text(self.proof, {run["level"] for run in self.runs}))
        return found

    def as_html(self) -> str:
        """Return the part of a page that names the protection; empty if nothing is known."""
        levels = dict.fromkeys(run["level"] for run in self.runs)
        texts = [*self.lines(), *(LEVELS[level] for level in levels if level in LEVELS)]
        lines = "".join(f"<p>{html.escape(text)}</p>" for text in texts)
        return f"<h2>How your games were run</h2>\n{card(lines)}" if lines else ""

    def for_teachers(self) -> str:
        """Return the part of the class page: the machines, and the table of `doctor`."""
        if not self.runs:
            return ""
        rows = [
            (run["level"], run["host"], "; ".join(run["missing"]) or "none") for run in self.runs
        ]
        body = table(("level", "machine", "missing protections"), rows)
        if self.proof is None:
            body += "\n<p>No self-test is stored. <code>python3 -m grader doctor --results"
            body += " FILE</code> adds one.</p>"
            return f"<h2>Protection</h2>\n{card(body)}"
        levels = self.proof["levels"]
        proven = [
            (item["text"], *("guaranteed" if item[level] else "not guaranteed" for level in levels))
            for item in self.proof["guarantees"]
        ]
        title = f"Self-test of {self.proof['machine']['host']}, {self.proof['at']}"
        body += f"\n<h3>{html.escape(title)}</h3>\n"
        body += table(("an agent", *(f"level {level}" for level in levels)), proven)
        return f"<h2>Protection</h2>\n{card(body)}"


def _proof_text(proof: Mapping[str, Any], levels: set[str]) -> str:
    """Return the outcome of a self-test at the levels that were played at, in one sentence."""
    parts = []
    for level in sorted(levels & set(proof["levels"])):
        held = [item["text"] for item in proof["guarantees"] if item[level]]
        failed = [item["text"] for item in proof["guarantees"] if not item[level]]
        text = f"{len(held)} of {len(held) + len(failed)} guarantees hold at level {level}"
        parts.append(text + (f" (not: {'; '.join(failed)})" if failed else ""))
    day = str(proof["at"])[:10]
    return f"Self-test of the machine on {day}: {', '.join(parts) or 'not at that level'}."


def note_run(store: Store, level: str) -> None:
    """Add the protections of a run that begins, unless they are noted."""
    missing = [] if level == "wasm" else list(machine.missing())
    run = {"level": level, "missing": missing, "host": platform.node()}
    runs = store.meta_json(RUNS) or []
    if run not in runs:
        store.set_meta({RUNS: json.dumps([*runs, run])})


def read_protection(store: Store) -> Protection:
    """Return what a results file holds on the protection of its games."""
    return Protection(store.meta_json(RUNS) or (), store.meta_json(PROOF))

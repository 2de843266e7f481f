"""What a machine can guarantee, how each guarantee is tested, and the table of a self-test."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from connect4.isolation import sandbox, seccomp
from connect4.isolation.machine import bubblewrap_works, why_files_are_open, why_same_user
from connect4.isolation.seat import GRADED, LEVELS, Level, level_named
from connect4.players.base import Outcome
from grader.output.tables import text_table, wrapped
from grader.play import load_text, other_load, physical_cores, processor_quota

FORMAT: Final = "connect4-doctor/1"

PLAYED: Final = Outcome.PLAYED
INVALID: Final = Outcome.INVALID
TIMEOUT: Final = Outcome.TIMEOUT
ERROR: Final = Outcome.ERROR


@dataclass(frozen=True, slots=True)
class Guarantee:
    """One line of the table."""

    key: str
    text: str
    agents: dict[str, Outcome]
    """Agents of the corpus, each with the outcome of its turns if the guarantee holds."""
    process: tuple[str, ...] = ()
    """Level process requires one of these protections; none if this is empty."""
    strong: tuple[str, ...] = ()
    """The same for level strong."""
    attempts: tuple[str, ...] = ()
    """The attempts of `tries_everything` against this guarantee."""
    careful: bool = False
    """Whether the agents would harm this machine if an attempt succeeded."""

    def requires(self, level: str) -> tuple[str, ...]:
        """Return the protections of which a level requires at least one."""
        if level_named(level).exact:
            return ()
        return self.strong if level == "strong" else self.process

    def expected(self, level: str) -> dict[str, Outcome]:
        """Return the agents with the outcomes of their turns at a level if the guarantee holds."""
        if not level_named(level).exact:
            return self.agents
        return {agent: IF_EXACT.get(agent, outcome) for agent, outcome in self.agents.items()}


def _all(outcome: Outcome, names: str) -> dict[str, Outcome]:
    return dict.fromkeys(names.split(), outcome)


SECRETS: Final = "secrets"
"""The guarantee that every level must give, on every machine."""

GUARANTEES: Final = (
    Guarantee(
        SECRETS,
        "reads no secret seed and no solution",
        {},
        ("own user", "landlock"),
        ("own user", "landlock", "bubblewrap"),
        ("read the seed of a rubric", "read a solution"),
    ),
    Guarantee(
        "files",
        "reads no file of yours",
        _all(PLAYED, "reads_the_opponent reads_hidden_boards lists_submissions"),
        ("landlock",),
        ("bubblewrap",),
        ("read a public file", "list a folder"),
    ),
    Guarantee(
        "kit",
        "reads no search of the kit",
        {**_all(PLAYED, "reads_the_search reads_the_kits_own_agent"), "imports_the_search": ERROR},
        ("landlock",),
        ("bubblewrap",),
    ),
    Guarantee(
        "writing",
        "changes and leaves no file",
        _all(
            PLAYED,
            "writes_results unlinks_results truncates_results renames_results changes_own_file "
            "changes_modes",
        ),
        ("landlock", "seccomp"),
        ("bubblewrap",),
        ("overwrite a file", "create a file"),
    ),
    Guarantee(
        "network",
        "reaches no network and no program here",
        {},
        ("seccomp",),
        ("seccomp", "bubblewrap"),
        ("connect by TCP", "send by UDP", "connect to a local program"),
    ),
    Guarantee(
        "processes",
        "starts no process and no program",
        {"starts_a_program": ERROR, "daemon": ERROR, "fork_bomb": ERROR},
        ("seccomp",),
        ("seccomp",),
        ("start a process", "start a program", "leave a process"),
        careful=True,
    ),
    Guarantee(
        "signals",
        "signals, stops and traces no other process",
        _all(
            PLAYED,
            "kills_the_parent traces_the_parent lowers_the_parents_priority limits_the_parent",
        ),
        ("seccomp", "own user"),
        ("seccomp", "own user"),
        ("signal a process", "signal its own warden"),
        careful=True,
    ),
    Guarantee(
        "sight", "sees no other process", {}, ("strong",), ("bubblewrap",), ("list processes",)
    ),
    Guarantee("leftovers", "leaves no process after its game", {}, ("linux",), ("bubblewrap",)),
    Guarantee(
        "deadline",
        "is ended at its time limit",
        _all(
            TIMEOUT,
            "c_loop sleeps ignores_signals late_with_threads prints_without_end "
            "catches_everything forks_and_loops",
        ),
    ),
    Guarantee(
        "pondering",
        "does not think in the opponent's turn",
        _all(PLAYED, "thinks_on_opponents_time wakes_itself_by_a_timer wakes_itself_by_a_signal"),
        ("seccomp",),
        ("seccomp",),
    ),
    Guarantee("memory", "gets no more memory than its limit", {"fills_memory": ERROR}),
    Guarantee(
        "referee",
        "cannot forge an answer or harm the referee",
        {
            **_all(PLAYED, "patches_the_kit"),
            **_all(INVALID, "writes_garbage returns_reduce"),
            **_all(ERROR, "closes_descriptors segmentation_fault os_exit"),
            **_all(TIMEOUT, "forges_ready"),
            "forges_answers": PLAYED,
        },
    ),
    Guarantee("opponent", "does not disturb its opponent's turns", {}),
    Guarantee("honest", "loses no turn to a busy machine", {"uses_its_time": PLAYED}),
)


IF_EXACT: Final = {
    **_all(
        ERROR,
        "forks_and_loops ignores_signals kills_the_parent late_with_threads limits_the_parent "
        "lowers_the_parents_priority thinks_on_opponents_time wakes_itself_by_a_signal "
        "wakes_itself_by_a_timer",
    ),  # the functions that they use do not exist there
    "closes_descriptors": PLAYED,  # closing them has no effect
    "forges_ready": ERROR,  # it sleeps, which takes no time there, and has no agent
    "sleeps": INVALID,
    "writes_garbage": PLAYED,
}
"""The agents whose turns have another outcome where steps are counted, not seconds."""


OF_LEVELS: Final = {
    name: texts for level in LEVELS.values() for name, texts in level.requirements().items()
}

WHY: Final = {
    "landlock": "the kernel has no Landlock",
    "seccomp": "the kernel has no seccomp, or its filter is not known for this machine",
    "bubblewrap": "bubblewrap does not work here",
    "own user": "agents run as your user",
    "kept files": "nothing keeps root's files from an agent",
    "linux": "this system does not report which processes an agent started",
    "strong": "level process does not include it",
    **{name: why for name, (why, _) in OF_LEVELS.items()},
}
"""Why a guarantee does not hold if one of these protections is missing."""

HOW: Final = {
    "landlock": (
        "use Linux 5.13 or newer with Landlock enabled (`landlock` among the names in "
        "/sys/kernel/security/lsm), or install bubblewrap and use --isolation strong"
    ),
    "seccomp": (
        "use Linux on x86_64 or aarch64 with CONFIG_SECCOMP_FILTER; in a container, allow prctl "
        "and seccomp"
    ),
    "bubblewrap": (
        "apt install bubblewrap; on Ubuntu 23.10 and newer also give it an AppArmor profile "
        "(docs/isolation.md); in a container, allow namespaces (Docker: --security-opt "
        "seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN --cap-add "
        "NET_ADMIN)"
    ),
    "own user": "run the grader as root, which gives each agent a user of its own",
    "kept files": (
        "let every user read Python and the kit (chmod -R a+rX, also for the folders above them), "
        "or use Linux 5.13 or newer with Landlock enabled, or --isolation strong"
    ),
    "linux": "use Linux",
    "strong": "use --isolation strong, which requires bubblewrap",
    **{name: how for name, (_, how) in OF_LEVELS.items()},
}
"""How to get each of them."""

HELD_NOT: Final = "the protection is present but did not hold"
REPORT_IT: Final = "report this with the table above; until then, do not grade here"
TOO_BUSY: Final = "the machine had no processor for the agent in time"
LESS_LOAD: Final = "end other programs, or give the machine more cores"


NEEDS: Final = {name: LEVELS[name].needs for name in GRADED}
"""The isolation levels, and what each of them requires here."""


def missing() -> dict[str, str]:
    """Return why a protection is missing here, by the names in `HOW`; others are present."""
    linux, no_bubblewrap = sys.platform == "linux", bubblewrap_works()
    files_are_open = why_files_are_open()
    of_levels = {name: why for level in LEVELS.values() for name, why in level.lacks().items()}
    lacks = {
        "linux": not linux,
        "landlock": sandbox.landlock_abi() <= 0,
        "seccomp": not seccomp.available(),
        "bubblewrap": no_bubblewrap is not None,
        **dict.fromkeys(of_levels, True),
        "own user": not linux or os.geteuid() != 0 or why_same_user() is not None,
        "kept files": files_are_open is not None,
        "strong": True,
    }
    known = {"bubblewrap": no_bubblewrap, "kept files": files_are_open, **of_levels}
    return {name: known.get(name) or WHY[name] for name, lacking in lacks.items() if lacking}


@dataclass
class Proof:
    """The attempts at one level and what agents achieved, by guarantee."""

    level: Level
    tried: dict[str, int] = field(default_factory=dict)
    breaches: dict[str, list[str]] = field(default_factory=dict)
    late: float = 0.0
    """The longest time that an agent ran after its limit, in seconds."""

    def note(self, key: str, worked: bool, text: str) -> None:
        """Count one attempt; `text` is what the agent achieved if it succeeded."""
        self.tried[key] = self.tried.get(key, 0) + 1
        if worked and text not in self.breaches.setdefault(key, []):
            self.breaches[key].append(text)

    def holds(self, key: str) -> bool:
        """Return whether no agent broke this guarantee."""
        return not self.breaches.get(key)


@dataclass(frozen=True)
class Diagnosis:
    """All results of a self-test."""

    at: str
    host: str
    machine: list[str]
    """What `measure` returned."""
    missing: dict[str, str]
    """What `missing` returned."""
    proofs: dict[str, Proof]
    """By level; a level that this machine does not offer is missing."""
    grade_level: str | None
    """The level at which `grade` runs; None if it refuses."""
    demanded: str
    """The level that the rubric requires; process if it names none: `grade` always isolates."""
    rubric: str
    refusal: str = ""
    """Why `grade` refuses."""

    def holds(self, guarantee: Guarantee, level: str) -> bool:
        """Return whether the machine has the protection and no agent got around it."""
        proof = self.proofs.get(level)
        wanted = guarantee.requires(level)
        has = not wanted or any(name not in self.missing for name in wanted)
        return proof is not None and has and proof.holds(guarantee.key)

    def _explained(self, guarantee: Guarantee, level: str) -> str:
        """Return what happened, why a guarantee does not hold, and how to get it."""
        required = guarantee.requires(level)
        lacking = [name for name in required if name in self.missing]
        if guarantee.key == "honest":
            why, how = TOO_BUSY, LESS_LOAD
        elif len(lacking) < max(1, len(required)):
            why, how = HELD_NOT, REPORT_IT
        else:
            why = "; ".join(self.missing[name] for name in lacking)
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
            return [self.refusal]
        strong = self.demanded not in ("none", "process")
        return [
            item.text
            for item in GUARANTEES
            if item.key != "honest"
            and (strong or not item.process or item.key == SECRETS)
            and not self.holds(item, self.grade_level)
        ]

    def verdict(self) -> str:
        """Return the last line: what `grade` offers and what the rubric requires."""
        lacking = self.lacking()
        demand = f"{self.rubric} requires level {self.demanded}"
        if self.grade_level is None:
            return f"no: `grade` does not play: {lacking[0]}"
        if lacking:
            return f"no: {demand}, but an agent here: {'; '.join(lacking)}: not guaranteed"
        return f"yes: `grade` plays at level {self.grade_level}, and {demand}"

    def to_json(self) -> dict[str, Any]:
        """Return what the pages of the marks show, as JSON values for the results file."""
        return {
            "format": FORMAT,
            "at": self.at,
            "machine": {"host": self.host},
            "levels": list(self.proofs),
            "guarantees": [
                {"text": item.text, **{level: self.holds(item, level) for level in self.proofs}}
                for item in GUARANTEES
            ],
        }

    def text(self) -> str:
        """Return the table, the missing guarantees and the verdict."""
        rows = []
        for item in GUARANTEES:
            held = {level: "yes" if self.holds(item, level) else "no" for level in self.proofs}
            tried = sum(proof.tried.get(item.key, 0) for proof in self.proofs.values())
            cells = [held.get(level, "absent") for level in NEEDS]
            rows.append([item.text, *cells, str(tried or "by design")])
        head = f"What this machine guarantees when an agent plays ({self.host}, {self.at})"
        headers = ("an agent", *NEEDS, "attempts")
        parts = [wrapped(head), "", text_table(rows, headers)]
        lost = [
            self._explained(item, level)
            for level in self.proofs
            for item in GUARANTEES
            if not self.holds(item, level)
        ]
        parts += _listed("Not guaranteed here", lost)
        absent = []
        for level, names in NEEDS.items():
            lacking = [name for name in names if name in self.missing][:1]
            absent += [
                f"level {level}\n  why: {self.missing[name]}\n  how to get it: {HOW[name]}"
                for name in lacking
            ]
        parts += _listed("Not available here", absent)
        late = max((proof.late for proof in self.proofs.values()), default=0.0)
        lines = [
            *self.machine,
            f"an agent that does not answer was ended at most {1e3 * late:.0f} ms after its limit",
        ]
        parts += _listed("The machine", lines)
        return "\n".join([*parts, "", self.verdict()])


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return ["", title, *(f"- {item}" for item in items)] if items else []


def measure() -> list[str]:
    """Return what this machine is, with a remark on each measured value that is a problem."""
    user = "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "an ordinary user"
    cores, quota, load = len(physical_cores()), processor_quota(), other_load()
    found = [
        f"{platform.system()} {platform.release()} {platform.machine()}, as {user}",
        f"physical cores, and games at once: {cores}",
    ]
    if quota is not None and quota < cores:
        jobs = max(1, int(quota))
        found.append(f"this container may use only {quota:g} cores: give --jobs {jobs}")
    return found if load is None else [*found, load_text(load)]

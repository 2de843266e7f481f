"""What a machine can guarantee, how each guarantee is tested, and what it depends on."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import Final

from connect4.isolation import sandbox, seccomp
from connect4.isolation.machine import bubblewrap_works, why_same_user
from connect4.isolation.wasm import package
from connect4.players.base import Outcome

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
        if level == "wasm":
            return ()
        return self.strong if level == "strong" else self.process

    def expected(self, level: str) -> dict[str, Outcome]:
        """Return the agents with the outcomes of their turns at a level if the guarantee holds."""
        if level != "wasm":
            return self.agents
        return {agent: IN_WASM.get(agent, outcome) for agent, outcome in self.agents.items()}


def _all(outcome: Outcome, names: str) -> dict[str, Outcome]:
    return dict.fromkeys(names.split(), outcome)


GUARANTEES: Final = (
    Guarantee(
        "files",
        "reads no file of yours",
        _all(PLAYED, "reads_the_opponent reads_hidden_boards lists_submissions"),
        ("landlock",),
        ("bubblewrap",),
        ("read a public file", "read a private file", "list a folder"),
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


IN_WASM: Final = {
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
"""The agents whose turns have another outcome at level wasm."""


WHY: Final = {
    "landlock": "the kernel has no Landlock",
    "seccomp": "the kernel has no seccomp, or its filter is not known for this machine",
    "bubblewrap": "bubblewrap does not work here",
    "own user": "agents run as your user",
    "linux": "this system does not report which processes an agent started",
    "strong": "level process does not include it",
    "fuel": "the extra `fuel` is not installed",
    "compiled": "the WebAssembly module is not compiled yet",
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
        "(docs/isolation.md); in a container, allow user namespaces (Docker: "
        "--security-opt seccomp=unconfined --cap-add SYS_ADMIN)"
    ),
    "own user": "run the grader as root, which gives each agent a user of its own",
    "linux": "use Linux",
    "strong": "use --isolation strong, which requires bubblewrap",
    "fuel": "pip install 'connect4-course-kit[fuel]'",
    "compiled": "run `python3 -m grader fuel` once, which takes minutes",
}
"""How to get each of them."""

HELD_NOT: Final = "the protection is present but did not hold"
REPORT_IT: Final = "report this with the table above; until then, do not grade here"
TOO_BUSY: Final = "the machine had no processor for the agent in time"
LESS_LOAD: Final = "end other programs, or give the machine more cores"


@dataclass(frozen=True)
class Protections:
    """What this machine has, by the names in `WHY`."""

    present: frozenset[str]
    notes: dict[str, str] = field(default_factory=dict)
    """Why a protection is missing, if more is known than in `WHY`."""


def protections() -> Protections:
    """Return this machine's protections."""
    linux, no_bubblewrap, no_wasm = sys.platform == "linux", bubblewrap_works(), package.why_not()
    has = {
        "linux": linux,
        "landlock": sandbox.landlock_abi() > 0,
        "seccomp": seccomp.available(),
        "bubblewrap": no_bubblewrap is None,
        "wasm": package.is_compiled(),
        "own user": linux and os.geteuid() == 0 and why_same_user() is None,
    }
    notes = {"bubblewrap": no_bubblewrap, "fuel": no_wasm}
    return Protections(
        frozenset(name for name, present in has.items() if present),
        {name: why for name, why in notes.items() if why is not None},
    )

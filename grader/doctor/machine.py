"""Measurements of this machine: cores, load of other programs, precision of the timer."""

from __future__ import annotations

import os
import platform
import statistics
import time
from dataclasses import dataclass
from typing import Final

from connect4 import record
from connect4.isolation.wasm import budget
from grader.play.executors import load_text, other_load, physical_cores, processor_quota

NAPS: Final = 200
NAP: Final = 0.001
JITTER: Final = 0.005
"""If a short sleep ends later than this, in seconds, the table reports it: a turn's margin."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What was measured; times in seconds, `load` as a share of all cores."""

    host: str
    system: str
    user: str
    versions: dict[str, str]
    threads: int
    cores: int
    quota: float | None
    """The number of cores that a control group allows; None without such a limit."""
    load: float | None
    late_median: float
    late_most: float
    fuel: float | None = None
    """Instructions a second at level wasm; None where that level is not available."""

    def lines(self) -> list[str]:
        """Return the measurements in words, with a remark where one of them is a problem."""
        found = [f"{self.cores} physical cores, {self.threads} threads: {self.cores} games at once"]
        if self.quota is not None and self.quota < self.cores:
            found.append(
                f"this container may use only {self.quota:g} cores: give --jobs "
                f"{max(1, int(self.quota))}"
            )
        if self.load is not None:
            found.append(load_text(self.load))
        late = f"median {1e3 * self.late_median:.2f} ms, most {1e3 * self.late_most:.2f} ms"
        note = ": late turns will be blamed on a busy machine" if self.late_most > JITTER else ""
        found.append(f"the timer wakes a program late by {late}{note}")
        if self.fuel is not None:
            found.append(
                f"level wasm runs {self.fuel / 1e9:.1f} gigafuel a second: a virtual second takes "
                f"{budget.FUEL_PER_SECOND / self.fuel:.0f} s"
            )
        return found


def measure() -> Machine:
    """Measure this machine; this takes about two seconds."""
    load = other_load()
    late = sorted(naps())
    user = "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "an ordinary user"
    return Machine(
        platform.node(),
        f"{platform.system()} {platform.release()} {platform.machine()}",
        user,
        record.agent_versions(),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        len(physical_cores()),
        processor_quota(),
        load,
        statistics.median(late),
        late[-1],
    )


def naps() -> list[float]:
    """Return how late each of many short sleeps ended."""
    late = []
    for _ in range(NAPS):
        began = time.perf_counter()
        time.sleep(NAP)
        late.append(time.perf_counter() - began - NAP)
    return late

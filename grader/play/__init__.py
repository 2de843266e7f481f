"""Where games are played: in local worker processes, each pinned to a core, or on a Dask cluster.

Unlike `ProcessPoolExecutor`, the local executor survives the death of its workers. Its workers
end when it ends.
"""

import contextlib
import importlib
import ipaddress
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from connect4.errors import InputError
from connect4.isolation.seat import Level
from grader.handin.worker import DeathError, Worker


class WorkerDiedError(Exception):
    """A worker process died during a call, in every attempt."""

    def __init__(self, deaths: Sequence[DeathError]) -> None:
        causes = "; ".join(dict.fromkeys(map(str, deaths)))
        super().__init__(f"the worker died {len(deaths)} times in this game: {causes}")
        self.by_itself = all(death.by_itself for death in deaths)


class LocalExecutor(ThreadPoolExecutor):
    """Runs functions of importable modules on plain values, each of its threads in a worker.

    Worker `i` is pinned to `cores[i]` if the system supports that. `scratch` holds the workers'
    temporary files and is removed last.
    """

    def __init__(self, cores: list[int | None], scratch: Path) -> None:
        super().__init__(len(cores))
        scratch.mkdir(0o700, parents=True, exist_ok=True)
        self._scratch = scratch
        self._workers = [Worker(scratch / str(place), core) for place, core in enumerate(cores)]
        self._idle = list(self._workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue a call; `fn` is a module's function with plain values as arguments."""
        assert not kwargs
        return super().submit(self._result, fn, args)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the workers when the queue is empty, or at once without finishing the calls."""
        for worker in self._workers if cancel_futures else ():
            worker.kill()
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            for worker in self._workers:
                worker.end()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _result(self, fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return the result of a call in a worker; raise its error, or that the worker died."""
        worker, deaths = self._idle.pop(), list[DeathError]()
        try:
            while len(deaths) < 2:
                try:
                    return worker.call(fn, *arguments)
                except DeathError as error:
                    deaths.append(error)
        finally:
            self._idle.append(worker)
        raise WorkerDiedError(deaths)


def physical_cores() -> list[int]:
    """Return one processor number of each physical core that this process may use.

    The affinity mask and the quota of the control group limit them.
    """
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    first: dict[str, int] = {}
    for number in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        try:
            core = siblings.read_text().strip()
        except OSError:
            core = str(number)
        first.setdefault(core, number)
    quota = processor_quota()
    return list(first.values())[: None if quota is None else max(1, int(quota))]


def processor_quota() -> float | None:
    """Return how many processors the control groups of this process allow; None for no limit."""
    try:
        groups = Path("/proc/self/cgroup").read_text(encoding="utf-8")
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    except OSError:
        return None
    return least_quota(groups, mounts)


def least_quota(groups: str, mounts: str) -> float | None:
    """Return the least quota of a process's control groups and of all groups above them.

    `groups` and `mounts` are the texts of its `cgroup` and `mountinfo` in `/proc`: version 1 has
    a hierarchy for processors, version 2 has one for everything.
    """
    own: dict[str, str] = {}
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path)
    found: list[float] = []
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        top, mount = before.split()[3:5]
        kind, _, options = after.split(" ", 2)
        controller = {"cgroup2": "", "cgroup": "cpu"}.get(kind)
        if controller is None or controller not in ("", *options.split(",")):
            continue
        group = PurePosixPath(own.get(controller, top))
        inside = group.relative_to(top) if group.is_relative_to(top) else PurePosixPath()
        folder = Path(mount, inside)
        for each in (folder, *list(folder.parents)[: len(inside.parts)]):
            found += _quota(each)
    return min(found, default=None)


def _quota(group: Path) -> list[float]:
    """Return the number of processors that a control group allows; nothing without a limit."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        with contextlib.suppress(OSError, ValueError):  # also if the limit is `max`
            limit, period = map(int, " ".join((group / name).read_text() for name in names).split())
            return [limit / period] if limit > 0 else []
    return []


def other_load() -> float | None:
    """Return the share of all cores that is in use while this program sleeps; None if unknown."""
    try:
        before = _busy()
        time.sleep(1.0)
        busy, whole = (now - then for now, then in zip(_busy(), before, strict=True))
        return busy / whole
    except (OSError, ValueError, IndexError, ZeroDivisionError):
        return None


def load_text(load: float) -> str:
    """Return in words what share of the cores other programs use, with advice if it is much."""
    advice = ": end them before you grade" if load > 0.25 else ""  # turns may be lost to them
    return f"other programs use {100 * load:.0f} % of the cores{advice}"


def _busy() -> tuple[int, int]:
    """Return the time that the cores were busy, and all of their time (Linux)."""
    line = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    times = list(map(int, line.split()[1:9]))
    return sum(times) - times[3] - times[4], sum(times)


@dataclass(frozen=True, slots=True)
class Pool:
    """An executor, the number of games that it plays at once, and the isolation of their agents."""

    executor: Executor
    slots: int
    level: Level


def worker_count(jobs: int | None, forced: bool) -> int:
    """Return how many games are played at once: one per physical core if `jobs` is None.

    Raises `InputError` if `jobs` is greater than the number of cores, unless `forced`.
    """
    cores = len(physical_cores())
    if jobs is not None and jobs > cores and not forced:
        raise InputError(
            f"--jobs {jobs}: there are {cores} cores here, and games that share one lose time "
            "they are marked for; --force-jobs allows it"
        )
    return cores if jobs is None else jobs


@contextlib.contextmanager
def local_pool(jobs: int, scratch: Path, level: Level) -> Iterator[Pool]:
    """Open local workers, each pinned to a separate core if there are enough cores."""
    cores = physical_cores()
    places: list[int | None] = [cores[number % len(cores)] for number in range(jobs)]
    executor = LocalExecutor(places, scratch)
    try:
        yield Pool(executor, jobs, level)
    finally:
        executor.shutdown(cancel_futures=True)


@contextlib.contextmanager
def cluster_pool(address: str, level: Level) -> Iterator[Pool]:
    """Connect to a Dask scheduler; raises `InputError` if that fails.

    A warning on standard error says if others can reach the scheduler.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise InputError(
            "--scheduler needs Dask: pip install -e '.[cluster]' in the kit's folder"
        ) from None
    try:  # a Client that refuses an address prints a traceback when it is dropped
        distributed.comm.get_address_host_port(address)
        arguments = distributed.Security().get_connection_args("client")
        if address.startswith(TLS) and arguments["ssl_context"] is None:
            raise ValueError("no certificate is set for TLS; docs/cluster.md has the lines")
        client = distributed.Client(address, timeout="5s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"--scheduler {address}: no Dask scheduler there ({error})") from None
    with contextlib.closing(client):
        own = client.scheduler_info()["address"]  # not loopback if it listens on all addresses
        hosts = [distributed.comm.get_address_host_port(each)[0] for each in (address, own)]
        if not address.startswith(TLS) and not all(map(_is_local, hosts)):
            print(f"--scheduler {address}: {OPEN}", file=sys.stderr)
        slots = sum(client.nthreads().values())
        if not slots:
            raise InputError(f"--scheduler {address}: the cluster has no workers yet")
        yield Pool(client.get_executor(pure=False), slots, level)


TLS: Final = "tls://"

OPEN: Final = (
    "others can reach it without TLS, and whoever connects to a Dask scheduler runs code as its "
    "user; docs/cluster.md has three lines against that"
)


def _is_local(host: str) -> bool:
    """Return whether a host is this machine, by an address that no other machine can reach."""
    try:
        places = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return all(ipaddress.ip_address(place[0]).is_loopback for *_, place in places)


EVERY: Final = 30.0
"""Seconds between two plain lines."""


BAR: Final = 20
"""The columns of a bar of progress."""


class Progress:
    """Counts games on standard error: in one line on a terminal, elsewhere now and then."""

    def __init__(self, total: int, what: str = "games") -> None:
        self._total = total
        self._what = what
        self._done = 0
        self._began = self._told = time.monotonic()
        self._on_terminal = sys.stderr.isatty()

    def step(self, note: str = "") -> None:
        """Count one more game."""
        self._done += 1
        now = time.monotonic()
        if self._on_terminal or now - self._told >= EVERY or self._done == self._total:
            self._told = now
            left = (now - self._began) / self._done * (self._total - self._done)
            full = BAR * self._done // self._total
            bar = f"[{'#' * full}{' ' * (BAR - full)}] " if self._on_terminal else ""
            count = f"{self._done} of {self._total} {self._what}"
            rate = per_minute(self._done, now - self._began)
            self._show(f"{bar}{count}, {rate}, {duration(left)} left {note}".rstrip())

    def say(self, text: str) -> None:
        """Print a text to standard output; the line of the terminal makes way for it."""
        if self._on_terminal:
            self._show("")
        print(text, flush=True)

    def _show(self, line: str) -> None:
        shown = f"\r{line:79}\r" if self._on_terminal else f"{line.rstrip()}\n"
        print(shown, end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on_terminal:
            print(file=sys.stderr)


def per_minute(count: int, seconds: float) -> str:
    """Return a rate in words."""
    return f"{60 * count / max(seconds, 0.001):.1f} a minute"


def duration(seconds: float) -> str:
    """Return a time span in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def number_of(count: int, what: str) -> str:
    """Return a number of things in words, such as `1 game` and `2 games`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

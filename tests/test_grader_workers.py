"""Executors: local workers and a real Dask cluster play the same schedule alike."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connect4.errors import InputError
from grader.handin import Submission
from grader.handin.worker import DeathError, Worker, WorkerError
from grader.play import LocalExecutor, Pool, WorkerDiedError, cluster_pool, least_quota
from grader.play.one_game import play_all
from grader.play.schedule import PlannedGame, grade_games, submitted
from grader.results.store import Store
from grader.rubric import Board
from grader.rubric import reading as rubrics
from tests.command import ROOT, run
from tests.grading import COMMAND, execute, games, hand_in, rubric, searcher, stored_records

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")


def process_number(*_: object) -> int:
    return os.getpid()


def affinity() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def end_the_worker() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def end_the_worker_once(place: str) -> str:
    try:
        Path(place).touch(exist_ok=False)
    except FileExistsError:
        return "second try"
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def test_a_worker_runs_no_file_of_the_folder_that_the_teacher_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hand-ins may lie there under any name."""
    hand_ins = tmp_path / "hand-ins"
    hand_ins.mkdir()
    for name in ("queue", "json", "grader", "numpy"):
        (hand_ins / f"{name}.py").write_text("import os\nos._exit(0)\n")
    monkeypatch.chdir(hand_ins)
    with LocalExecutor([None], tmp_path / "scratch") as local:
        assert local.submit(process_number).result(30) != os.getpid()


def test_a_worker_stays_on_its_core(tmp_path: Path) -> None:
    core = max(os.sched_getaffinity(0))
    with LocalExecutor([core], tmp_path / "scratch") as local:
        assert local.submit(affinity).result(30) == [core]


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_its_call_made_once_more(tmp_path: Path) -> None:
    with LocalExecutor([None], tmp_path / "scratch") as executor:
        place = str(tmp_path / "was here")
        assert executor.submit(end_the_worker_once, place).result(30) == "second try"
        with pytest.raises(WorkerDiedError, match="the worker died 2 times in this game"):
            executor.submit(end_the_worker).result(30)
        assert executor.submit(process_number).result(30) > 0


def test_a_shut_down_executor_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    local = LocalExecutor([None, None], tmp_path / "scratch")
    number = local.submit(process_number).result(30)
    waiting = [local.submit(time.sleep, 60) for _ in range(3)]
    local.shutdown(cancel_futures=True)
    assert not Path(f"/proc/{number}").exists()
    assert not (tmp_path / "scratch").exists()
    assert all(future.done() for future in waiting)
    with pytest.raises(RuntimeError):
        local.submit(process_number)


def refuses() -> None:
    raise InputError("no such thing")


def without_end() -> None:
    while True:
        pass


def test_a_late_call_a_full_memory_and_a_kill_are_told_apart_and_the_worker_goes_on() -> None:
    worker = Worker(memory=1 << 30)
    with ExitStack() as stack:
        stack.callback(worker.end)
        for call, late in ((without_end, True), (end_the_worker, False)):
            with pytest.raises(DeathError) as died:
                worker.call(call, seconds=0.3)
            assert died.value.is_late is late
            assert died.value.by_itself is late, "a kill proves nothing"
        with pytest.raises(WorkerError, match="MemoryError"):
            worker.call(bytearray, 2 << 30, seconds=5.0)
        with pytest.raises(InputError, match="no such"):
            worker.call(refuses, seconds=5.0)
        assert worker.call(process_number) != os.getpid()


def test_a_grader_that_somebody_kills_makes_no_game_a_suspect(tmp_path: Path) -> None:
    """But one that ended with its machine does: it has restarted, or lacked memory since then."""
    path = tmp_path / "r.db"
    with Store(path, writing=True) as store:
        store.begin("a game")
    with Store(path, writing=True) as store:
        assert store.take_stock() == []
        store.begin("a game")
    execute(path, "UPDATE begun SET machine = 'an earlier start 0'")
    with Store(path, writing=True) as store:
        assert store.take_stock() == ["a game"]
        assert store.suspects() == {"a game": 1}


QUOTAS = [
    # version 2: its own group, one above it, and none of a neighbour
    ("0::/a/b\n", "/", "cgroup2", "rw", {"a/b/cpu.max": "150000 100000"}, 1.5),
    ("0::/a/b\n", "/", "cgroup2", "rw", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 9"}, 0.5),
    ("0::/a/b\n", "/", "cgroup2", "rw", {"cpu.max": "200000 100000"}, 2.0),
    ("0::/a/b\n", "/", "cgroup2", "rw", {"a/c/cpu.max": "50000 100000"}, None),
    ("0::/\n", "/", "cgroup2", "rw", {"cpu.max": "max 100000"}, None),
    # version 1: the hierarchy of processors, and no other
    ("3:cpu,cpuacct:/a\n2:memory:/m\n0::/\n", "/", "cgroup", "rw,cpu,cpuacct", {"a": 0.25}, 0.25),
    ("3:cpu,cpuacct:/a\n2:memory:/m\n0::/\n", "/", "cgroup", "rw,memory", {"m": 0.25}, None),
    ("3:cpu:/a/b\n", "/", "cgroup", "rw,cpu", {"": -1, "a": 3, "a/b": -1}, 3.0),
    # a container that sees its own group as the top, and the group's name outside
    ("0::/docker/x/y\n", "/docker/x", "cgroup2", "rw", {"y/cpu.max": "1000 2000"}, 0.5),
    ("0::/elsewhere\n", "/docker/x", "cgroup2", "rw", {"cpu.max": "1000 2000"}, 0.5),
    ("0::/../z\n", "/", "cgroup2", "rw", {"cpu.max": "1000 2000"}, 0.5),
]


@pytest.mark.parametrize(("groups", "root", "kind", "options", "files", "quota"), QUOTAS)
def test_the_quota_of_processors_is_the_least_from_the_own_group_up(
    groups: str,
    root: str,
    kind: str,
    options: str,
    files: dict[str, Any],
    quota: float | None,
    tmp_path: Path,
) -> None:
    for name, value in files.items():
        path = tmp_path / name
        if isinstance(value, str):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{value}\n", encoding="ascii")
        else:
            path.mkdir(parents=True, exist_ok=True)
            limit = int(value * 100_000) if value > 0 else -1
            (path / "cpu.cfs_quota_us").write_text(f"{limit}\n", encoding="ascii")
            (path / "cpu.cfs_period_us").write_text("100000\n", encoding="ascii")
    mounts = f"22 1 0:21 / / rw - ext4 /dev/vda rw\n31 22 0:9 {root} {tmp_path} rw shared:4 - "
    assert least_quota(groups, f"{mounts}{kind} {kind} {options}\n") == quota


def schedule(folder: Path) -> tuple[list[PlannedGame], list[Submission]]:
    """Return the games of two deterministic submissions, and both."""
    found = [Submission(f"s{number}", "", searcher(number, 1).encode()) for number in (1, 2)]
    contestants = [submitted(item.name, str(item.sha256)) for item in found]
    return grade_games(contestants, rubrics.read(rubric(folder))), found


def play(
    folder: Path, name: str, pool: Pool, ahead: list[PlannedGame], found: list[Submission]
) -> Path:
    with Store(folder / name, writing=True) as store:
        store.set_submissions(found)
        for _, result in play_all(ahead, store, pool):
            assert result.fault is None, result
    return folder / name


@pytest.mark.slow
def test_one_worker_and_two_workers_play_the_same_games(tmp_path: Path) -> None:
    """Marks do not depend on how the games are spread."""
    ahead, found = schedule(tmp_path)
    played = []
    for jobs in (1, 2):
        with LocalExecutor([None] * jobs, tmp_path / "scratch") as local:
            pool = Pool(local, jobs, "process")
            played.append(play(tmp_path, f"{jobs}.db", pool, ahead, found))
    assert len(games(played[0])) == len(ahead)
    assert games(played[1]) == games(played[0])
    assert stored_records(played[1]) == stored_records(played[0])


def test_the_graders_own_fault_is_one_line_and_its_traceback_is_stored(tmp_path: Path) -> None:
    ahead, found = schedule(tmp_path)
    with (
        LocalExecutor([None], tmp_path / "scratch") as local,
        Store(tmp_path / "r.db", writing=True) as store,
    ):
        broken = replace(ahead[0], board=Board("broken", {"board": [[3]], "popouts": 0}))
        store.set_submissions(found)
        for _ in play_all([broken], store, Pool(local, 1, "process")):
            pass
        assert store.played() == {}
    ((status, fault, trace),) = execute(
        tmp_path / "r.db", "SELECT status, fault, traceback FROM game"
    )
    assert status == "INFRA"
    assert fault.startswith("InputError: start:")
    assert "\n" not in fault
    assert trace.startswith("Traceback (most recent call last)")
    assert "from_json" in trace


@pytest.mark.slow
def test_the_same_command_plays_a_failed_game_again(tmp_path: Path) -> None:
    """However often it has failed before: somebody may have repaired the machine."""
    rubric(tmp_path)
    hand_in(tmp_path / "class", "ann", searcher(1))
    arguments = ("grade", "class", "--rubric", "rubric.toml", "--isolation", "process")
    assert run(COMMAND, *arguments, cwd=tmp_path).returncode == 0
    execute(
        tmp_path / "grade.db",
        "UPDATE game SET status = 'INFRA', fault = 'no luck', attempts = 3, score1 = NULL "
        "WHERE key = (SELECT min(key) FROM game)",
    )
    done = run(COMMAND, *arguments, cwd=tmp_path, status=0)
    assert "1 games to play (3 have results)" in done.stderr
    assert "incomplete" not in done.stdout


def test_a_missing_dask_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError\n", encoding="utf-8")
    hand_in(tmp_path, "ann", searcher())
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from grader.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "grade", "ann", "--scheduler", "tcp://127.0.0.1:9"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    message = "error: --scheduler needs Dask: pip install -e '.[cluster]' in the kit's folder"
    assert done.stderr.splitlines()[-1] == message


@pytest.fixture
def cluster() -> Any:
    import distributed

    with closing(
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
    ) as local:
        yield local


def test_a_dask_cluster_plays_the_same_games(cluster: Any, tmp_path: Path) -> None:
    """Also when one of its workers is killed on the way: that costs only the running games."""
    ahead, found = schedule(tmp_path)
    with LocalExecutor([None], tmp_path / "scratch") as local:
        here = play(tmp_path, "here.db", Pool(local, 1, "process"), ahead, found)
    with cluster_pool(cluster.scheduler_address, "process") as pool:
        assert pool.slots == 2
        there = tmp_path / "there.db"
        workers = pool.executor.submit(os.getpid).result(30)
        killed = False
        with Store(there, writing=True) as store:
            store.set_submissions(found)
            for _, result in play_all(ahead, store, pool):
                assert result.fault is None, result
                if not killed:
                    os.kill(workers, signal.SIGKILL)
                    killed = True
    assert games(there) == games(here)
    assert stored_records(there) == stored_records(here)


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("nonsense", "missing port number in address 'nonsense'"),
        ("head:port", "invalid literal for int() with base 10: 'port'"),
        ("udp://head:8786", "unknown address scheme 'udp'"),
        ("tcp://127.0.0.1:9", "no Dask scheduler there ("),
    ],
)
def test_an_address_without_a_scheduler_is_refused_in_one_line(
    tmp_path: Path, address: str, why: str
) -> None:
    hand_in(tmp_path, "ann", searcher())
    done = run(COMMAND, "grade", "ann", "--scheduler", address, cwd=tmp_path, status=2)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"error: --scheduler {address}: no ")
    assert why in last
    assert "Traceback" not in done.stderr

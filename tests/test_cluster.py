"""A Dask scheduler that others can reach is warned about; the lines on TLS of the document work."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from grader.play import cluster_pool
from tests.command import ROOT, assert_refused, environment, run
from tests.grading import COMMAND, hand_in, rubric, searcher

pytestmark = pytest.mark.cluster

WARNING = "others can reach it without TLS"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_scheduler_that_listens_on_all_addresses_is_warned_about(
    host: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also if it is reached by the loopback: it itself says where it listens."""
    import distributed

    with closing(
        distributed.LocalCluster(
            host=host, n_workers=1, threads_per_worker=1, dashboard_address=None
        )
    ) as cluster:
        reached, port = cluster.scheduler_address.rsplit(":", 1)
        if host == "0.0.0.0" and reached == "tcp://127.0.0.1":
            pytest.skip("needs Linux with a network")
        with cluster_pool(f"tcp://127.0.0.1:{port}", "process"):
            assert (WARNING in capfd.readouterr().err) == (host == "0.0.0.0")


def document() -> tuple[str, str, str, str]:
    """Return the three lines on TLS, and the command of a worker, on this machine alone."""
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    text = text.replace("10.0.0.1", "127.0.0.1").replace("10.0.0.2", "127.0.0.1")
    block = re.search(
        r"^```\n(openssl .*\n)(for .*\n)(dask scheduler .*\n)```$", text, re.MULTILINE
    )
    worker = re.search(r"^dask worker .*$", text, re.MULTILINE)
    assert block is not None
    assert worker is not None
    return block[1], block[2], block[3].strip(), worker[0].partition("#")[0].strip()


@contextmanager
def running(words: str, folder: Path, log: str) -> Iterator[None]:
    """Run a command of a shell in the background until the end of the block."""
    path = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH\n"
    with (folder / log).open("wb") as out, subprocess.Popen(
        ["bash", "-c", path + words], cwd=folder, env=environment(), stdout=out, stderr=out
    ) as process:  # fmt: skip
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)


@pytest.mark.slow
def test_the_lines_of_the_document_keep_everybody_out_who_lacks_the_certificate(
    tmp_path: Path,
) -> None:
    make, export, scheduler, worker = document()
    subprocess.run(["bash", "-c", make], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "tls.pem").stat().st_mode & 0o077 == 0
    file = tmp_path / "scheduler.json"
    scheduler += f" --port 0 --dashboard-address 127.0.0.1:0 --scheduler-file {file.name}"
    rubric(tmp_path)
    hand_in(tmp_path, "ann", searcher())
    arguments = ["grade", "ann", "--rubric", "rubric.toml", "--isolation", "process"]
    with running(f"{export}exec {scheduler}", tmp_path, "scheduler.log"):
        address = written(file)
        assert address.startswith("tls://127.0.0.1:")
        worker = worker.replace("tls://127.0.0.1:8786", address).replace("--nworkers 8", "")
        with running(f"{export}exec {worker} --no-dashboard", tmp_path, "worker.log"):
            grade = shlex.join([sys.executable, "-m", COMMAND, *arguments, "--scheduler", address])
            wait_for_worker = f"{export}until {grade} 2>err; do grep -q 'no workers yet' err; done"
            subprocess.run(
                ["bash", "-ec", wait_for_worker], cwd=tmp_path, env=environment(), check=True
            )
            assert WARNING not in (tmp_path / "err").read_text(encoding="utf-8")
            stranger = run(COMMAND, *arguments, "--scheduler", address, cwd=tmp_path)
    assert_refused(stranger, f"--scheduler {address}: no Dask scheduler there (no certificate is")


def written(file: Path) -> str:
    """Return the address in the file that a scheduler writes when it is ready."""
    while True:
        with suppress(OSError, ValueError):
            address: str = json.loads(file.read_text(encoding="utf-8"))["address"]
            return address
        time.sleep(0.1)

"""`python3 -m grader doctor`: what it proves, what it reports as missing, where its table goes."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from connect4.isolation.seat import Level
from grader import doctor
from grader.commands import doctor as command
from grader.doctor import GUARANTEES, PROTECTIONS, Proof
from grader.output.results import PROOF
from grader.results.store import Store
from tests.command import assert_refused, environment, run
from tests.grading import hand_in, rubric, searcher

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")


def denied(*names: str, command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the kit on a machine without some protections."""
    return subprocess.run(
        [sys.executable, "-m", "tests.denied", *names, "--", sys.executable, "-m", *command],
        cwd=cwd, env=environment(), capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip


def test_every_agent_of_the_corpus_is_run() -> None:
    named = {agent for item in GUARANTEES for agent in item.agents}
    assert {*named, doctor.PROBE, doctor.HONEST} == {
        path.stem for path in doctor.CORPUS.glob("*.py")
    }


GOOD = frozenset({"bubblewrap"})
"""What a good machine lacks at level process."""

BARE = frozenset({"landlock", "seccomp", "own user", "bubblewrap"})
READ = {"files": ["read a public file (from its thread)"]}
LATE = {"honest": ["uses_its_time: in 3 of 20 turns timeout: no answer within 0.1 s"]}
KEPT_ON = {"deadline": ["c_loop: in 1 of 2 turns kept running for 3.00 s after its limit"]}
PLAYS = "yes: `grade` plays at level {0}, and rubric.toml requires level {0}"
NO_LANDLOCK = f"{PROTECTIONS['landlock'].why}; {PROTECTIONS['bubblewrap'].why}\n  how to get it: "
ABSENT: dict[Level, str] = {"wasm": "it is not compiled yet"}


def advice(name: str) -> str:
    return f"  why: {PROTECTIONS[name].why}\n  how to get it: {PROTECTIONS[name].how}"


@pytest.mark.parametrize(
    ("level", "lacks", "breaches", "verdict", "part"),
    [
        ("strong", GOOD, {}, PLAYS.format("strong"), "- level wasm\n  why: it is not compiled yet"),
        ("strong", GOOD, READ, "an agent here: reads no file of yours: not g", READ["files"][0]),
        ("process", GOOD | {"landlock"}, READ, PLAYS.format("process"), READ["files"][0]),
        ("process", GOOD | {"landlock"}, {}, PLAYS.format("process"), NO_LANDLOCK),
        ("process", BARE, {}, "no: rubric.toml requires level process, but an", NO_LANDLOCK),
        ("process", GOOD, KEPT_ON, "is ended at its time limit: not gua", advice("present")),
        ("process", GOOD, LATE, PLAYS.format("process"), advice("processor")),
        ("wasm", BARE, {}, PLAYS.format("wasm"), "reads no file of yours"),
    ],
)
def test_the_table_names_what_is_missing_why_and_how_to_get_it(
    level: Level, lacks: frozenset[str], breaches: dict[str, list[str]], verdict: str, part: str
) -> None:
    proof = Proof(level, lacks, Counter({item.key: 3 for item in GUARANTEES}), breaches)
    text = doctor.table({level: proof}, {} if level == "wasm" else ABSENT, ["a machine"])
    lost = doctor.lacking(proof, level)
    assert verdict in command.verdict(level, f"rubric.toml requires level {level}", lost)
    assert part in text
    assert bool(lost) == (not verdict.startswith("yes"))
    assert max(map(len, text.partition("Not guaranteed")[0].splitlines())) <= 80


def in_process(names: tuple[str, ...], level: str, tmp_path: Path) -> dict[str, list[str]]:
    """Return the breaches that `tries_everything` and a reader of the kit show."""
    script = tmp_path / "probe.py"
    script.write_text(
        "import json, sys\n"
        "from grader.doctor import Proof, Trial, missing\n"
        "proof = Proof(sys.argv[1], missing())\n"
        "with Trial(proof) as trial:\n"
        "    trial.probe()\n"
        "    trial.run('kit', 'reads_the_search')\n"
        "    trial.run('honest', 'returns_reduce')\n"
        "print(json.dumps([proof.tried, proof.breaches]))\n",
        encoding="utf-8",
    )
    done = denied(*names, command=["tests.run_file", str(script), level], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tried, breaches = json.loads(done.stdout)
    assert {item.key for item in GUARANTEES if item.attempts} <= tried.keys()
    found: dict[str, list[str]] = breaches
    assert found.pop("honest")[0].startswith("returns_reduce: in 20 of 20 turns invalid: ")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "lost"),
    [
        ((), set()),
        (("landlock",), {"files", "kit", "sight"}),
        (("seccomp",), {"network", "processes"}),
        (("landlock", "seccomp"), {"files", "kit", "network", "processes", "sight", "writing"}),
    ],
    ids=["nothing denied", "without Landlock", "without seccomp", "without both"],
)
def test_attempts_from_code_threads_and_children(
    names: tuple[str, ...], lost: set[str], tmp_path: Path
) -> None:
    """Each protection that is taken away shows as what an agent then achieves, from everywhere."""
    if {"landlock", "seccomp"} & doctor.missing():
        pytest.skip("this machine has no Landlock or no seccomp to take away")
    breaches = in_process(names, "process", tmp_path)
    if os.geteuid() != 0:
        lost = lost | ({"secrets"} if "landlock" in names else set())
        lost = lost | ({"signals"} if breaches.get("signals") else set())
    assert breaches.keys() == lost
    if "files" in lost:
        assert "read a public file (from its thread)" in breaches["files"]
        assert "read a public file (from its constructor)" in breaches["files"]
    if {"files", "processes"} <= lost:
        assert "read a public file (from its child process)" in breaches["files"]


def test_a_probe_that_tries_nothing_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container in which it cannot be loaded, say."""
    monkeypatch.setattr(doctor, "PROBE", doctor.HONEST)
    with doctor.Trial(proof := Proof("process", GOOD)) as trial:
        trial.probe()
    assert proof.breaches.keys() == {item.key for item in GUARANTEES if item.attempts}


@pytest.mark.sandbox
def test_bubblewrap_alone_hides_files_network_and_processes(tmp_path: Path) -> None:
    breaches = in_process(("landlock", "seccomp"), "strong", tmp_path)
    assert breaches.keys() <= {"processes", "signals"}
    assert any("start a process" in text for text in breaches["processes"])


def test_results_that_cannot_be_locked_are_refused_before_the_tests(tmp_path: Path) -> None:
    with Store(tmp_path / "grade.db", writing=True):
        busy = run("grader", "doctor", "--results", "grade.db", cwd=tmp_path, seconds=20)
    assert_refused(busy, "grade.db: another grader is at work on these results")


@pytest.mark.sandbox
@pytest.mark.parametrize("level", ["process", "strong"])
def test_python_may_be_called_by_a_relative_path_through_a_linked_folder(
    tmp_path: Path, level: str
) -> None:
    (tmp_path / "linked").symlink_to(Path(sys.executable).parent.parent)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ann.py").write_text(searcher(), encoding="utf-8")
    python = f"../linked/bin/{Path(sys.executable).name}"
    command = [python, "-m", "connect4.ConnectFour", "ai:../ann.py", "random", "case4"]
    done = subprocess.run(
        [*command, "--view", "none", "--time", "1", "--isolation", level],
        cwd=tmp_path / "elsewhere", env=environment(), capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_each_mark_names_the_protection_it_was_played_under(tmp_path: Path) -> None:
    own = rubric(tmp_path)
    hand_in(tmp_path / "class", "ann", searcher())
    hand_in(tmp_path / "class", "ben", searcher(2))
    options = ["--rubric", own, "--results", "own.db", "--out", "out", "--isolation", "process"]
    run("grader", "grade", "class", *options, cwd=tmp_path, seconds=110, status=0)
    page = tmp_path / "out/feedback/ann.html"
    assert "Games were played at isolation level process." in page.read_text(encoding="utf-8")
    assert "Self-test" not in page.read_text(encoding="utf-8")
    proofs = {"process": Proof("process", GOOD | {"landlock"})}
    with Store(tmp_path / "own.db", writing=True) as store:
        store.set_meta({PROOF: json.dumps(doctor.to_json("2026-09-01T08:00:00Z", "lab-1", proofs))})
    run("grader", "report", "own.db", "--out", "out", cwd=tmp_path, status=0)
    proven = "Self-test of the machine on 2026-09-01: "
    pages = ("feedback/ann.html", "feedback/ben.html", "class.html", "tables.txt")
    for name in pages:
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        for part in ("isolation level process", proven, "reads no file of yours"):
            assert part in text, name
        assert "lab-1" not in text, name


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_whole_proof_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run with `-s` to read the table."""
    done = run("grader", "doctor", "--results", "own.db", cwd=tmp_path, seconds=280)
    with capsys.disabled():
        print(f"\n{done.stdout}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert PROTECTIONS["present"].why not in done.stdout
    with Store(tmp_path / "own.db", writing=False) as store:
        stored = store.meta_json(PROOF)
    assert [item["text"] for item in stored["guarantees"]] == [item.text for item in GUARANTEES]

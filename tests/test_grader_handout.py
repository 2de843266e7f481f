"""The students' edition and the Gradescope autograder, unpacked and used."""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from connect4 import record as records
from connect4.config import ALLOWED_MODULES
from connect4.errors import InputError
from connect4.players.base import Outcome, importable_sentence
from grader.handout import SEEN, STUB, TEACHERS, TOP, matches, stripped
from grader.play.schedule import grade_games, submitted
from grader.rubric import reading as rubrics
from tests.command import ROOT, assert_refused, run, run_with_files_up_to
from tests.grading import COMMAND, hand_in, rubric, searcher
from tests.test_documents import broken_links

AUTOGRADER = ("--gradescope",)

SCHEMA = Path(__file__).parent / "data" / "gradescope_results.schema.json"

SOLVED = '''\
class AIPlayer:
    def easy(self):
        """Kept."""
        ### BEGIN SOLUTION
        return 1
        ### END SOLUTION

    def hard(self):
    \t### BEGIN SOLUTION
    \tdef inner():
    \t\treturn 2
    \treturn inner()


class Helper:
    secret = 42
### END SOLUTION
'''


def test_a_stub_takes_the_place_of_each_solution() -> None:
    text = stripped(SOLVED, "ai.py")
    assert text == (
        "class AIPlayer:\n    def easy(self):\n"
        '        """Kept."""\n'
        '        raise NotImplementedError("easy is not written yet: it is your part")\n\n'
        "    def hard(self):\n"
        '    \traise NotImplementedError("hard is not written yet: it is your part")\n'
    )
    ast.parse(text)


BEGIN, END = "### BEGIN SOLUTION\n", "### END SOLUTION\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (BEGIN, "ai.py:1: a solution begins here and does not end"),
        (f"x = 1\n{END}", "ai.py:2: a solution ends that has not begun"),
        (f"{BEGIN}  {BEGIN}{END}", "ai.py:2: a solution begins inside the one of line 1"),
    ],
)
def test_a_region_that_is_not_closed_or_nested_is_an_error(source: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        stripped(source, "ai.py")


def test_a_page_is_without_what_is_for_teachers() -> None:
    part = "<!-- BEGIN TEACHERS -->\n\nThe answers.\n<!-- END TEACHERS -->\n"
    assert stripped(f"For all.\n{part}\nThe rest.\n", "a.md", TEACHERS) == "For all.\n\nThe rest.\n"


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked students' edition."""
    folder = tmp_path_factory.mktemp("handout")
    done = run(COMMAND, "handout", "kit.zip", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"kit\.zip: \d+ files, \d+ kB", done.stdout.splitlines()[-1])
    with zipfile.ZipFile(folder / "kit.zip") as archive:
        archive.extractall(folder)
    return folder / "connect4-kit"


def in_kit(kit: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=kit, env={**without_git(), "PYTHONPATH": str(kit)}, capture_output=True, text=True,
        check=False, timeout=110,
    )  # fmt: skip


def out_of(kit: Path, *arguments: str | Path) -> str:
    """Return what a command of a kit prints; it succeeds."""
    done = in_kit(kit, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def without_git() -> dict[str, str]:
    """Return the environment without what a git hook puts there for its own repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def pages(kit: Path) -> dict[Path, str]:
    """Return what each of the edition's pages says."""
    found = [kit / "README.md", *sorted((kit / "docs").glob("*.md"))]
    return {path: path.read_text(encoding="utf-8") for path in found}


@pytest.mark.slow
def test_students_get_no_solution_and_no_private_part(kit: Path) -> None:
    names = {path.relative_to(kit).as_posix() for path in kit.rglob("*")}
    assert {"README.md", "connect4/players/ai.py", "grader/rubric.toml"} <= names
    assert len([name for name in names if (kit / name).is_file()]) <= 215
    private = """
        benchmarks connect4/reference docs/assignment.md
        docs/benchmarks.md docs/statistics.md docs/teachers.md grader/doctor grader/gradescope
        grader/handout grader/handout.toml tests
    """
    assert not set(private.split()) & names
    hidden = {name for name in names if name.startswith(".")}
    assert hidden == {".gitignore", ".vscode", ".vscode/launch.json"}
    assert not any("__pycache__" in name for name in names)
    files = {path.name for path in kit.iterdir() if path.is_file()}
    assert files == {".gitignore", "LICENSE", "README.md", "environment.yml", "pyproject.toml"}
    report = (kit / "connect4/players/report.txt").read_text(encoding="utf-8")
    assert report == "Authors: NAME ONE (ENTRY NUMBER), NAME TWO (ENTRY NUMBER)\n"


def lines_of(path: Path) -> set[str]:
    """Return the lines of a file that say something of their own."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return {line for line in lines if len(line) > 30 and not line.startswith(("from ", "import "))}


@pytest.mark.slow
def test_nothing_in_the_edition_gives_the_reference_agent_away(kit: Path) -> None:
    solution = ROOT / "connect4/players/ai.py"
    report = solution.with_name("report.txt")
    secret = lines_of(solution) | lines_of(report) | lines_of(ROOT / "docs/benchmarks.md")
    secret -= lines_of(STUB) | set(report.read_text(encoding="utf-8").splitlines()[:1])
    words = re.compile(r"reference agent|zugzwang|expected line margin|pop-outs in hand|TEACHERS")
    for path in kit.rglob("*"):
        if path.suffix in (".py", ".md", ".toml", ".txt"):
            assert not secret & lines_of(path), path
            assert not words.search(path.read_text(encoding="utf-8")), path


@pytest.mark.slow
def test_the_first_game_and_check_say_that_the_stub_plays(kit: Path) -> None:
    game = ("ai", "random", "case4.txt", "--view", "none", "--record", "first.json")
    told = out_of(kit, "connect4.ConnectFour", *game)
    assert told.count("ai.py is still the stub: it plays the first valid move") == 1
    assert "The game ended: " in told
    assert "faults" not in told
    record = records.read(kit / "first.json")
    assert {turn.outcome for turn in record.turns} == {Outcome.PLAYED}
    assert not (kit / "connect4-fault.json").exists()
    told = out_of(kit, "grader", "check", "connect4/players/ai.py")
    stub, report, plays, last = told.splitlines()
    assert ": stub (advice): this is still the stub of the kit" in stub
    assert ": report (advice): the first line is still the placeholder" in report
    assert plays == "connect4/players/ai.py: plays from 0.1 s a move"
    assert last == "The submission meets every required rule: 0 faults to fix, 2 pieces of advice."


@pytest.mark.slow
def test_the_students_edition_does_without_the_reference_agent(kit: Path) -> None:
    played = ("random", "greedy", "case4", "--view", "none", "--record", "judged.json")
    out_of(kit, "connect4.ConnectFour", *played)
    out_of(kit, "connect4.analysis", "judged.json", "--time", "0.05")
    judged = json.loads((kit / "judged.json").read_text(encoding="utf-8"))
    assert judged["analysis"]["agent"].startswith("alphabeta:")
    done = in_kit(kit, "connect4.ConnectFour", "reference", "random", "case4")
    assert_refused(done, "agent 'reference': only the teachers' edition has it")


@pytest.mark.slow
def test_students_can_grade_and_compare_and_cannot_hand_out(kit: Path, tmp_path: Path) -> None:
    options = ("--rubric", rubric(tmp_path), "--results", tmp_path / "g.db")
    told = out_of(kit, "grader", "grade", "connect4/players/ai.py", *options)
    assert re.search(r"^ai +\d", told, re.MULTILINE)
    compared = ("connect4/players/ai.py", "random", "--games", "2")
    assert "2 games: " in out_of(kit, "grader", "compare", *compared)
    done = in_kit(kit, "grader", "handout", "x.zip")
    assert_refused(done, "handout: only the teachers' edition has it")
    assert "handout" not in in_kit(kit, "grader", "--help").stdout


@pytest.mark.slow
def test_every_command_link_and_file_that_the_pages_name_is_there(kit: Path) -> None:
    sentence = importable_sentence(ALLOWED_MODULES)  # as `check` writes it
    for page, text in pages(kit).items():
        if page.name in ("README.md", "students.md"):
            assert " ".join(text.split()).count(sentence) == 1, page.name
        assert broken_links(page) == [], page.name
        for path in re.findall(r"`((?:connect4|grader|docs|tests|benchmarks)/[\w./-]+)`", text):
            assert (kit / path).exists(), f"{page.name}: {path}"
    command = r"-m ((?:connect4|grader|benchmarks|tests)[\w.]*)(?: ([a-z]+))?"
    named = set(re.findall(command, "\n".join(pages(kit).values())))
    assert ("grader", "compare") in named
    for module, word in sorted(named):
        words = [word] if module == "grader" and word else []
        done = in_kit(kit, module, *words, "--help")
        assert (done.returncode, done.stderr) == (0, ""), module


@pytest.mark.slow
def test_every_module_that_the_edition_imports_is_there(kit: Path) -> None:
    places = ("grader/__main__.py", "connect4/analysis/experts.py", "connect4/players/agents.py")
    asks_first = {kit / place for place in places}
    for path in {*kit.rglob("*.py")} - asks_first:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            named += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            for module in named:
                place = kit / module.replace(".", "/")
                is_ours = module.partition(".")[0] in ("connect4", "grader", "tests")
                assert not is_ours or place.is_dir() or place.with_suffix(".py").exists(), path


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_both_readme_commands_run_as_they_are_pasted(kit: Path) -> None:
    readme = (kit / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python3 -m venv .*$", readme, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        shell = ["bash", "-c", command.replace("python3", sys.executable, 1)]
        done = subprocess.run(shell, cwd=kit, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


AGENT = STUB.read_text(encoding="utf-8")
PLAYS = "return get_valid_actions(self.player_number, state)[0]"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A teacher's copy of the kit, no checkout, with a small agent."""
    folder = tmp_path / "own"
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for name in SEEN:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in TOP:
        shutil.copy(ROOT / name, folder)
    (folder / "connect4/players/ai.py").write_text(AGENT, encoding="utf-8")
    return folder


@pytest.fixture
def checkout(own: Path) -> Path:
    """A teacher's checkout of the kit."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    git(own, "init", "-q")
    git(own, "add", ".")
    return own


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, env=without_git(), check=True)


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("0\n0 0 0 0\n0 0 0 0\n", encoding="utf-8")


def content(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        return {name.removeprefix("connect4-kit/"): archive.read(name) for name in names}


def autograder(folder: Path, *options: str | Path) -> dict[str, bytes]:
    """Return what the zip of an autograder contains."""
    done = run(COMMAND, "handout", "g.zip", *AUTOGRADER, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return content(folder / "g.zip")


BACKUPS = ("connect4/players/ai.py~", "connect4/players/ai.py.orig", "connect4/#ai.py#")
PRIVATE = ("connect4/initial_states/hidden_board.txt", "grader/course.toml")
PRIVATE += ("docs/answers.md", "docs/marks.csv")
LEFT = "left out: connect4/initial_states/hidden_board.txt, grader/course.toml"


@pytest.mark.slow
def test_what_git_does_not_track_stays_with_the_teacher(checkout: Path) -> None:
    secret = "connect4/players/solution.py"
    write(checkout, *BACKUPS, *PRIVATE, secret, "docs/a.txt")
    git(checkout, "add", "-f", BACKUPS[0])
    (checkout / "docs/assignment.md").write_text("Ours.\n", encoding="utf-8")
    told = out_of(checkout, "grader", "handout", "../kit.zip")
    assert told.splitlines()[0] == (
        f"{LEFT.partition(',')[0]}, {secret}, grader/course.toml, docs/a.txt, docs/answers.md and "
        "1 more: git does not track them; `git add` what is to go out"
    )
    files = content(checkout.parent / "kit.zip")
    assert not {*BACKUPS, *PRIVATE, secret} & files.keys()
    assert files["README.md"] == b"Ours.\n"  # as it is on disk, not as it was added
    git(checkout, "add", PRIVATE[0])
    assert PRIVATE[0] not in out_of(checkout, "grader", "handout", "../kit.zip")
    assert PRIVATE[0] in content(checkout.parent / "kit.zip")


@pytest.mark.slow
def test_without_git_the_settings_name_the_kits_own_files(own: Path) -> None:
    write(own, *BACKUPS, *PRIVATE)
    assert out_of(own, "grader", "handout", "../kit.zip").splitlines()[:2] == [
        "no git checkout: a .py file of your own beside the kit's goes out too",
        f"{LEFT}, docs/answers.md, docs/marks.csv: `kit` in grader/handout.toml does not name them",
    ]
    assert not {*BACKUPS, *PRIVATE} & content(own.parent / "kit.zip").keys()


def test_the_settings_name_every_file_of_the_kit() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("git lists the files of the kit")
    listed = ["git", "ls-files", "-z", *TOP, *SEEN]
    done = subprocess.run(listed, cwd=ROOT, env=without_git(), capture_output=True, check=True)
    names = done.stdout.decode().rstrip("\0").split("\0")
    assert not [name for name in names if not matches(name, "kit")]


def test_the_autograder_has_the_rubrics_board_and_nothing_else_private(checkout: Path) -> None:
    write(checkout, *BACKUPS, *PRIVATE)
    mine = checkout / "grader" / "course.toml"
    mine.write_text('[part_b]\nboards = ["hidden_board"]\n', encoding="utf-8")
    (checkout / "connect4/players/ai.py").write_text("unmarked = True\n", encoding="utf-8")
    out_of(checkout, "grader", "handout", "../g.zip", *AUTOGRADER, "--rubric", mine)
    files = content(checkout.parent / "g.zip")
    assert {f"kit/{PRIVATE[0]}", "kit/grader/handout/__init__.py"} <= files.keys()
    assert files["kit/connect4/players/ai.py"] == b"unmarked = True\n"
    assert not {f"kit/{name}" for name in (*BACKUPS, *PRIVATE[1:])} & files.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (AGENT + "def f(:\n", ": syntax: invalid syntax; fix this line or the one above"),
        (AGENT.replace(PLAYS, "raise ValueError('mine')"), "ValueError: mine"),
    ],
)
def test_a_broken_stub_is_not_handed_out(own: Path, source: str, message: str) -> None:
    (own / "grader/handout/ai_stub.py").write_text(source, encoding="utf-8")
    done = in_kit(own, "grader", "handout", "../kit.zip")
    assert_refused(done, "the students' edition fails its smoke test: python3 -m", message)
    assert not (own.parent / "kit.zip").exists()


def test_a_file_of_the_edition_that_is_not_utf8_is_refused(own: Path) -> None:
    with (own / "connect4/config.py").open("ab") as file:
        size = file.tell()
        file.write(b"# \xe9\n")
    done = in_kit(own, "grader", "handout", "../kit.zip")
    assert_refused(done, f"connect4/config.py: no UTF-8 text (byte {size + 2})")


@pytest.mark.parametrize(
    ("agent", "what"), [("ai", "file"), ("ai:/home/ta/agent.py", "file"), ("reference", "agent")]
)
def test_students_are_not_graded_against_an_agent_that_they_have_not_got(
    own: Path, agent: str, what: str
) -> None:
    path = own / "grader/rubric.toml"
    text = path.read_text(encoding="utf-8")
    if agent.endswith(".py"):
        (own / "agent.py").write_text(AGENT, encoding="utf-8")
        agent = f"ai:{own / 'agent.py'}"
    path.write_text(text.replace('agent = "mcts"', f'agent = "{agent}"'), encoding="utf-8")
    done = in_kit(own, "grader", "handout", "../kit.zip")
    assert_refused(done, f"grader/rubric.toml: agent {agent!r}: students have no such {what}")


def test_baselines_may_be_one_file_with_other_options(tmp_path: Path) -> None:
    for name in ("a.py", "a.py.py"):
        (tmp_path / name).write_text(AGENT, encoding="utf-8")
    agents = ["ai:a.py", "ai:a.py,nodes=500", "ai:a.py.py", "ai"]
    steps = ", ".join(f'{{agent="{a}", points=1, low=0, high=9}}' for a in agents)
    (tmp_path / "r.toml").write_text(f"[part_b]\nbaselines = [{steps}]\n", encoding="utf-8")
    files = autograder(tmp_path, "--rubric", "r.toml")
    baselines = tomllib.loads(files["rubric.toml"].decode())["part_b"]["baselines"]
    assert [step["agent"] for step in baselines] == agents
    own = {name for name in files if name.endswith(".py") and "/" not in name}
    assert own == {"a.py", "a.py.py"}


@pytest.mark.parametrize(
    "text", ["", "[part_a]\npoints = 3\n", "[match] # ours\nrepeats = 2\n[limits]\nstartup = 9\n"]
)
def test_an_autograder_has_a_secret_seed(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.toml").write_text(text, encoding="utf-8")
    named = ("--rubric", "r.toml") if text else ()
    seeds = []
    for _ in range(2):
        packed = tomllib.loads(autograder(tmp_path, *named)["rubric.toml"].decode())
        seeds.append(packed["match"].pop("seed"))
        assert packed["match"].pop("seed_for") == "source"
        assert {key: value for key, value in packed.items() if value} == tomllib.loads(text)
    assert min(seeds) > 2**128
    assert seeds[0] != seeds[1]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["kit.zip", "--rubric", "r.toml"], "--rubric: only an autograder takes one; students"),
        (["g.zip", *AUTOGRADER, "--rubric", "r.toml"], "match.seed 20240 is the practice seed"),
    ],
)
def test_a_wrong_command_is_refused(tmp_path: Path, command: list[str], message: str) -> None:
    (tmp_path / "r.toml").write_text("[match]\nseed = 20240\n", encoding="utf-8")
    assert_refused(run(COMMAND, "handout", *command, cwd=tmp_path), message)


def test_a_full_disk_leaves_the_zip_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "g.zip").write_text("the one before", encoding="utf-8")
    done = run_with_files_up_to(100, COMMAND, "handout", "g.zip", *AUTOGRADER, cwd=tmp_path)
    assert_refused(done, "g.zip: cannot be written: File too large")
    assert [path.name for path in tmp_path.iterdir()] == ["g.zip"]
    assert (tmp_path / "g.zip").read_text(encoding="utf-8") == "the one before"


def test_an_autograder_of_files_that_lie_elsewhere_is_not_made(tmp_path: Path) -> None:
    mine = rubric(tmp_path)
    options = (*AUTOGRADER, "--rubric")
    text = mine.read_text(encoding="utf-8").replace("tiny.txt", "../tiny.txt")
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "mine.toml").write_text(text.replace("ai:", "ai:../"), encoding="utf-8")
    done = run(COMMAND, "handout", "g.zip", *options, "rubrics/mine.toml", cwd=tmp_path)
    assert_refused(done, "mine.toml: ../tiny.txt lies elsewhere; put it beside the rubric")
    assert not (tmp_path / "g.zip").exists()


def gradescope(folder: Path, mine: Path) -> Path:
    """Return the autograder's folder with an unpacked zip; the teacher's own files are gone."""
    autograder(folder, "--rubric", mine)
    for name in ("tiny.txt", "baseline.py"):
        (folder / name).unlink()
    home = folder / "autograder"
    with zipfile.ZipFile(folder / "g.zip") as archive:
        archive.extractall(home / "source")
        modes = {item.filename: item.external_attr >> 16 for item in archive.infolist()}
    assert modes["setup.sh"] & modes["run_autograder"] & 0o111 == 0o111
    (home / "submission").mkdir()
    return home


def run_gradescope(home: Path) -> subprocess.CompletedProcess[str]:
    """Grade the submission that is there, as Gradescope does."""
    environment = {**os.environ, "AUTOGRADER_HOME": str(home)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        ["bash", str(home / "source" / "run_autograder")],
        env={**environment, "PATH": path}, capture_output=True, text=True, check=False,
        timeout=110,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
@pytest.mark.parametrize("good", [True, False])
def test_the_gradescope_autograder_writes_its_results(tmp_path: Path, good: bool) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema, of the extra `test`")
    home = gradescope(tmp_path, rubric(tmp_path))  # with a board and a baseline of the teacher's
    if good:
        hand_in(home, "submission", searcher(1))
    ran = run_gradescope(home)
    document = json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    if good:
        assert ran.returncode == 0, ran.stderr
        names = [test["name"] for test in document["tests"]]
        assert names == ["A: random", "B: ai:baseline.py"]
        assert document["score"] > 0
    else:
        assert document["score"] == 0
        assert document["tests"][0]["output"] == "no ai.py and no other .py file in it"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_a_student_of_an_autograder_learns_no_seed(tmp_path: Path) -> None:
    """A changed comment makes other games, the same file the same; no output holds a seed."""
    home = gradescope(tmp_path, rubric(tmp_path))
    shown = []
    seeds: set[int] = set()
    packed = rubrics.read(home / "source" / "rubric.toml")
    for note in ("one", "two", "one"):
        file = hand_in(home, "submission", searcher(1, note=note))
        assert run_gradescope(home).returncode == 0
        files = [path for path in (home / "results").rglob("*") if path.is_file()]
        text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
        source = submitted("", hashlib.sha256(file.read_bytes()).hexdigest())
        seeds |= {packed.match.playing_seed, *(g.seed for g in grade_games([source], packed))}
        assert not [seed for seed in seeds if str(seed) in text or f"{seed:x}" in text]
        shown.append((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert shown[0] == shown[2] != shown[1]
    closed = ("rubric.toml", "tiny.txt", "baseline.py", "kit/connect4/players/ai.py")
    assert not [name for name in closed if (home / "source" / name).stat().st_mode & 0o077]

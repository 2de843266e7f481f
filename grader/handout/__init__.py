"""The students' edition of the kit, and autograders for Gradescope and Classroom 50, as zips.

The students' edition lacks this package and all else that `grader/handout.toml` excludes.
"""

import fnmatch
import functools
import importlib.util
import os
import posixpath
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from connect4 import safe
from connect4.errors import InputError
from connect4.players.base import split_name
from grader.play.schedule import grade_games, submitted, worth
from grader.rubric import reading as rubrics
from grader.rubric.model import all_boards, kit_agents

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent.parent
SETTINGS: Final = HERE.with_name("handout.toml")
GRADESCOPE: Final = HERE.with_name("gradescope")
GRADESCOPE_SCRIPTS: Final = ("setup.sh", "run_autograder")
CLASSROOM50: Final = HERE.with_name("classroom50") / "autograder.py"
LIBRARY: Final = "tabulate"
"""What the grader needs beside numpy; it is Python alone, so that a copy works everywhere."""

STUB: Final = HERE / "ai_stub.py"
"""The path at which students get the stub, whatever file the teacher has there."""

MOVED: Final = {"docs/assignment.md": "README.md"}
"""The pages that have another place in the students' edition."""

NO_AUTOGRADER: Final = (
    *("tests/", "benchmarks/", "docs/", ".gitignore", ".vscode/"),
    *("grader/doctor/", "grader/commands/doctor.py", "grader/similar.py"),
)
"""What a folder of an autograder does not need; hostile agents never lie beside hand-ins."""

FOLDER: Final = "connect4-kit"
"""The folder that the students' zip unpacks to."""

TOP: Final = (
    *("LICENSE", "README.md", "environment.yml", "pyproject.toml"),
    *(".gitignore", ".vscode/launch.json"),
)
SEEN: Final = ("connect4", "grader", "docs", "tests", "benchmarks")
"""Folders with the kit's own files; other files there stay with the teacher (`own_files`)."""

STARTS: Final = "connect4/initial_states"
STUDENT: Final = "connect4/players/ai.py"
REPORT: Final = "connect4/players/report.txt"
UNSEEN: Final = re.compile(
    r"(^|/)(\.|#|__pycache__|[^/]*\.egg-info|build/|dist/)|(~|\.(bak|orig|rej|swp))$"
)
SHOWN: Final = 5
"""The number of left-out files that the message names."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The lines around a part that students do not get, and the line that replaces it.

    `stub` may contain `{function}`, the last function that was begun, and `{indent}`, the
    indentation of the first mark.
    """

    what: str
    begin: str
    end: str
    stub: str = ""


SOLUTION: Final = Marks(
    "a solution",
    "### BEGIN SOLUTION",
    "### END SOLUTION",
    '{indent}raise NotImplementedError("{function} is not written yet: it is your part")\n',
)
TEACHERS: Final = Marks("a teachers' part", "<!-- BEGIN TEACHERS -->", "<!-- END TEACHERS -->")
DEFINITION: Final = re.compile(r"\s*(?:async\s+)?def\s+(\w+)")

SMOKE_SECONDS: Final = 120

KIT_MB: Final = 500
"""Memory of the grader itself, beside two agents."""


def handout(
    out: Path,
    gradescope: bool = False,
    classroom50: bool = False,
    rubric: Path | None = None,
) -> int:
    """Write the zip, after a smoke test of its content."""
    if out.suffix != ".zip":
        raise InputError(f"{out}: a handout is a zip; name it {out.with_suffix('.zip').name}")
    is_autograder = gradescope or classroom50
    if gradescope and classroom50:
        raise InputError("--gradescope, --classroom50: a zip is for one of them; make two")
    if rubric is not None and not is_autograder:
        raise InputError("--rubric: only an autograder takes one; students get grader/rubric.toml")
    if is_autograder:
        rules = rubrics.read(rubric)
        games = {game.key: game for game in grade_games([submitted("", "")], rules)}.values()
        minutes = sum(map(worth, games)) / 60
        memory = (2 * rules.limits.memory_mb + KIT_MB) / 1000
        print(
            f"one submission: {len(games)} games, at most {minutes:.1f} minutes on one core. "
            f"Give the container at least 1 CPU and {memory:.1f} GB of memory, and a longer "
            "timeout than that"
        )
        files = dict(autograder_files(rubric))
        if gradescope:
            files |= {name: (GRADESCOPE / name).read_bytes() for name in GRADESCOPE_SCRIPTS}
        else:
            files |= {"autograder.py": CLASSROOM50.read_bytes(), **library_files("libraries/")}
    else:
        files = {f"{FOLDER}/{path}": data for path, data in student_files()}
        smoke_test(files)
    write_zip(files, out)
    size = out.stat().st_size / 1000
    print(f"{out}: {len(files)} files, {size:.0f} kB")
    return 0


@functools.cache
def settings() -> dict[str, list[str]]:
    """Return the lists of path patterns from `grader/handout.toml`."""
    return tomllib.loads(SETTINGS.read_text(encoding="utf-8"))


def matches(name: str, setting: str) -> bool:
    """Return whether a path matches a pattern of this list in the settings."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in settings()[setting])


def own_files() -> tuple[Callable[[str], bool], str]:
    """Return a test for the kit's own files, and the reason why other files are left out.

    In a checkout git decides. Elsewhere, as in an unpacked zip, the patterns of the settings do.
    """
    try:
        git = ["git", "ls-files", "-z"]
        done = subprocess.run(git, cwd=ROOT, capture_output=True, check=False)
        tracked = frozenset(os.fsdecode(done.stdout).split("\0"))
    except OSError:  # there is no git
        tracked = frozenset()
    if STUDENT in tracked:
        return tracked.__contains__, "git does not track them; `git add` what is to go out"
    print("no git checkout: a .py file of your own beside the kit's goes out too")
    return lambda name: matches(name, "kit"), "`kit` in grader/handout.toml does not name them"


def kit_files(
    wanted: Callable[[str], bool], also: Collection[str] = ()
) -> Iterator[tuple[str, bytes]]:
    """Yield `(path, content)` of the kit's own files and those in `also`; print the files left out.

    The content is read from disk, not from git.
    """
    is_own, why = own_files()
    paths = [ROOT / name for name in TOP]
    for folder in SEEN:
        paths += sorted((ROOT / folder).rglob("*"))
    left = []
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        is_seen = name in TOP or not UNSEEN.search(name)
        if not is_seen or path.is_symlink() or not path.is_file() or not wanted(name):
            continue
        if is_own(name) or name in also:
            yield name, path.read_bytes()
        else:
            left.append(name)
    if left:
        more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
        print(f"left out: {', '.join(left[:SHOWN])}{more}: {why}")


def student_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the students' edition: the stub, but no solution or teachers' part."""

    for name, data in kit_files(lambda name: not matches(name, "exclude")):
        if name.endswith((".py", ".md")):
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                raise InputError(f"{name}: no UTF-8 text (byte {error.start})") from None
            if name.endswith(".py"):
                yield name, stripped(text, name).encode()
            else:
                page = relinked(stripped(text, name, TEACHERS), name)
                yield MOVED.get(name, name), page.encode()
        elif name == REPORT:  # students write their own below the line for their names
            yield name, b"".join(data.splitlines(keepends=True)[:1])
        else:
            yield name, data
    yield STUDENT, STUB.read_bytes()


def relinked(text: str, name: str) -> str:
    """Return a page with its relative links as they are from its place in the edition."""
    here, there = posixpath.dirname(name), posixpath.dirname(MOVED.get(name, name))

    def link(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(here, found[1]))
        return f"]({posixpath.relpath(MOVED.get(path, path), there or '.')}"

    return re.sub(r"\]\((?!https?:)([^)#]+)", link, text)


def stripped(source: str, name: str, marks: Marks = SOLUTION) -> str:
    """Return a text with a stub in place of each marked part.

    Raises `InputError` for a nested part, a part without an end, or an end without a beginning.
    """
    lines: list[str] = []
    began = 0
    function = "this part"
    for number, line in enumerate(source.splitlines(keepends=True), 1):
        if line.strip() == marks.begin:
            if began:
                inside = f"{marks.what} begins inside the one of line {began}"
                raise InputError(f"{name}:{number}: {inside}")
            began = number
            indent = line[: line.index(marks.begin)]
            lines.append(marks.stub.format(indent=indent, function=function))
        elif line.strip() == marks.end:
            if not began:
                raise InputError(f"{name}:{number}: {marks.what} ends that has not begun")
            began = 0
        elif not began:
            found = DEFINITION.match(line)
            function = found[1] if found else function
            lines.append(line)
    if began:
        raise InputError(f"{name}:{began}: {marks.what} begins here and does not end")
    return "".join(lines)


def write_zip(files: dict[str, bytes], out: Path) -> None:
    """Write a zip, whole or not at all; raises `InputError` if it cannot be written.

    The same files produce the same zip.
    """
    try:
        with safe.writing(out) as file, zipfile.ZipFile(file, "w") as archive:
            for name, data in sorted(files.items()):
                entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                executable = data.startswith(b"#!")
                entry.external_attr = (0o100755 if executable else 0o100644) << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from None


def smoke_test(files: dict[str, bytes]) -> None:
    """Use the students' edition as students will; raises `InputError` if anything fails.

    Also raises it if an agent of the rubric is the student's own, or a board is hidden.
    """
    rubric = rubrics.read()
    for agent in (item.written for item in kit_agents(rubric)):
        kind = split_name(agent).kind
        if kind in ("ai", "reference"):
            none = "file, their `ai` is their own" if kind == "ai" else "agent"
            raise InputError(
                f"grader/rubric.toml: agent {agent!r}: students have no such {none}; name it in "
                "a rubric that stays with you"
            )
    if rubric.match.hidden:
        raise InputError(
            "grader/rubric.toml: match.hidden: students get this file; name hidden boards in a "
            "rubric that stays with you"
        )
    with tempfile.TemporaryDirectory(prefix="connect4-handout-") as folder:
        for name, data in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try_out(Path(folder, FOLDER))


def try_out(kit: Path) -> None:
    """Play the first game with an unpacked students' edition; check and grade its stub."""
    for command in (
        ("grader", "check", STUDENT),
        ("connect4.ConnectFour", "ai", "random", "case4", "--view", "none", "--seed", "1"),
        ("grader", "grade", STUDENT, "--dry-run"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=kit,
            env={**os.environ, "PYTHONPATH": str(kit)},
            capture_output=True,
            text=True,
            timeout=SMOKE_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            findings = done.stdout.splitlines()[:1] if "check" in command else []
            said = "".join(findings or done.stderr.splitlines()[-1:]) or "no reason given"
            raise InputError(
                "the students' edition fails its smoke test: "
                f"python3 -m {' '.join(command[:2])}: {said}"
            )


def autograder_files(path: Path | None) -> Iterator[tuple[str, bytes]]:
    """Yield what every autograder contains: the kit, and the rubric with the files beside it."""
    rubric = rubrics.read(path)
    boards = {board.name for board in all_boards(rubric)}
    also = {f"{STARTS}/{board}{end}" for board in boards for end in ("", ".txt")} | boards

    def wanted(name: str) -> bool:
        return not name.startswith(NO_AUTOGRADER) and not name.endswith(".zip")

    for name, data in kit_files(wanted, also):
        yield f"kit/{name}", data
    if path is None:
        yield "rubric.toml", rubrics.with_secret_seed("", rubric).encode()
        return
    text = rubrics.with_secret_seed(path.read_text(encoding="utf-8-sig"), rubric)
    agents = [split_name(item.written) for item in kit_agents(rubric)]
    names = [board.name for board in all_boards(rubric) if (path.parent / board.name).is_file()]
    names += [agent.rest for agent in agents if agent.kind == "ai" and agent.rest]
    for name in dict.fromkeys(names):
        if ".." in Path(name).parts or name.startswith("~") or Path(name).is_absolute():
            raise InputError(f"{path}: {name} lies elsewhere; put it beside the rubric")
        yield Path(name).as_posix(), (path.parent / name).read_bytes()
    yield "rubric.toml", text.encode()


def library_files(below: str) -> dict[str, bytes]:
    """Return the files of `LIBRARY` and its licence below a folder."""
    files = {}
    found = importlib.util.find_spec(LIBRARY)
    if found is None or not found.submodule_search_locations:
        raise InputError(f"{LIBRARY} is not installed as a folder: pip install {LIBRARY}")
    folder = Path(found.submodule_search_locations[0])
    for path in folder.rglob("*.py"):
        files[f"{below}{LIBRARY}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()
    for item in metadata.files(LIBRARY) or ():
        if item.name.upper().startswith("LICENSE"):
            files[f"{below}{LIBRARY}/LICENSE"] = item.read_binary()
    return files

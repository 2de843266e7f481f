"""The students' edition of the kit, and the Gradescope autograder: both are zips.

Teachers only; the students' edition has everything of the grader but this.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from connect4.errors import BadInput
from connect4.players.names import split_name, student_file
from grader import rubric as rubrics

ROOT: Final = Path(__file__).resolve().parent.parent
SETTINGS: Final = Path(__file__).with_name("handout.toml")
GRADESCOPE: Final = Path(__file__).with_name("gradescope")

FOLDER: Final = "connect4-kit"
"""The folder that the students' zip unpacks to."""

TOP: Final = ("LICENSE", "README.md", "environment.yml", "pyproject.toml")
SEEN: Final = ("connect4", "grader", "docs", "tests", "benchmarks")
"""The kit's own files; what else a teacher keeps beside them, a rubric's seed say, stays there."""

REPORT: Final = "connect4/players/report.txt"
UNSEEN: Final = re.compile(r"(^|/)(\.|__pycache__|[^/]*\.egg-info|build/|dist/)")

BEGIN: Final = re.compile(r"([ \t]*)### BEGIN SOLUTION\s*")
END: Final = re.compile(r"[ \t]*### END SOLUTION\s*")
DEFINITION: Final = re.compile(r"\s*(?:async\s+)?def\s+(\w+)")

SMOKE_SECONDS: Final = 120


def run_handout(arguments: argparse.Namespace) -> int:
    """Write the zip, after a smoke test of what is in it."""
    out: Path = arguments.out
    if out.suffix != ".zip":
        raise BadInput(f"{out}: a handout is a zip; name it {out.with_suffix('.zip').name}")
    if arguments.gradescope:
        files = dict(autograder_files(arguments.rubric))
    else:
        files = {f"{FOLDER}/{path}": data for path, data in student_files()}
        smoke_test(files)
    write_zip(files, out)
    size = out.stat().st_size / 1000
    print(f"{out}: {len(files)} files, {size:.0f} kB")
    return 0


def kit_files() -> Iterator[tuple[str, bytes]]:
    """Yield `(path, content)` of the kit's own files, in order."""
    paths = [ROOT / name for name in TOP]
    for folder in SEEN:
        paths += sorted(path for path in (ROOT / folder).rglob("*") if path.is_file())
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if not UNSEEN.search(name) and not path.is_symlink():
            yield name, path.read_bytes()


def student_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the students' edition, solutions and the report on them taken out."""
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))

    def matches(name: str, patterns: list[str]) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

    for name, data in kit_files():
        if matches(name, settings["exclude"]) and not matches(name, settings["tests"]):
            continue
        if name.endswith(".py"):
            yield name, stripped(data.decode(), name).encode()
        elif name == REPORT:  # students write their own below the line for their names
            yield name, data.splitlines(keepends=True)[0]
        else:
            yield name, data


def stripped(source: str, name: str) -> str:
    """Return a source with a stub in place of each solution.

    Raises `BadInput` for a region in a region, one that is not closed, or an end without a begin.
    """
    lines: list[str] = []
    began = 0
    function = "this part"
    for number, line in enumerate(source.splitlines(keepends=True), 1):
        begin = BEGIN.fullmatch(line)
        if begin and began:
            raise BadInput(f"{name}:{number}: a solution begins inside the one of line {began}")
        if END.fullmatch(line):
            if not began:
                raise BadInput(f"{name}:{number}: a solution ends that has not begun")
            began = 0
        elif begin:
            began = number
            text = f'raise NotImplementedError("{function} is not written yet: it is your part")'
            lines.append(f"{begin[1]}{text}\n")
        elif not began:
            found = DEFINITION.match(line)
            function = found[1] if found else function
            lines.append(line)
    if began:
        raise BadInput(f"{name}:{began}: a solution begins here and does not end")
    return "".join(lines)


def write_zip(files: dict[str, bytes], out: Path) -> None:
    """Write a zip, whole or not at all; raises `BadInput` where it cannot be.

    The same files make the same zip.
    """
    temporary = out.with_name(f".{out.name}.new")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in sorted(files.items()):
                entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                executable = data.startswith(b"#!")
                entry.external_attr = (0o100755 if executable else 0o100644) << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
        os.replace(temporary, out)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None


def smoke_test(files: dict[str, bytes]) -> None:
    """Play a game with what students get; raises `BadInput` where that does not work."""
    with tempfile.TemporaryDirectory(prefix="connect4-handout-") as folder:
        for name, data in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        kit = Path(folder, FOLDER)
        environment = {**os.environ, "PYTHONPATH": str(kit)}
        game = ["connect4.ConnectFour", "ai", "random", "case4", "--view", "none", "--seed", "1"]
        for command in (game, ["grader", "check", "connect4/players/ai.py"]):
            done = subprocess.run(
                [sys.executable, "-m", *command],
                cwd=kit,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SMOKE_SECONDS,
                check=False,
            )
            if done.returncode not in (0, 1) or "Traceback" in done.stderr:
                last = (done.stderr.strip() or "no reason given").splitlines()[-1]
                raise BadInput(f"the students' edition fails its smoke test: {command[0]}: {last}")


def autograder_files(path: Path | None) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a Gradescope autograder: scripts, the kit, the rubric with its files."""
    for script in ("setup.sh", "run_autograder"):
        yield script, (GRADESCOPE / script).read_bytes()
    for name, data in kit_files():
        if not name.startswith(("tests/", "benchmarks/", "docs/")) and not name.endswith(".zip"):
            yield f"kit/{name}", data
    if path is not None:
        yield from rubric_files(path)


def rubric_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield a rubric, the boards beside it and the files of its agents.

    The rubric names those files as the folder of the kit sees them.
    """
    rubric = rubrics.read(path)
    text = path.read_text(encoding="utf-8")
    for board in rubrics.all_boards(rubric):
        beside = path.parent / board.name
        if beside.is_file():
            if ".." in Path(board.name).parts or Path(board.name).is_absolute():
                raise BadInput(f"{path}: board {board.name!r} lies elsewhere; put it beside")
            yield Path(board.name).as_posix(), beside.read_bytes()
    agents = [rubric.part_a.opponent, *(step.agent for step in rubric.part_b.baselines)]
    for number, agent in enumerate(agents, 1):
        name = split_name(agent)
        if name.kind != "ai" or not name.rest:
            continue
        source = student_file(name)
        packed = f"agents/{number}/{source.name}"
        if f"ai:{name.rest}" not in text:
            raise BadInput(f"{path}: agent {agent!r}: write it without escapes")
        text = text.replace(f"ai:{name.rest}", f"ai:../{packed}")
        yield packed, source.read_bytes()
    yield "rubric.toml", text.encode()

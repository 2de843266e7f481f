"""`python3 -m grader check`: the form of a submission, one line a finding."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path

import pytest

from grader import rubric as rubrics
from grader.check import Finding, check, check_report, check_source
from tests.command import assert_refused, run
from tests.grading import COMMAND, hand_in, searcher

RULES = rubrics.read().submission

HEAD = "import random\nimport numpy as np\n"
CLASS = """\
class AIPlayer:
    def __init__(self, player_number, time):
        self.table = {}

    def get_expectimax_move(self, state):
        self.table[1] = 2
        return 0, False

    def get_intelligent_move(self, state):
        return 0, False
"""


def findings(source: str) -> list[str]:
    return [f"{found.line}: {found.rule}: {found.text}" for found in check_source(source, RULES)]


def test_a_good_submission_has_no_findings() -> None:
    assert check(HEAD + CLASS, "Ann, 1\nMy ideas\n", RULES) == []
    assert check(searcher(), "Ann, 1\n", RULES) == []
    assert check("\ufeff" + searcher(), "\ufeffAnn, 1\n", RULES) == []


def test_a_method_may_be_another_ones_second_name() -> None:
    source = CLASS.replace(
        "    def get_intelligent_move(self, state):\n        return 0, False\n", ""
    )
    assert findings(source) == [
        "1: class: AIPlayer has no get_intelligent_move; add get_intelligent_move(self, state)"
    ]
    assert findings(f"{source}    get_intelligent_move = get_expectimax_move\n") == []


def test_a_decorator_may_make_the_constructor() -> None:
    fields = "    player_number: int\n    time: float\n"
    _, methods = CLASS.split("    def get_expectimax_move", 1)
    source = f"class AIPlayer:\n{fields}    def get_expectimax_move{methods}"
    missing = "AIPlayer has no __init__; add __init__(self, player_number, time)"
    assert findings(source) == [f"1: class: {missing}"]
    assert findings(f"import dataclasses\n@dataclasses.dataclass\n{source}") == []


def test_a_file_of_windows_is_read_as_python_reads_it() -> None:
    assert findings("\ufeff" + CLASS.replace("\n", "\r\n")) == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("# coding: utf-7\n#+AAo-import torch\n" + CLASS, "3: imports: 'torch' is not there"),
        ("# coding: rot13\n" + CLASS, "1: syntax: "),
        ("x = " + "-" * 50_000 + "1\n", "1: syntax: nested too deeply for Python to read"),
        ("def f(:\n    pass\n", "1: syntax: invalid syntax"),
        ("x = 1\n", "1: class: no class AIPlayer at the top of the file"),
        (
            CLASS.replace("get_intelligent_move", "get_clever_move"),
            "1: class: AIPlayer has no get_intelligent_move; add get_intelligent_move(self, state)",
        ),
        (
            CLASS.replace("player_number, time", "player_number"),
            "2: signature: __init__ must be called as __init__(self, player_number, time)",
        ),
        (
            CLASS.replace("move(self, state)", "move(self, state, depth)", 1),
            "5: signature: get_expectimax_move must be called as get_expectimax_move(self, state)",
        ),
        (
            CLASS.replace("    def get_int", "    async def get_int"),
            "9: signature: async; write it as def get_intelligent_move(self, state)",
        ),
        ("import torch\n" + CLASS, "1: imports: 'torch' is not there when graded"),
        ("from . import helper\n" + CLASS, "1: imports: a relative import"),
        ("import helper\n" + CLASS, "1: imports: 'helper' is not there when graded"),
        (
            "import threading\nthreading.Thread()\n" + CLASS,
            "1: threads and processes: uses 'threading': a submission thinks in one thread",
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor as T\nT()\n" + CLASS,
            "1: threads and processes: uses 'concurrent.futures'",
        ),
        ("import socket\nsocket.socket()\n" + CLASS, "1: sockets: uses 'socket'"),
        (
            "import multiprocessing\n" + CLASS,
            "1: threads and processes: 'multiprocessing' is imported but never used",
        ),
        (
            "import os\nos.fork()\n" + CLASS,
            "2: threads and processes: os.fork starts or stops processes",
        ),
        (
            "MEMO = {}\n" + CLASS.replace("self.table[1]", "MEMO[1]"),
            "7: module state: MEMO is a module-level variable and is changed here",
        ),
        (
            "MEMO = []\n" + CLASS.replace("self.table[1] = 2", "MEMO.append(2)"),
            "7: module state: MEMO is a module-level variable and is changed by .append()",
        ),
        (
            "turns = 0\n" + CLASS.replace("self.table[1] = 2", "global turns; turns += 1"),
            "7: module state: global turns: keep it on self",
        ),
        (
            CLASS.replace("self.table[1] = 2", "AIPlayer.turns = 2"),
            "6: module state: AIPlayer is a class and is changed here",
        ),
        ("#" * 256_001 + "\n" + CLASS, "1: size: 256 kB; at most 256 kB count"),
        ("x = 1\0\n", "1: syntax: "),
        ("(" * 500 + ")" * 500, "1: syntax: "),
    ],
)
def test_each_rule_has_its_line(source: str, line: str) -> None:
    found = findings(source)
    assert len(found) == 1, found
    assert found[0].startswith(line)


@pytest.mark.parametrize(
    "line",
    [
        "LIMIT = [1, 2]\n",  # a constant
        "BOOK = {}\nBOOK[1] = 2\n",  # built while the module is loaded
        "import tkinter\n",  # an editor added it
        "def memo(table):\n    table[1] = 2\n",
        "import signal\nsignal.alarm(1)\n",  # a clock of one's own
        "def make():\n    MEMO = {}\n    MEMO[1] = 2\n",
    ],
)
def test_what_is_allowed_is_not_found(line: str) -> None:
    assert findings(line + CLASS) == []


def test_an_unused_import_is_advice_only() -> None:
    (finding,) = check_source("import socket\n" + CLASS, RULES)
    assert not finding.required


@pytest.mark.parametrize(
    ("report", "line", "text"),
    [
        (None, 1, "no report.txt; describe your ideas in it"),
        ("", 1, "the first line is empty"),
        ("\nAnn\n", 1, "the first line is empty"),
        ("Ann\n" * 121, 121, "3 pages of 60 lines; at most 2 are read"),
        ("Ann\f\f", 1, ""),
        ("Ann\n" + "word " * 30 * 119, 2, "3 pages"),
        ("Ann\fsecond\fthird", 3, "3 pages"),
    ],
)
def test_the_report_has_two_pages_and_a_first_line(
    report: str | None, line: int, text: str
) -> None:
    found = check_report(report, RULES)
    if not text:
        assert found == []
        return
    assert len(found) == 1
    assert found[0].text.startswith(text)
    assert found[0].line == line
    assert found[0].in_report


def test_the_command_says_one_line_a_finding(tmp_path: Path) -> None:
    good = hand_in(tmp_path, "ann", searcher())
    bad = hand_in(tmp_path, "bo", "import socket\n" + CLASS + "import torch\n", report=None)
    done = run(COMMAND, "check", good, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{good}: well formed\n", "")
    done = run(COMMAND, "check", bad, cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        f"{bad}:1",
        f"{bad}:12",
        f"{bad}:1",
    ]
    hand_in(tmp_path, "bo", CLASS, report="\n")
    done = run(COMMAND, "check", bad, cwd=tmp_path)
    assert done.stdout.startswith(f"{bad.with_name('report.txt')}:1: report: the first line")


def test_a_class_is_checked_whole(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ann", searcher())
    (tmp_path / "class" / "eve.py").write_bytes(b"\xff")
    done = run(COMMAND, "check", "class", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "class/ann/ai.py: well formed",
        "class/eve.py:1: file: not UTF-8 (line 1, byte 0); save the file as UTF-8",
    ]


def test_of_two_files_with_one_name_the_one_that_counts_is_checked_and_named(
    tmp_path: Path,
) -> None:
    with (
        warnings.catch_warnings(action="ignore"),
        zipfile.ZipFile(tmp_path / "bo.zip", "w") as archive,
    ):
        archive.writestr("bo/ai.py", "import torch\n")
        archive.writestr("bo/report.txt", "Bo, 2\n")
        archive.writestr("bo/ai.py", searcher())
    done = run(COMMAND, "check", "bo.zip", cwd=tmp_path)
    said = "file: ai.py stands 2 times in the zip; the last one counts"
    assert (done.returncode, done.stdout) == (0, f"bo/ai.py:1: {said}\n")


def test_every_line_says_whose_submission_it_is_about(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    hand_in(folder, "submission_7", searcher(), report=None)
    (folder / "submission_metadata.yml").write_text(
        "---\nsubmission_7:\n  :submitters:\n  - :name: Ann Lee\n", encoding="utf-8"
    )
    (folder / "bo.py").write_text(searcher(), encoding="utf-8")
    done = run(COMMAND, "check", "class", cwd=tmp_path)
    wanted = "report: no report.txt; describe your ideas in it, the authors in its first line"
    assert done.stdout.splitlines() == [
        f"class/submission_7/ai.py:1: {wanted} (Ann Lee)",
        f"class/bo.py:1: {wanted}",
    ]


def test_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    assert_refused(run(COMMAND, "check", "ai.py", cwd=tmp_path), "ai.py: no such file or folder")


def test_findings_are_annotations_in_github_actions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    path = hand_in(tmp_path, "bo", "import torch\n" + CLASS)
    done = run(COMMAND, "check", path, cwd=tmp_path)
    where = str(path).replace(":", "%3A").replace(",", "%2C")
    assert f"::error file={where},line=1,title=imports::'torch' is not there" in done.stdout


def test_advice_alone_does_not_fail(tmp_path: Path) -> None:
    path = hand_in(tmp_path, "bo", "import socket\n" + CLASS)
    assert run(COMMAND, "check", path, cwd=tmp_path).returncode == 0
    assert Finding(1, "x", "y").required

"""`python3 -m grader check`: the form of a submission, one line a finding."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from connect4.players.base import importable_sentence
from grader.handin import form
from grader.handin.form import check
from grader.rubric import reading as rubrics
from tests.command import ROOT, assert_refused, environment, run
from tests.grading import COMMAND, hand_in, searcher
from tests.test_first_agent import CODE

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


REPORT = "Ann, 1\nMy ideas\n"

TRIED = "try:\n    open(1)\nexcept OSError:\n    pass\n"


def findings(source: str) -> list[str]:
    return [
        f"{found.line}: {found.rule}: {found.text}"
        for found in check(source.encode(), REPORT, RULES)
    ]


def test_a_good_submission_has_no_findings() -> None:
    assert check((HEAD + CLASS).encode(), "Ann, 1\nMy ideas\n", RULES) == []
    assert check(searcher().encode(), "Ann, 1\n", RULES) == []
    assert check(("\ufeff" + searcher()).encode(), "\ufeffAnn, 1\n", RULES) == []
    assert findings("\ufeff" + CLASS.replace("\n", "\r\n")) == []  # a file of Windows


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


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = " + "-" * 50_000 + "1\n", "1: syntax: nested too deeply for Python to read"),
        ("def f(:\n    pass\n", "1: syntax: invalid syntax"),
        (
            "x = 1\n",
            "1: class: no class AIPlayer at the top of the file; the simulator makes one per game",
        ),
        *(
            (
                "\n" + CLASS.replace("AIPlayer", name),
                "2: class: no class AIPlayer at the top of the file; "
                f"rename class {name} to AIPlayer, at the left margin",
            )
            for name in ("AiPlayer", "MyBot")
        ),
        *(
            (f"{code}\n{CLASS}", f"{line}: files: {name}: agents may not open files; put what")
            for code, line, name in (
                ("open('x')", 1, "open"),
                ("import numpy as np\nnp.load('x')", 2, "numpy.load"),
                ("from numpy import loadtxt as l\nl('x')", 2, "numpy.loadtxt"),
                ("from pathlib import Path\nPath('x').read_text()", 2, "read_text"),
            )
        ),
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
        (
            "import threading\nthreading.Thread()\n" + CLASS,
            "1: threads and processes: uses 'threading': a submission thinks in one thread",
        ),
        (
            "import os as o\no.execv('', [])\n" + CLASS,
            "2: threads and processes: os.execv starts or stops processes",
        ),
        (
            "from posix import fork as f\nf()\n" + CLASS,
            "1: threads and processes: os.fork starts or stops processes",
        ),
        ("import _socket\n_socket.socket()\n" + CLASS, "1: sockets: uses '_socket'"),
        ("import connect4\n" + CLASS, "1: imports: 'connect4' is not allowed. A submission may"),
        (
            "from connect4.search.mcts import Mcts\n" + CLASS,
            "1: imports: 'connect4.search.mcts' is not allowed. A submission may import the "
            "standard library, numpy, and of the kit only `connect4.utils` and `connect4.config`",
        ),
        ("from connect4 import *\n" + CLASS, "1: imports: 'connect4.*' is not allowed"),
        (
            "import connect4.utils, connect4.players.registry as b\n" + CLASS,
            "1: imports: 'connect4.players.registry' is not allowed",
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
        "try:\n    from numba import njit\nexcept ImportError:\n    njit = None\n",
        "try:\n    import torch\nexcept (KeyError, ModuleNotFoundError):\n    torch = None\n",
        "BOOK = {}\nBOOK[1] = 2\n",  # built while the module is loaded
        "import tkinter, multiprocessing\n",  # an editor added it
        "def memo(table):\n    table[1] = 2\n",
        "import signal\nsignal.alarm(1)\n",  # a clock of one's own
        "def open(x):\n    return x\nopen(1)\n",
        "def eval(board):\n    return 3\neval(1)\n",
        "if __name__ == '__main__' and True:\n    open('x')\n",
        f"if {'+'.join('1' * 2000)}:\n    pass\n",  # deep, but Python runs it
        "def make():\n    MEMO = {}\n    MEMO[1] = 2\n",
        "from connect4 import utils, config as c\n",
        "from connect4.utils import *\n",
        "import connect4.config as c, numpy.linalg\n",
    ],
)
def test_what_is_allowed_is_not_found(line: str) -> None:
    assert findings(line + CLASS) == []


def test_a_rubric_may_allow_other_modules(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[submission]\nallowed = ["scipy", "connect4.utils"]\n', encoding="utf-8")
    rules = rubrics.read(path).submission
    code = f"import scipy.optimize\nfrom connect4 import utils\n{CLASS}"
    assert check(code.encode(), REPORT, rules) == []
    (found,) = check(f"import connect4.config\n{CLASS}".encode(), REPORT, rules)
    assert found.text.endswith(importable_sentence(["scipy", "connect4.utils"]))


def test_a_file_whose_lack_is_caught_is_advice() -> None:
    assert [item.required for item in check((TRIED + CLASS).encode(), REPORT, RULES)] == [False]


@pytest.mark.parametrize("call", ["exec(TEXT)", "run = exec", "eval('1')"])
def test_code_that_is_a_text_is_advice(call: str) -> None:
    (found,) = check(f"{CLASS}\nTEXT = ''\n{call}\n".encode(), REPORT, RULES)
    assert (found.rule, found.required) == ("hidden code", False)
    assert found.text.endswith(" runs code that nobody can read in the file; write the code itself")


def test_of_many_findings_the_required_ones_are_shown() -> None:
    opened = "    open(1)\n" * 1000
    code = f"try:\n{opened}except OSError:\n    pass\nimport torch\n{CLASS}"
    found = check(code.encode(), REPORT, RULES)
    assert [one.required for one in found] == [True] + 99 * [False]


def test_a_text_that_takes_too_long_costs_no_other_its_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(form, "READ_SECONDS", 0.001)
        (found,) = check(b"x = [1,\n2]\n" * 20_000, REPORT, RULES)
    assert (found.line, found.rule) == (1, "syntax")
    assert found.text == "not read within 0.001 s; make the file smaller and simpler"
    assert found.required
    assert findings(CLASS) == []


def test_the_stub_and_the_placeholder_of_the_report_are_named() -> None:
    stub = (ROOT / "grader/handout/ai_stub.py").read_text(encoding="utf-8")
    report = (ROOT / "connect4/players/report.txt").read_text(encoding="utf-8").splitlines()[0]
    assert [
        (item.rule, item.text, item.required) for item in check(stub.encode(), report, RULES)
    ] == [
        (
            "stub",
            "this is still the stub of the kit: write your two methods, then delete the line",
            False,
        ),
        (
            "report",
            "the first line is still the placeholder; write your names and entry numbers there",
            False,
        ),
    ]


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
    found = check(CLASS.encode(), report, RULES)
    if not text:
        assert found == []
        return
    assert len(found) == 1
    assert found[0].text.startswith(text)
    assert found[0].line == line
    assert found[0].in_report
    assert check(CLASS.encode(), report, replace(RULES, report_pages=0)) == []


@pytest.mark.slow
def test_the_command_says_one_line_a_finding(tmp_path: Path) -> None:
    advised = hand_in(tmp_path, "cy", TRIED + searcher())
    done = run(COMMAND, "check", "--form-only", advised, cwd=tmp_path)
    assert (done.returncode, done.stdout.count(" (advice): ")) == (0, 1)
    good = hand_in(tmp_path, "ann", searcher())
    bad = hand_in(tmp_path, "bo", TRIED + CLASS + "import torch\n", report=None)
    done = run(COMMAND, "check", "--form-only", good, cwd=tmp_path)
    said = (
        f"{good}: well formed\nThe submission meets every required rule: 0 faults to fix, 0 pieces "
        "of advice. No moves were asked for (--form-only).\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    done = run(COMMAND, "check", "--form-only", bad, cwd=tmp_path, status=1)
    *lines, last = done.stdout.splitlines()
    assert sorted(line.partition(": ")[0] for line in lines) == [
        f"{bad}:1",
        f"{bad}:15",
        f"{bad}:2",
    ]
    assert [" (advice): " in line for line in lines] == sorted(" (advice): " in x for x in lines)
    assert last.startswith("The submission breaks a required rule: ")
    assert f"{bad}:1: report: no report.txt" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_no_name_of_a_file_can_control_the_terminal_or_a_log(tmp_path: Path) -> None:
    names = ("\x1b]0;title\a.py", "bo\n::error::a.py", "cy\u202eyp.py", "di\n::error::.zip")
    for name in names:
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    done = run(COMMAND, "check", "--form-only", *names, cwd=tmp_path)
    *lines, reports, _ = done.stdout.splitlines()
    assert reports.endswith("3 submissions: \\x1b]0;title\\x07, bo\\n::error::a, cy\\u202eyp")
    assert {line.partition(":1: ")[0] for line in lines} == {
        "\\x1b]0;title\\x07.py", "bo\\n::error::a.py", "cy\\u202eyp.py", "di\\n::error::.zip",
    }  # fmt: skip
    done = run(COMMAND, "check", "--form-only", "a\n::error::\x1b.zip", cwd=tmp_path)
    assert_refused(done, "a\\n::error::\\x1b.zip: no such file or folder")


def test_a_class_is_checked_whole_and_every_line_says_whose_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    for number in (7, 8):
        hand_in(folder, f"submission_{number}", searcher(), report=None)
    hand_in(folder, "submission_9", searcher())
    (folder / "submission_10").mkdir()
    (folder / "submission_10" / "ai.py").write_bytes(b"\xff")
    (folder / "submission_metadata.yml").write_text(
        "---\nsubmission_7:\n  :submitters:\n  - :name: Ann Lee\n", encoding="utf-8"
    )
    done = run(COMMAND, "check", "--form-only", "class", cwd=tmp_path, status=1)
    *lines, without, last = done.stdout.splitlines()
    assert sorted(lines) == [
        "class/submission_10/ai.py:1: file: not UTF-8 (line 1, byte 0); save the file as UTF-8",
        "class/submission_9/ai.py: well formed",
    ]
    assert without == "report: no report.txt in 2 submissions: Ann Lee, submission_8"
    assert last == (
        "1 of 4 submissions meet every required rule: 2 faults to fix, 0 pieces of advice. No "
        "moves were asked for (--form-only)."
    )


@pytest.mark.slow
def test_check_asks_each_method_on_the_largest_and_the_smallest_board(tmp_path: Path) -> None:
    """A method that fails on wide boards alone, and one that fails on small ones."""
    path = hand_in(tmp_path, "bo", CLASS_OF_TWO)
    done = run(COMMAND, "check", path, cwd=tmp_path, status=1)
    failing, small, last = done.stdout.splitlines()
    assert failing.startswith(f"{path}:8: smoke: get_expectimax_move on 10 rows and 12 columns: ")
    assert failing.endswith("IndexError: too wide")
    assert small.startswith(f"{path}:11: smoke: get_intelligent_move on 4 rows and 6 columns: ")
    assert small.endswith("7 is outside 0..5")
    assert last == "The submission breaks a required rule: 2 faults to fix, 0 pieces of advice."
    done = run(COMMAND, "check", hand_in(tmp_path, "ann", searcher()), cwd=tmp_path, status=0)
    assert done.stdout.splitlines()[-1].startswith("The submission meets every required rule: 0")


def test_check_asks_for_pop_outs_and_names_a_changed_board(tmp_path: Path) -> None:
    """As player 1 and 2, in the middle of a game and on a full board."""
    drops = "[a for a in get_valid_actions(me, state) if not a[1] or me == 1]"
    for name, old, new in (
        ("ann", "popouts[player_number].decrement()", "popouts[player_number] -= 1"),
        ("bo", "get_valid_actions(me, state)", drops),
        ("cy", "state[0].copy()", "state[0]"),
    ):
        assert old in CODE
        hand_in(tmp_path / "class", name, CODE.replace(old, new))
    done = run(COMMAND, "check", "class", cwd=tmp_path, status=1)
    ann, bo, cy = (
        [line for line in done.stdout.splitlines() if line.startswith(f"class/{name}/ai.py:")]
        for name in ("ann", "bo", "cy")
    )
    assert ann[0].startswith("class/ann/ai.py:13: smoke: get_expectimax_move on 6 rows and 8 col")
    assert ann[0].endswith("unsupported operand type(s) for -=: 'Integer' and 'int'")
    assert "player 2 on a full board, where only pop-outs are valid: ValueError: max()" in bo[0]
    assert cy[0].startswith("class/cy/ai.py:38: smoke (advice): get_expectimax_move changed the ")
    assert "row 9, column 0 is 1, was 0 (in 16 answers). Try each action on a copy" in cy[0]
    assert done.stdout.splitlines()[-1].startswith("1 of 3 submissions meet every required rule: ")


PLAYGROUND = """
def ask():  # its own names: those of the module go before the file is asked
    import json, signal, sys
    from grader.playground.agent import handle
    from grader.playground.referee import Referee
    del signal.alarm  # as in a browser
    asked = json.loads(Referee(print).handle("check", json.dumps({"source": sys.stdin.read()})))
    for kind, setup in zip(("form", "moves", "moves"), asked["setups"][:1] + asked["setups"]):
        print(handle(kind, json.dumps({"setup": setup, **asked["request"]}), str))

ask()
"""

AT_FIRST, AT_LAST = "class AIPlayer:", "return best"
COUNTS = "self.turns = getattr(self, 'turns', 0) + 1; return 7 / (2 - self.turns) and best"


@pytest.mark.parametrize(
    ("old", "new", "line", "text", "required"),
    [
        ("popouts[player_number].decrement()", "popouts[player_number] -= 1", 13, "'int'", True),
        ("state[0].copy()", "state[0]", 38, "Try each action on a copy", False),
        (AT_LAST, f"import signal; signal.alarm(0); {AT_LAST}", 36, "on a machine", False),
        (AT_LAST, f"input(); {AT_LAST}", 36, "have nobody to ask: print", True),
        (AT_LAST, COUNTS, 36, "move 2 of one player: ZeroDivisionError", True),
        (AT_LAST, "return [0]", 38, "an action is a tuple", True),
        (AT_FIRST, f"raise ValueError\n{AT_FIRST}", 20, "cannot be loaded: ValueError", True),
    ],
)
def test_the_check_of_the_playground_asks_the_same(
    old: str, new: str, line: int, text: str, required: bool
) -> None:
    command = [sys.executable, "-c", PLAYGROUND]
    assert old in CODE
    source = CODE.replace(old, new)
    done = subprocess.run(
        command, input=source, capture_output=True, text=True, env=environment(), check=True
    )
    answers = list(map(json.loads, done.stdout.splitlines()))
    found = [one for answer in answers for one in answer["found"]]
    assert (found[0]["line"], found[0]["required"]) == (line, required)
    assert text in found[0]["text"]
    if text == "Try each action on a copy":
        assert [answer["seconds"] for answer in answers[1:]] == [0.1, 0.1]


CLASS_OF_TWO = """from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time): self.player_number = player_number

    def get_expectimax_move(self, state):
        if state[0].shape[1] > 10: raise IndexError("too wide")
        return get_valid_actions(self.player_number, state)[0]

    def get_intelligent_move(self, state):
        return 7, False
"""

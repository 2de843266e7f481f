"""A class of 24 hand-ins in every form.

Twelve play as real students' agents do. The others are broken or hostile. `rubric.toml` beside
the folders `CLASS` is short enough to grade the class in some minutes.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from tests.grading import searcher

CLASS = ("class", "moodle", "gradescope")
"""The folders of the hand-ins: the teacher's own, and the downloads of two platforms."""

HEADER = """import time

import numpy as np

from connect4.utils import get_pts, get_valid_actions


def after(state, player, action):
    column, is_popout = action
    board = state[0].copy()
    if is_popout:
        board[1:, column] = board[:-1, column]
        board[0, column] = 0
    else:
        board[np.count_nonzero(board[:, column] == 0) - 1, column] = player
    return board, state[1]


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time = player_number, time
        self.type, self.player_string = "ai", f"Player {player_number}:ai"

    def get_intelligent_move(self, state):
        return self.choose(state)

    def get_expectimax_move(self, state):
        return self.choose(state)

    def gain(self, state, action):
        board, me = after(state, self.player_number, action)[0], self.player_number
        return get_pts(me, board) - get_pts(3 - me, board)

    def choose(self, state):
        moves = get_valid_actions(self.player_number, state)
"""

BODIES = {
    "greedy": "        return max(moves, key=lambda move: self.gain(state, move))\n",
    "first": "        return moves[0]\n",
    "last": "        return moves[-1]\n",
    "centre": (
        "        middle = state[0].shape[1] / 2\n"
        "        return min(moves, key=lambda move: abs(move[0] - middle))\n"
    ),
    "random": "        return moves[np.random.randint(len(moves))]\n",
    "deepening": (
        "        end, best = time.perf_counter() + 0.6 * self.time, moves[0]\n"
        "        values = {move: self.gain(state, move) for move in moves}\n"
        "        while time.perf_counter() < end:\n"
        "            best = max(values, key=values.get)\n"
        "        return best\n"
    ),
    "sometimes_late": (
        "        if np.count_nonzero(state[0]) % 7 == 3:\n"
        "            time.sleep(2 * self.time)\n"
        "        return max(moves, key=lambda move: self.gain(state, move))\n"
    ),
    "sometimes_raises": (
        "        if np.count_nonzero(state[0]) > 6:\n"
        "            raise KeyError(f'<script>alert(1)</script> {__file__} {state[0].tolist()}')\n"
        "        return moves[0]\n"
    ),
    "endless": "        while True:\n            pass\n",
    "illegal": "        return (99, False)\n",
    "hog": "        return moves[len([bytearray(10**8) for _ in range(200)]) * 0]\n",
    "forks": "        import os\n        while True:\n            os.fork()\n",
}

SPY = HEADER.replace("import time\n", "import gc\nimport os\nimport sys\nimport time\n") + (
    "        found = [sys.argv, sys.path, dict(os.environ), os.getcwd(), __file__]\n"
    "        for item in gc.get_objects():\n"
    "            if isinstance(item, dict) and 'seed' in item:\n"
    "                found.append({key: item[key] for key in item if key == 'seed'})\n"
    "        for place in ('/proc/self/cmdline', '/proc/self/environ', '/proc/mounts', '..'):\n"
    "            try:\n"
    "                found.append(open(place).read() if place[0] == '/' else os.listdir(place))\n"
    "            except Exception as error:\n"
    "                found.append(repr(error))\n"
    "        raise RuntimeError(repr(found)[:3000] + ' BOARD ' + repr(state[0].tolist()))\n"
)
"""Puts whatever it can find into its exception, and with it the board."""

PRIER = (
    "import os\nimport sys\n\n"
    "raise ImportError(f'{sys.path} {sys.prefix} {os.environ} {os.__file__} {__file__}')\n"
)
"""Does the same while it is loaded."""

BOARD = "2\n0 0 0 0 0 0\n0 0 0 0 0 0\n0 0 0 0 0 0\n0 0 0 0 0 0\n"
CELLAR = "1\n0 0 0 0\n0 1 2 0\n2 1 2 1\n1 2 1 2\n"
"""The shown board and the hidden one."""

RUBRIC = """[match]
time_limit = 0.1
hidden = ["cellar.txt"]

[limits]
memory_mb = 512

[part_a]
boards = ["shown.txt", "cellar.txt"]

[part_b]
boards = ["shown.txt", "cellar.txt"]
baselines = [
  { agent = "greedy", points = 10, low = -20, high = 20 },
  { agent = "ai:staff/ta.py", name = "the TA", points = 20, low = -20, high = 20 },
]
"""

METADATA = """submission_77:
  :submitters:
  - :name: Uma Gradescope
    :sid: '7700'
    :email: uma@example.edu
submission_78:
  :submitters:
  - :name: Vic One
    :sid: '7801'
    :email: vic@example.edu
  - :name: Wen Two
    :sid: '7802'
    :email: wen@example.edu
"""


def agent(body: str, note: str = "") -> str:
    """Return the source of an agent; `note` makes it a file of its own."""
    return f"{HEADER}{BODIES[body]}# {note}\n"


def build(folder: Path) -> None:
    """Write the class, its rubric and the staff's agent."""
    members = folder / CLASS[0]
    (folder / "staff").mkdir(parents=True)
    (folder / "staff" / "ta.py").write_text(searcher(2), encoding="utf-8")
    (folder / "shown.txt").write_text(BOARD, encoding="utf-8")
    (folder / "cellar.txt").write_text(CELLAR, encoding="utf-8")
    (folder / "rubric.toml").write_text(RUBRIC, encoding="utf-8")
    _plain(members)
    _archives(members)
    _moodle(folder / CLASS[1])
    _gradescope(folder / CLASS[2])
    _broken(members)
    _hostile(members)


def _file(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def _plain(members: Path) -> None:
    _file(members / "alice" / "ai.py", agent("greedy"))
    _file(members / "alice" / "report.txt", "Alice, 1\nOne ply of search.\n")
    _file(members / "dan.py", searcher(2, note="dan"))
    _file(members / "dan_report.txt", "Dan, 4\n")
    _file(members / "Zoë Müller-Őry" / "ai.py", agent("deepening"))
    _file(members / "李小龙" / "ai.py", agent("centre"))
    _file(members / "=SUM(A1:A9)" / "ai.py", agent("last"))
    _file(members / "alice's friend" / "ai.py", agent("greedy"))


def _archives(members: Path) -> None:
    report = "Bob, 2\n"
    _file(members / "bob.zip", zipped({"project/ai.py": agent("random"), "report.txt": report}))
    source = searcher(1, -1, "carol").encode()
    _file(members / "carol.tar.gz", tarred({"hw/ai.py": source, "hw/report.txt": b"Carol\n"}))


def zipped(files: dict[str, str | bytes]) -> bytes:
    """Return a zip of these files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(files: dict[str, bytes], ending: str = "gz", **fields: Any) -> bytes:
    """Return a tar of files whose headers have these fields."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=f"w:{ending}", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in fields.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content + b"\0" * (info.size - len(content))))
    return data.getvalue()


def _moodle(members: Path) -> None:
    for number, body in ((4711, "first"), (4712, "greedy")):
        _file(
            members / f"Kim Lee_{number}_assignsubmission_file_" / "ai.py",
            agent(body, f"namesake {number}"),
        )


def _gradescope(members: Path) -> None:
    _file(members / "submission_metadata.yml", METADATA)
    _file(members / "submission_77" / "ai.py", agent("sometimes_late"))
    _file(members / "submission_78" / "ai.py", searcher(1, note="a pair"))


def _broken(members: Path) -> None:
    _file(members / "erin.py", "class AIPlayer:\n    def get_intelligent_move(self, state)\n")
    _file(members / "finn.py", "print('hello')\n")
    _file(members / "gus.py", "# caf\xe9\n".encode("latin-1"))
    _file(members / "hana.zip", zipped({"inner.zip": zipped({"ai.py": agent("first")})}))
    _file(members / "ivan" / "ai.py", "import torch\n" + agent("first"))
    _file(members / "jane" / "ai.py", agent("sometimes_raises"))


def _hostile(members: Path) -> None:
    _file(members / "kurt" / "ai.py", agent("endless"))
    _file(members / "lena" / "ai.py", agent("hog"))
    _file(members / "nora" / "ai.py", agent("forks"))
    _file(members / "otto" / "ai.py", SPY)
    _file(members / "quin" / "ai.py", agent("illegal"))
    _file(members / "ruth" / "ai.py", PRIER)

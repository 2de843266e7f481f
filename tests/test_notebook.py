"""What a Jupyter notebook shows of positions, records and trees; the tutorial runs as it stands."""

import importlib
import re
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import connect4
from connect4.views.board import svg
from connect4.views.document import COLOURS
from tests.test_api_facade import python

ROOT = Path(__file__).parent.parent
SHAPES = "{http://www.w3.org/2000/svg}"


def tokens(picture: str) -> list[int]:
    """Return how many tokens player 1 and player 2 have in a picture, the line below left out."""
    root = ET.fromstring(picture)
    groups = [
        group for group in root.iter(f"{SHAPES}g") if group.get("transform", "")[-5:] == "(1.0)"
    ]
    classes = [group[0].get("class") for group in groups]
    return [classes.count("p1"), classes.count("p2")]


@pytest.mark.parametrize("game", connect4.GAMES)
def test_a_position_is_a_picture_with_its_tokens_and_what_it_says(game: str) -> None:
    state = connect4.start(game)
    for _ in range(3):
        state = state.apply(state.legal_actions()[0])
    picture = svg(state)
    board = state.board()
    assert tokens(picture) == [int((board == player).sum()) for player in (1, 2)]
    assert "Player 2 to move" in picture
    for name in ("player1", "player2", "plate"):
        assert f"--{name}: {COLOURS[name][0]}" in picture
        assert f"--{name}: {COLOURS[name][1]}" in picture


def lines_of(picture: str) -> list[tuple[float, ...]]:
    """Return the ends of the winning lines, in pixels."""
    found = list(ET.fromstring(picture).iter(f"{SHAPES}line"))
    ends = ("x1", "y1", "x2", "y2")
    return [
        tuple(float(line.attrib[end]) for end in ends)
        for line in found
        if line.attrib["class"] == "run"
    ]


def test_a_won_game_says_so_and_shows_its_line_and_a_running_one_has_none() -> None:
    state = connect4.start("classic")
    for column in (0, 1, 0, 1, 0, 1):
        state = state.apply(column)
    assert lines_of(svg(state)) == []
    won = svg(state.apply(0))
    assert "Player 1 has won" in won
    ((x1, y1, x2, y2),) = lines_of(won)
    assert (x1, x2, abs(y1 - y2)) == (20, 20, 3 * 40)


SHOWN = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import connect4
loaded = [name for name in __import__("sys").modules if name.startswith("connect4.")]
assert loaded == [], loaded
def kinds(found):
    data, _ = shell.display_formatter.format(found)
    return {kind: text[:60] for kind, text in data.items()}
record = connect4.play("random", "random", "case4", seconds=1, seed=1)
print(sorted(kinds(connect4.load("case1"))))
print(sorted(kinds(record)), kinds(record)["text/plain"][:20])
print(sorted(kinds(connect4.search_tree("minimax:depth=1", "case1"))))
record.result = None
print(sorted(kinds(record)))
"""


@pytest.mark.notebook
def test_a_notebook_shows_pictures_and_pages() -> None:
    done = python(SHOWN)
    assert done.stdout.splitlines() == [
        "['image/svg+xml', 'text/plain']",
        "['text/html', 'text/plain'] <Record of extended:",
        "['text/html', 'text/plain']",
        "['text/plain']",
    ], done.stderr


def test_a_page_in_a_frame_is_whole_and_kept_from_the_notebook() -> None:
    from connect4.views.document import frame

    shown = frame('<p class="x">&amp;</p>')
    assert 'sandbox="allow-scripts"' in shown
    match = re.search('srcdoc="([^"]*)"', shown)
    assert match is not None
    assert match[1] == "&lt;p class=&quot;x&quot;&gt;&amp;amp;&lt;/p&gt;"


TUTORIAL = ROOT / "docs" / "tutorial.ipynb"


def kinds_of(cell: Any) -> list[str]:
    """Return what a cell shows: kinds of pictures and pages, and what is printed."""
    return sorted({kind for output in cell.outputs for kind in output.get("data", {"stream": ""})})


@pytest.mark.notebook
@pytest.mark.slow
def test_the_tutorial_runs_from_top_to_bottom_as_its_kept_outputs_show(tmp_path: Path) -> None:
    nbformat = importlib.import_module("nbformat")
    nbclient = importlib.import_module("nbclient")
    kept = nbformat.read(TUTORIAL, 4)
    fresh = nbformat.read(TUTORIAL, 4)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(fresh, timeout=100, kernel_name="python3", resources=where).execute()
    shown = []
    for cell, before in zip(fresh.cells, kept.cells, strict=True):
        if cell.cell_type == "code":
            assert not [output for output in cell.outputs if output.output_type == "error"]
            assert not [output for output in cell.outputs if output.get("name") == "stderr"]
            assert kinds_of(cell) == kinds_of(before), cell.source
            shown += kinds_of(cell)
    assert (shown.count("image/svg+xml"), shown.count("text/html")) == (3, 3)


def test_the_tutorials_kept_outputs_name_no_folder_of_whoever_ran_it() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|tmp|Users)/", text)


def agents_of(kernel: int) -> list[str]:
    """Return the processes of agents that a kernel has started, alive or waiting for their end."""
    command = ["ps", "-ww", "-eo", "pid=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    label = re.compile(rf"connect4 agent of {kernel}\b")
    return [line for line in listed.splitlines() if label.search(line)]


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("stop", ["interrupt", "restart"])
def test_a_game_in_a_notebook_that_is_stopped_leaves_no_agent_and_no_file(
    stop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    manager, client = importlib.import_module("jupyter_client.manager").start_new_kernel(
        cwd=str(ROOT)
    )
    try:
        answer = client.execute_interactive(
            "import os; print(os.getpid())", output_hook=lambda _: None
        )
        assert answer["content"]["status"] == "ok"
        kernel = manager.provisioner.pid
        before = sorted(tmp_path.iterdir())
        game = "connect4.play('mcts:seconds=60', 'random', seconds=90, isolation='auto')"
        client.execute(f"import connect4; {game}")
        assert wait_for(lambda: bool(agents_of(kernel)))
        time.sleep(0.5)
        if stop == "interrupt":
            manager.interrupt_kernel()
            replied = client.get_shell_msg(timeout=30)["content"]
            assert replied["ename"] == "KeyboardInterrupt"
        else:
            manager.restart_kernel(now=True)
        assert wait_for(lambda: not agents_of(kernel)), agents_of(kernel)
        assert sorted(tmp_path.iterdir()) == before
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.notebook
def test_a_person_plays_in_a_notebook_with_pictures_and_help() -> None:
    manager, client = importlib.import_module("jupyter_client.manager").start_new_kernel()
    typed = iter(["?", "3", "3", "q"])
    printed: list[str] = []
    pictures: list[str] = []

    def see(message: dict[str, Any]) -> None:
        printed.append(message["content"].get("text", ""))
        pictures.extend(filter(None, [message["content"].get("data", {}).get("image/svg+xml")]))

    code = "import connect4; print(connect4.play('human', 'random', seed=1))"
    try:
        client.execute_interactive(
            code, output_hook=see, stdin_hook=lambda asked: client.input(next(typed)), timeout=100
        )
    finally:
        manager.shutdown_kernel(now=True)
    assert "".join(printed).count("column 3; q leaves, ? helps") == 2
    assert "nobody wins (left), 4 turns>" in "".join(printed)
    assert len(set(pictures)) == 3, "the position before each of the person's turns"

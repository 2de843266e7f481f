"""`import connect4` as a library: its documents run, and nothing is left behind."""

import doctest
import gc
import importlib
import inspect
import os
import pydoc
import re
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import connect4
from connect4 import api
from connect4.games.classic import from_bits, to_bits
from connect4.games.falling import after_moves
from connect4.search import heuristics

ROOT = Path(__file__).parent.parent


def failures_of(text: str, name: str, names: dict[str, object]) -> str:
    """Run a document's examples; return doctest's report of those that fail."""
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    assert test.examples
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=said.append)
    return "".join(said)


def examples_in(document: Path) -> str:
    """Return the fenced examples of a document."""
    blocks = re.findall(r"```pycon\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join(blocks)


@pytest.mark.slow
def test_every_example_of_the_api_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert failures_of(examples_in(ROOT / "docs" / "api.md"), "api.md", {}) == ""


def rows_of_the_table() -> list[tuple[str, list[str]]]:
    """Return the code in each row of "From your notebook to the kit", by its first cell."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    table = text.partition("| in your notebook | in the kit |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return [(first, re.findall("`([^`]+)`", kit)) for first, kit in rows]


@pytest.mark.parametrize(("theirs", "ours"), rows_of_the_table())
def test_every_row_of_the_table_for_notebooks_runs(
    theirs: str, ours: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "theirs.py"
    file.write_text("def agent(observation, configuration):\n    return 3\n")
    state = connect4.start("classic").apply(3)
    slides = connect4.start("dynamic")
    names: dict[str, Any] = {"connect4": connect4, "state": state, "slides": slides}
    names |= {
        "board": state.board(),
        "rows": state.board().tolist(),
        "column": 2,
        "player": 1,
        "number": to_bits(state),
        "text": slides.to_text(),
    }
    functions = (to_bits, from_bits, after_moves)
    names |= vars(heuristics) | {function.__name__: function for function in functions}
    for code in ours:
        if re.fullmatch(r"connect4[.a-z]+", code):
            assert importlib.import_module(code)
        elif code.startswith('"classic-'):
            assert connect4.start(code.strip('"')) != state
        elif code.startswith('"'):
            agent = code.strip('"').replace("FILE", str(file))
            assert connect4.think(agent, state).action in state.legal_actions()
        else:
            before = set(names)
            exec(compile(f"{code}\n", theirs, "exec"), names)
            assert set(names) - before <= {"thought", "__builtins__"}
    assert ours or "wrapper" in theirs or "undo" in theirs or "get_move" in theirs


@pytest.mark.parametrize(
    "name",
    [
        "load",
        "start",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("play", "think", "analyse", "search_tree")
        ),
    ],
)
def test_every_example_of_a_docstring_runs(name: str) -> None:
    text = inspect.getdoc(getattr(connect4, name))
    assert text is not None
    assert failures_of(text, name, dict(vars(api))) == ""


def test_the_overview_runs_and_is_the_first_screen_of_help() -> None:
    assert failures_of(connect4.__doc__ or "", "connect4", {}) == ""
    shown = "\n".join(pydoc.plain(pydoc.render_doc(connect4)).splitlines()[:30])
    for name in ("load", "start", "play", "analyse", "search_tree", "Record", "GAMES"):
        assert re.search(rf"^    {name}\b", shown, re.MULTILINE), name


def test_all_public_names_are_there_and_documented() -> None:
    assert set(connect4.__all__) <= set(dir(connect4))
    for name in connect4.__all__:
        found = getattr(connect4, name)
        assert name == "GAMES" or inspect.getdoc(found), name
    with pytest.raises(AttributeError, match="no attribute 'plaay'"):
        _ = connect4.plaay  # type: ignore[attr-defined]


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = (
        "import sys, connect4\n"
        "print(*[name for name in sys.modules if name.startswith(('connect4', 'numpy'))])"
    )
    assert python(code).stdout.split() == ["connect4"]


def test_errors_are_the_packages_own_and_built_in_ones() -> None:
    for call in (
        lambda: connect4.load("case99999"),
        lambda: connect4.load("case1", "chess"),
        lambda: connect4.start("classic", rows=99, columns=7),
        lambda: connect4.start("extended", depth=3),
        lambda: connect4.start("classic", rows="6"),  # type: ignore[arg-type]
        lambda: connect4.start("classic", columns=True),
        lambda: connect4.play("nobody", "random"),
        lambda: connect4.play(3, "random"),
        lambda: connect4.play(type("Half", (), {"get_intelligent_move": None}), "random"),
        lambda: connect4.play("random", "random", seconds=-1),
        lambda: connect4.play("random", "random", seed="seven"),  # type: ignore[arg-type]
        lambda: connect4.play(First, "random", ask="smart"),  # type: ignore[arg-type]
        lambda: connect4.think(First, "case1", ask="smart"),  # type: ignore[arg-type]
        lambda: connect4.think("random", [[0] * 7] * 6),  # type: ignore[arg-type]
        lambda: connect4.play("random", "random", isolation="none at all"),
        lambda: connect4.play("random", "random", connect4.start("classic"), game="dynamic"),
        lambda: connect4.search_tree("random", "case1"),
        lambda: connect4.Record.load("/nowhere/g.json"),
    ):
        with pytest.raises(connect4.InputError) as caught:
            call()
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, connect4.Connect4Error)
        assert "\n" not in str(caught.value)


class First:
    """A student's player that takes the first column with room."""

    def __init__(self, player_number: int, time: float) -> None:
        self.made_with = player_number, time

    def get_expectimax_move(self, state: object) -> tuple[int, bool]:
        board, _ = state  # type: ignore[misc]
        return int((board[0] == 0).argmax()), False

    get_intelligent_move = get_expectimax_move


def test_a_class_an_instance_and_a_function_play_in_this_process_and_the_record_says_so() -> None:
    state = connect4.load("case1")
    of_class = connect4.play(First, "random", state, seconds=1, seed=7)
    of_instance = connect4.play(First(1, 1), "random", state, seconds=1, seed=7)
    assert of_class.scores == of_instance.scores
    assert [player.agent for player in of_class.players] == ["First (in this process)", "random"]
    assert [player.asked for player in of_class.players] == ["expectimax", None]
    assert of_class.isolation == "none"
    apart = connect4.play(First, "random", state, seconds=1, seed=7, isolation="auto")
    assert apart.isolation != "none", "random has its process on request"
    assert apart.scores == of_class.scores
    both = connect4.play(First, lambda state: state.legal_actions()[0], state, seconds=1)
    assert both.isolation == "none"
    assert connect4.play(First(1, 1), First(2, 1), state).players[1].asked == "intelligent"


def test_an_objects_exception_is_a_fault_with_its_own_traceback() -> None:
    def broken(state: connect4.State) -> object:
        return {}["nothing"]

    record = connect4.play(broken, "random", connect4.start("classic"), seed=1)
    assert (record.ending.value, record.winner) == ("forfeit", 2)
    detail = record.faults[0].detail or ""
    assert "in broken" in detail
    assert detail.endswith("KeyError: 'nothing'")
    assert "connect4/players" not in detail


def children() -> set[str]:
    """Return the processes that this one has started, and the agents of those."""
    command = ["ps", "-ww", "-eo", "pid=,ppid=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = (line.split() for line in listed.stdout.splitlines())
    me = str(os.getpid())
    return {
        number
        for number, parent, *words in lines
        if (parent == me or f"connect4 agent of {me}" in " ".join(words)) and words[:1] != ["ps"]
    }


def settled(before: set[str]) -> bool:
    """Return whether all processes that came since have gone; zombies are no processes."""
    for _ in range(50):
        gc.collect()
        if children() <= before:
            return True
        time.sleep(0.1)
    return False


class Interrupting(Exception):
    pass


@pytest.mark.parametrize(
    "error",
    [
        Interrupting,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (KeyboardInterrupt, SystemExit)),
    ],
)
def test_an_exception_in_a_callback_leaves_no_process(error: type[BaseException]) -> None:
    before = children()

    def on_turn(state: connect4.State, turn: connect4.Turn) -> None:
        assert children() > before
        if turn.number == 3:
            raise error

    with pytest.raises(error):
        connect4.play("random", "greedy", "case1", seconds=1, on_turn=on_turn, isolation="auto")
    assert settled(before)


@pytest.mark.slow
def test_games_in_threads_are_the_games_of_the_main_one() -> None:
    before = children()
    expected = connect4.play("greedy", "random", "case4", seconds=1, seed=5).scores
    found: list[tuple[int, int]] = []

    def play() -> None:
        found.append(connect4.play("greedy", "random", "case4", seconds=1, seed=5).scores)
        apart = connect4.play("greedy", "random", "case4", seconds=1, seed=5, isolation="auto")
        found.append(apart.scores)

    threads = [threading.Thread(target=play) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6
    assert settled(before)


INTERRUPTED = """
import os, signal, sys, threading, time, connect4
from tests.test_api_facade import children, settled
def later():
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=later).start()
try:
    {call}
except KeyboardInterrupt:
    print(settled(set()))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "connect4.play('mcts:seconds=30', 'random', 'case1', seconds=60)",
        "connect4.play('mcts:seconds=30', 'random', seconds=60, isolation='auto')",
        "connect4.think('alphabeta:seconds=30', 'case1')",
        "connect4.play('mcts:seconds=30', lambda state: state.legal_actions()[0], seconds=60)",
        "connect4.play(lambda state: time.sleep(60), 'random', 'case1', seconds=60)",
        "connect4.analyse(connect4.play('random', 'random', game='classic', seed=1), seconds=30)",
        "connect4.search_tree('mcts:seconds=30', 'case1')",
    ],
)
def test_a_ctrl_c_reaches_the_caller_and_nothing_stays(call: str) -> None:
    done = python(INTERRUPTED.format(call=call))
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_nothing_prints(capfd: pytest.CaptureFixture[str]) -> None:
    record = connect4.play("random", "random", connect4.start("classic"), seed=3)
    connect4.analyse(record, seconds=0.001)
    connect4.search_tree("minimax:depth=1", "case1")
    assert capfd.readouterr() == ("", "")


def test_progress_shows_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    record = connect4.play("random", "random", connect4.start("classic"), seed=3, progress=True)
    assert f"{len(record)} turns" in capfd.readouterr().err


def memory() -> int:
    """Return the kilobytes that this process holds."""
    match = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs Linux's /proc")
@pytest.mark.timeout(600)
def test_fifty_games_in_a_row_keep_memory_and_descriptors_level() -> None:
    before = children()

    def measured() -> tuple[int, int]:
        gc.collect()
        return memory(), len(os.listdir("/proc/self/fd"))

    for _ in range(5):
        connect4.play("greedy", "random", "case4", seconds=1, seed=1, isolation="auto")
    kilobytes, descriptors = measured()
    for seed in range(50):
        connect4.play("greedy", "random", "case4", seconds=1, seed=seed, isolation="auto")
    more, open_now = measured()
    assert open_now == descriptors
    assert more - kilobytes < 2_000
    assert settled(before)


def test_a_record_is_iterated_saved_and_read_again(tmp_path: Path) -> None:
    record = connect4.play("greedy", "random", "case4", seconds=1, seed=5)
    pairs = list(record)
    assert len(pairs) == len(record) == len(record.turns)
    for (position, turn), (after, _) in pairwise(pairs):
        assert position.apply(turn.action) == after
    record.save(tmp_path / "g.json")
    again = connect4.Record.load(tmp_path / "g.json")
    assert (again.scores, again.margin, again.winner, again.ending) == (
        record.scores, record.margin, record.winner, record.ending,
    )  # fmt: skip
    assert repr(again) == repr(record)

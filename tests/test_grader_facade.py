"""`import grader` as a library."""

import inspect
import tempfile
from pathlib import Path

import pytest

import grader
from connect4.errors import InputError
from grader.commands import compare
from tests.test_api_facade import INTERRUPTED, children, failures_of, python, settled


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, grader; print(*[n for n in sys.modules if n.split('.')[0] == 'grader'])"
    assert python(code).stdout.split() == ["grader"]
    assert "compare" in dir(grader)


@pytest.mark.slow
def test_the_example_runs_without_a_word_and_leaves_nothing(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = children()
    assert failures_of(inspect.getdoc(grader.compare) or "", "compare", dict(vars(compare))) == ""
    assert capfd.readouterr() == ("", "")
    assert settled(before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_comparison_of_files_has_both_parts_in_words(tmp_path: Path) -> None:
    text = "class AIPlayer:\n    def __init__(self, player_number, time): pass\n"
    for method in ("get_expectimax_move", "get_intelligent_move"):
        text += f"    def {method}(self, state): return int((state[0][0] == 0).argmax()), False\n"
    (tmp_path / "ai.py").write_text(text)
    found = grader.compare(tmp_path / "ai.py", "random", seconds=1, games=2)
    assert found.a is not None
    assert found.b is not None
    assert (found.a.games, found.b.games) == (2, 2)
    assert str(found).count(str(tmp_path / "ai.py")) >= 2


def test_what_does_not_exist_is_refused() -> None:
    for arguments, message in (
        ({"new": "gredy"}, "did you mean 'greedy'"),
        ({"new": "greedy", "part": "c"}, "expected a, b or both"),
    ):
        with pytest.raises(InputError, match=message):
            grader.compare(old="random", **arguments)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_ctrl_c_leaves_no_worker_and_no_agent() -> None:
    call = "import grader; grader.compare('mcts:seconds=5', 'random', seconds=9)"
    done = python(INTERRUPTED.format(call=call))
    assert (done.stdout, done.stderr) == ("True\n", "")

"""The first agent of the assignment: its way to apply an action, and how well it plays."""

import random
import runpy
from pathlib import Path
from typing import Any

import pytest

import connect4
from connect4.record import dumps, loads
from connect4.utils import Integer
from connect4.views.page import page
from connect4.views.words import changed_text
from grader.handout import ai_stub

DOCS = Path(__file__).parents[1] / "docs"
CODE = (DOCS / "assignment.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]


def first_agent() -> dict[str, Any]:
    """Return the names that the assignment's code defines."""
    names: dict[str, Any] = {}
    exec(CODE, names)
    return names


@pytest.mark.parametrize("board", ["case1", "case4", "mid8x10"])
def test_it_applies_an_action_as_the_rules_do_and_leaves_the_state_alone(board: str) -> None:
    after, choose = first_agent()["after"], random.Random(3)
    state = connect4.load(board)
    while not state.is_over():
        counts = state.pop_outs_left or (0, 0)
        given = state.board(), {player: Integer(counts[player - 1]) for player in (1, 2)}
        action = choose.choice(state.legal_actions())
        found, left = after(state.mover, given, action)
        assert (given[0] == state.board()).all()
        assert [given[1][player].get_int() for player in (1, 2)] == list(counts)
        state = state.apply(action)
        assert (found == state.board()).all()
        counts = state.pop_outs_left or (0, 0)
        assert [left[player].get_int() for player in (1, 2)] == list(counts)


@pytest.mark.parametrize("board", ["case1", "case2", "case4"])
def test_it_beats_the_stub_and_the_random_player_from_both_sides(board: str) -> None:
    agent = first_agent()["AIPlayer"]
    for opponent in (ai_stub.AIPlayer, "random"):
        first = connect4.play(agent, opponent, board, seconds=5, seed=1)
        second = connect4.play(opponent, agent, board, seconds=5, seed=1)
        assert [first.result.winner, second.result.winner] == [1, 2]
        assert not any(turn.is_lost for game in (first, second) for turn in game.turns)


@pytest.mark.parametrize("level", ["none", "process", None])
def test_an_agent_without_the_copy_is_told_what_it_changed(tmp_path: Path, level: Any) -> None:
    """It is no fault, and in a lost turn it stands beside the reason."""
    path = tmp_path / "agent.py"
    path.write_text(CODE.replace("state[0].copy()", "state[0]"), encoding="utf-8")
    agent: Any = f"ai:{path}" if level else runpy.run_path(str(path))["AIPlayer"]
    game = connect4.play(agent, "greedy", "case1", isolation=level)
    first, own = game.turns[0], [turn for turn in game.turns if turn.player == 1]
    assert first.changed == "the board it was given: row 5, column 0 is 1, was 0"
    assert first.outcome == "played"
    assert not any(turn.changed for turn in game.turns if turn.player == 2)
    told = changed_text("Player 1", own)
    assert f"was 0 (on {len(own)} turns, the first is turn 1). Try each action on a copy" in told
    assert "Try each action on a copy" in page([game])
    assert loads(dumps(game)).turns[0].changed == first.changed
    copied = "{n: Integer(left.get_int()) for n, left in state[1].items()}"
    path.write_text(CODE.replace(copied, "state[1]"), encoding="utf-8")
    game = connect4.play(f"ai:{path}", "greedy", "case1", isolation=level)
    found = {turn.changed for turn in game.turns if turn.player == 1 and turn.changed}
    assert any("the pop-outs it was given: player 1 has " in text for text in found)


def test_the_search_tree_of_the_documents_is_read(tmp_path: Path) -> None:
    students = (DOCS / "students.md").read_text(encoding="utf-8")
    explain = next(code for code in students.split("```python\n") if "def explain" in code)
    path = tmp_path / "agent.py"
    path.write_text(CODE + explain.split("as before\n")[1].split("```")[0], encoding="utf-8")
    tree = connect4.search_tree(f"ai:{path}", "case1")
    values = [node.value for node in tree.nodes if node.depth == 1]
    assert tree.nodes[0].value == max(values)
    assert len(values) == len(connect4.load("case1").legal_actions())

"""Pop Out: pop-outs, lines on both sides, draws, state files, and the commands that play it."""

import re

import pytest

from connect4.errors import IllegalAction, InputError
from connect4.games import GAMES
from connect4.games.base import Ending
from connect4.players.base import Setup
from connect4.players.registry import build, parse_agent
from connect4.record import read
from tests.command import run

POP_OUT = GAMES["popout"]
EMPTY = "0 0 0 0 0 0 0\n"


def position(*rows, first="0"):
    """Return the position of 6 rows by 7 columns with those as its lowest rows."""
    return POP_OUT.read("\n".join([first, *[EMPTY.strip()] * (6 - len(rows)), *rows]), "test")


def after(state, *texts):
    for text in texts:
        state = state.apply(POP_OUT.parse_action(text))
    return state


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1P", "the bottom token of column 1 is player 2's"),
        ("2P", "column 2 is empty: there is nothing to pop out"),
        ("7P", "column 7 is outside 0..6"),
    ],
)
def test_what_is_not_ones_own_is_not_popped_out(text, why):
    state = position("1 2 0 0 0 0 0")
    with pytest.raises(IllegalAction, match=f"^{re.escape(why)}$"):
        after(state, text)


def test_of_two_lines_that_of_the_mover_wins():
    for mover, other, first in ((1, 2, "0"), (2, 1, "0 0 2")):
        m, o = str(mover), str(other)
        rows = (f"0 0 0 {m} 0 0 0", f"{m} {m} {m} {o} 0 0 0", f"{o} {o} {o} {m} 0 0 0")
        both = after(position(*rows, first=first), "3P")
        assert both.grid.has_line(both.one)
        assert both.grid.has_line(both.two)
        assert (both.ending(), both.winner()) == (Ending.LINE, mover)
        assert POP_OUT.read(both.to_text(), "again").winner() == mover


def test_a_third_repetition_is_a_draw():
    state = POP_OUT.start(None, None)
    cycle = ("0", "1", "0P", "1P")
    twice = after(state, *cycle, "0", "1", "0P")
    assert twice.ending() is None
    for text in (twice.to_text(), POP_OUT.from_json(twice.to_json()).to_text()):
        third = after(POP_OUT.read(text, "kept"), "1P")
        assert (third.ending(), third.winner()) == (Ending.REPETITION, 0)


def test_two_hundred_plies_are_a_draw_unless_the_last_one_wins():
    late = POP_OUT.read(position("1 1 1 0 2 2 2").to_text() + "turns=199\n", "late")
    assert after(late, "0").ending() is Ending.DRAW_LIMIT
    assert after(late, "3").ending() is Ending.LINE


def test_who_cannot_move_has_drawn():
    stuck = POP_OUT.read("0\n1 2 1\n2 1 2\n2 2 2\n", "stuck")
    assert (stuck.ending(), stuck.winner(), stuck.legal_actions()) == (Ending.NO_ACTION, 0, ())
    full = POP_OUT.read("0 0 2\n1 2 1\n2 1 2\n2 2 2\n", "full")
    assert [POP_OUT.format_action(action) for action in full.legal_actions()] == ["0P", "1P", "2P"]


def test_a_plain_grid_is_read_and_pop_outs_are_refused():
    assert POP_OUT.read("00\n10\n", "x") == POP_OUT.read("0 0 2\n0 0\n1 0\n", "x")
    with pytest.raises(InputError, match="counts no pop-outs; delete this line"):
        POP_OUT.read("1\n0 0\n", "x")


@pytest.mark.parametrize("name", ["greedy", "alphabeta:depth=1", "mcts:iterations=500"])
def test_an_agent_finds_the_pop_out_that_wins(name):
    state = position("0 0 0 2 0 0 0", "2 2 2 1 0 0 0", "1 1 2 2 0 0 1", first="0 0 2")
    wins = [action for action in state.legal_actions() if state.apply(action).winner() == 2]
    assert wins == [(3, True)]
    agent = build(Setup(parse_agent(name, "popout"), 2, POP_OUT, 5.0, 1))
    assert agent.choose(state, 5.0) == (3, True)


@pytest.mark.slow
def test_the_runner_the_page_and_the_tree_show_it(tmp_path):
    done = run(
        "connect4.ConnectFour", "human", "mcts:iterations=50", "open", "--game", "popout",
        "--record", "game.json", "--page", "game.html", "--view", "terminal",
        cwd=tmp_path, stdin="1P\n3P\nq\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the bottom token of column 1 is player 2's" in done.stdout
    record = read(tmp_path / "game.json")
    assert record.turns[0].text == "3P"
    assert '"3P"' in (tmp_path / "game.html").read_text(encoding="utf-8")
    tree = ("open", "--game", "popout", "--agent", "alphabeta:depth=2", "-o", "tree.html")
    run("connect4.views.tree", *tree, cwd=tmp_path, status=0)
    assert "0P" in (tmp_path / "tree.html").read_text(encoding="utf-8")

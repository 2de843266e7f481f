"""The promises of `test_games_conformance.py` on positions and games that Hypothesis makes up."""

import random

import pytest

from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.base import State
from tests.test_games_conformance import check_promises, check_refusals

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis, of the extra `test`")
st = pytest.importorskip("hypothesis.strategies")


@st.composite
def falling(draw, even=False):
    """A state file of tokens that rest on each other, with no pop-outs."""
    rows = draw(st.integers(1, 8))
    columns = 2 * draw(st.integers(1, 4)) if even else draw(st.integers(1, 8))
    stacks = [
        draw(st.lists(st.sampled_from("12"), min_size=0, max_size=rows)) for _ in range(columns)
    ]
    first = f"{draw(st.integers(0, 3))} 2" if even else "0 0"
    lines = [f"{first} {draw(st.sampled_from('12'))}"]
    for row in reversed(range(rows)):
        lines.append(" ".join(stack[row] if row < len(stack) else "0" for stack in stacks))
    return "\n".join(lines)


@st.composite
def sliding(draw):
    """A state file of pieces anywhere, with any settings."""
    rows, columns = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    cells = st.sampled_from(("", " ", "  ", "O", "X", "X ", " O"))
    lines = [
        ",".join(draw(st.lists(cells, min_size=columns, max_size=columns))) for _ in range(rows)
    ]
    settings = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "mover": st.sampled_from("12"),
                "turns": st.integers(0, 12),
                "line": st.sampled_from("34"),
                "max_turns": st.integers(10, 14),
                "repetition": st.sampled_from("01"),
            },
        )
    )
    return "\n".join([*lines, *(f"{name}={value}" for name, value in settings.items())])


STARTS = {
    "extended": falling(even=True),
    "classic": falling(),
    "classic-full": falling(),
    "dynamic": sliding(),
    "popout": falling(),
}


def position(game, text):
    """Return the position of a state file, where the rules allow it."""
    try:
        return game.read(text, "made up")
    except InputError as error:
        assert "only one can have won" in str(error)
        hypothesis.reject()


@pytest.mark.parametrize("name", GAMES)
@hypothesis.given(data=st.data(), seed=st.integers(0, 99))
def test_any_position_keeps_every_promise_and_its_playout_is_the_plain_one(name, data, seed):
    game = GAMES[name]
    state = position(game, data.draw(STARTS[name]))
    check_promises(game, state)
    check_refusals(game, state)
    assert state.playout(random.Random(seed)) == State.playout(state, random.Random(seed))

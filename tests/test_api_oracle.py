"""`get_pts` and `get_valid_actions` against the obvious implementation, on boards of all shapes."""

import numpy as np
import pytest

from connect4.utils import Integer, get_pts, get_valid_actions
from tests import naive_api

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis, of the extra `test`")
st = pytest.importorskip("hypothesis.strategies")
hnp = pytest.importorskip("hypothesis.extra.numpy")

LAYOUTS = {
    "as it is": lambda board: board,
    "transposed": lambda board: board.T.copy().T,
    "turned around": lambda board: board[::-1, ::-1].copy()[::-1, ::-1],
    "every second cell": lambda board: np.repeat(np.repeat(board, 2, 0), 2, 1)[::2, 1::2],
    "column by column": np.asfortranarray,
    "unaligned": lambda board: np.frombuffer(
        b"x" + board.tobytes(), dtype=board.dtype, offset=1
    ).reshape(board.shape),
    "rows": lambda board: board.tolist(),
}
"""The same cells, differently laid out in memory."""


def settled(board):
    """Let floating tokens fall."""
    order = np.argsort(board != 0, axis=0, kind="stable")
    return np.take_along_axis(board, order, axis=0)


@hypothesis.given(
    board=hnp.arrays(
        dtype=st.one_of(hnp.integer_dtypes(), hnp.unsigned_integer_dtypes()),
        shape=hnp.array_shapes(min_dims=2, max_dims=2, max_side=14),
        elements=st.integers(0, 2),
    ),
    layout=st.sampled_from(sorted(LAYOUTS)),
    player=st.sampled_from((1, 2)),
)
def test_any_integer_type_and_layout_agrees_with_the_oracle(board, layout, player):
    lay_out = LAYOUTS[layout]
    assert get_pts(player, lay_out(board)) == naive_api.get_pts(player, board.astype(np.int64))
    legal, popouts_left = settled(board), {1: Integer(1), 2: Integer(1)}
    expected = naive_api.get_valid_actions(player, (legal.astype(np.int64), popouts_left))
    assert get_valid_actions(player, (lay_out(legal), popouts_left)) == expected

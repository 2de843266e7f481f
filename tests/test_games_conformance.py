"""What every game promises, checked on every game of `GAMES` along random play."""

import contextlib
import copy
import json
import math
import pickle
import random
import re
from functools import cache
from itertools import product

import numpy as np
import pytest

from connect4.analysis.experts import expert_for
from connect4.errors import IllegalAction
from connect4.games import GAMES, own_starts
from connect4.search.heuristics import HEURISTICS, heuristic_of
from tests.naive_api import get_pts, get_valid_actions
from tests.naive_games import naive_rules


def rows_of_zeros(rows, columns, first="0"):
    return "\n".join([first] + [" ".join("0" * columns)] * rows)


ODD_STARTS = {
    "extended": [rows_of_zeros(1, 2, "1"), rows_of_zeros(3, 4, "2 1 2"), rows_of_zeros(12, 12)],
    "classic": [
        rows_of_zeros(1, 1),
        rows_of_zeros(5, 4),
        rows_of_zeros(12, 12),
        "0 0 2\n0 1 0 0 2\n1 2 2 0 2",
    ],
    "classic-full": [rows_of_zeros(1, 1), rows_of_zeros(6, 8), rows_of_zeros(12, 12)],
    "dynamic": [
        "O,X\n, ",
        "O, ,X\n , , \nO, ,X\nline=3\nmax_turns=30",
        "O,O, ,X,X, , , ,O\n , , , , , , , ,X\nmover=2\nturns=60",
        "X,O,\nO,O,\n , ,\nmover=2\nmax_turns=12",
        "O,X\n , \nrepetition=1",
    ],
    "popout": [
        rows_of_zeros(1, 1),
        rows_of_zeros(2, 3, "0 0 2"),
        rows_of_zeros(12, 12),
        rows_of_zeros(6, 7) + "\nturns=195",
        "0 0 2\n2 2 1\n1 2 1",
    ],
}

STATES = [
    pytest.param(game, text, id=f"{game.name}: {name}")
    for game in GAMES.values()
    for name, text in [
        ("start", game.start(None, None).to_text()),
        *[(path.stem, path.read_text("utf-8")) for path in own_starts(game)],
        *[(f"odd {number}", text) for number, text in enumerate(ODD_STARTS.get(game.name, []), 1)],
    ]
]

TEXTS = [
    *(f"{column}{pop}" for column in range(14) for pop in ("", "P")),
    *("".join(parts) for parts in product("0123456789", "0123456789", "NESW")),
]
"""What people type, in any of the games."""


@cache
def typed(game):
    """Return the actions of a game, legal somewhere or not, that there is a text for."""
    actions = []
    for text in TEXTS:
        with contextlib.suppress(IllegalAction):
            actions.append(game.parse_action(text))
    return actions


def look(state):
    """Return all that a caller can see of a state."""
    return (
        state.key(), state.mover, state.board().tolist(), state.to_text(), state.scores(),
        state.ending(), list(state.legal_actions()),
    )  # fmt: skip


def check_promises(game, state):
    """Check a single position: its actions, its texts, its endings, its bits."""
    actions = list(state.legal_actions())
    assert type(state.legal_actions()) is tuple, "nobody can change what a state has found out"
    assert actions == sorted(set(actions), key=in_order(game))
    assert state.is_over() == (state.ending() is not None)
    assert not (state.is_over() and actions)
    for action in actions:
        assert game.parse_action(game.format_action(action)) == action
    one, two = state.scores()
    assert state.margin(1) == one - two == -state.margin(2)
    again = game.read(state.to_text(), "again")
    assert look(again) == look(state)
    copied = game.from_json(json.loads(json.dumps(state.to_json())))
    assert look(copied) == look(state)
    board = state.board()
    assert (state.grid.rows, state.grid.columns) == board.shape
    assert state.grid.to_array(*state.bitboards()).tolist() == board.tolist()
    skipped = state.skip()
    assert skipped.mover == 3 - state.mover
    assert skipped.board().tolist() == board.tolist()
    assert skipped.key() != state.key()


def in_order(game):
    """Drops come before pop-outs; otherwise actions are in their natural order."""
    return (lambda action: (action[1], action[0])) if game.name in ("extended", "popout") else None


def check_refusals(game, state):
    """Check that whatever a person can type is played or refused with a reason."""
    legal = set(state.legal_actions())
    before = look(state)
    for action in typed(game):
        if action in legal:
            state.apply(action)
        else:
            with pytest.raises(IllegalAction, match=r"\w+ \w+"):
                state.apply(action)
    assert look(state) == before


def check_naive(game, state, naive_position):
    """Check a position against the second, naive set of rules."""
    naive = naive_rules(game.name)
    drawn = state.is_over() and not naive.over(naive_position)
    assert drawn == (str(state.ending()) in ("draw_limit", "repetition"))
    if not drawn:
        assert list(state.legal_actions()) == naive.actions(naive_position)
    assert state.board().tolist() == naive_position[0]
    assert state.mover == naive_position[-1]
    if game.name == "extended":
        board, counters = state.for_agent()
        assert state.scores() == (get_pts(1, board), get_pts(2, board))
        assert list(state.legal_actions()) == get_valid_actions(state.mover, (board, counters))
    else:
        assert state.scores() == naive.scores(naive_position)


def walk(game, state, choose):
    """Play to the end with `choose(actions)`, checking every position; yield each one."""
    naive = naive_rules(game.name)
    naive_position = naive.read(state.to_text())
    while True:
        check_naive(game, state, naive_position)
        check_promises(game, state)
        yield state
        if state.is_over():
            return
        actions = state.legal_actions()
        before = look(state)
        if actions:
            action = choose(actions)
            after = state.apply(action)
            naive_position = naive.apply(naive_position, action)
        else:
            after = state.skip()
            naive_position = naive.skip(naive_position)
        assert look(state) == before, "apply leaves its input alone"
        state = after


@pytest.mark.parametrize(("game", "text"), STATES)
def test_random_games_keep_every_promise(game, text):
    rng = random.Random(6)
    start = game.read(text, "start")
    seen = {}
    for _ in range(2):
        for state in walk(game, start, rng.choice):
            known = seen.setdefault(state.key(), state.to_text())
            assert known == state.to_text(), "one key, one position"
        assert state.game is game
        check_refusals(game, state)
    check_refusals(game, start)
    texts = list(seen.values())
    assert len(texts) == len(set(texts)), "one position, one key"


class Unreadable:
    def __repr__(self):
        raise RuntimeError("no text")


class Moves(str):
    pass


NO_ACTIONS = [
    (None, "None"),
    ("no move", "'no move'"),
    (True, "True"),
    (1.5, "1.5"),
    (math.nan, "nan"),
    (np.int64(99), "99"),
    (np.True_, "True"),
    (np.array([3, 0]), "array([3, 0])"),
    ((), "()"),
    ((0, 0, 0), "(0, 0, 0)"),
    ((True, False), "(True, False)"),
    ((np.int64(99), False), "False)"),
    ((3, 2), "(3, 2)"),
    ((3, 1.0), "(3, 1.0)"),
    (("3", False), "('3', False)"),
    ([3, False], "[3, False]"),
    (Moves("71W"), "'71W'"),
    ("\u0667\u0661W", "'\u0667\u0661W'"),
    ((10**5000, False), "a value of type tuple"),
    (Unreadable(), "a value of type Unreadable"),
    ("x" * 1000, "xxx..."),
]
"""Actions of no game, and what of each has to be in the reason."""


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("action", "said"), NO_ACTIONS)
def test_what_is_no_action_is_refused_and_quoted(name, action, said):
    state = GAMES[name].start(None, None)
    before = look(state)
    with pytest.raises(IllegalAction) as refusal:
        state.apply(action)
    reason = str(refusal.value)
    assert said in reason or "is outside 0.." in reason
    assert re.search("an action is|a column is|type 71W", reason) or "is outside 0.." in reason
    assert "\n" not in reason
    assert look(state) == before


@pytest.mark.parametrize("name", ["extended", "popout", "classic", "classic-full"])
def test_numpys_numbers_are_actions_as_in_an_agents_answer(name):
    state = GAMES[name].start(None, None)
    while not state.is_over():
        for action in state.legal_actions():
            if isinstance(action, int):
                others = [np.int8(action), np.array(action)]
            else:
                column, is_popout = action
                others = [(np.int64(column), np.bool_(is_popout)), (column, int(is_popout))]
            for other in others:
                after = state.apply(other)
                assert after == state.apply(action)
                assert after.to_text() == state.apply(action).to_text()
        state = state.apply(state.legal_actions()[-1])


CLONES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize(("game", "text"), STATES)
@pytest.mark.parametrize("clone", CLONES.values(), ids=CLONES)
def test_a_copied_or_pickled_position_is_the_same_to_everybody(game, text, clone):
    rng = random.Random(3)
    state = game.read(text, "start")
    for _ in range(4):
        copied = clone(state)
        assert copied == state
        assert hash(copied) == hash(state)
        assert look(copied) == look(state)
        assert copied.setting == state.setting
        assert copied.grid is state.grid, "what is kept for a grid is made once"
        for action in state.legal_actions():
            assert copied.apply(action) == state.apply(action)
        if not state.legal_actions():
            break
        before = state
        state = copied.apply(rng.choice(state.legal_actions()))
        assert state != before


def test_positions_that_look_alike_under_other_rules_are_not_equal():
    first, most = (GAMES[name].start(None, None) for name in ("classic", "classic-full"))
    assert first != most
    wide = GAMES["extended"].read(rows_of_zeros(2, 6), "wide")
    assert wide != GAMES["extended"].read(rows_of_zeros(6, 2), "high")
    dynamic = GAMES["dynamic"].start(None, None)
    assert dynamic != dynamic.with_options(line=3)
    assert dynamic != dynamic.key()
    assert len({first, most, first.skip().skip(), copy.copy(dynamic), dynamic}) == 3


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_every_game_has_what_searches_and_analyses_go_by(game):
    state = game.start(None, None)
    assert game.name in HEURISTICS, f"add a row for {game.name!r} to HEURISTICS"
    for heuristic in HEURISTICS[game.name]:
        assert heuristic.evaluation().leaf(state) == 0, "the usual start is even"
        assert bool(heuristic.point) == game.counts_points
    assert heuristic_of(game) is HEURISTICS[game.name][0]
    expert = expert_for(game, state).agent
    assert expert.startswith(("alphabeta:heuristic=", "solver", "reference"))


def drawn(state):
    """Return the cells of a printed board, `.` for an empty one, row by row."""
    if state.slides:  # each row behind its number, an empty cell is a blank
        rows, columns = state.board().shape
        lines = [line[2:].ljust(2 * columns) for line in str(state).splitlines()[1 : rows + 1]]
        return ["".join(line[::2]).replace(" ", ".")[:columns] for line in lines]
    return ["".join(line.split()) for line in str(state).splitlines()[1:-1]]


@pytest.mark.parametrize(("game", "text"), STATES)
def test_a_printed_position_shows_the_board_and_who_moves_or_has_won(game, text):
    rng = random.Random(8)
    state = game.read(text, "start")
    while True:
        letters = (".", *state.symbols)
        assert drawn(state) == ["".join(letters[cell] for cell in row) for row in state.board()]
        status = str(state).splitlines()[-1]
        one, two = state.scores()
        assert (f"points {one}:{two}" in status) == game.counts_points
        if state.is_over():
            break
        assert status.startswith(f"player {state.mover} ({state.symbols[state.mover - 1]}) to move")
        assert state.winner() is None
        actions = state.legal_actions()
        state = state.apply(rng.choice(actions)) if actions else state.skip()
    assert state.winner() == (0 if one == two else 1 if one > two else 2)
    assert ("a draw" if one == two else f"player {state.winner()} ") in status


def test_a_printed_position_counts_the_pop_outs_left():
    state = GAMES["extended"].read("2 1 2\n0 0 0 0\n1 2 1 2\n", "start")
    assert str(state).splitlines() == [
        "0 1 2 3",
        ". . . .",
        "X O X O",
        "player 2 (O) to move, points 0:0, pop-outs left 2:1",
    ]
    assert "pop-outs" not in str(GAMES["extended"].read("0\n0 0\n", "start"))

"""What every game promises, checked on every game of `GAMES` along random play."""

import contextlib
import json
import random
from functools import cache
from itertools import product

import pytest

from connect4.analysis import SCALES
from connect4.errors import IllegalAction
from connect4.games import GAMES, STARTS
from connect4.games.base import State
from connect4.search.heuristics import DEFAULT, HEURISTICS
from tests.naive_games import NAIVE


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
}

STATES = [
    pytest.param(game, text, id=f"{game.name}: {name}")
    for game in GAMES.values()
    for name, text in [
        ("start", game.start(None, None).to_text()),
        *[(path.stem, path.read_text("utf-8")) for path in (STARTS / game.folder).glob("*.txt")]
        * (game.name == "extended" or game.folder != "."),
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
    return (lambda action: (action[1], action[0])) if game.name == "extended" else None


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
    naive = NAIVE[game.name]
    drawn = state.is_over() and not naive.over(naive_position)
    assert drawn == (str(state.ending()) in ("draw_limit", "repetition"))
    if not drawn:
        assert list(state.legal_actions()) == naive.actions(naive_position)
    assert state.board().tolist() == naive_position[0]
    assert state.mover == naive_position[-1]
    if game.name != "extended":
        assert state.scores() == naive.scores(naive_position)


def walk(game, state, choose):
    """Play to the end with `choose(actions)`, checking every position; yield each one."""
    naive = NAIVE[game.name]
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
        check_refusals(game, state)
    check_refusals(game, start)
    texts = list(seen.values())
    assert len(texts) == len(set(texts)), "one position, one key"


@pytest.mark.parametrize(("game", "text"), STATES)
def test_a_fast_playout_takes_the_steps_of_the_plain_one(game, text):
    start = game.read(text, "start")
    for seed in range(20):
        assert start.playout(random.Random(seed)) == State.playout(start, random.Random(seed))


@pytest.mark.parametrize("name", sorted(set(GAMES) - {"extended"}))
@pytest.mark.parametrize("action", [None, "no move", -1, 1.5, (), (0, 0, 0), b"3", [3], {}])
def test_what_is_no_action_is_refused(name, action):
    """In ExtendedConnect4 `players.student.read_answer` stands before the rules."""
    with pytest.raises(IllegalAction):
        GAMES[name].start(None, None).apply(action)


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_what_searches_and_analyses_go_by(name):
    assert name in DEFAULT, "searches need a heuristic of connect4/search/heuristics.py"
    points = HEURISTICS[DEFAULT[name]].point
    assert name in points, "the heuristic has to say what a point is worth, 0 where winning counts"
    assert points[name] or DEFAULT[name] in SCALES, "analyses need a scale for what is no points"

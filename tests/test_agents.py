"""The textbook agents as players: tactics, options, budgets, and the games they play."""

from dataclasses import replace
from functools import cache
from random import Random

import pytest

from connect4.analysis.experts import expert_for
from connect4.errors import InputError
from connect4.games import GAMES, load_start
from connect4.players.base import Outcome, Setup
from connect4.players.registry import build, parse_agent
from connect4.search.solver import Solver
from tests.command import run
from tests.games import played
from tests.positions import random_position, scores, small_start, with_a_threat, with_a_win

CLASSIC = GAMES["classic"]
SEARCHES = ("minimax", "alphabeta", "expectimax", "montecarlo", "mcts", "solver")


def agent(name, game="classic", player=1, seed=0):
    """Return the agent of that name, without a process of its own."""
    parsed = parse_agent(name, game)
    return build(Setup(parsed, player, GAMES[game], 20.0, seed))


def refusal(name, game):
    with pytest.raises(InputError) as refused:
        parse_agent(name, game)
    assert "\n" not in str(refused.value)
    return str(refused.value)


# Tactics


@cache
def tactical(game, number):
    """Return `(player, position, right moves)`: N wins and threats for either player."""
    rng = Random(game)
    return [
        (player, *find(rng, player, game))
        for find in (with_a_win, with_a_threat)
        for player in (1, 2)
        for _ in range(number)
    ]


TACTICIANS = {
    "classic": [
        "minimax", "minimax:depth=3", "minimax:depth=2,heuristic=v1,order=ascending",
        "alphabeta:depth=2", "alphabeta", "alphabeta:depth=5", "alphabeta:depth=4,tt=off",
        "alphabeta:depth=3,pruning=off", "alphabeta:nodes=300",
        "alphabeta:depth=2,heuristic=potential", "alphabeta:depth=3,heuristic=v1",
        "alphabeta:depth=4,heuristic=v2", "expectimax:depth=2", "expectimax",
        "expectimax:depth=4", "montecarlo:samples=20", "montecarlo:depth=3,samples=3",
        "mcts:iterations=100", "mcts:iterations=500", "mcts:nodes=200,c=1", "solver:nodes=300",
    ],
    "dynamic": [
        "minimax", "alphabeta:depth=2,heuristic=connected", "alphabeta:depth=3",
        "expectimax:depth=2",
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "name"), [(game, name) for game, names in TACTICIANS.items() for name in names]
)
def test_wins_are_taken_and_losses_parried_as_either_player(game, name):
    """100 of 100, of each kind, as each player; in Dynamic Connect-4 25."""
    players = {player: agent(name, game, player) for player in (1, 2)}
    for player, state, right in tactical(game, 100 if game == "classic" else 25):
        assert players[player].choose(state, None) in right, state.to_text()


def test_greedy_takes_wins_and_points():
    greedy = agent("greedy")
    for _, state, right in tactical("classic", 100)[:200]:
        assert greedy.choose(state, None) in right
    rng = Random(1)
    state = load_start(GAMES["extended"], "case1")
    while not state.is_over():
        best = max(state.apply(action).margin(state.mover) for action in state.legal_actions())
        chosen = state.apply(agent("greedy", "extended").choose(state, None))
        assert chosen.margin(state.mover) == best
        state = state.apply(rng.choice(state.legal_actions()))


# The published agent in a dialogue


def test_the_golden_game_as_a_persons_dialogue(tmp_path):
    typed = "4 5 4 4 2 6 5 6 1 1 2 3 1 7 1 0 0 0 0 7 3 3 3"
    done = run(
        "connect4.ConnectFour", "human", "alphabeta:depth=6,heuristic=potential",
        "--game", "classic", "--rows", "6", "--columns", "8",
        cwd=tmp_path, stdin="\n".join(typed.split()) + "\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Please input your move(integer 0~7):  ") == 23
    replies = [line[12:] for line in done.stdout.splitlines() if line.startswith("Bot's move: ")]
    assert len(replies) == 22
    assert replies[:3] == ["2", "6", "5"]
    assert done.stdout.count("column 0 is full") == 1
    assert "Player 1 Score: 0\nPlayer 2 Score: 1\nThe game ended: a winning line.\n" in done.stdout


# Games


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("kind", ["minimax", "alphabeta", "expectimax", "montecarlo", "mcts"])
def test_every_search_plays_every_game_to_its_end_from_both_sides(kind, game):
    start = {"extended": "case4", "dynamic": "b"}.get(game)
    state = load_start(GAMES[game], start) if start else small_start(GAMES[game], 4, 5)
    if game == "dynamic":
        state = state.with_options(max_turns=12)
    name = f"{kind}:nodes=40" if kind != "montecarlo" else "montecarlo:depth=1,samples=2"
    for one, two in ((name, "random"), ("random", name)):
        record, end = played(one, two, state, game=game)
        assert end.is_over()
        assert {turn.outcome for turn in record.turns} == {Outcome.PLAYED}


def test_searches_beat_the_random_player():
    for game in GAMES:
        start = "case4" if game == "extended" else GAMES[game].start(None, None)
        margin = 0
        for seed in range(2):
            for one, two in (("alphabeta:depth=2", "random"), ("random", "alphabeta:depth=2")):
                _, end = played(one, two, start, game=game, seed=seed)
                margin += end.margin(1 if one != "random" else 2)
        assert margin > 0, game


@pytest.mark.parametrize("name", ["montecarlo:samples=3", "mcts:nodes=60"])
def test_the_same_seed_repeats_an_agents_choices_and_another_one_does_not_always(name):
    rng = Random(2)
    states = [random_position(rng, 0, 12)[0] for _ in range(30)]

    def choices(seed):
        chooser = agent(name, seed=seed)
        return [chooser.choose(state, None) for state in states]

    assert choices(1) == choices(1)
    assert choices(1) != choices(2)


# Options


def chosen(name, game, states):
    player = agent(name, game)
    return [player.choose(state, None) for state in states]


@pytest.mark.parametrize(
    ("short", "long", "game"),
    [
        ("minimax", "minimax:depth=2,heuristic=windows,order=center", "classic"),
        ("alphabeta", "alphabeta:depth=4,heuristic=windows,pruning=on,tt=on", "extended"),
        ("alphabeta:depth=3", "alphabeta:depth=3,heuristic=windows", "classic-full"),
        ("alphabeta:depth=2", "alphabeta:depth=2,heuristic=race", "dynamic"),
        (
            "alphabeta:heuristic=potential",
            "alphabeta:heuristic=potential,order=ascending",
            "classic",
        ),
        ("alphabeta:depth=3", "alphabeta:depth=3,tt=off", "classic"),
        ("alphabeta:depth=3", "alphabeta:depth=3,pruning=off", "classic"),
        ("expectimax", "expectimax:depth=3,order=center", "extended"),
        ("montecarlo", "montecarlo:depth=2,samples=100", "classic"),
        ("mcts:c=1", "mcts:iterations=20000", "classic"),
    ],
)  # fmt: skip
def test_what_is_not_said_is_the_usual(short, long, game):
    rng = Random(3)
    states = []
    for number in range(2 if game == "extended" or "mc" in short or "mo" in short else 8):
        state = GAMES[game].start(None, None)
        for _ in range(number + 6):
            state = state.apply(rng.choice(state.legal_actions()))
        states.append(state)
    assert chosen(short, game, states) == chosen(long, game, states)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alphabeta:depht=2", "no option 'depht' (did you mean 'depth'?); the options are depth, "),
        ("alphabeta:seconds=0", "seconds is a number above 0, not '0'"),
        ("alphabeta:seconds=inf", "seconds is a number above 0, not 'inf'"),
        ("alphabeta:pruning=yes", "pruning is on or off, not 'yes'"),
        ("alphabeta:order=centre", "order is center or ascending, not 'centre'"),
        ("alphabeta:heuristic=fuzzy", "is windows or potential or v1 or v2, not 'fuzzy'"),
        ("alphabeta:depth=2,seconds=1", "depth and seconds do not go together; one of them limits"),
        ("mcts:iterations=9,nodes=9", "iterations and nodes do not go together; one of them"),
        ("alphabeta:pruning=off,tt=on", "tt=on needs pruning=on"),
        ("solver:engine=bitbully", "engine is own, not 'bitbully'"),
    ],
)
def test_a_wrong_value_is_one_line_that_says_what_would_be_right(name, message):
    assert refusal(name, "classic").startswith(f"agent {name!r}: ")
    assert message in refusal(name, "classic")


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("extended", "windows or margin or potential"),
        ("classic-full", "windows or margin or potential or v1 or v2"),
        ("dynamic", "race or fuzzy or connected"),
    ],
)
def test_each_game_has_its_heuristics(game, names):
    assert refusal("alphabeta:heuristic=x", game).endswith(f"heuristic is {names}, not 'x'")
    for name in names.split(" or "):
        assert parse_agent(f"alphabeta:heuristic={name}", game).options == {"heuristic": name}


@pytest.mark.parametrize("points", [False, True])
def test_without_a_heuristic_an_agent_that_needs_one_is_refused_by_name(monkeypatch, points):
    full = GAMES["classic-full" if points else "classic"]
    bare = replace(full, name="bare")
    monkeypatch.setitem(GAMES, "bare", bare)
    for name in ("minimax", "alphabeta", "alphabeta:heuristic=windows", "expectimax:depth=1"):
        assert refusal(name, "bare") == f"agent {name!r} needs a heuristic, and bare has none"
    with pytest.raises(InputError, match="no heuristic in bare; the game has none"):
        expert_for(bare, bare.start(None, None))
    for name in ("random", "greedy", "montecarlo:samples=2,depth=1", "mcts:iterations=20"):
        setup = Setup(parse_agent(name, "bare"), 1, bare, 1.0, 1)
        state = bare.start(4, 4)
        assert build(setup).choose(state, 1.0) in state.legal_actions()


# Budgets


@pytest.mark.parametrize(
    ("kind", "game"),
    [(kind, game) for kind in SEARCHES for game in GAMES if kind != "solver" or game == "classic"],
)
def test_a_depth_that_would_take_days_gives_way_to_the_time_limit(kind, game):
    names = {"mcts": "iterations=999999999", "solver": "engine=own"}
    name = f"{kind}:{names.get(kind, 'depth=99')}"
    state = GAMES[game].start(None, None)
    for chooser in (name, f"{kind}:seconds=99"):
        seat = agent(chooser, game)
        for limit in (0.05, 0.2):
            assert seat.choose(state, limit) in state.legal_actions()


# The solver as a player


def test_the_solver_plays_perfectly_and_the_second_best_where_time_is_short():
    rng = Random(8)
    oracle = Solver(memory=16)
    perfect, hurried = agent("solver"), agent("solver:nodes=50")
    for _ in range(20):
        state, _ = random_position(rng, 22, 38)
        values = scores(oracle, state)
        assert values[perfect.choose(state, None)] == max(values.values())
        assert hurried.choose(state, None) in state.legal_actions()
    assert hurried.choose(CLASSIC.start(6, 7), None) == 3

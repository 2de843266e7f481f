"""The games in PettingZoo and OpenSpiel: their own tests, and the same games as by our rules."""

import pickle
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import connect4
from benchmarks.envs import differences
from connect4 import envs
from connect4.games import GAMES
from connect4.games.base import State
from connect4.isolation.seat import choose_level
from tests.test_api_facade import python

LEVELS = ["process", "strong"] if choose_level("auto")[0] == "strong" else ["process"]

NAMES = {name: name.replace("-", "_") + "_v1" for name in GAMES}


def module(game: str) -> Any:
    return getattr(envs, NAMES[game])


def positions(game: str, seed: int = 1) -> list[State]:
    """Return the positions of a random game, passes among them."""
    rng = random.Random(seed)
    state = connect4.start(game)
    found = [state]
    while not state.is_over():
        actions = state.legal_actions()
        state = state.apply(rng.choice(actions)) if actions else state.skip()
        found.append(state)
    return found


# -- what games tell environments


@pytest.mark.parametrize("game", GAMES)
def test_every_legal_action_is_one_of_the_games_actions_which_stay(game: str) -> None:
    rules = GAMES[game]
    start = connect4.start(game)
    actions = rules.actions(start)
    assert len(set(actions)) == len(actions)
    assert (actions[-1] is None) == rules.has_pass
    found = positions(game)
    for state in found:
        assert set(state.legal_actions()) <= set(actions)
        assert rules.actions(state) == actions
    assert len(found) - 1 <= start.max_plies
    assert all(state.max_plies >= len(found) - 1 - n for n, state in enumerate(found))


@pytest.mark.parametrize("game", GAMES)
def test_planes_show_both_sides_of_the_board_and_whose_turn_it_is(game: str) -> None:
    for state in positions(game):
        board = state.board()
        planes = state.planes()
        assert planes.dtype == np.float32
        assert planes.shape[:2] == board.shape
        assert (planes[:, :, 0] == (board == state.mover)).all()
        assert (planes[:, :, 1] == ((board != 0) & (board != state.mover))).all()
        assert (planes[:, :, -1] == (state.mover == 1)).all()
        assert 0 <= planes.min() <= planes.max() <= 1
        assert (state.planes(state.mover) == planes).all()
        other = state.planes(1 if state.mover == 2 else 2)
        assert (other[:, :, [1, 0]] == planes[:, :, :2]).all()


def test_pop_outs_left_are_constant_planes() -> None:
    state = connect4.load("case1").apply((0, False)).apply((1, False)).apply((0, True))
    assert state.planes(1)[0, 0].tolist() == pytest.approx([0, 0, 5 / 6, 1, 0])
    assert state.planes(2)[0, 0].tolist() == pytest.approx([0, 0, 1, 5 / 6, 0])


# -- PettingZoo


@pytest.mark.env
@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_own_tests_pass(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    from pettingzoo.test import api_test, render_test, seed_test

    api_test(module(game).env(), num_cycles=1000)
    seed_test(module(game).env, num_cycles=1000)
    render_test(module(game).env)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.env
@pytest.mark.parametrize("game", GAMES)
def test_games_through_both_environments_are_those_of_our_rules(game: str) -> None:
    assert differences(game, games=3) == []


def played(env: Any, moves: list[Any]) -> Any:
    env.reset()
    for move in moves:
        env.step(env.unwrapped.rules.numbers[move])
    return env


@pytest.mark.env
def test_rewards_add_up_to_nothing_and_tell_the_winner_and_the_margin() -> None:
    won = played(module("classic").env(), [0, 1, 0, 1, 0, 1, 0])
    assert won.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert won.infos["player_1"] == {"winner": -1, "margin": -1, "ending": "line"}
    env = module("extended").env(start="case4")
    env.reset()
    for agent in env.agent_iter():
        observation, reward, over, _, info = env.last()
        if over:
            sign = 1 if agent == "player_0" else -1
            margin = env.unwrapped.position.margin(1) * sign
            assert info["margin"] == margin
            assert np.sign(reward) == info["winner"] == np.sign(margin)
            assert abs(reward) < 1
        legal = observation["action_mask"].nonzero()[0]
        env.step(None if over else int(legal[0]))


@pytest.mark.env
def test_an_illegal_action_loses_as_in_pettingzoos_own_games() -> None:
    env = played(module("classic").env(rows=1), [0])
    env.step(0)
    assert env.rewards == {"player_0": 1, "player_1": -1}
    seen = {}
    for agent in env.agent_iter():
        seen[agent] = env.last()[1:4]
        env.step(None)
    assert seen == {"player_0": (1, True, False), "player_1": (-1, True, False)}
    with pytest.raises(
        connect4.InputError, match=r"action 9: not in the action space Discrete\(7\)"
    ):
        played(module("classic").env(rows=1), [0]).step(9)


@pytest.mark.env
def test_an_environment_begins_where_it_is_told_and_pickles_there() -> None:
    start = connect4.start("classic", rows=5, columns=9).apply(4)
    env = module("classic").raw_env(start=start)
    env.reset()
    assert env.agent_selection == "player_1"
    again = pickle.loads(pickle.dumps(env))
    again.step(4)
    assert again.position == start.apply(4)
    assert env.position == start
    short = module("dynamic").raw_env(max_turns=30)
    assert short.rules.start.max_plies == 30
    with pytest.raises(connect4.InputError, match="has its own size"):
        module("classic").env(start=start, rows=6)
    with pytest.raises(AttributeError, match="chess_v1"):
        _ = envs.chess_v1


def test_without_pettingzoo_or_openspiel_one_line_says_what_to_install() -> None:
    for hidden, code in (
        ("pettingzoo", "from connect4.envs import classic_v1"),
        ("pyspiel", "from connect4.envs import openspiel"),
    ):
        done = python(f"import sys; sys.modules[{hidden!r}] = None; {code}")
        last = done.stderr.splitlines()[-1]
        assert last.startswith("connect4.errors.MissingExtraError: ")
        assert last.endswith("pip install -e '.[env]'")


# -- OpenSpiel


@pytest.fixture
def spiel() -> Any:
    pyspiel = pytest.importorskip("pyspiel")
    from connect4.envs import openspiel

    openspiel.register()
    assert openspiel.register() == ["connect4_" + name.replace("-", "_") for name in GAMES]
    return pyspiel


@pytest.mark.env
@pytest.mark.parametrize("game", GAMES)
def test_openspiels_random_sim_test_passes_with_serialisation(spiel: Any, game: str) -> None:
    loaded = spiel.load_game("connect4_" + game.replace("-", "_"))
    spiel.random_sim_test(loaded, num_sims=3, serialize=True, verbose=False)


@pytest.mark.env
def test_a_game_string_holds_start_sizes_and_options(spiel: Any) -> None:
    wide = spiel.load_game("connect4_classic(rows=5,columns=9)")
    assert wide.num_distinct_actions() == 9
    assert spiel.load_game(str(wide)).max_game_length() == 45
    assert spiel.load_game("connect4_dynamic(max_turns=30)").max_game_length() == 30
    case = spiel.load_game("connect4_extended(start=case4)").new_initial_state()
    assert str(case) == str(connect4.load("case4"))
    for game in (wide, spiel.load_game("connect4_popout(line=3)")):
        assert str(pickle.loads(pickle.dumps(game))) == str(game)
    assert case.action_to_string(0, 3) == "3"


@pytest.mark.env
def test_openspiels_tensor_is_that_of_the_planes(spiel: Any) -> None:
    from open_spiel.python.observation import make_observation

    game = spiel.load_game("connect4_extended")
    state = game.new_initial_state()
    state.apply_action(2)
    observer = make_observation(game)
    observer.set_from(state, 0)
    planes = connect4.start("extended").apply((2, False)).planes(1)
    assert (observer.dict["observation"] == planes.transpose(2, 0, 1)).all()


# -- their agents at our table, ours at theirs


def first_legal(observation: Any, state: State) -> Any:
    """A policy over observations alone."""
    return observation["action_mask"].argmax()


def hurt(observation: Any, state: State) -> int:
    return int(observation["nothing"])


def outside(observation: Any, state: State) -> int:
    return 7 if state.mover == 1 else -1


@pytest.mark.parametrize("game", GAMES)
def test_a_policy_plays_every_game_by_observations(game: str) -> None:
    names = f"env:{__name__}:first_legal", f"env:{__name__}:first_legal"
    record = connect4.play(*names, game=game, isolation="none", seconds=5)
    assert record.faults == ()
    for position, turn in record:
        assert turn.action is None or turn.action == position.legal_actions()[0]


@pytest.mark.parametrize("level", ["none", *LEVELS])
def test_a_policy_may_lie_in_the_current_folder_beside_what_it_imports(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    text = "import {0}_rules\ndef play(seen, state): return {0}_rules.first(seen)\n"
    for name, source in {
        f"{level}_policy": text.format(level),
        f"{level}_rules": "def first(seen): return seen['action_mask'].argmax()\n",
        "random": "1 / 0\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    name = f"env:{level}_policy:play"
    record = connect4.play(name, "random", game="classic", isolation=level, seconds=5, seed=1)
    assert record.faults == ()
    assert record.turns[0].action == 0
    unknown = connect4.play("env:nowhere.at_all:f", "random", game="classic", isolation=level)
    assert unknown.result is not None
    assert unknown.result.detail == (
        "no module 'nowhere', neither installed nor in the current folder"
    )


def test_what_is_wrong_with_a_policy_is_said_to_whoever_wrote_it() -> None:
    def detail(function: str) -> str:
        name = f"env:{__name__}:{function}"
        record = connect4.play(name, "random", game="classic", isolation="none", seconds=5)
        return (record.faults[0].detail if record.faults else record.result.detail) or ""  # type: ignore[union-attr]

    assert "in hurt" in detail("hurt")
    assert detail("hurt").endswith("KeyError: 'nothing'")
    assert detail("outside") == "action 7 is outside 0..6"
    assert "has no attribute 'nobody'" in detail("nobody")
    for name in ("env", "env:module", "env:a b:c", "env:module:"):
        with pytest.raises(connect4.InputError, match="env:MODULE:FUNCTION"):
            connect4.play(name, "random")


@pytest.mark.env
def test_our_agent_plays_in_pettingzoos_loop() -> None:
    from connect4.envs import Policy

    env = module("classic").env(rows=5, columns=6)
    env.reset()
    with Policy("alphabeta:depth=3", env, seconds=20, isolation="none") as policy:
        for agent in env.agent_iter():
            observation, reward, over, _, _ = env.last()
            if over:
                assert reward == (1 if agent == "player_0" else -1)
                env.step(None)
            elif agent == "player_0":
                env.step(policy(observation))
            else:
                env.step(int(observation["action_mask"].nonzero()[0][0]))


@pytest.mark.env
def test_our_agent_plays_at_openspiels_table(spiel: Any) -> None:
    from connect4.envs import Policy

    game = spiel.load_game("connect4_classic")
    state, random = game.new_initial_state(), spiel.make_uniform_random_bot(1, 7)
    with Policy("alphabeta:depth=3", game, seconds=20) as policy:
        while not state.is_terminal():
            first = state.current_player() == 0
            state.apply_action(policy.action_of(state.position) if first else random.step(state))
    assert state.returns() == [1, -1]


def test_a_late_agent_of_ours_is_an_error_at_their_table(tmp_path: Path) -> None:
    from connect4.envs import Policy, Rules

    (tmp_path / "late.py").write_text(
        "import time\n"
        "class AIPlayer:\n"
        "    def __init__(self, player_number, time): pass\n"
        "    def get_intelligent_move(self, state): time.sleep(9)\n"
        "    get_expectimax_move = get_intelligent_move\n",
        encoding="utf-8",
    )
    game = SimpleNamespace(rules=Rules(GAMES["extended"]))
    late = Policy(f"ai:{tmp_path / 'late.py'}", game, seconds=0.05)
    with late, pytest.raises(connect4.AgentError, match="late"):
        late.action_of(connect4.start("extended"))

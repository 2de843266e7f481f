"""Compare PettingZoo and OpenSpiel with the kit's rules: same games, steps a second.

`python3 -m benchmarks.envs --games 10000` compares 10000 random games of each game, move by move.
Speed is per second of processor time, so other work on the machine affects it less. It is reported
next to the speed of PettingZoo's own `connect_four_v3` in the same run (which requires pygame).
"""

import argparse
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from connect4 import envs
from connect4.games import GAMES
from connect4.games.base import Game, State

STEPS = 30_000


def our_game(game: Game, rng: random.Random) -> Iterator[tuple[State, Any]]:
    """Yield each position of a random game by our rules, with the action played from it."""
    state = game.start(None, None)
    while not state.is_over():
        actions = state.legal_actions()
        action = rng.choice(actions) if actions else None
        yield state, action
        state = state.skip() if action is None else state.apply(action)
    yield state, None


def differences(name: str, games: int) -> list[str]:
    """Play random games through both environments beside our rules; return what differs."""
    import pyspiel

    from connect4.envs import openspiel

    openspiel.register()
    game = GAMES[name]
    zoo = getattr(envs, name.replace("-", "_") + "_v1").raw_env()
    spiel = pyspiel.load_game(openspiel.short_name(game))
    rng = random.Random(name)
    found = []
    for number in range(games):
        for what in _differences(game, zoo, spiel.new_initial_state(), rng):
            found.append(f"{name}, game {number}: {what}")
    return found


def _differences(game: Game, zoo: Any, spiel: Any, rng: random.Random) -> Iterator[str]:
    """Yield what differs in one game: legal actions, mover, end, scores, rewards."""
    zoo.reset()
    universe = list(game.actions(game.start(None, None)))
    for state, action in our_game(game, rng):
        over = state.is_over()
        legal = [universe.index(each) for each in state.legal_actions()]
        if not legal and not over:
            legal = [universe.index(None)]
        agent = f"player_{state.mover - 1}"
        seen = zoo.observe(agent)
        if seen["action_mask"].nonzero()[0].tolist() != legal or spiel.legal_actions() != legal:
            yield f"legal actions in\n{state}"
        board = seen["observation"][:, :, 0] + 2 * seen["observation"][:, :, 1]
        own = state.board() if state.mover == 1 else (3 - state.board()) % 3
        if (board != own).any() or str(spiel) != str(state):
            yield f"board of\n{state}"
        if spiel.is_terminal() != over or zoo.terminations[agent] != over:
            yield f"end at\n{state}"
        if over:
            yield from _wrong_end(state, zoo, spiel)
            return
        if zoo.agent_selection != agent or spiel.current_player() != state.mover - 1:
            yield f"mover in\n{state}"
        number = universe.index(action)
        zoo.step(number)
        spiel.apply_action(number)


def _wrong_end(state: State, zoo: Any, spiel: Any) -> Iterator[str]:
    """Yield what is told of an end otherwise than our rules have it."""
    winner, margin = state.winner(), state.margin(1)
    sign = {0: 0, 1: 1, 2: -1}[winner or 0]
    rewards = [zoo.rewards["player_0"], zoo.rewards["player_1"]]
    if zoo.infos["player_0"] != {"winner": sign, "margin": margin, "ending": str(state.ending())}:
        yield f"infos {zoo.infos} of\n{state}"
    if rewards[0] != -rewards[1] or np.sign(rewards[0]) != sign or abs(rewards[0]) > 1:
        yield f"rewards {rewards} of\n{state}"
    if spiel.returns() != rewards:
        yield f"returns {spiel.returns()} of\n{state}"


def zoo_speed(env: Any) -> float:
    """Return the steps a second of processor time of random games, by PettingZoo's own loop."""
    rng = random.Random(1)
    steps, began = 0, time.process_time()
    while steps < STEPS:
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(rng.random() * len(legal))]))
            steps += 1
    return steps / (time.process_time() - began)


def spiel_speed(game: Any) -> float:
    """Return the same of OpenSpiel's."""
    rng = random.Random(1)
    steps, began = 0, time.process_time()
    while steps < STEPS:
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            steps += 1
    return steps / (time.process_time() - began)


def speeds() -> None:
    """Print steps a second of every game, and of PettingZoo's own Connect Four."""
    import pyspiel

    from connect4.envs import openspiel

    theirs = None
    try:
        from pettingzoo.classic import connect_four_v3

        theirs = zoo_speed(connect_four_v3.env())
        print(f"connect_four_v3: {theirs:,.0f} steps a second")
    except ImportError as error:
        print(f"connect_four_v3: {error}")
    names = openspiel.register()
    for (name, game), spiel in zip(GAMES.items(), names, strict=True):
        rows, columns = game.start(None, None).board().shape
        made = getattr(envs, name.replace("-", "_") + "_v1")
        ours, raw = zoo_speed(made.env()), zoo_speed(made.raw_env())
        ratio = "" if theirs is None else f", {ours / theirs:.2f} of connect_four_v3"
        print(
            f"{name} {rows}x{columns}: env {ours:,.0f} steps a second{ratio}; raw_env {raw:,.0f}; "
            f"OpenSpiel {spiel_speed(pyspiel.load_game(spiel)):,.0f}"
        )
    print(f"OpenSpiel's connect_four: {spiel_speed(pyspiel.load_game('connect_four')):,.0f}")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.envs")
    parser.add_argument("--games", type=int, default=100, help="random games of each game")
    parser.add_argument("--game", choices=GAMES, help="this one alone")
    arguments = parser.parse_args()
    speeds()
    for name in [arguments.game] if arguments.game else GAMES:
        found = differences(name, arguments.games)
        print(f"{name}: {arguments.games:,} games through both, {len(found)} differences")
        print("\n".join(found[:3]), end="\n" if found else "")


if __name__ == "__main__":
    main()

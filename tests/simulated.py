"""A simulated match function for the ladder: the result of a game follows from true strengths.

A source tells its strength in a line `STRENGTH = N`; the rungs have those of `RUNGS`. Everything
else (hand-ins, results file, choice of pairs, site) is the ladder's own.
"""

import json
import random
import re
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from grader.play import Pool
from grader.play.schedule import Contestant, PlannedGame, Sources
from grader.play.working_time import Loaded
from grader.results import Attempt, Faults, PlayedGame
from tests.command import ROOT

RUNGS = {"random": 0.0, "greedy": 40.0, "minimax:depth=2": 150.0, "alphabeta:depth=4": 200.0}
GAME = ROOT / "tests" / "data" / "golden" / "classic.json"
"""The record of every simulated game."""

NOISE = 50.0
SLOTS = 2


def source(strength: float, note: str = "") -> str:
    """Return a well-formed source that tells its strength."""
    return (
        f"STRENGTH = {strength:.1f}\n\n\nclass AIPlayer:\n"
        "    def __init__(self, player_number, time):\n"
        "        self.player_number = player_number\n\n"
        "    def get_expectimax_move(self, state):\n        return 0, False\n\n"
        "    def get_intelligent_move(self, state):\n        return 0, False\n"
        f"# {note}\n"
    )


def hand_in(folder: Path, name: str, strength: float, note: str = "") -> None:
    """Write a student's hand-in."""
    path = folder / name / "ai.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source(strength, note), encoding="utf-8")


def strength_of(player: Contestant, source: bytes | None) -> float:
    """Return the true strength of a player."""
    if source is None:
        return RUNGS[player.name]
    found = re.search(rb"STRENGTH = (\S+)", source)
    assert found is not None
    return float(found[1])


class SimulatedExecutor(Executor):
    """Answers the grader's calls without playing; the same game always ends in the same way."""

    def __init__(self) -> None:
        self.games = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a finished call."""
        future: Future[Any] = Future()
        loaded = Loaded() if fn.__name__ == "try_load" else None
        future.set_result(self._game(*args) if fn.__name__ == "play_game" else loaded)
        return future

    def _game(self, game: PlannedGame, level: str, sources: Sources) -> Attempt:
        self.games += 1
        rng = random.Random(game.key)
        one, two = map(strength_of, game.players, sources)
        margin = round(one - two + rng.gauss(0, NOISE * 2**0.5))
        scores = 200 + max(margin, 0), 200 + max(-margin, 0)
        played = PlayedGame(scores, "no_action", 80, (Faults(), Faults()))
        ids = (game.players[0].id, game.players[1].id)
        record = json.loads(GAME.read_text(encoding="utf-8"))
        return Attempt(game.key, ids, played, record, worker="simulated", seconds=1.0)


def simulated_pool() -> Pool:
    """Return a pool whose games are simulated."""
    return Pool(SimulatedExecutor(), SLOTS, "process")

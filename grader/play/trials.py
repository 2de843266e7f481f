"""Proofs that a file ends the grader, or the worker that plays it.

Such a file is set aside only if a trial shows that it is the cause.
"""

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Final

from connect4.games import GAMES
from connect4.players.registry import method_of
from grader.play import Pool, WorkerDiedError
from grader.play.one_game import agent_of, play_game
from grader.play.schedule import Contestant, Match, PlannedGame
from grader.results import Attempt
from grader.results.store import Store

GREEDY: Final = Contestant("greedy", "greedy", None, "greedy")
"""The other side; against `random` a file would be called with another method than in the marks."""

STAND_IN: Final = b"""\
from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        return get_valid_actions(self.player_number, state)[0]

    get_intelligent_move = get_expectimax_move
"""
"""A file that plays the first valid action, in place of a suspect."""

PROOF: Final = "proof "
STAND: Final = "stand-in "
"""The prefixes of the keys that note the two halves of a proof; the hash of the file follows."""


DEADLY: Final = 2
"""After N deaths of the grader or its worker in a game, it is not played again."""

NOT_PROVEN: Final = (
    "the grader or its worker ended in this game again and again, and no trial proves that a file "
    "does it"
)


def prove_deadly(games: Iterable[PlannedGame], store: Store, pool: Pool) -> bool:
    """Look for the cause of each game that ended the grader too often; return whether there is one.

    A game without a proof stays without a result, with the reason.
    """
    deaths, looked = store.suspects(), False
    for game in games:
        if deaths.get(game.key, 0) >= DEADLY and not store.aside().keys() & set(game.submitted):
            looked = True
            if not prove(game, store, pool):
                one, two = game.players
                store.add(Attempt(game.key, (one.id, two.id), fault=NOT_PROVEN, died=True))
    return looked


def prove(game: PlannedGame, store: Store, pool: Pool) -> bool:
    """Set aside each file of a game that ends its worker again; return whether there is one.

    Proof is that the worker ends again by itself, on the same board and side, with the same seed
    and method, against `greedy`, and that it does not with another file in the place of this one.
    If an earlier grader was ended within a trial, there is no proof: a power cut does that, too.
    """
    found = False
    for side, player in enumerate(game.players, 1):
        sha256 = str(player.sha256)
        again, without = f"{PROOF}{sha256}", f"{STAND}{sha256}"
        if not player.is_submission or store.suspects().keys() & {again, without}:
            continue
        agents = [agent_of(one, GAMES[game.board.game]) for one in game.players]
        method = method_of(agents[side - 1], agents[2 - side])
        one, two = game.match.one, game.match.two
        pair = (one, GREEDY) if side == game.side else (GREEDY, two)
        trial = replace(game, match=Match(game.match.part, *pair))
        _, level, own = trial.job(pool.level, store)
        other = (STAND_IN, None) if side == 1 else (None, STAND_IN)
        cause = _cause(again, (trial, level, own, method), store, pool.executor)
        if cause and not _cause(without, (trial, level, other, method), store, pool.executor):
            proof = f"{cause} with this file in a trial, and not with another one in its place"
            store.set_aside(sha256, game.nameless, proof)
            found = True
    return found


def _cause(key: str, job: tuple[Any, ...], store: Store, executor: Executor) -> str:
    """Return why the worker of a game ended by itself; empty if it did not, or was killed."""
    store.begin(key)
    try:
        executor.submit(play_game, *job).result()
    except WorkerDiedError as error:
        return str(error) if error.by_itself else ""
    except Exception:  # an error that the worker survived proves nothing
        return ""
    finally:
        store.end(key, died=False)
    return ""

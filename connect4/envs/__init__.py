"""The games as standard environments: PettingZoo (`aec`), OpenSpiel (`openspiel`), what both share.

`from connect4.envs import extended_v1; env = extended_v1.env(start="case1")` creates one. The other
games are `classic_v1`, `classic_full_v1`, `dynamic_v1` and `popout_v1`. Requires the extra `env`.
The kit's agents play in both as a `Policy`.
"""

import os
from dataclasses import replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, Final, Self

from connect4.api import level_for
from connect4.errors import AgentError
from connect4.games import GAMES, begin
from connect4.games.base import Action, Game, Player, Seconds, State
from connect4.isolation.seat import open_seat
from connect4.players.base import Outcome, Seat, Setup
from connect4.players.registry import check_board, method_of, parse_agent

VERSION = "_v1"


def __getattr__(name: str) -> Any:
    game = GAMES.get(name.removesuffix(VERSION).replace("_", "-"))
    if game is None or not name.endswith(VERSION):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from connect4.envs.aec import RawEnv, env

    made = {"env": partial(env, game.name, name), "raw_env": partial(RawEnv, game.name, name)}
    return SimpleNamespace(**made)


def __dir__() -> list[str]:
    return sorted({*globals(), *(game.replace("-", "_") + VERSION for game in GAMES)})


class Policy:
    """An agent in an environment of `connect4.envs`, or in a game of OpenSpiel.

    In PettingZoo, `policy(observation)` returns the action of the agent to move; the position comes
    from the environment itself, because the planes do not contain all of it. It is a context
    manager. A file has a separate process for each side that it plays (`isolation`, as in
    `connect4.play`); `close` ends them. Raises `InputError` if there is no such agent.
    """

    def __init__(
        self,
        agent: str,
        env: Any,
        *,
        seconds: Seconds = 1.0,
        seed: int = 0,
        isolation: str | None = None,
    ) -> None:
        self._env = env
        self._rules: Rules = env.rules
        self._name = parse_agent(agent, self._rules.game.name)
        check_board(self._name, self._rules.start)
        self._level = level_for(isolation, self._name)
        self._seconds, self._seed = seconds, seed
        self._seats: dict[Player, Seat] = {}

    def __call__(self, observation: object = None) -> int:
        return self.action_of(self._env.position)

    def action_of(self, state: State) -> int:
        """Return the index of the agent's action in a position, or the only one, such as a pass.

        Raises `AgentError` if its turn is late or failed.
        """
        legal = self._rules.legal(state)
        if len(legal) == 1:
            return legal[0]
        reply = self._seat(state.mover).ask(state, self._seconds)
        if reply.outcome is not Outcome.PLAYED:
            why = reply.detail or reply.outcome.value
            raise AgentError(f"agent {self._name.text!r}: {why.splitlines()[-1]}", why)
        return self._rules.numbers[reply.action]

    def _seat(self, player: Player) -> Seat:
        if player not in self._seats:
            method = method_of(self._name, self._name)
            setup = Setup(self._name, player, self._rules.game, self._seconds, self._seed, method)
            self._seats[player] = open_seat(setup, self._level)
        return self._seats[player]

    def close(self) -> None:
        while self._seats:
            self._seats.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


EXTRA: Final = "pip install -e '.[env]'"


class Rules:
    """One game from one start, as environments use it."""

    def __init__(
        self,
        game: Game,
        start: State | str | os.PathLike[str] | None = None,
        rows: int | None = None,
        columns: int | None = None,
        **options: Any,
    ) -> None:
        """Take the arguments of `games.begin`; raises `InputError`."""
        self.start = begin(game, start, rows, columns, options)
        self.game = game
        self.actions: tuple[Action | None, ...] = game.actions(self.start)
        self.numbers: dict[Action | None, int] = {
            action: number for number, action in enumerate(self.actions)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return Rules, (self.game, self.start)

    def legal(self, state: State) -> list[int]:
        """Return the mover's legal actions as indices, ascending; empty if the game is over."""
        numbers = self.numbers
        legal = [numbers[action] for action in state.legal_actions()]
        if not legal and not state.is_over():
            return [numbers[None]]
        return legal

    def apply(self, state: State, number: int) -> State:
        """Return the position after an action; raises `IllegalAction`."""
        return state.after(self.actions[number])

    @cached_property
    def most(self) -> int:
        """The points of a board full of one player's tokens; 1 if only winning counts."""
        if not self.game.counts_points:
            return 1
        full = {"one": self.start.grid.cells, "two": 0}
        return replace(self.start, **full).scores()[0] or 1  # type: ignore[type-var]

    def reward(self, state: State) -> float:
        """Return player 1's reward at the end of a game, from -1 to 1; player 2 has the negative.

        If points decide, it is the margin divided by `most`, otherwise the sign of the winner.
        """
        if self.game.counts_points:
            return state.margin(1) / self.most
        return float(self.sign(state))

    @staticmethod
    def sign(state: State) -> int:
        """Return 1 if player 1 has won, -1 if player 2 has won, 0 for a draw."""
        return (0, 1, -1)[state.winner() or 0]

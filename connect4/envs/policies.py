"""The kit's agents in other frameworks: a policy for PettingZoo's loop, and a bot for OpenSpiel."""

from __future__ import annotations

from typing import Any, Self

from connect4.envs.rules import Rules
from connect4.errors import AgentError
from connect4.games.base import Player, Seconds, State
from connect4.isolation.seat import choose_level, open_seat
from connect4.players.base import Outcome, Seat, Setup
from connect4.players.registry import check_board, method_of, parse_agent


class Policy:
    """An agent as a function from a position to the index of an action.

    It is a context manager. The agent has a separate process for each side that it plays
    (`isolation`, as in `connect4.play`); `close` ends them. Raises `InputError` if there is no such
    agent.
    """

    def __init__(
        self,
        agent: str,
        rules: Rules,
        *,
        seconds: Seconds = 1.0,
        seed: int = 0,
        isolation: str = "auto",
    ) -> None:
        self._rules = rules
        self._name = parse_agent(agent, rules.game.name)
        check_board(self._name, rules.start)
        self._level, _ = choose_level(isolation)
        self._seconds, self._seed = seconds, seed
        self._seats: dict[Player, Seat] = {}

    def action_of(self, state: State) -> int:
        """Return the agent's action; raises `AgentError` if its turn is late or failed."""
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
        """End the agent's processes."""
        while self._seats:
            self._seats.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ZooPolicy(Policy):
    """A policy for one of the PettingZoo environments in `connect4.envs`.

    `policy(observation)` returns the action of the agent to move. The position comes from the
    environment itself, because the planes do not contain all of it.
    """

    def __init__(self, agent: str, env: Any, **options: Any) -> None:
        """`options` are those of `Policy`: `seconds`, `seed`, `isolation`."""
        super().__init__(agent, env.unwrapped.rules, **options)
        self._env = env.unwrapped

    def __call__(self, observation: object = None) -> int:
        """Return the agent's action, or that of a pass if the mover has no other action."""
        legal = self._env.rules.legal(self._env.position)
        if len(legal) == 1:
            return int(legal[0])
        return self.action_of(self._env.position)

"""The strongest agent of the kit as a player; the students' edition lacks it."""

from __future__ import annotations

from connect4.games.base import Action, Seconds, State
from connect4.players.base import Setup
from connect4.reference import AIPlayer


class ReferenceAgent:
    """Asks the method for its opponent, as a student's file is asked."""

    def __init__(self, setup: Setup) -> None:
        self._player = AIPlayer(setup.player, setup.seconds)
        if "nodes" in setup.agent.options:
            self._player.node_budget = int(setup.agent.options["nodes"])
        assert setup.game.file_action is not None  # the registry refuses the other games
        self._action = setup.game.file_action
        against_chance = setup.method == "expectimax"
        player = self._player
        self._ask = player.get_expectimax_move if against_chance else player.get_intelligent_move

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return a move within the limit that the agent was made with."""
        return self._action(self._ask(state.for_agent()))

"""The games as PettingZoo environments, with the interface of PettingZoo's own classic games."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from connect4.envs import EXTRA, Rules
from connect4.errors import InputError, MissingExtraError
from connect4.games import find_game
from connect4.games.base import Player, State
from connect4.views.document import COLOURS

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError:
    raise MissingExtraError(f"these environments need PettingZoo: {EXTRA}") from None

AGENTS = ("player_0", "player_1")
PLAYERS: dict[str, Player] = {"player_0": 1, "player_1": 2}


class RawEnv(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc]
    """One game; `player_0` is player 1, who moves first unless the start differs.

    An observation is a dict: `observation` holds the planes of `State.planes` from that agent's
    view, and `action_mask` has 1 for each legal action; it is all 0 if another agent moves. An
    action is its index in `Game.actions(start)`. Rewards come at the end, add up to 0 and are
    between -1 and 1: the margin divided by the score of a board full of one's tokens, or 1 for a
    win if only winning counts. An illegal action ends the game: -1 for its agent, 1 for the other.
    At the end `infos` has `winner` (1 won, -1 lost, 0 drawn), `margin` and
    `ending`.
    """

    def __init__(
        self,
        game: str,
        name: str,
        *,
        render_mode: str | None = None,
        **where: Any,
    ) -> None:
        """`where` holds the arguments of `Rules`."""
        super().__init__()
        self.metadata = {
            "name": name,
            "render_modes": ["human", "ansi", "rgb_array"],
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.rules = Rules(find_game(game), **where)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        count, shape = len(self.rules.actions), self.rules.start.planes().shape
        self.action_spaces = {agent: spaces.Discrete(count) for agent in AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (count,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.position: State = self.rules.start
        self._legal: list[int] = []

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin again. Nothing is random, so `seed` has no effect."""
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._move_to(self.rules.start)

    def _move_to(self, position: State) -> None:
        self.position = position
        self._legal = self.rules.legal(position)
        self.agent_selection = AGENTS[position.mover - 1]

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """Return the position as an agent sees it."""
        mask = np.zeros(len(self.rules.actions), dtype=np.int8)
        if agent == self.agent_selection:
            mask[self._legal] = 1
        return {"observation": self.position.planes(PLAYERS[agent]), "action_mask": mask}

    def step(self, action: int) -> None:
        """Play the action of `agent_selection`; raises `InputError` outside its action space.

        PettingZoo's wrappers for illegal actions take longer than the rest of a step.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        is_legal, space = action in self._legal, self.action_spaces[agent]
        if not is_legal and not space.contains(action):
            raise InputError(f"action {action!r}: not in the action space {space}")
        self._cumulative_rewards[agent] = 0.0
        if not is_legal:
            winner = -1 if agent == "player_0" else 1
            self._end(float(winner), "illegal action", winner=winner)
            return
        self._move_to(self.rules.apply(self.position, int(action)))
        state, rules = self.position, self.rules
        if state.is_over():
            ending = str(state.ending())
            self._end(rules.reward(state), ending, winner=rules.sign(state), margin=state.margin(1))
        if self.render_mode == "human":
            self.render()

    def _end(self, reward: float, ending: str, **of_first: int) -> None:
        """Set the rewards and the infos at the end; all numbers are those of `player_0`."""
        for agent, side in (("player_0", 1), ("player_1", -1)):
            self.rewards[agent] = side * reward
            self._cumulative_rewards[agent] += side * reward
            self.terminations[agent] = True
            infos = {key: side * value for key, value in of_first.items()}
            self.infos[agent] = {**infos, "ending": ending}

    def render(self) -> Any:
        """Return the board as text or as an array of shape `(height, width, 3)`, or print it."""
        if self.render_mode == "rgb_array":
            return rgb_array(self.position)
        if self.render_mode == "human":
            print(self.position, file=sys.stdout)
        return str(self.position) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing; the environment holds no resources."""


def env(game: str, name: str, **where: Any) -> Any:
    """Return the environment that also checks the order of the calls."""
    return wrappers.OrderEnforcingWrapper(RawEnv(game, name, **where))


CELL = 32
"""Side of a cell in pixels."""


def rgb_array(state: State) -> npt.NDArray[np.uint8]:
    """Return the board in the light colours of the pages, shape `(height, width, 3)`."""
    board = state.board()
    y, x = np.indices((CELL, CELL)) - (CELL - 1) / 2
    disc = (np.hypot(x, y) <= 13)[..., None]
    names = ("plate", "hole", "player1", "player2")
    plate, *cells = (list(bytes.fromhex(COLOURS[name][0][1:])) for name in names)
    tiles = np.array([np.where(disc, cell, plate) for cell in cells], dtype=np.uint8)
    rows, columns = board.shape
    picture = tiles[board].transpose(0, 2, 1, 3, 4)
    return picture.reshape(rows * CELL, columns * CELL, 3)

"""The games in OpenSpiel: `register()`, then `pyspiel.load_game("connect4_classic(rows=6)")`.

Each game is sequential, deterministic and zero-sum, with perfect information. Its parameters are
`start` (a state file's name), `rows`, `columns` and the game's own options; 0 or "" selects the
default. Actions and rewards are those of the PettingZoo environments (`connect4.envs`).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from connect4.envs import EXTRA, Rules
from connect4.errors import MissingExtraError
from connect4.games import GAMES
from connect4.games.base import Game, State

try:
    import pyspiel
except ImportError:
    raise MissingExtraError(f"this needs OpenSpiel: {EXTRA}") from None

PREFIX = "connect4_"


def short_name(game: Game) -> str:
    """Return OpenSpiel's name for a game."""
    return PREFIX + game.name.replace("-", "_")


def register() -> list[str]:
    """Register every game that is not yet registered; return the names of all of them."""
    for game in GAMES.values():
        if short_name(game) not in pyspiel.registered_names():
            game_type = _game_type(game)
            members = {"rules_of": game, "game_type": game_type}
            # a class, because OpenSpiel releases it after Python has ended
            pyspiel.register_game(game_type, type(short_name(game), (SpielGame,), members))
    return [short_name(game) for game in GAMES.values()]


def _load(text: str) -> "SpielGame":
    """Return the game of that string, also in a process where none is registered yet."""
    register()
    game: SpielGame = pyspiel.load_game(text)
    return game


def _game_type(game: Game) -> Any:
    options = {option.name: option.kind() for option in game.options}
    return pyspiel.GameType(
        short_name=short_name(game),
        long_name=game.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"start": "", "rows": 0, "columns": 0, **options},
    )


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """One game from one start; `register` makes a subclass for each game."""

    rules_of: Game
    game_type: Any

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Take the parameters of a game string; raises `InputError` if they name no start."""
        given = {name: value for name, value in (params or {}).items() if value}
        self.rules = Rules(self.rules_of, **given)
        super().__init__(
            self.game_type,
            pyspiel.GameInfo(
                num_distinct_actions=len(self.rules.actions),
                max_chance_outcomes=0,
                num_players=2,
                min_utility=-1.0,
                max_utility=1.0,
                utility_sum=0.0,
                max_game_length=max(1, self.rules.start.max_plies),
            ),
            params or {},
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (str(self),)

    def new_initial_state(self, state: Any = None) -> "SpielState":
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "PlanesObserver":
        """Return the observer that converts a state to a tensor."""
        return PlanesObserver(self.rules)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A position of `SpielGame`; player 0 is player 1."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.rules = game.rules
        self.position: State = game.rules.start

    def current_player(self) -> int:
        if self.position.is_over():
            return int(pyspiel.PlayerId.TERMINAL)
        return self.position.mover - 1

    def _legal_actions(self, player: int) -> list[int]:
        return self.rules.legal(self.position)

    def _apply_action(self, action: int) -> None:
        self.position = self.rules.apply(self.position, action)

    def _action_to_string(self, player: int, action: int) -> str:
        found = self.rules.actions[action]
        return "pass" if found is None else self.rules.game.format_action(found)

    def is_terminal(self) -> bool:
        return self.position.is_over()

    def returns(self) -> list[float]:
        """Return the rewards of both players; 0 if the game is not over."""
        reward = self.rules.reward(self.position) if self.position.is_over() else 0.0
        return [reward, -reward]

    def __str__(self) -> str:
        return str(self.position)


class PlanesObserver:
    """Writes `State.planes`, from a player's view, as a tensor of shape (planes, rows, columns)."""

    def __init__(self, rules: Rules) -> None:
        rows, columns, planes = rules.start.planes().shape
        self.tensor: npt.NDArray[np.float32] = np.zeros(planes * rows * columns, np.float32)
        self.dict = {"observation": self.tensor.reshape(planes, rows, columns)}

    def set_from(self, state: SpielState, player: int) -> None:
        self.dict["observation"][:] = state.position.planes(1 if player == 0 else 2).transpose(
            2, 0, 1
        )

    def string_from(self, state: SpielState, player: int) -> str:
        return str(state.position)

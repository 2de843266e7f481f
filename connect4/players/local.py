"""An agent that is an object of the calling program: a class, an instance or a function."""

from __future__ import annotations

import traceback
from typing import Any, Final

from connect4.errors import AgentError, InputError, headline
from connect4.games.base import Action, Game, Seconds, State
from connect4.players.base import Setup
from connect4.players.names import AgentName
from connect4.players.student import clipped, read_answer

KIND: Final = "local"

METHODS: Final = ("get_expectimax_move", "get_intelligent_move")
"""The methods of an `AIPlayer`."""

OFFERS: Final = (
    f"expected a class or an instance with {METHODS[0]} and {METHODS[1]}, or with "
    "choose(state, seconds), or a function of a state"
)


def local_name(player: Any, game: Game) -> AgentName:
    """Return an object's name for the record; raises `InputError` if the object cannot play."""
    offers = [method for method in METHODS if hasattr(player, method)]
    own = getattr(player, "__name__", None) or type(player).__name__
    if offers and game.file_action is None and not hasattr(player, "choose"):
        raise InputError(
            f"{own}: {offers[0]} does not play {game.name}; choose(state, seconds) plays all games"
        )
    if len(offers) == 1 and not hasattr(player, "choose"):
        missing = next(method for method in METHODS if method not in offers)
        raise InputError(f"{own} has no method {missing}")
    is_class = isinstance(player, type)
    if not offers and not hasattr(player, "choose") and (is_class or not callable(player)):
        raise InputError(f"{own} is not an agent; {OFFERS}")
    return AgentName(f"{own} (in this process)", KIND)


class LocalAgent:
    """Calls the object for each move, without any protection.

    A class is called with `(player_number, seconds)`, as the runner calls `AIPlayer`. Raises
    `AgentError` if that fails.
    """

    def __init__(self, player: Any, setup: Setup) -> None:
        self._name = setup.agent.text
        self._file_action = setup.game.file_action
        self._method = None if hasattr(player, "choose") else f"get_{setup.method}_move"
        if not isinstance(player, type):
            self._player = player
            return
        try:
            self._player = player(setup.player, setup.seconds)
        except Exception as error:
            raise failure(self._name, "could not be created", error) from error

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return a legal action; raises `IllegalAction` for any other answer."""
        player, method, action_of = self._player, self._method, self._file_action
        as_file = method is not None and hasattr(player, method)
        try:
            if method is None:
                answer = player.choose(state, seconds)
            elif as_file:
                answer = getattr(player, method)(state.for_agent())
            else:
                answer = player(state)
        except Exception as error:
            raise failure(self._name, "failed", error) from error
        action = read_answer(answer) if as_file or isinstance(answer, tuple) else _plain(answer)
        if as_file and action_of is not None:
            action = action_of(action)
        state.apply(action)
        return action


def failure(name: str, what: str, error: Exception) -> AgentError:
    """Return an agent's error with the traceback from its own code on."""
    own = error.__traceback__ and error.__traceback__.tb_next
    text = clipped("".join(traceback.format_exception(type(error), error, own)).rstrip())
    return AgentError(f"{name} {what}: {headline(text)[:200]}", text)


def _plain(answer: Any) -> Any:
    """Convert numpy's number types to Python's."""
    return answer.item() if type(answer).__module__ == "numpy" and answer.ndim == 0 else answer

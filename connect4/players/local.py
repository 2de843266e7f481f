"""Agents from outside the kit: Python objects, policies of other packages, agents for Kaggle."""

import importlib
import operator
import os
import random
import sys
import traceback
from bdb import BdbQuit
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from connect4.errors import AgentError, IllegalAction, InputError, headline
from connect4.games.base import Action, Game, Seconds, State, quoted
from connect4.players.base import AgentName, Setup, policy_folder, read_source
from connect4.players.student import clipped, copied, read_answer, what_changed
from connect4.players.thoughts import forget, raw_thought

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

    changed: str | None = None
    """As of a student's file, what the last call changed of its state."""

    def __init__(self, player: Any, setup: Setup) -> None:
        self._name = setup.agent.text
        self._file_action = setup.game.file_action
        self._method = None if hasattr(player, "choose") else f"get_{setup.method}_move"
        if not isinstance(player, type):
            self._player = player
            return
        what = "could not be created"
        self._player = called(self._name, what, player, setup.player, setup.seconds)

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return a legal action; raises `IllegalAction` for any other answer."""
        player, method, action_of = self._player, self._method, self._file_action
        as_file = method is not None and hasattr(player, method)
        forget(player)
        self.changed = None
        if method is None:
            answer = called(self._name, "failed", player.choose, state, seconds)
        elif as_file:
            given = state.for_agent()
            before = copied(given)
            try:
                answer = called(self._name, "failed", getattr(player, method), given)
            finally:
                self.changed = what_changed(given, before)
        else:
            answer = called(self._name, "failed", player, state)
        if not as_file and type(answer).__module__ == "numpy" and answer.ndim == 0:
            answer = answer.item()
        as_pair = isinstance(answer, tuple) and isinstance(state.legal_actions()[0], tuple)
        action = read_answer(answer) if as_file or as_pair else answer
        if as_file and action_of is not None:
            action = action_of(action)
        state.apply(action)
        return action

    @property
    def thought(self) -> Any:
        """What the object says that it thought of its last position."""
        return raw_thought(self._player)


class PolicyAgent:
    """Calls a function of another package, named by `env:MODULE:FUNCTION`.

    The function receives an observation, as in PettingZoo's environments (see docs/api.md), and the
    position. It returns the number of an action. This class requires neither PettingZoo nor
    OpenSpiel. Raises `AgentError` if there is no such function.
    """

    def __init__(self, setup: Setup) -> None:
        self._game = setup.game
        self._name = setup.agent.rest
        module, _, function = self._name.partition(":")
        _prepare(setup)
        try:
            self._policy = getattr(importlib.import_module(module), function)
        except Exception as error:
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            if missing and f"{module}.".startswith(f"{missing}."):
                text = f"no module {missing!r}, neither installed nor in the current folder"
                raise AgentError(text) from None
            raise failure(self._name, "could not be loaded", error) from error

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return the policy's action; raises `IllegalAction` if its number is invalid."""
        actions = self._game.actions(state)
        legal = set(state.legal_actions())
        mask = np.array([action in legal for action in actions], dtype=np.int8)
        observation = {"observation": state.planes(), "action_mask": mask}
        answer = called(self._name, "failed", self._policy, observation, state)
        number = _whole(answer, "number of an action")
        if not 0 <= number < len(actions):
            raise IllegalAction(f"action {quoted(number)} is outside 0..{len(actions) - 1}")
        return actions[number]


class Fields(dict[str, Any]):
    """A dict whose items are attributes too, as in Kaggle's environments."""

    def __init__(self, **items: Any) -> None:
        super().__init__(items)
        self.__dict__ = self

    def __reduce__(self) -> Any:  # a copy's attributes are its own items
        return Fields, (), None, None, iter(self.items())


KAGGLE_MODULE: Final = "kaggle_agent"

KAGGLE_LIMITS: Final = {"episodeSteps": 1000, "agentTimeout": 60, "runTimeout": 1200}
"""The fields of Kaggle's configuration that do not depend on the game; times in seconds."""


class KaggleAgent:
    """Calls an agent for Kaggle's ConnectX: the last callable of the file in `kaggle:FILE`.

    It is called with `(observation, configuration)`, or with the observation alone if it takes one
    argument, and returns a column. A fault names it, because it may be another one than the author
    means. Raises `AgentError` if the file cannot be loaded.
    """

    def __init__(self, setup: Setup) -> None:
        self._name = os.path.basename(setup.agent.rest)
        self._path = path = os.path.join(_prepare(setup), self._name)
        module = sys.modules[KAGGLE_MODULE] = ModuleType(KAGGLE_MODULE)  # for dataclasses, pickle
        module.__file__ = path
        try:
            exec(compile(read_source(Path(path)), path, "exec", dont_inherit=True), vars(module))
        except Exception as error:
            raise failure(self._name, "could not be loaded", error) from error
        named = (item for name, item in vars(module).items() if not name.startswith("__"))
        found = [item for item in named if callable(item)]
        if not found:
            raise AgentError(
                f"{self._name} has no function; expected f(observation, configuration)"
            )
        self._agent = found[-1]
        code = getattr(self._agent, "__code__", None)
        self._arguments = 2 if code is None else code.co_argcount
        kind = "class " if isinstance(self._agent, type) else ""
        own_name = getattr(self._agent, "__name__", type(self._agent).__name__)
        of = getattr(self._agent, "__module__", KAGGLE_MODULE)
        origin = "" if of == KAGGLE_MODULE else f" of the module {of}"
        self._who = f"the last callable of the file is the agent: {kind}{own_name}{origin}"

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return the agent's column; raises `IllegalAction` if it is invalid."""
        board = state.board()
        rows, columns = board.shape
        cells = board.ravel().tolist()
        step = sum(map(bool, cells))
        observation = Fields(board=cells, mark=state.mover, step=step, remainingOverageTime=60)
        is_whole = seconds is not None and float(seconds).is_integer()
        limit = int(seconds) if seconds is not None and is_whole else seconds
        configuration = Fields(rows=rows, columns=columns, inarow=state.grid.line, timeout=limit)
        configuration.update(KAGGLE_LIMITS, actTimeout=limit, __raw_path__=self._path)
        arguments = (observation, configuration)[: self._arguments]
        answer = called(self._name, "failed", self._agent, *arguments, note=f"\nnote: {self._who}")
        column = _whole(answer, f"column; expected an integer; {self._who}")
        state.apply(column)
        return column


def _prepare(setup: Setup) -> str:
    """Seed the generators and make the folder of an agent importable; return that folder."""
    random.seed(setup.derived_seed())
    np.random.seed(setup.derived_seed() % 2**32)
    folder = setup.folder or policy_folder(setup.agent) or os.getcwd()
    sys.path.append(folder)  # last, so that it hides no module of Python's
    return folder


def called(
    name: str, what: str, function: Callable[..., Any], *arguments: Any, note: str = ""
) -> Any:
    """Call a function of an agent; raises `AgentError`, with a `note`, if that fails."""
    try:
        return function(*arguments)
    except BdbQuit:  # `q` in pdb ends the game, not only the turn
        raise
    except Exception as error:
        raise failure(name, what, error, note) from error


def _whole(answer: Any, what: str) -> int:
    try:
        return operator.index(answer)
    except TypeError:
        raise IllegalAction(f"{quoted(answer)} is no {what}") from None


def failure(name: str, what: str, error: Exception, note: str = "") -> AgentError:
    """Return an agent's error with the traceback from its own code on."""
    own = error.__traceback__ and error.__traceback__.tb_next
    text = clipped("".join(traceback.format_exception(type(error), error, own)).rstrip()) + note
    return AgentError(f"{name} {what}: {headline(text)[:200]}", text)

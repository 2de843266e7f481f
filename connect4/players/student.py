"""A student's file as an agent: load it, call its method, read its answer, show its errors."""

import json
import linecache
import operator
import os
import random
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from connect4.errors import AgentError, IllegalAction, InputError, headline
from connect4.games.base import Action, Seconds, State, quoted
from connect4.players.base import Setup, read_source, source_lines, student_file
from connect4.players.thoughts import forget, raw_thought
from connect4.utils import Integer

MAX_DETAIL: Final = 4000
"""Maximum length of an agent's traceback in characters."""

MODULE_NAME: Final = "submission"

KIT: Final = Path(__file__).parents[1]

IMPORT_CHECK: Final = str(KIT / "isolation" / "protocol.py")
"""Its lines are left out of tracebacks: they do not help the author."""

CHANGE_TEXT: Final = re.compile(
    r"the (board it was given: row \d+, column \d+ is -?\d+, was \d+"
    r"|pop-outs it was given: player \d has -?\d+, had \d+)"
)
"""What an agent's process may say that the agent changed: no other text passes for the kit's."""

MAX_FRAMES: Final = 20
"""Maximum number of frames in a traceback; the innermost are kept."""

FRAME: Final = re.compile(
    rb'^  File "([ -~]{1,500}?)", line ([0-9]{1,7}) in ([!-~]{1,100})$', re.MULTILINE
)
"""A line of `faulthandler`; the innermost call comes first."""

REPORTED: Final = "Where its code was, as the agent's own process reported it"

ADDRESS: Final = re.compile(r"\bat 0x[0-9a-fA-F]+")
"""Addresses of objects, which differ from run to run; a repeated game must not differ."""

NUMPY_INTEGERS: Final = tuple(np.dtype(code).type for code in np.typecodes["AllInteger"])
NUMPY_FLOATS: Final = tuple(np.dtype(code).type for code in np.typecodes["Float"])


GivenState: TypeAlias = tuple[npt.NDArray[np.int64], dict[int, Integer]]
"""The state that the method of a student's file receives."""

Note: TypeAlias = Callable[[BaseException], str | None]
"""Returns a note for the author of an error, or None."""


class StudentAgent:
    """The `AIPlayer` of the file that `setup` names.

    Raises `AgentError` if the file cannot be loaded or the player cannot be created.
    """

    changed: str | None = None
    """What the last call changed of its state, in words."""

    thought: Any = None
    """The thought that the player set for its last position, not yet checked."""

    def __init__(self, setup: Setup, note: Note | None = None) -> None:
        self._note = note
        self._path = student_file(setup.agent)
        source = setup.source
        self._on_disk = source is None
        try:
            self._source = read_source(self._path) if source is None else source
        except InputError as error:
            raise AgentError(f"{self._path.name} {error}") from None
        self._method = f"get_{setup.method}_move"
        assert setup.game.file_action is not None  # the registry refuses the other games
        self._action = setup.game.file_action
        random.seed(setup.derived_seed())
        try:
            if uses_numpy_random(self._source):
                np.random.seed(setup.derived_seed() % 2**32)  # students use the legacy generator
            if not self._source.strip():
                raise AgentError(f"{self._path.name}: the file is empty")
            module = self._load_module()
            if not hasattr(module, "AIPlayer"):
                near = [name for name in vars(module) if name.lower() == "aiplayer"]
                hint = f"; rename {near[0]} to AIPlayer" if near else ""
                raise AgentError(f"{self._path.name} defines no class AIPlayer{hint}")
            seconds = setup.seconds
            limit = int(seconds) if float(seconds).is_integer() else seconds
            self.player = module.AIPlayer(setup.player, limit)
            if "nodes" in setup.agent.options:
                self.player.node_budget = int(setup.agent.options["nodes"])
        except (AgentError, KeyboardInterrupt):  # KeyboardInterrupt is a person's Ctrl-C
            raise
        except BaseException as error:
            signature = "__init__(self, player_number, time)"
            raise self._failure("could not be loaded", error, signature) from None

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Call the student's method and check its answer; `AgentError` has the traceback."""
        given = state.for_agent()
        before = copied(given)
        self.thought = None
        forget(self.player)
        try:
            answer = getattr(self.player, self._method)(given)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            signature = f"{self._method}(self, state)"
            raise self._failure(f"failed in {self._method}", error, signature) from None
        finally:
            self.changed = what_changed(given, before)
        action = self._action(read_answer(answer))
        self.thought = raw_thought(self.player)  # in the agent's own time, if it runs its code
        return action

    def call(self, method: str, state: State) -> dict[str, Any]:
        """Call another method of the player, such as `explain`.

        Returns `answer` with the list that it returned, or `missing`, or `failed` and why.
        """
        try:
            if not hasattr(self.player, method):
                return {"missing": ""}
            answer = getattr(self.player, method)(state.for_agent())
            if answer is None:
                return {"failed": f"{method} returned None; expected a list"}
            return {"answer": json.loads(json.dumps(list(answer), default=_plain))}
        except BaseException as error:
            return {"failed": f"failed in {method}: {error!r:.500}"}

    def _load_module(self) -> ModuleType:
        """Run the file as a separate module, without adding a folder to the import path.

        The source is always compiled: bytecode next to the file might not match the source whose
        hash the record keeps. The code has the file's bare name, so tracebacks do not depend on the
        folder.
        """
        text = self._source.decode("utf-8-sig")  # compiled as such, whatever encoding it declares
        code = compile(text, self._path.name, "exec", dont_inherit=True)
        module = ModuleType(MODULE_NAME)
        module.__file__ = os.path.abspath(self._path) if self._on_disk else self._path.name
        sys.modules[MODULE_NAME] = module  # dataclasses and pickle look up their module
        exec(code, vars(module))
        return module

    def _failure(self, what: str, error: BaseException, signature: str) -> AgentError:
        """Return the error with a traceback that begins in the agent's own file.

        If the traceback has no line of that file, the error names the expected `signature`.
        """
        name = self._path.name
        try:
            text = ADDRESS.sub("at 0x...", _traceback(error, name, self._source))
            note = None if self._note is None else self._note(error)
            if isinstance(error, TypeError) and not text.startswith("Traceback ("):
                note = f"note: the simulator needs def {signature} in class AIPlayer"
            text = text if note is None else f"{text}\n{note}"
        except Exception:  # __str__ of the agent's own error may raise
            text = f"{type(error).__name__}: (its message cannot be shown)"
        text = clipped(text)
        return AgentError(f"{name} {what}: {headline(text)[:200]}", text)


def copied(given: GivenState) -> tuple[bytes, list[int]]:
    """Return the cells and the numbers of pop-outs of a state that an agent is given."""
    return given[0].tobytes(), [left._i for left in given[1].values()]


def what_changed(given: GivenState, before: tuple[bytes, list[int]]) -> str | None:
    """Return what differs from what `copied` returned before, in words (`CHANGE_TEXT`), or None.

    It takes about a microsecond. An agent may make anything of its state; then nothing is known.
    """
    board, (cells, counts) = given[0], before
    try:
        if board.tobytes() != cells:
            old, new = np.frombuffer(cells, board.dtype), board.ravel()
            place = int((old != new).argmax())
            row, column = divmod(place, board.shape[1])
            change = f"row {row}, column {column} is {new[place]}, was {old[place]}"
            return f"the board it was given: {change}"
        left: list[Any] = [getattr(each, "_i", each) for each in given[1].values()]
        if left != counts:
            player = 1 if left[0] != counts[0] else 2
            change = f"player {player} has {left[player - 1]}, had {counts[player - 1]}"
            return f"the pop-outs it was given: {change}"
    except Exception:  # the agent may have put anything in its place
        return None
    return None


def _plain(value: object) -> object:
    """Return a number of numpy's as Python's, and the name of what is no value of JSON."""
    return value.item() if isinstance(value, np.generic) else f"a {type(value).__name__}"


def clipped(text: str) -> str:
    """Return the beginning and the end of a long text."""
    if len(text) <= MAX_DETAIL:
        return text
    return text[: MAX_DETAIL // 2] + "\n...\n" + text[-MAX_DETAIL // 2 :]


def uses_numpy_random(source: bytes) -> bool:
    """Return whether a file may use `numpy.random`, which is slow to load."""
    return b"random" in source


def _traceback(error: BaseException, name: str, source: bytes) -> str:
    """Return the traceback from the first line of the file `name` on, with lines of `source`."""
    first: TracebackType | None = error.__traceback__
    while first is not None and first.tb_frame.f_code.co_filename != name:
        first = first.tb_next
    if first is not None:  # so the source is valid UTF-8
        lines = [f"{line}\n" for line in source_lines(source)]
        linecache.cache[name] = (len(source), None, lines, name)
    lines = traceback.format_exception(type(error), error, first, limit=-MAX_FRAMES)
    if first is None and isinstance(error, SyntaxError):  # the cause first, then the place
        lines = [f"{type(error).__name__}: {error}\n", *lines[:-1]]
    shown = (line for line in lines if not line.lstrip().startswith(f'File "{IMPORT_CHECK}", '))
    return (
        "".join(shown).replace(f'  File "{KIT.parent}{os.sep}connect4', '  File "connect4').rstrip()
    )


def reported_stack(dump: bytes, name: str, source: bytes) -> str:
    """Return the stack of a student's file, from what `faulthandler` wrote in the agent's process.

    It has only frames of the file `name`, each with its line of `source`, and is empty if there are
    none. Any other output is ignored.
    """
    lines = source_lines(source)
    shown = []
    own = name.encode("ascii", "backslashreplace")
    for file, line, function in FRAME.findall(dump):
        number = int(line)
        if file == own and 0 < number <= len(lines):
            where = f'  File "{name}", line {number}, in {function.decode("ascii")}'
            shown.append(f"{where}\n    {lines[number - 1].strip()[:200]}")
    if not shown:
        return ""
    shown = shown[MAX_FRAMES - 1 :: -1]
    return "\n".join([f"{REPORTED} (most recent call last):", *shown])


def read_answer(answer: object) -> tuple[int, bool]:
    """Return an agent's answer as `(column, is_popout)` in plain values.

    Columns are whole numbers of any type; pop-outs are bool, 0/1 or numpy's bool. Only a tuple is
    an action. No method of a class that the agent may have defined is called, so the answer cannot
    lie. Raises `IllegalAction` with the invalid value.
    """
    if not issubclass(type(answer), tuple):
        why = " (a method without `return` gives None)" if answer is None else ""
        raise IllegalAction(f"an action is a tuple (column, is_popout), not {_shown(answer)}{why}")
    values: list[object] = list(tuple.__iter__(cast("tuple[object, ...]", answer)))
    if len(values) != 2:
        raise IllegalAction(
            f"an action is a tuple of two, (column, is_popout); got {len(values)} values"
        )
    column, is_popout = values
    if issubclass(type(is_popout), tuple):
        raise IllegalAction("the second value is a tuple; if that is the action, return it alone")
    return _read_column(column), _read_popout(is_popout)


def _is_a(value: object, *kinds: type) -> bool:
    """Return whether the type of `value` is one of `kinds`, without running code of the agent.

    `isinstance` reads `value.__class__` and `==` calls the metaclass; the agent may have defined
    both.
    """
    return any(type(value) is kind for kind in kinds)


def _read_column(column: object) -> int:
    if _is_a(column, int, bool, *NUMPY_INTEGERS):
        number = operator.index(column)  # type: ignore[arg-type]
    elif _is_a(column, float, *NUMPY_FLOATS):
        value = float(column)  # type: ignore[arg-type]
        if not value.is_integer():
            raise IllegalAction(f"column {value} is not a whole number")
        number = int(value)
    else:
        raise IllegalAction(f"a column is a whole number, not {_shown(column)}")
    if not 0 <= number < 10_000:
        raise IllegalAction("column is outside the board" if number > 0 else "column is negative")
    return number


def _read_popout(value: object) -> bool:
    if _is_a(value, bool, np.bool_):
        return bool(value)
    if _is_a(value, int, *NUMPY_INTEGERS) and value in (0, 1):
        return bool(value)
    raise IllegalAction(f"is_popout is True or False, not {_shown(value)}")


def _shown(value: object) -> str:
    """Return a short text for a value from an untrusted agent."""
    plain = (int, float, str, bool, type(None), np.bool_)
    cells = cast("list[object]", value) if _is_a(value, list) else [value]
    if len(cells) > 60 or not all(_is_a(cell, *plain, *NUMPY_INTEGERS) for cell in cells):
        return f"a value of type {type.__dict__['__name__'].__get__(type(value))[:60]}"
    return quoted(value)

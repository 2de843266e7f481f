"""The messages between the referee and an agent's process, and how each end processes them.

The agent's end loads the agent and answers requests for moves: `worker` runs it in a separate
process, a guest in an interpreter that counts its steps. Before any code of a submission runs,
`confine` restricts honest files to the allowed modules, with clear error messages. A file that gets
around this still cannot read the kit's files.
"""

import errno
import gc
import json
import os
import random
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final, TypeAlias

from connect4.errors import AgentError, IllegalAction, InputError, harmless
from connect4.games import find_game
from connect4.games.base import Game
from connect4.players import base, student
from connect4.players.base import Agent, Outcome, Reply, Setup
from connect4.players.student import MAX_DETAIL, Note, StudentAgent, clipped
from connect4.players.thoughts import said_by, with_thought

RULES: Final = b"r"
"""The first message to a warden, sent with the descriptor of its rules, if it has any."""
START: Final = b"s"
END: Final = b"e"
STATUS: Final = struct.Struct("=i")

STACK_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
"""Makes an agent's process report its stack; None if the system has no such signal."""

# -- keys of messages from an agent's process

BROKEN: Final = "broken"
"""It cannot be isolated; the value is the reason."""
UP: Final = "up"
"""It is isolated; the value is its process number. The agent is loaded next."""
READY: Final = "ready"
"""The agent is loaded."""
FAILED: Final = "failed"
"""The agent could not be loaded; the value is the reason."""
PLAYED: Final = "played"
"""An action, as text."""
NOTED: Final = "noted"
"""An action, as text, and the agent's note on it."""
INVALID: Final = "invalid"
"""An answer that is not an action; the value is the reason."""
ERROR: Final = "error"
"""The agent raised an exception; the value is its traceback."""
LAST: Final = "last"
"""As `ERROR`, after which the process ends."""
CHANGED: Final = "changed"
"""Stands beside these three answers: what `StudentAgent.changed` has."""
THOUGHT: Final = "thought"
"""What the agent thought; beside an action, that this follows in a line of its own."""
FOLLOWS: Final = b'"thought": true'
"""Stands in an answer that a thought follows."""
THOUGHT_LINE: Final = b'{"thought"'
"""How a line with a thought begins: an agent that was stopped before it was sent sends it late."""


def line_of(message: dict[str, Any]) -> bytes:
    """Return a message as it is sent."""
    return json.dumps(message).encode() + b"\n"


def handed_over(setup: Setup) -> Setup:
    """Return the setup that an agent's process receives: its file, and its own seed.

    Raises `InputError` if the student's file cannot be read.
    """
    agent, source = setup.agent, None
    if agent.kind == "ai":
        path = base.student_file(agent)
        agent = replace(agent, text="ai", rest=path.name)  # it must not learn the path of the file
        try:
            source = base.read_source(path) if setup.source is None else setup.source
        except InputError as error:
            raise InputError(f"agent {setup.agent.text!r}: the file {error}") from None
    own_seed, folder = setup.derived_seed(), base.policy_folder(setup.agent)
    return replace(setup, agent=agent, source=source, seed=0, own_seed=own_seed, folder=folder)


def setup_to_json(setup: Setup) -> dict[str, Any]:
    """Return what `read_setup` needs of a setup that was `handed_over`, with its source as text."""
    source = setup.source
    return {
        "agent": asdict(setup.agent),
        "player": setup.player,
        "game": setup.game.name,
        "seconds": setup.seconds,
        "method": setup.method,
        "source": None if source is None else source.decode("utf-8", "surrogateescape"),
        "own_seed": setup.own_seed,
        "folder": setup.folder,
    }


def read_setup(value: dict[str, Any]) -> Setup:
    """Return the setup that `setup_to_json` wrote."""
    text = value["source"]
    own = {
        "agent": base.AgentName(**value["agent"]),
        "game": find_game(value["game"]),
        "source": None if text is None else text.encode("utf-8", "surrogateescape"),
    }
    return Setup(**(value | own), seed=0)


ANSWERS: Final = 1000
"""The descriptor that a guest writes its answers to."""

MAX_LINE: Final = 1 << 16
"""The maximum length of an answer in bytes."""

MAX_ACTION_TEXT: Final = 16

NO_ANSWER: Final = "what came from the agent's process is not an answer"


def read_message(line: bytes) -> tuple[str, Any]:
    """Return the one key and the value of a line; an empty key if the line is invalid."""
    message = _read(line)
    return next(iter(message.items())) if len(message) == 1 else ("", None)


def _read(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def why_not_loaded(line: bytes) -> str | None:
    """Return why an agent could not be loaded, as its process says; None if it was."""
    key, value = read_message(line)
    if key == READY:
        return None
    return cleaned(value) if key == FAILED else NO_ANSWER


def read_answer(line: bytes, game: Game, notes: bool) -> tuple[Reply, bool]:
    """Return the reply in a line, and whether the process may be asked again.

    `notes` says whether the agent may add a note to its move; views show it as the kit's own text.
    """
    message = _read(line)
    message.pop(THOUGHT, None)
    changed = str(message.pop(CHANGED, ""))
    made = partial(Reply, changed=changed if student.CHANGE_TEXT.fullmatch(changed) else None)
    key, value = next(iter(message.items())) if len(message) == 1 else ("", None)
    note = None
    if key == NOTED and notes and isinstance(value, list) and len(value) == 2:
        key, value, note = PLAYED, value[0], cleaned(value[1])
    if key == PLAYED and isinstance(value, str) and len(value) <= MAX_ACTION_TEXT:
        try:
            action = game.parse_action(value)
        except IllegalAction as error:
            return made(Outcome.INVALID, detail=cleaned(str(error))), True
        return made(Outcome.PLAYED, action, game.format_action(action), detail=note), True
    if key == INVALID:
        return made(Outcome.INVALID, detail=cleaned(value)), True
    if key in (ERROR, LAST):
        return made(Outcome.ERROR, detail=cleaned(value)), key == ERROR
    return made(Outcome.INVALID, detail=NO_ANSWER), False


def read_thought(reply: Reply, line: bytes, game: Game) -> Reply:
    """Return a reply with the thought in a line; without one if there is none in it."""
    key, said = read_message(line)
    return with_thought(reply, said, game) if key == THOUGHT else reply


def cleaned(text: object) -> str:
    """Return a harmless detail of bounded length."""
    if not isinstance(text, str):
        return NO_ANSWER
    return harmless(text[: MAX_DETAIL + 10])[: MAX_DETAIL + 10]


def ending_text(status: int) -> str:
    """Describe how a process ended."""
    if status >= 0:
        return f"its process ended with exit status {status}"
    if status == -9:
        return "its process was killed, or closed its line to the referee"
    names = {number.value: number.name for number in signal.Signals}  # not real-time ones
    return f"its process was ended by {names.get(-status, f'signal {-status}')}"


Send: TypeAlias = Callable[[bytes], object]
"""Sends bytes to the referee."""


def say(send: Send, message: dict[str, Any]) -> None:
    """Flush the agent's output, then send one line."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the agent may have closed or replaced it
            continue
    send(line_of(message))


PLAIN_SEED: Final = random.Random.seed


def draw_from(seed: int) -> None:
    """Make the system's random bytes depend on `seed`, so that a game repeats.

    That covers generators without a seed (numpy's too), `secrets` and `uuid4`.
    """
    stream = random.Random(f"system {seed}")  # not the stream of `random.seed(seed)`

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        PLAIN_SEED(self, stream.getrandbits(256) if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    random.seed = random._inst.seed
    random._urandom = os.urandom = stream.randbytes  # type: ignore[attr-defined]
    os.getrandom = lambda size, flags=0: stream.randbytes(size)


def load(send: Send, setup: Setup, note: Note | None) -> Agent | None:
    """Return the agent, or report the failure to the referee and return None."""
    try:
        if setup.source is not None:
            return StudentAgent(setup, note)
        from connect4.players.registry import build

        return build(setup)
    except BaseException as error:
        say(send, {FAILED: _detail(error, note)})
        return None


def answer(
    agent: Agent, game: Game, request: dict[str, Any], note: Note | None = None
) -> dict[str, Any]:
    """Return the answer to one request; it has `LAST` for an error that ends this process."""
    state = game.from_json(request["state"])
    message: dict[str, Any]
    try:
        played = game.format_action(agent.choose(state, request["seconds"]))
        said = base.note_of(agent)
        message = {PLAYED: played} if said is None else {NOTED: [played, said]}
        if base.thought_of(agent) is not None:
            message[THOUGHT] = True
    except IllegalAction as error:
        message = {INVALID: str(error)}
    except BaseException as error:
        cause = error.__context__ if isinstance(error, AgentError) else error
        stops = isinstance(cause, SystemExit | KeyboardInterrupt)
        message = {LAST if stops else ERROR: _detail(error, note)}
    changed = getattr(agent, CHANGED, None)
    return message if changed is None else {**message, CHANGED: changed}


def say_thought(send: Send, agent: Agent) -> None:
    """Send what the agent thought of the position of its last answer."""
    say(send, {THOUGHT: said_by(agent)})


def _detail(error: BaseException, note: Note | None) -> str:
    """Return the text about an error; that of a student's file has its note already."""
    if isinstance(error, AgentError):
        told = note(error) if note and error.__cause__ else None
        return error.detail if told is None else f"{error.detail}\n{told}"
    return clipped("".join(traceback.format_exception(error, limit=-student.MAX_FRAMES)).rstrip())


# -- what a submission may import, and notes on denied calls

KIT = ("connect4", "grader")
"""Packages of which a submission may import only the allowed modules."""


FOLDER = Path(__file__).resolve().parents[1]


class Imports:
    """Refuses modules of the kit and of others, as the first entry of `sys.meta_path`."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = ("numpy", *allowed)
        *most, last = ("the standard library", *self._allowed)
        self._listed = f"{', '.join(most)} and {last}"

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None, so that the other finders continue, or raise `ImportError`.

        Libraries may import any module outside the kit.
        """
        may = any(
            f"{name}.".startswith(f"{each}.") or each.startswith(f"{name}.")
            for each in self._allowed
        )
        top = name.partition(".")[0]
        of_others = top not in sys.stdlib_module_names and _asked_by_submission()
        if not may and (top in KIT or of_others):
            # as for a package that is not there; `from connect4 import search` would hide it
            kind = ImportError if top in KIT else ModuleNotFoundError
            raise kind(
                f"{name} is not part of what a submission may import: {self._listed}", name=name
            )
        return None


def _asked_by_submission() -> bool:
    """Return whether the current import statement is in the submission itself."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and not os.path.isabs(frame.f_code.co_filename)


def confine(kept: Iterable[str], allowed: Sequence[str]) -> tuple[Path, ...]:
    """Unload the modules of the kit that are not in `kept`, and refuse to load them again.

    Returns the files of the kit that stay readable. Code of the kit that is still running can only
    be found through frames and `gc`; the rest is freed.
    """
    staying = set(kept)
    for name in [name for name in sys.modules if name.partition(".")[0] in KIT]:
        if name not in staying:
            package, _, last = name.rpartition(".")
            del sys.modules[name]
            vars(sys.modules.get(package, sys)).pop(last, None)
    left = vars(sys.modules["__main__"])
    for name in [name for name in left if not name.startswith("__")]:  # left by `spawn.BOOT`
        del left[name]
    sys.meta_path.insert(0, Imports(allowed))
    for folder in [folder for folder in sys.path_importer_cache if "-packages" in folder]:
        del sys.path_importer_cache[folder]  # it caches the names of packages that cannot be read
    gc.collect()
    files = (vars(sys.modules[name]).get("__file__") for name in staying if name in sys.modules)
    return tuple(sorted(Path(file) for file in files if file and FOLDER in Path(file).parents))


DENIED = "note: agents may not open files (a submission is one file) or sockets, or start processes"


def note(error: BaseException) -> str | None:
    """Return a line for an error caused by a call that is denied to agents, else None.

    It cannot know whether a missing file would exist without the restrictions.
    """
    current: BaseException | None = error
    for _ in range(10):
        if current is None:
            break
        if isinstance(current, OSError) and _was_denied(current):
            return DENIED
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)
    return None


def _was_denied(error: OSError) -> bool:
    refused = error.errno in (errno.EPERM, errno.EACCES, errno.EROFS)
    if refused or type(error).__name__ == "gaierror":
        return True
    if error.errno != errno.ENOENT or not isinstance(error.filename, str | bytes):
        return False
    path = os.path.abspath(os.fsdecode(error.filename))
    python = [os.path.dirname(os.__file__), *(entry for entry in sys.path if "-packages" in entry)]
    return not any(path.startswith(f"{folder}/") for folder in python)

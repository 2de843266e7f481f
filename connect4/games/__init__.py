"""The games of the kit: `GAMES` by name, and how to load a starting position by its name."""

import copyreg
import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from connect4.games.base import Game, State
from connect4.games.classic import CLASSIC, CLASSIC_FULL
from connect4.games.dynamic import DYNAMIC
from connect4.games.extended import EXTENDED
from connect4.games.popout import POP_OUT

GAMES: Final[dict[str, Game]] = {
    game.name: game for game in (EXTENDED, CLASSIC, CLASSIC_FULL, DYNAMIC, POP_OUT)
}

STARTS: Final = Path(__file__).parent.parent / "initial_states"

MAX_START_BYTES: Final = 1_000_000


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean ...?)` if a name in `known` is close, else an empty string."""
    names = {name.lower(): name for name in known}
    match = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    return f" (did you mean {names[match[0]]!r}?)" if match else ""


def nearest_file(path: Path, pattern: str = "*") -> str:
    """Return the same for a missing file, of those in its folder that fit the pattern."""
    if os.path.exists(path) or not os.path.isdir(path.parent):
        return ""
    return nearest(path.name, (one.name for one in path.parent.glob(pattern)))


def find_game(name: str) -> Game:
    """Return the game of that name; raises `InputError` with the known names if there is none."""
    if name not in GAMES:
        hint = nearest(name, GAMES)
        raise InputError(f"no game {name!r}{hint}; the games are {', '.join(GAMES)}")
    return GAMES[name]


copyreg.pickle(Game, lambda game: (find_game, (game.name,)))  # a copy is the game itself


def begin(
    game: Game,
    start: State | str | os.PathLike[str] | None,
    rows: int | None,
    columns: int | None,
    options: Mapping[str, Any],
) -> State:
    """Return the first position of a game: `start`, a state file of that name, or an empty board.

    `rows` and `columns` are for the empty board; None is the default size. Raises `InputError`,
    also for an unknown option.
    """
    known = [option.name for option in game.options]
    for name in options:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise InputError(f"{game.name} has no option {name!r}; its options are {listed}")
    given = [size for size in (rows, columns) if size is not None]
    if any(isinstance(size, bool) or not hasattr(size, "__index__") for size in given):
        raise InputError(f"rows and columns are whole numbers, not {rows!r} and {columns!r}")
    if start is None:
        state = game.start(rows, columns)
    elif rows or columns:
        raise InputError("rows and columns are for an empty board; a start has its own size")
    elif isinstance(start, State):
        state = start
    elif isinstance(start, str | os.PathLike):
        state = load_start(game, os.fspath(start))
    else:
        what = f"a start is a position or a file, not a value of type {type(start).__name__}"
        raise InputError(f"{what}; connect4.GAMES[{game.name!r}].from_json reads a board")
    return state.with_options(**options) if options else state


def find_start(game: Game, name: str) -> Path:
    """Return the state file `name`: a path, or one of the kit's files, with or without `.txt`.

    Raises `InputError` with the closest name that the game can read.
    """
    folder = STARTS / game.folder
    for path in (Path(name), folder / name, folder / f"{name}.txt"):
        if os.path.isfile(path):  # unlike Path.is_file, no error if the name is too long
            return path
    names = [path.name for path in own_starts(game)]
    hint = nearest(Path(name).name, names)
    hint = hint or (f"; the kit's own are {', '.join(names)}" if names else "")
    raise InputError(f"{name}: no such file, here or among the kit's initial states{hint}")


def own_starts(game: Game) -> list[Path]:
    """Return the kit's state files of a game, by name."""
    return sorted((STARTS / game.folder).glob("*.txt")) if game.folder else []


def load_start(game: Game, name: str) -> State:
    """Read the state file `name` (see `find_start`); raises `InputError`."""
    path = find_start(game, name)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_START_BYTES + 1)
        if len(data) > MAX_START_BYTES:
            raise InputError(f"{name}: larger than {MAX_START_BYTES} bytes; that is no state file")
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not a text file (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    return game.read(text, name)

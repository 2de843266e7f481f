"""The record of a game: a JSON document, written completely, and checked by replay when read.

Everything that processes a finished game starts here. `docs/formats.md` describes the document.
"""

import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from connect4 import safe
from connect4.episode import document_of
from connect4.errors import InputError, one_line
from connect4.games import find_game
from connect4.games.base import Ending, Game, Player, Seconds, State, Winner
from connect4.players import thoughts
from connect4.players.base import Method, Outcome, Turn
from connect4.referee import Over, Result, TurnBegun, TurnEnded, play

FORMAT: Final = "connect4-record/1"

MAX_CHARACTERS: Final = 50_000_000
MAX_TURNS: Final = 100_000
MAX_CELLS: Final = 10_000
MAX_SCORE: Final = 10**9
MAX_FUEL: Final = 10**16
MAX_SEED: Final = 10**80
MAX_SECONDS: Final = 1e9
"""Limits that no record of a game reaches."""

MAX_LIMIT: Final = 1e6
"""The longest time limit in seconds that a game takes."""

MAX_DEPTH: Final = 50
"""How deep the values of unknown keys are nested at most."""


@dataclass(frozen=True, slots=True)
class RecordedPlayer:
    """One side of a recorded game; `sha256` is the hash of a student's file, else None."""

    agent: str
    asked: Method | None = None
    sha256: str | None = None


def agent_versions() -> dict[str, str]:
    """Return the versions of Python and numpy, which agents depend on."""
    return {"python": platform.python_version(), "numpy": np.__version__}


@dataclass(slots=True, repr=False)
class Record:
    """A finished game, or a game in progress.

    Iterating gives `(position, turn)` pairs: each turn with the position before it. `extra` keeps
    unknown keys of a document.
    """

    game: Game
    start: State
    players: tuple[RecordedPlayer, RecordedPlayer]
    time_limit: Seconds
    seed: int
    turns: list[Turn] = field(default_factory=list)
    result: Result | None = None
    isolation: str = "none"
    lifetime: str = "game"
    versions: dict[str, str] = field(default_factory=agent_versions)
    taken_back: int = 0
    """How many turns a person took back."""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def scores(self) -> tuple[int, int]:
        """The points of player 1 and player 2; raises `InputError` before the game has ended."""
        return self._ended().scores

    @property
    def margin(self) -> int:
        """Player 1's points minus player 2's; raises `InputError` before the game has ended."""
        one, two = self._ended().scores
        return one - two

    @property
    def winner(self) -> Winner:
        """The winner, 1 or 2, or 0 if nobody won; raises `InputError` before the game has ended."""
        return self._ended().winner

    @property
    def ending(self) -> Ending:
        """Why the game ended; raises `InputError` before it has."""
        return self._ended().ending

    @property
    def faults(self) -> tuple[Turn, ...]:
        """The turns that were lost: late, illegal or failed; `turn.detail` is the reason."""
        return tuple(turn for turn in self.turns if turn.is_lost)

    def _ended(self) -> Result:
        if self.result is None:
            raise InputError("the game has no result yet")
        return self.result

    def __iter__(self) -> Iterator[tuple[State, Turn]]:
        return zip(replay(self), self.turns, strict=False)  # the last position has no turn

    def __len__(self) -> int:
        return len(self.turns)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        one, two = (one_line(player.agent) for player in self.players)
        if self.result is None:
            return f"<Record of {self.game.name}: {one} against {two}, {len(self)} turns so far>"
        points = self.result.scores
        who = f"player {self.winner} wins" if self.winner else "nobody wins"
        lost = f", {len(self.faults)} of them lost" if self.faults else ""
        return (
            f"<Record of {self.game.name}: {one} {points[0]}, {two} {points[1]}; "
            f"{who} ({self.ending.value}), {len(self)} turns{lost}>"
        )

    def save(self, path: str | Path) -> None:
        """Write the record as JSON, completely or not at all; raises `InputError` if that fails."""
        self._ended()
        write(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> "Record":
        """Return the record in a file after replaying and checking it; raises `InputError`."""
        return read(Path(path))

    def to_json(self) -> dict[str, Any]:
        assert self.result is not None, "a record is written when its game has ended"
        return {
            "format": FORMAT,
            "game": self.game.name,
            "rules_version": self.game.rules_version,
            **({"points": list(self.game.points)} if self.game.points else {}),
            "start": self.start.to_json(),
            "time_limit": self.time_limit,
            "seed": self.seed,
            "isolation": self.isolation,
            "lifetime": self.lifetime,
            "agent_versions": self.versions,
            "players": [asdict(player) for player in self.players],
            "turns": [_turn_to_json(turn) for turn in self.turns],
            **({"taken_back": self.taken_back} if self.taken_back else {}),
            "result": {
                "scores": list(self.result.scores),
                "ending": self.result.ending.value,
                "winner": self.result.winner,
                **({} if self.result.detail is None else {"detail": self.result.detail}),
            },
            **self.extra,
        }


def dumps(record: Record) -> str:
    """Return the document as readable text: one line for each turn and each row of a board."""
    document = record.to_json()
    lines = []
    for key, value in document.items():
        if key in ("turns", "players") and value:
            rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(record: Record, path: Path) -> None:
    """Write the document completely or not at all; raises `InputError` if that fails."""
    safe.write_text(path, dumps(record), "the record")


def read(path: Path) -> Record:
    """Read and check a record; raises `InputError` with the file and what is wrong.

    The turns are replayed from the start. They must be legal and give the recorded scores.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except OSError as error:
        raise InputError(f"{path}: the record cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a record (byte {error.start} is no text)") from None
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{path}: longer than {MAX_CHARACTERS} characters; that is no record")
    try:
        return loads(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_turn(path: Path, number: int) -> tuple[Record, State]:
    """Read a record; return it and the position before a turn; raises `InputError`."""
    record = read(path)
    if not record.turns:
        raise InputError(f"{path}: no turn was played; play the game again")
    if not 1 <= number <= len(record.turns):
        raise InputError(f"{path}:{number}: the record has turns 1 to {len(record.turns)}")
    return record, list(replay(record))[number - 1]


def loads(text: str) -> Record:
    """Read and check the text of a record, or of an episode of Kaggle's ConnectX; see `read`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a record: no JSON ({error})") from None
    found = document.get("format") if isinstance(document, dict) else None
    of_kaggle = found is None and isinstance(document, dict) and document.get("name") == "connectx"
    if found != FORMAT and not of_kaggle:
        raise InputError(f"not a record of a game: format {safe.shown(found)}, expected {FORMAT!r}")
    try:
        record = _from_episode(document) if of_kaggle else _from_json(document)
    except InputError:
        raise
    except WRONG_FORM as error:
        raise InputError(f"not a whole record: {type(error).__name__}: {error!s:.200}") from None
    check(record)
    return record


WRONG_FORM: Final = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading a document raises that has another form."""


Keys: TypeAlias = dict[str, tuple[Callable[[Any, str], Any], Any]]
"""What checks the value of each key, and the default; `NEEDED` in its place if there is none."""

NEEDED: Final = object()


def _or_none(check: Callable[[Any, str], Any], value: Any, name: str) -> Any:
    return None if value is None else check(value, name)


def _method(value: Any, name: str) -> Any:
    if value not in (None, "expectimax", "intelligent"):
        raise InputError(f"{name} is {safe.shown(value)}; expected expectimax or intelligent")
    return value


def _scores(value: Any, name: str) -> tuple[int, int]:
    one, two = (safe.whole(points, "a score", MAX_SCORE) for points in safe.items(value, name, 2))
    return one, two


def _versions(value: Any, name: str) -> dict[str, str]:
    return {key: safe.text(version, key) for key, version in safe.fields(value, name).items()}


_SECONDS: Final = partial(safe.number, most=MAX_SECONDS), 0.0
_TEXT: Final = partial(_or_none, safe.text), None

RECORD_KEYS: Final[Keys] = {
    "time_limit": (partial(safe.number, most=MAX_LIMIT), NEEDED),
    "seed": (partial(safe.whole, most=MAX_SEED, least=-MAX_SEED), NEEDED),
    "isolation": (safe.text, "none"),
    "lifetime": (safe.text, "game"),
    "agent_versions": (_versions, {}),
    "taken_back": (partial(safe.whole, most=MAX_TURNS), 0),
}

PLAYER_KEYS: Final[Keys] = {
    "agent": (safe.text, NEEDED),
    "asked": (_method, None),
    "sha256": _TEXT,
}

TURN_KEYS: Final[Keys] = {
    "player": (partial(safe.whole, most=2, least=1), NEEDED),
    "action": (_TEXT[0], NEEDED),
    "outcome": (lambda value, name: Outcome(value), NEEDED),
    "seconds": _SECONDS,
    "cpu_seconds": _SECONDS,
    "overrun": _SECONDS,
    "starved": (safe.flag, False),
    "fuel": (partial(_or_none, partial(safe.whole, most=MAX_FUEL)), None),
    "changed": _TEXT,
    "thought": (lambda value, name: value, None),  # `_turn_from_json` knows the game
    "hint": (safe.flag, False),
    "detail": _TEXT,
}

RESULT_KEYS: Final[Keys] = {
    "scores": (_scores, NEEDED),
    "ending": (lambda value, name: Ending(value), NEEDED),
    "winner": (partial(safe.whole, most=2), NEEDED),
    "detail": _TEXT,
}

OPTIONAL: Final = ("fuel", "changed", "thought", "hint")
"""Keys of a turn that are there only if they say something."""

OTHER_KEYS: Final = ("format", "game", "rules_version", "points", "start", "players", "turns")


def _checked(value: Any, name: str, keys: Keys) -> dict[str, Any]:
    """Return the values of an object's keys after their checks; the object may have other keys."""
    found = safe.fields(value, name)
    return {
        key: check(found[key] if default is NEEDED else found.get(key, default), key)
        for key, (check, default) in keys.items()
    }


def _from_json(document: dict[str, Any]) -> Record:
    game = find_game(safe.text(document["game"], "game"))
    version = document["rules_version"]
    if type(version) is not int or version != game.rules_version:
        raise InputError(
            f"rules version {safe.shown(version)} of {game.name}, expected {game.rules_version}"
        )
    points = document.get("points", list(game.points))
    if points != list(game.points):
        raise InputError(
            f"a run of 0, 1, 2 ... tokens was worth {safe.shown(points)} in this game; "
            f"connect4/config.py has {list(game.points)}"
        )
    one, two = (
        RecordedPlayer(**_checked(player, "a player", PLAYER_KEYS))
        for player in safe.items(document["players"], "players", 2)
    )
    start = game.from_json(safe.fields(document["start"], "start"))
    if (cells := start.board().size) > MAX_CELLS:
        raise InputError(f"start: a board of {cells} cells; expected at most {MAX_CELLS}")
    known = {*RECORD_KEYS, *OTHER_KEYS, "result"}
    extra = {key: value for key, value in document.items() if key not in known}
    for key, value in extra.items():
        if safe.is_deeper(value, MAX_DEPTH):
            raise InputError(f"{safe.shown(key)} is nested more than {MAX_DEPTH} deep")
    turns = safe.items(document["turns"], "turns", MAX_TURNS)
    values = _checked(document, "the record", RECORD_KEYS)
    return Record(
        game,
        start,
        (one, two),
        versions=values.pop("agent_versions"),
        turns=[_turn_from_json(number, turn, game) for number, turn in enumerate(turns, 1)],
        result=Result(**_checked(document["result"], "result", RESULT_KEYS)),
        extra=extra,
        **values,
    )


def _from_episode(episode: dict[str, Any]) -> Record:
    unfinished = {"scores": [0, 0], "ending": Ending.LEFT, "winner": 0}
    record = _from_json({**document_of(episode), "result": unfinished})
    record.result = _replayed(record)[1] or record.result
    return record


def _turn_from_json(number: int, value: Any, game: Game) -> Turn:
    try:
        values = _checked(value, "it", TURN_KEYS)
        text, action = values.pop("action"), None
        if values["outcome"] is Outcome.PLAYED:
            action = game.parse_action(safe.text(text, "action"))
        if values["thought"] is not None:
            thought, wrong = thoughts.checked(thoughts.plain(values["thought"]), game)
            values["thought"] = thought or None
            if wrong is not None:
                raise ValueError(wrong)
        return Turn(action=action, text=text, number=number, **values)
    except KeyError as error:
        raise InputError(f"turn {number}: no {error}") from None
    except WRONG_FORM as error:
        raise InputError(f"turn {number}: {error!s:.200}") from None


def _turn_to_json(turn: Turn) -> dict[str, Any]:
    values: dict[str, Any] = {
        key: turn.text if key == "action" else getattr(turn, key)
        for key in TURN_KEYS
        if key not in OPTIONAL or getattr(turn, key) not in (None, False)
    }
    times = {key: round(values[key], 3) for key in ("seconds", "cpu_seconds", "overrun")}
    return {**values, "outcome": turn.outcome.value, **times}


def replay(record: Record) -> list[State]:
    """Return the position before the first turn and after each turn.

    Raises `InputError` with the first turn that the rules do not allow.
    """
    return _replayed(record)[0]


def _replayed(record: Record) -> tuple[list[State], Result | None]:
    """Return the positions, and the result if the game ends with the last turn.

    The recorded turns are the replies to the referee, whose judgement must be the recorded one.
    """
    states = [record.start]
    limits: dict[Player, Seconds | None] = {1: None, 2: None}
    events = play(record.game, record.start, {}, limits, play_unloaded=True)
    event = next(events)
    for turn in record.turns:
        if isinstance(event, TurnBegun) and turn.outcome is not Outcome.PASS:
            event = events.send(turn)
        judged = event.turn if isinstance(event, TurnEnded) else None
        if judged is None or (judged.player, judged.outcome) != (turn.player, turn.outcome):
            said = f"player {turn.player}, {one_line(turn.text)} ({turn.outcome})"
            why = f": {judged.detail}" if judged and judged.detail else ""
            raise InputError(f"turn {turn.number}: {said} is against the rules there{why}")
        states.append(event.state)
        event = next(events)
    return states, event.result if isinstance(event, Over) else None


def check(record: Record) -> None:
    """Replay the record; raises `InputError` if the turns do not lead to the recorded result."""
    result = record.result
    assert result is not None
    states, ended = _replayed(record)
    if ended is None or (result.ending.undecided and not ended.ending.by_rules):
        ended = Result(states[-1].scores(), result.ending, result.winner)
        needs_rules = result.ending.by_rules or result.ending is Ending.STALLED
        if needs_rules or (result.ending is Ending.NOT_LOADED and record.turns):
            raise InputError(f"turn {len(record.turns)}: no game ends there with {result.ending}")
    found, recorded = (
        f"{each.scores}, {each.ending}, winner {each.winner}" for each in (ended, result)
    )
    if found != recorded:
        raise InputError(
            f"turn {len(record.turns)}: the game ends there with {found}; the record has {recorded}"
        )

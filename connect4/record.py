"""The record of a game: a JSON document, written completely, and checked by replay when read.

Everything that processes a finished game starts here. `docs/formats.md` describes the document.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from connect4 import atomic, checked
from connect4.errors import IllegalAction, InputError, one_line
from connect4.games import find_game
from connect4.games.base import Ending, FaultPolicy, Game, Player, Seconds, State, Winner
from connect4.players.base import Method, Outcome, Turn
from connect4.referee import Result, final

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
        return (
            f"<Record of {self.game.name}: {one} {points[0]}, {two} {points[1]}; "
            f"{who} ({self.ending.value}), {len(self)} turns>"
        )

    def save(self, path: str | Path) -> None:
        """Write the record as JSON, completely or not at all; raises `InputError` if that fails."""
        self._ended()
        write(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Record:
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


OPTIONAL: Final = ("fuel", "changed", "thought", "hint")
"""Keys of a turn that are there only if they say something."""


def _turn_to_json(turn: Turn) -> dict[str, Any]:
    return {
        "player": turn.player,
        "action": turn.text,
        "outcome": turn.outcome.value,
        "seconds": round(turn.seconds, 3),
        "cpu_seconds": round(turn.cpu_seconds, 3),
        "overrun": round(turn.overrun, 3),
        "starved": turn.starved,
        **{key: value for key in OPTIONAL if (value := getattr(turn, key)) not in (None, False)},
        "detail": turn.detail,
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
    try:
        atomic.write_text(path, dumps(record))
    except OSError as error:
        raise InputError(f"{path}: the record cannot be written: {error.strerror}") from None


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
    """Read and check the text of a record; see `read`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a record: no JSON ({error})") from None
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise InputError(
            f"not a record of a game: format {checked.shown(found)}, expected {FORMAT!r}"
        )
    try:
        record = _from_json(document)
    except InputError:
        raise
    except WRONG_FORM as error:
        raise InputError(f"not a whole record: {type(error).__name__}: {error!s:.200}") from None
    check(record)
    return record


WRONG_FORM: Final = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading a document raises that has another form."""


KNOWN: Final = frozenset(
    {
        *("format", "game", "rules_version", "start", "time_limit", "seed", "isolation"),
        *("lifetime", "agent_versions", "players", "turns", "result", "points", "taken_back"),
    }
)


def _from_json(document: dict[str, Any]) -> Record:
    game = find_game(checked.text(document["game"], "game"))
    version = document["rules_version"]
    if type(version) is not int or version != game.rules_version:
        raise InputError(
            f"rules version {checked.shown(version)} of {game.name}, expected {game.rules_version}"
        )
    points = document.get("points", list(game.points))
    if points != list(game.points):
        raise InputError(
            f"a run of 0, 1, 2 ... tokens was worth {checked.shown(points)} in this game; "
            f"connect4/config.py has {list(game.points)}"
        )
    one, two = map(_player_from_json, checked.items(document["players"], "players", 2))
    start = game.from_json(checked.fields(document["start"], "start"))
    if (cells := start.board().size) > MAX_CELLS:
        raise InputError(f"start: a board of {cells} cells; expected at most {MAX_CELLS}")
    extra = {key: value for key, value in document.items() if key not in KNOWN}
    for key, value in extra.items():
        if checked.is_deeper(value, MAX_DEPTH):
            raise InputError(f"{checked.shown(key)} is nested more than {MAX_DEPTH} deep")
    turns = checked.items(document["turns"], "turns", MAX_TURNS)
    versions = checked.fields(document.get("agent_versions", {}), "agent_versions")
    return Record(
        game=game,
        start=start,
        players=(one, two),
        time_limit=checked.number(document["time_limit"], "time_limit", MAX_LIMIT),
        seed=checked.whole(document["seed"], "seed", MAX_SEED, -MAX_SEED),
        turns=[_turn_from_json(number, turn, game) for number, turn in enumerate(turns, 1)],
        result=_result_from_json(checked.fields(document["result"], "result")),
        isolation=checked.text(document.get("isolation", "none"), "isolation"),
        lifetime=checked.text(document.get("lifetime", "game"), "lifetime"),
        versions={key: checked.text(value, key) for key, value in versions.items()},
        taken_back=checked.whole(document.get("taken_back", 0), "taken_back", MAX_TURNS),
        extra=extra,
    )


def _player_from_json(value: Any) -> RecordedPlayer:
    player = checked.fields(value, "a player")
    return RecordedPlayer(
        checked.text(player["agent"], "agent"),
        _optional(player.get("asked"), "asked", ("expectimax", "intelligent")),
        _optional(player.get("sha256"), "sha256"),
    )


def _result_from_json(result: dict[str, Any]) -> Result:
    scores = checked.items(result["scores"], "scores", 2)
    one, two = (checked.whole(points, "a score", MAX_SCORE) for points in scores)
    winner = checked.whole(result["winner"], "winner", 2)
    detail = _optional(result.get("detail"), "detail")
    return Result((one, two), Ending(result["ending"]), cast("Winner", winner), detail)


def _thought(value: Any) -> dict[str, Any] | None:
    """Return what an agent thought, None if nothing is said; it is shown as it was checked then."""
    if value is None:
        return None
    found = checked.fields(value, "thought")
    if checked.is_deeper(found, MAX_DEPTH):
        raise ValueError(f"thought is nested more than {MAX_DEPTH} deep")
    return dict(found)


def _turn_from_json(number: int, value: Any, game: Game) -> Turn:
    try:
        turn = checked.fields(value, "it")
        outcome, fuel = Outcome(turn["outcome"]), turn.get("fuel")
        is_played = outcome is Outcome.PLAYED
        text = (checked.text if is_played else _optional)(turn["action"], "action")
        seconds, cpu_seconds, overrun = (
            checked.number(turn.get(name, 0.0), name, MAX_SECONDS)
            for name in ("seconds", "cpu_seconds", "overrun")
        )
        return Turn(
            outcome,
            action=game.parse_action(text) if is_played else None,
            text=text,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            overrun=overrun,
            starved=checked.flag(turn.get("starved", False), "starved"),
            detail=_optional(turn.get("detail"), "detail"),
            fuel=None if fuel is None else checked.whole(fuel, "fuel", MAX_FUEL),
            changed=_optional(turn.get("changed"), "changed"),
            thought=_thought(turn.get("thought")),
            hint=checked.flag(turn.get("hint", False), "hint"),
            number=number,
            player=cast("Player", checked.whole(turn["player"], "player", 2, 1)),
        )
    except KeyError as error:
        raise InputError(f"turn {number}: no {error}") from None
    except WRONG_FORM as error:
        raise InputError(f"turn {number}: {error!s:.200}") from None


def _optional(value: object, name: str, among: Collection[str] = ()) -> Any:
    """Return a text, which must be in `among` unless that is empty, or None."""
    if value is not None and among and value not in among:
        raise InputError(f"{name} is {checked.shown(value)}; expected {' or '.join(among)}")
    return None if value is None else checked.text(value, name)


def replay(record: Record) -> Iterator[State]:
    """Yield the position before the first turn and after each turn.

    Raises `InputError` with the first turn that the rules do not allow.
    """
    state, skips = record.start, 0
    yield state
    for turn in record.turns:
        if state.is_over():
            raise InputError(f"turn {turn.number}: the game is over before it")
        if skips == record.game.max_skips and record.game.on_fault is FaultPolicy.SKIP:
            raise InputError(f"turn {turn.number}: the game is stalled before it")
        if turn.player != state.mover:
            raise InputError(f"turn {turn.number}: player {turn.player} moves out of turn")
        skips = 0 if turn.outcome is Outcome.PLAYED else skips + turn.is_lost
        if turn.outcome is Outcome.PLAYED:
            try:
                state = state.apply(turn.action)
            except IllegalAction as error:
                raise InputError(f"turn {turn.number}: {one_line(turn.text)}: {error}") from None
        elif turn.outcome is Outcome.PASS and state.legal_actions():
            raise InputError(
                f"turn {turn.number}: player {turn.player} passes but has a legal action"
            )
        else:
            state = state.skip()
        yield state


def check(record: Record) -> None:
    """Replay the record; raises `InputError` if the turns do not lead to the recorded result."""
    result = record.result
    assert result is not None
    state = record.start
    for state in replay(record):  # noqa: B007 - the last one is what is wanted
        pass
    last = len(record.turns)
    if state.scores() != result.scores:
        raise InputError(
            f"turn {last}: the scores after the last turn are {state.scores()}, "
            f"the record has {result.scores}"
        )
    ending = state.ending()
    by_rules = ending is not None
    if by_rules and result.ending != ending:
        raise InputError(
            f"turn {last}: the game ends there with {ending}, the record has {result.ending}"
        )
    if not by_rules and result.ending.by_rules:
        raise InputError(
            f"turn {last}: the record has {result.ending}, but the game is not over there"
        )
    if result.ending is Ending.NOT_LOADED and last:
        raise InputError(f"turn {last}: the record has not_loaded, which ends a game before turn 1")
    rest = takewhile(lambda turn: turn.outcome is not Outcome.PLAYED, reversed(record.turns))
    stalled = sum(turn.is_lost for turn in rest) >= record.game.max_skips
    if result.ending is Ending.STALLED and not stalled:
        raise InputError(
            f"turn {last}: the record has stalled, but {record.game.max_skips} turns in a row "
            "were not skipped"
        )
    won = final(state, result.ending).winner
    if (by_rules or result.ending is Ending.STALLED) and result.winner != won:
        raise InputError(
            f"turn {last}: scores of {state.scores()} make the winner {won}, "
            f"the record has {result.winner}"
        )

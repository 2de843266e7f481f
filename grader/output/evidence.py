"""The evidence for complaints: every record, each with the exact source that played.

Below `--out`: `submissions/NAME/HASH/ai.py` and `records/NAME/HASH/*.json`, where HASH is the
first digits of the source's SHA-256, and `records/index.csv` with one line for each record.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from grader.handin.submission import FOLDER, file_name
from grader.output.files import beginning, write
from grader.output.formats import cell
from grader.play.schedule import Contestant, PlannedGame
from grader.results.store import KeptGame, Store

RECORDS: Final = "records"

HIDDEN: Final = "hidden-boards"
"""Folder of the records on hidden boards; the teacher does not publish it."""

DIGITS: Final = 32
"""Digits of a hash in the name of a folder: two files that share 12 are found in minutes."""

PAGE_MARK: Final = "<!-- feedback "
"""A mark in the first lines of each page that the grader writes."""

COLUMNS: Final = (
    *("Submission", "SHA-256", "Now", "Counts", "Part", "Opponent", "Board", "Round", "Side"),
    *("Own", "Other", "Ending", "Played at", "Attempt", "File"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of one submission: a line of the index."""

    name: str
    sha256: str
    planned: PlannedGame | None
    """None for a game of an earlier version of the file, or under another rubric."""
    side: int
    kept: KeptGame
    document: dict[str, Any]
    hidden: bool
    """Whether its board is hidden from students."""

    @property
    def place(self) -> list[object]:
        """Return part, opponent, board and round; of an earlier game only the opponent is known."""
        if self.planned is None:
            return ["", self.kept.names[2 - self.side], "", ""]
        opponent = self.planned.players[2 - self.side].name
        return [
            self.planned.match.part,
            opponent,
            self.planned.board.label,
            self.planned.repeat + 1,
        ]

    @property
    def path(self) -> Path:
        """Return the path of the record, relative to `--out`."""
        parts = [str(part) for part in (*self.place, f"player{self.side}") if part != ""]
        attempt = [] if self.kept.counts else [f"attempt{self.kept.attempt}"]
        name = file_name("-".join(parts)) + "-".join(["", self.kept.key[:8], *attempt])
        folder = Path(RECORDS, HIDDEN) if self.hidden else Path(RECORDS)
        return folder / file_name(self.name) / self.sha256[:DIGITS] / f"{name}.json"

    def row(self) -> list[str]:
        """Return the line of the index."""
        scores = self.kept.scores
        own, other = ("", "") if scores is None else (scores[self.side - 1], scores[2 - self.side])
        now = "no" if self.planned is None else "yes"
        values = [
            *(self.name, self.sha256, now, now if self.kept.counts else "no", *self.place),
            *(self.side, own, other, self.kept.ending, self.kept.played_at, self.kept.attempt),
            self.path.as_posix(),
        ]
        return [cell(str(value)) for value in values]


def write_records(games: Sequence[PlannedGame], store: Store, out: Path) -> None:
    """Write all records and their sources, so that any turn can be repeated from `out`.

    An existing record is not changed.
    """
    entries: list[Entry] = []
    by_key: dict[str, list[PlannedGame]] = {}
    for game in games:
        by_key.setdefault(game.key, []).append(game)
    submissions = store.submissions()
    names = {item.name for item in submissions}
    hidden = [game.board.start for game in games if game.board.hidden]
    played = store.played(opponents_faults=True)
    forgotten = {item.name for item in submissions if item.source is None}
    lost = {
        game.key: game
        for game in games
        if game.key in played and forgotten.isdisjoint(player.name for player in game.players)
    }
    now = {old: new for old, new in store.renamed().items() if old not in names}
    for held in store.kept():
        one, two = (now.get(name, name) for name in held.names)
        kept = replace(held, names=(one, two))
        planned = by_key.get(kept.key, [])
        if kept.text is None:
            continue
        lost.pop(kept.key, None)
        document = json.loads(kept.text)
        for entry in _entries(kept, document, planned, names, document["start"] in hidden):
            entries.append(entry)
            if not (out / entry.path).is_file():
                write(out / entry.path, json.dumps(entry.document) + "\n")
    for game in lost.values():
        whose = f"{game.match.one.name}, {game.title}"
        print(f"{whose}: not written: the record is damaged or lost", file=sys.stderr)
    _write_sources(entries, store, out)
    text = io.StringIO()
    rows = sorted(entry.row() for entry in entries)
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    write(out / RECORDS / "index.csv", text.getvalue())


def _entries(
    kept: KeptGame,
    document: dict[str, Any],
    planned: Sequence[PlannedGame],
    names: Collection[str],
    hidden: bool,
) -> Iterable[Entry]:
    """Yield the entries of a game; several submissions with equal content share a game."""
    for game in planned:
        own = game.match.one
        named = with_sources(document, game.players)
        yield Entry(own.name, str(own.sha256), game, game.side, kept, named, hidden)
    if planned:
        return
    for side, (name, player) in enumerate(zip(kept.names, document["players"], strict=True), 1):
        if name in names and player["sha256"] and player["asked"]:
            players = (
                Contestant(other, "ai:" if other in names else "", held["sha256"])
                for other, held in zip(kept.names, document["players"], strict=True)
            )
            named = with_sources(document, players)
            yield Entry(name, player["sha256"], None, side, kept, named, hidden)
            return


def with_sources(document: dict[str, Any], contestants: Iterable[Contestant]) -> dict[str, Any]:
    """Return a record that names, for each submission, the file with the source that played."""
    players = [
        {**player, "agent": f"ai:{source_path(item.name, str(item.sha256)).as_posix()}"}
        if item.is_submission
        else player
        for player, item in zip(document["players"], contestants, strict=True)
    ]
    return {**document, "players": players}


def source_path(name: str, sha256: str) -> Path:
    """Return the path of one version of a student's source, relative to `--out`."""
    return Path(FOLDER, file_name(name), sha256[:DIGITS], "ai.py")


def _write_sources(entries: Iterable[Entry], store: Store, out: Path) -> None:
    """Write every source that a record names, and those of submissions without games."""
    sources = {
        source_path(item.name, str(item.sha256)): str(item.sha256)
        for item in store.submissions()
        if item.source is not None
    }
    for entry in entries:
        for player in entry.document["players"]:
            if player["agent"].startswith(f"ai:{FOLDER}/"):
                sources[Path(player["agent"].removeprefix("ai:"))] = player["sha256"]
    for path, sha256 in sources.items():
        source = store.source(sha256)
        if source is not None and not (out / path).is_file():
            write(out / path, source)


def files_of(out: Path, name: str) -> list[Path]:
    """Return the pages, the results and the folders that a run has written for a student."""
    name = file_name(name)
    pages = (
        (out / "feedback" / f"{name}.html", PAGE_MARK),
        (out / "results" / f"{name}.json", '"tests"'),
    )
    folders = [folder / name for folder in (out / FOLDER, out / RECORDS, out / RECORDS / HIDDEN)]
    return [
        *(path for path, mark in pages if path.is_file() and mark in beginning(path)),
        *(path for path in folders if path.is_dir() and not path.is_symlink()),
    ]


def remove_withdrawn(out: Path, withdrawn: Iterable[str], present: Iterable[str]) -> None:
    """Remove files that an earlier run wrote for students who have been withdrawn."""
    left = set(map(file_name, withdrawn)) - {*map(file_name, present), HIDDEN}
    gone: set[str] = set()
    for name in left:
        for path in files_of(out, name):
            gone.add(name)
            if path.is_dir():
                _clear(path)
            else:
                path.unlink(missing_ok=True)
    if gone:
        print(f"{out}: removed what was there of {'; '.join(sorted(gone))}", file=sys.stderr)


def remove_played_by(out: Path, hashes: Iterable[str]) -> None:
    """Remove every record of a game in which one of these sources played."""
    for path in (out / RECORDS).rglob("*.json"):
        text = path.read_text(encoding="utf-8", errors="replace")
        if any(sha256 in text for sha256 in hashes):
            path.unlink()


def _clear(folder: Path) -> None:
    """Remove records and sources below a folder, then the folders that are empty."""
    for place, _, files in os.walk(folder, topdown=False, followlinks=False):
        for name in files:
            path = Path(place, name)
            if path.suffix in (".json", ".py") and not path.is_symlink():
                path.unlink(missing_ok=True)
        with suppress(OSError):
            os.rmdir(place)

"""The evidence for complaints: every record, each with the exact source that played.

Below `--out`: `submissions/HASH/ai.py` and `records/HASH/*.json`, where HASH is the first digits of
the source's SHA-256. They name nobody. `records/index.csv` has one line for each record, with the
names of those who handed the file in.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.handin import FOLDER, file_name, sources_of
from grader.handin.lists import csv_text
from grader.output import beginning, write
from grader.play.one_game import DIGITS, source_path
from grader.play.schedule import PlannedGame, names_of
from grader.results import KeptGame
from grader.results.store import Store

RECORDS: Final = "records"

HIDDEN: Final = "hidden-boards"
"""Folder of the records on hidden boards; the teacher does not publish it."""

PAGE_MARK: Final = "<!-- feedback "
"""A mark in the first lines of each page that the grader writes."""

COLUMNS: Final = (
    *("Submission", "SHA-256", "Now", "Counts", "Part", "Opponent", "Board", "Round", "Side"),
    *("Own", "Other", "Ending", "Played at", "Attempt", "File"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of one file: a line of the index."""

    names: str
    """Who handed the file in."""
    sha256: str
    planned: PlannedGame | None
    """None for a game of an earlier version of the file, or under another rubric."""
    side: int
    kept: KeptGame
    hidden: bool
    """Whether its board is hidden from students."""

    @property
    def place(self) -> list[object]:
        """Return part, opponent, board and round; of an earlier game only the opponent's id."""
        if self.planned is None:
            return ["", _short(self.kept.ids[2 - self.side]), "", ""]
        game = self.planned
        return [
            game.match.part,
            game.players[2 - self.side].name,
            game.board.label,
            game.repeat + 1,
        ]

    @property
    def path(self) -> Path:
        """Return the path of the record, relative to `--out`; it names no student."""
        part, _, *rest = self.place
        where = [part, _short(self.kept.ids[2 - self.side]), *rest, f"player{self.side}"]
        parts = [str(text) for text in where if text != ""]
        attempt = [] if self.kept.counts else [f"attempt{self.kept.attempt}"]
        name = file_name("-".join(parts)) + "-".join(["", self.kept.key[:8], *attempt])
        folder = Path(RECORDS, HIDDEN) if self.hidden else Path(RECORDS)
        return folder / self.sha256[:DIGITS] / f"{name}.json"

    def row(self) -> list[str]:
        """Return the line of the index."""
        scores = self.kept.scores
        own, other = ("", "") if scores is None else (scores[self.side - 1], scores[2 - self.side])
        now = "no" if self.planned is None else "yes"
        values = [
            *(self.names, self.sha256, now, now if self.kept.counts else "no", *self.place),
            *(self.side, own, other, self.kept.ending, self.kept.played_at, self.kept.attempt),
            self.path.as_posix(),
        ]
        return list(map(str, values))


def _short(id_: str) -> str:
    """Return the id of a contestant for the name of a file: of a hash, the first digits."""
    return id_[:8] if len(id_) == 64 else id_


def write_records(games: Sequence[PlannedGame], store: Store, out: Path) -> None:
    """Write all records and their sources, so that any turn can be repeated from `out`.

    An existing record is not changed. Folders of files that nobody present has handed in go.
    """
    entries: list[Entry] = []
    by_key: dict[str, list[PlannedGame]] = {}
    for game in games:
        by_key.setdefault(game.key, []).append(game)
    authors = store.versions()
    hidden = [game.board.start for game in games if game.board.hidden]
    played = store.played()
    lost = {game.key: game for game in games if game.key in played and _is_whole(game, store)}
    for kept in store.kept():
        if kept.text is None:
            continue
        lost.pop(kept.key, None)
        start = json.loads(kept.text)["start"]
        for entry in _entries(kept, by_key.get(kept.key, []), authors, start in hidden):
            entries.append(entry)
            if not (out / entry.path).is_file():
                write(out / entry.path, kept.text)
    for game in lost.values():
        whose = f"{game.match.one.name}, {game.title}"
        print(f"{whose}: not written: the record is damaged or lost", file=sys.stderr)
    _write_sources(entries, store, out)
    rows = sorted(entry.row() for entry in entries)
    write(out / RECORDS / "index.csv", csv_text(COLUMNS, rows))


def _is_whole(game: PlannedGame, store: Store) -> bool:
    """Return whether the sources of a game are held; those of a forgotten student are not."""
    return all(store.source(sha256) is not None for sha256 in game.submitted)


def _entries(
    kept: KeptGame,
    planned: Sequence[PlannedGame],
    authors: Mapping[str, Sequence[str]],
    hidden: bool,
) -> Iterable[Entry]:
    """Yield the entries of a game: one for each match that it counts in, else for each file."""
    for game in planned:
        own = game.match.one
        yield Entry(own.name, own.id, game, game.side, kept, hidden)
    for side, id_ in enumerate(kept.ids, 1) if not planned else ():
        if id_ in authors:
            yield Entry(names_of(authors[id_]), id_, None, side, kept, hidden)
            return


def _write_sources(entries: Iterable[Entry], store: Store, out: Path) -> None:
    """Write every source that a record names, and those of submissions without games."""
    held = sources_of(store.submissions())
    for sha256 in {id_ for entry in entries for id_ in entry.kept.ids} - held.keys():
        source = store.source(sha256)
        if source is not None:
            held[sha256] = source
    for sha256, source in held.items():
        path = out / source_path(sha256)
        if not path.is_file():
            write(path, source)


def remove_withdrawn(out: Path, store: Store, strangers: bool = False) -> None:
    """Remove the pages of students who are no longer in the class, and what lies of their files.

    With `strangers`, what lies there of files that the results file does not know goes too, and
    the records of others' games against them.
    """
    names, files = store.withdrawn()
    remove_pages(out, names, store)
    kept, gone = ({sha256[:DIGITS] for sha256 in some} for some in (store.versions(), files))
    for folder in (out / FOLDER, out / RECORDS, out / RECORDS / HIDDEN):
        for path in folder.iterdir() if folder.is_dir() else ():
            goes = path.name not in kept and (strangers or path.name in gone)
            if goes and HASH.fullmatch(path.name) and not path.is_symlink():
                _clear(path)
    for path in (out / RECORDS).rglob("*.json") if strangers else ():
        if not kept.issuperset(PLAYED.findall(path.read_text(encoding="utf-8", errors="replace"))):
            path.unlink()


def remove_pages(out: Path, names: Iterable[str], store: Store) -> None:
    """Remove the pages that a run has written for submissions of these names, and say so."""
    present = {file_name(item.name) for item in store.submissions()}
    gone: set[str] = set()
    for name in map(file_name, names):
        pages = (
            (out / "feedback" / f"{name}.html", PAGE_MARK),
            (out / "results" / f"{name}.json", '"tests"'),
        )
        for path, mark in pages:
            if name not in present and mark in beginning(path):
                path.unlink()
                gone.add(name)
    if gone:
        print(f"{out}: removed what was there of {'; '.join(sorted(gone))}", file=sys.stderr)


HASH: Final = re.compile(rf"[0-9a-f]{{{DIGITS}}}")

PLAYED: Final = re.compile(rf"ai:{FOLDER}/({HASH.pattern})/")
"""A file that played, in a record."""


def _clear(folder: Path) -> None:
    """Remove records and sources below a folder, then the folders that are empty."""
    for place, _, files in os.walk(folder, topdown=False, followlinks=False):
        for name in files:
            path = Path(place, name)
            if path.suffix in (".json", ".py") and not path.is_symlink():
                path.unlink(missing_ok=True)
        with suppress(OSError):
            os.rmdir(place)

"""The evidence for complaints: every record, each with the exact source that played.

Below `--out`: `submissions/HASH/ai.py` and `records/HASH/*.json`, where HASH is the first digits of
the source's SHA-256. They name nobody. `records/index.csv` has one line for each record, with the
names of those who handed the file in.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from grader.handin import FOLDER, file_name, sources_of
from grader.handin.lists import csv_text
from grader.output import write
from grader.play.one_game import DIGITS, source_path
from grader.play.schedule import PlannedGame, names_of
from grader.results import KeptGame
from grader.results.store import Store

RECORDS: Final = "records"

HIDDEN: Final = "hidden-boards"
"""Folder of the records on hidden boards; the teacher does not publish it."""

FOLDERS: Final = f"{FOLDER}|{RECORDS}|{RECORDS}/{HIDDEN}"
"""The folders with one for each source, as a regular expression."""

SHORT: Final = 8
"""Digits of a hash in the name of a record."""

COLUMNS: Final = (
    *("Submission", "SHA-256", "Now", "Counts", "Part", "Opponent", "Board", "Round", "Side"),
    *("Own", "Other", "Ending", "Played at", "Attempt", "File"),
)


def write_records(games: Sequence[PlannedGame], store: Store, out: Path) -> None:
    """Write all records and their sources, so that any turn can be repeated from `out`.

    An existing record is not changed. Folders of files that nobody present has handed in go.
    """
    rows: list[list[str]] = []
    ids: set[str] = set()
    by_key: dict[str, list[PlannedGame]] = {}
    for game in games:
        by_key.setdefault(game.key, []).append(game)
    authors = store.versions()
    hidden = [game.board.start for game in games if game.board.hidden]
    played = store.played()
    lost = {
        game.key: game
        for game in games
        if game.key in played and None not in map(store.source, game.submitted)
    }  # sources of a forgotten student are not held
    for kept in store.kept():
        if kept.text is None:
            continue
        lost.pop(kept.key, None)
        is_hidden = json.loads(kept.text)["start"] in hidden
        folder = Path(RECORDS, *([HIDDEN] if is_hidden else []))
        for path, row in _entries(kept, by_key.get(kept.key, []), authors):
            place = folder / path
            rows.append([*row, place.as_posix()])
            ids.update(kept.ids)
            if not (out / place).is_file():
                write(out / place, kept.text)
    for game in lost.values():
        whose = f"{game.match.one.name}, {game.title}"
        print(f"{whose}: not written: the record is damaged or lost", file=sys.stderr)
    held = sources_of(store.submissions())  # also those of submissions without games
    for sha256 in ids | held.keys():
        path, source = out / source_path(sha256), held.get(sha256) or store.source(sha256)
        if source is not None and not path.is_file():
            write(path, source)
    write(out / RECORDS / "index.csv", csv_text(COLUMNS, sorted(rows)))


def _entries(
    kept: KeptGame, planned: Sequence[PlannedGame], authors: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Path, list[str]]]:
    """Yield the place of each record of a game, which names no student, and its line of the index.

    There is one for each match that the game counts in. A game of an earlier version of a file, or
    under another rubric, is planned no more: it has one.
    """
    for game in planned:
        own, opponent = game.match.one, game.players[2 - game.side].name
        what = [game.match.part, opponent, game.board.label, str(game.repeat + 1)]
        yield _entry(kept, game.side, own.id, own.name, what)
    for side, id_ in enumerate(kept.ids, 1) if not planned else ():
        if id_ in authors:
            opponent = _short(kept.ids[2 - side])
            yield _entry(kept, side, id_, names_of(authors[id_]), ["", opponent, "", ""])
            return


def _entry(
    kept: KeptGame, side: int, sha256: str, names: str, what: Sequence[str]
) -> tuple[Path, list[str]]:
    """Return the place and the line; `what` are the part, the opponent, the board and the round."""
    part, _, *rest = what
    texts = filter(None, [part, _short(kept.ids[2 - side]), *rest, f"player{side}"])
    attempt = [] if kept.counts else [f"attempt{kept.attempt}"]
    name = file_name("-".join(texts)) + "-".join(["", kept.key[:8], *attempt])
    own, other = kept.scores[:: 1 if side == 1 else -1] if kept.scores else ("", "")
    now = "yes" if part else "no"
    row: list[object] = [names, sha256, now, now if kept.counts else "no", *what, side, own, other]
    row += [kept.ending, kept.played_at, kept.attempt]
    return Path(sha256[:DIGITS], f"{name}.json"), list(map(str, row))


def _short(id_: str) -> str:
    """Return the id of a contestant for the name of a file: of a hash, the first digits."""
    return id_[:SHORT] if len(id_) == 64 else id_

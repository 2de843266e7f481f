"""All output from stored results: the files below `--out`, and the evidence.

Nothing here plays. A report can be written during play, or years later. The evidence for complaints
is every record with the exact source that played: `submissions/HASH/ai.py` and
`records/HASH/*.json`, where HASH is the first digits of the source's SHA-256. They name nobody.
`records/index.csv` has one line for each record, with the names of those who handed the file in.
"""

import json
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from connect4 import safe
from connect4.errors import InputError
from connect4.views.document import SHARED, Json, shared_files
from grader.handin import FOLDER, Kind, file_name, sources_of, without_folders
from grader.handin.lists import csv_text
from grader.marks.tally import by_match, tally
from grader.marks.tournament import unlikely
from grader.output import beginning, in_actions, result_pages, show_error, write, write_changed
from grader.output.explain import Lost, Reason, gradescope, of_match, reasons, to_json
from grader.output.pages import REPLAYS, Shown, replay_text, write_games
from grader.output.results import GRADE, Results
from grader.output.tables import faults_text, grades_csv
from grader.play.one_game import DIGITS, source_path
from grader.play.schedule import Contestant, PlannedGame, names_of
from grader.results import KeptGame
from grader.results.store import Store


def write_quick(results: Results, out: Path, lost: Lost | None = None) -> None:
    """Write the files that change during play; `lost` has the reasons for lost turns if known."""
    if results.kind == GRADE:
        for mark in results.marks if len(results.submissions) == 1 else ():
            reasons = (lost or {}).get(mark.submission.name, ())
            document = gradescope(mark, results.rubric, reasons)
            document["extra_data"] = {"protection": results.protection}
            write(out / "results.json", to_json(document))
    else:
        text = results.text()
        write(out / "standings.txt", text)
        write(out / "standings.html", result_pages.standings_page(results, out))


def write_all(results: Results, store: Store, out: Path) -> None:
    """Write every file except the records; pages that have not changed are not written."""
    lost = reasons_of(results, store)
    if results.kind != GRADE:
        write_replays(results, store, out)
    write_quick(results, out, lost)
    protection = "".join(f"\n{line}\n" for line in results.protection)
    write(out / "tables.txt", results.text(details=True) + protection)
    if results.kind == GRADE:
        more = [mark for mark in results.marks if any(one.corrections for one in mark.students)]
        whole = results.has_roster or results.rubric.late.deadline or more
        write_changed(out / "grades.csv", grades_csv(results.marks, bool(whole)))
        if len(results.marks) > 1:
            for mark in results.marks:
                name = mark.submission.name
                document = gradescope(mark, results.rubric, lost.get(name, ()))
                write(out / pages_of(name)[1], to_json(document))
            write(out / "class.html", result_pages.class_page(results))
        write_pages(results, store, out, lost)
        kept = {out / place for mark in results.marks for place in pages_of(mark.submission.name)}
        pages = {*(out / "feedback").glob("*.html"), *(out / "results").glob("*.json")}
        for path in pages - kept if len(results.marks) > 1 else ():
            path.unlink()  # of a hand-in that counts for nobody any more


def pages_of(name: str) -> tuple[str, str]:
    """Return the places below `--out` of a submission's page and of its `results.json`."""
    return f"feedback/{file_name(name)}.html", f"results/{file_name(name)}.json"


def reasons_of(results: Results, store: Store) -> dict[str, list[Reason]]:
    """Return the reasons for the lost turns of each submission that has any, by name."""
    found: dict[str, list[Reason]] = {}
    for mark in results.marks:
        if mark.shown_faults.total:
            games = [
                game
                for game in results.games_of(mark.submission)
                if (one := results.played.get(game.key)) and one.faults[game.side - 1].total
            ]
            lost = {game.key: store.lost(game.key) for game in games}
            found[mark.submission.name] = reasons(games, lost)
    return found


def write_replays(results: Results, store: Store, out: Path) -> None:
    """Write a page with the games of each pairing of a tournament that has records."""
    shared = shared_files(REPLAYS)
    for place, text in shared.items():
        write(out / place, text)
    kept = {out / place for place in shared}
    for group in (group for state in results.stages for group in state.groups):
        for number, (match, games) in enumerate(by_match(group.games).items(), 1):
            shown = [
                Shown(game.key, f"{game.board.label}, round {game.repeat + 1}", names)
                for game in games
                for names in [(game.players[0].name, game.players[1].name)]
                if game.key in results.played and not game.board.hidden
            ]
            path, title = (
                out / result_pages.replay_place(group, number),
                f"{match.one.name} against {match.two.name}",
            )
            if write_games(path, store, title, shown, ("standings.html", "The tournament")):
                kept.add(path)
    for path in {*(out / "games").glob("*.html"), *(out / SHARED).glob("replay-*")} - kept:
        if path.suffix != ".html" or "<!-- games " in beginning(path):
            path.unlink()


UNLIKELY: Final = ("One", "Two", "Games", "Margin", "Expected", "Standard errors", "Page")


def list_unlikely(
    path: Path,
    pairs: Sequence[tuple[int, int, float]],
    names: Sequence[str],
    first: int,
    page: Callable[[int, int], str],
) -> int:
    """Write which pairs have a margin that their ratings do not predict; return how many.

    `pairs` are those of `unlikely`, of players with these names; those before the `first` are no
    students. `page` tells where the games of two can be seen.
    """
    found = unlikely(pairs, range(first, len(names)))
    rows = [
        (
            *(names[one.one], names[one.two], one.games),
            *(f"{value:.1f}" for value in (one.margin, one.expected, one.residual)),
            page(one.one, one.two),
        )
        for one in found
    ]
    if found or path.is_file():
        write(path, csv_text(UNLIKELY, rows))
    return len(found)


def write_unlikely(results: Results, out: Path) -> int:
    """Write `unlikely.csv` of a tournament, for the teacher alone; return how many it lists."""
    players: dict[Contestant, int] = {}
    pages: dict[frozenset[int], str] = {}
    pairs: list[tuple[int, int, float]] = []
    for group in (group for state in results.stages for group in state.groups):
        for number, (match, games) in enumerate(by_match(group.games).items(), 1):
            one, two = (players.setdefault(own, len(players)) for own in (match.one, match.two))
            pages[frozenset((one, two))] = result_pages.replay_place(group, number)
            pairs += [(one, two, margin) for margin in tally(games, results.played).pairs]
    names = [player.name for player in players]
    path = out / "unlikely.csv"
    return list_unlikely(path, pairs, names, 0, lambda *both: pages[frozenset(both)])


def write_pages(results: Results, store: Store, out: Path, lost: Lost) -> None:
    """Write the page of each submission unless it is there already.

    Others who handed in the same file are not named there. A game whose record is damaged or lost
    is reported and left out. `lost` has the reasons for lost turns, as `reasons_of` returns them.
    """
    for mark in results.marks:
        item = mark.submission
        replays: dict[str, Json] = {}
        for game in (one for one in results.games_of(item) if one.key in results.played):
            names = [item.name if one == game.match.one else one.name for one in game.players]
            if (data := replay_text(store, game.key, names)) is not None:
                replays[game.key] = data
                continue
            title = f"{item.name}, {game.title}"
            print(f"{title}: its record cannot be shown: damaged or lost", file=sys.stderr)
        text = result_pages.feedback_page(mark, results, lost.get(item.name, ()), replays)
        write_changed(out / pages_of(item.name)[0], text)


def write_feedback(results: Results, out: Path, place: Path) -> list[str]:
    """Write the zip that Moodle takes as feedback files, and beside it a CSV for a mail merge.

    A folder has the name of Moodle's own download. Return the students without a number there,
    whose pages are not in the zip.
    """
    rows, without = [], []
    try:
        with (
            safe.writing(place) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped,
        ):
            for mark in results.marks:
                page = out / pages_of(mark.submission.name)[0]
                for student in mark.students:
                    if number := student.key(Kind.MOODLE):
                        name = file_name(student.name).replace("_", " ")
                        folder = f"{name}_{number}_assignsubmission_file_"
                        zipped.write(page, f"{folder}/feedback.html")
                    else:
                        without.append(student.name)
                    total = mark.known(student)
                    points = "" if total is None else f"{total:.2f}"
                    own = student.key(Kind.NUMBER, Kind.LOGIN)
                    rows.append([student.name, student.email, points, page.resolve(), own])
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror}") from None
    write(place.with_suffix(".csv"), csv_text(("Name", "Email", "Mark", "Page", "ID"), rows))
    return without


def show_errors(results: Results, store: Store) -> None:
    """Show on GitHub what cost points: problems, lost turns, broken rules; nothing elsewhere."""
    if not in_actions():
        return
    lost = reasons_of(results, store)
    for mark in results.marks:
        item = mark.submission
        path = Path(item.place)
        if item.problem:
            show_error(path, 1, without_folders(item.problem))
        for match in mark.matches:
            if match.tally.shown_faults.total:
                texts = [one.text for one in of_match(lost.get(item.name, ()), match)]
                title = f"{match.name}: {faults_text(match.tally.shown_faults)}"
                show_error(path, 1, "\n\n".join([title, *texts]))
        for found in (found for found in mark.findings if found.required):
            in_report = found.in_report and item.report is not None
            where = path.with_name("report.txt") if in_report else path
            show_error(where, found.line, f"{found.rule}: {found.text}")


RECORDS: Final = "records"

HIDDEN: Final = "hidden-boards"
"""Folder of the records on other boards than those shown; the teacher does not publish it."""

FOLDERS: Final = f"{FOLDER}|{RECORDS}|{RECORDS}/{HIDDEN}"
"""The folders with one for each source, as a regular expression."""

SHORT: Final = 8
"""Digits of a hash in the name of a record."""

RECORD_HEADERS: Final = (
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
    shown = {json.dumps(one.board.start, sort_keys=True) for one in games if not one.board.hidden}
    for kept in store.kept():
        if kept.text is None:
            continue
        start = json.dumps(json.loads(kept.text)["start"], sort_keys=True)
        folder = Path(RECORDS, *([] if start in shown else [HIDDEN]))
        for path, row in _entries(kept, by_key.get(kept.key, []), authors):
            place = folder / path
            rows.append([*row, place.as_posix()])
            ids.update(kept.ids)
            if not (out / place).is_file():
                write(out / place, kept.text)
    held = sources_of(store.submissions())  # also those of submissions without games
    for sha256 in ids | held.keys():
        path, source = out / source_path(sha256), held.get(sha256) or store.source(sha256)
        if source is not None and not path.is_file():
            write(path, source)
    write(out / RECORDS / "index.csv", csv_text(RECORD_HEADERS, sorted(rows)))


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

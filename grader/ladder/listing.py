"""What only the teacher sees: the table on the terminal, `ladder.csv` and `ladder-runs.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from grader.handin.submission import Member, Submission
from grader.ladder.book import Book
from grader.ladder.league import Entry, League, Standings, player_id
from grader.marks.tally import few_games
from grader.output.formats import cell, csv_text
from grader.output.tables import text_table, without_empty, wrapped

FEW: Final = "few games"

HEADERS: Final = ("rank", "student", "version", "rating", "interval", "W/D/L", "lost turns", "week")

CSV_HEADERS: Final = (
    *("Name", "ID", "Email", "Submission", "Name on the site", "Private page", "Rank", "Rating"),
    *("Low", "High", "Version", "Handed in", "Games", "Wins", "Draws", "Losses", "Lost turns"),
    "Remark",
)

PLAYED_HEADERS: Final = ("Run", "Day", "For", "Player", "Opponent", "Why", "Seconds", "End of run")


def remark(entry: Entry) -> str:
    """Return a remark on an entry's rating, or an empty text."""
    student = entry.student
    if student is None:
        return ""
    parts = []
    if student.problem:
        parts.append(f"last hand-in not read: {student.problem}")
    failed = [version for version in student.versions if version.problem is not None]
    if failed and failed[-1] == student.versions[-1]:
        parts.append(f"v{failed[-1].number} is not played: {failed[-1].problem}")
    if entry.rating is None:
        parts.append("no rating yet")
    elif few_games(entry.rating.pairs):
        parts.append(FEW)
    return "; ".join(parts)


def table_text(standings: Standings) -> str:
    """Return the table for the terminal, with real names."""
    rows = []
    for entry in standings.entries:
        rating = entry.rating
        version = f"v{entry.version.number}" if entry.version else ""
        version = "rung" if entry.is_rung else version
        rows.append(
            [
                str(entry.rank or ""),
                entry.name if entry.student is None else entry.student.name,
                version,
                "" if rating is None else f"{rating.mean:z.0f}",
                "" if rating is None else f"{rating.low:z.0f} to {rating.high:z.0f}",
                entry.total.record,
                str(entry.total.faults.total or ""),
                "" if entry.change is None else f"{entry.change:+.0f}",
            ]
        )
    notes: list[str] = []
    few: list[str] = []
    for entry in standings.entries:
        name, note = "" if entry.student is None else entry.student.name, remark(entry)
        if note == FEW:
            few.append(name)
        elif note:
            notes.append(wrapped(f"{name}: {note}"))
    notes += [wrapped(f"{FEW}: {', '.join(few)}")] if few else []
    text = text_table(*without_empty(rows, HEADERS))
    return "\n".join([text, *(["", *notes] if notes else [])])


def ratings_csv(standings: Standings, submissions: list[Submission], address: str) -> str:
    """Return `ladder.csv`: one line for each student, with the address of the private page."""
    members = {item.name: item.members for item in submissions}
    rows: list[Sequence[object]] = []
    for entry in standings.entries:
        student, rating, total = entry.student, entry.rating, entry.total
        if student is None:
            continue
        version = entry.version
        page = f"{address.rstrip('/')}/" if address else ""
        known = () if rating is None else (rating.mean, *rating.bounds)
        values = [
            *(student.name, entry.name, f"{page}{private_page(student.token)}", entry.rank or ""),
            *([round(value, 1) for value in known] or ("", "", "")),
            *(("", "") if version is None else (version.number, version.seen)),
            *(total.games, total.wins, total.draws, total.losses, total.faults.total),
            remark(entry),
        ]
        for member in members.get(student.name) or (Member(student.name),):
            row = [member.name, member.identity, member.email, *values]
            rows.append([cell(item) if isinstance(item, str) else item for item in row])
    return csv_text(CSV_HEADERS, rows)


def private_page(token: str) -> str:
    """Return the place of a student's own page on the site."""
    return f"own/{token}.html"


def played_text(book: Book, league: League) -> str:
    """Return `ladder-runs.csv`: each pair of each run, the player that needed it, and why."""
    names = {player_id(player): player.name for player in league.players}
    for student in league.students:
        for version in student.versions:
            names[version.sha256] = f"{student.name} v{version.number}"
    rows: list[Sequence[object]] = []
    for number, day, note, pairs in book.runs():
        for wanted, one, two, why, seconds in pairs:
            players = [cell(names.get(player, "a former player")) for player in (wanted, one, two)]
            taken = "" if seconds is None else f"{seconds:.1f}"
            rows.append([number, day, *players, why, taken, note])
    return csv_text(PLAYED_HEADERS, rows)

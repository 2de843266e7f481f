"""The site of a ladder: static files that open from disk; only changed pages are written."""

from __future__ import annotations

import contextlib
import html
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from connect4.views import document
from connect4.views.words import kind_of_fault
from grader.ladder import pages
from grader.ladder.book import Book
from grader.ladder.league import Entry, Standings, Total, private_page
from grader.marks.tally import few_games
from grader.output import replays
from grader.output.files import beginning, make_folder, write
from grader.output.markup import Cell, Drawn, Link, breakable, listed, minus, paragraphs, table
from grader.output.results import read_protection

FOLDERS: Final = (replays.ASSETS, "agents", "games", "own")

ROBOTS: Final = "User-agent: *\nDisallow: /\n"

MAX_REASONS: Final = 20
OWN: Final = ("played", "pass")


def write_site(book: Book, standings: Standings, site: Path, playground: str = "") -> int:
    """Write the pages that have changed and remove those of former agents; return how many.

    `playground` is the address of a site by `grader playground`.
    """
    for folder in FOLDERS:
        make_folder(site / folder)
    texts = replays.shared_files(pages.PARTS) | replays.shared_files(replays.REPLAYS)
    texts |= {"robots.txt": ROBOTS, "index.html": index_page(book, standings, playground)}
    for entry in standings.entries:
        if place := pages.agent_place(entry, standings):
            texts[place] = agent_page(book, entry, standings, own=False)
        if entry.student is not None:
            texts[private_page(entry.student.token)] = agent_page(book, entry, standings, own=True)
    count = sum(_write_changed(site / place, text) for place, text in texts.items())
    kept = {site / place for place in texts}
    for one, two in _pairings(standings):
        path = site / pages.pairing_place(one, two, standings)
        kept.add(path)
        games = standings.games_between(one, two)
        text = pages.pairing_page(book, games, one, two, beginning(path))
        if text is not None:
            write(path, text)
            count += 1
    for folder in FOLDERS:
        for path in (site / folder).glob("*.*"):
            if path not in kept:
                path.unlink()
                count += 1
    return count


def _write_changed(path: Path, text: str) -> bool:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if path.read_bytes() == text.encode(errors="backslashreplace"):
            return False
    write(path, text)
    return True


def _pairings(standings: Standings) -> Iterator[list[Entry]]:
    """Yield the pairs of agents in the table that have met, the better one first.

    If several students have the same file, the first represents them all.
    """
    by_player: dict[int, Entry] = {}
    for entry in standings.entries:
        if entry.player is not None:
            by_player.setdefault(entry.player, entry)
    for one, two in standings.games_of:
        if one in by_player and two in by_player:
            pair = by_player[one], by_player[two]
            yield sorted(pair, key=lambda entry: entry.rank or len(standings.entries))


def _card(title: str, body: str) -> str:
    """Return a part of a page below its title; nothing without a body."""
    return f'<section class="card box"><h2>{title}</h2>\n{body}</section>' if body else ""


def _level(standings: Standings) -> str:
    return f"{100 * standings.league.rubric.statistics.confidence:g}%"


def index_page(book: Book, standings: Standings, playground: str) -> str:
    """Return the first page: the table, the curves, the grid."""
    link = f'<p><a href="{html.escape(playground)}">Play against the kit in the browser</a></p>'
    entries, rules = standings.entries, standings.league.rubric.ladder
    anchor = standings.league.players[0].name if standings.league.rungs else ""
    explained = [
        "A rating is a margin in points: an agent beats another one by the difference of their "
        "ratings, on average.",
        f"The agent {anchor} has rating 0." if anchor else "",
        f"The bar is the {_level(standings)} confidence interval.",
        f"The {'best' if rules.policy == 'best' else 'latest'} version of each student counts.",
        "Agents in italics belong to the kit and have no rank." if anchor else "",
    ]
    facts = [
        standings.day,
        f"{sum(not entry.is_rung for entry in entries)} students",
        f"{len(standings.games)} games",
    ]
    parts = (
        f'<section class="card box" aria-label="Table">'
        f"{paragraphs([' '.join(filter(None, explained))])}{link if playground else ''}\n"
        f"{_table(standings)}</section>",
        document.assets(("ladder_charts",), "html").rstrip(),
        _card("How the games were run", paragraphs(read_protection(book).lines())),
    )
    return pages.page("Ladder", facts, "\n".join(parts), _data(standings))


def _table(standings: Standings) -> str:
    """Return the table of all agents with a rating; below it, the others by what they lack."""
    scale = pages.Scale(entry.rating for entry in standings.entries)
    rows: list[list[Cell]] = []
    unrated: dict[str, list[str]] = {}
    for entry in standings.entries:
        name, place, total = breakable(entry.name), pages.agent_place(entry, standings), entry.total
        shown = f'<a href="{quote(place)}">{name}</a>' if place else name
        if entry.rating is None:
            unrated.setdefault(_unrated(entry), []).append(shown)
            continue
        if entry.is_rung:
            shown = f'<span class="rung">{shown}</span>'
        rows.append(
            [
                entry.rank or "",
                Drawn(shown, entry.name),
                f"v{entry.version.number}" if entry.version else "",
                pages.value_text(entry.rating),
                scale.drawn(entry.rating),
                total.games,
                total.record.replace("/", "\u2013"),
                total.faults.total or "",
                f"{entry.change:+z.0f}" if round(entry.change or 0) else "",
            ]
        )
    headers = ("#", "agent", "version", "rating", scale.title, "games", "won-drawn-lost")
    without = [f"No rating yet, {why}: {', '.join(names)}" for why, names in unrated.items()]
    return table((*headers, "lost turns", "this week"), rows) + listed(without)


def _unrated(entry: Entry) -> str:
    """Return why an agent has no rating yet, without quoting anybody's file."""
    student = entry.student
    if student is not None and entry.version is None:
        return "no version can be played" if student.versions else "no file can be read"
    return "too few games" if entry.total.games else "no game played"


def _data(standings: Standings) -> dict[str, Any]:
    """Return the data of the curves and of the grid."""
    shown = [entry for entry in standings.entries if entry.rating is not None]
    place_of: dict[int | None, int] = {}
    for place, entry in enumerate(shown):
        place_of.setdefault(entry.player, place)
    cells: list[tuple[int, int, int, int, str]] = []
    for (one, two), total in standings.between.items():
        if one in place_of and two in place_of:
            row, column = place_of[one], place_of[two]
            games = ""
            if pages.has_agent_pages(standings):
                games = quote(pages.pairing_place(shown[row], shown[column], standings))
            cells.append((row, column, round(total.mean_margin), total.games, games))
    return _chart(standings.day, shown, standings) | {"cells": cells}


def _chart(day: str, entries: Sequence[Entry], standings: Standings) -> dict[str, Any]:
    """Return the data of a chart of ratings up to a day."""
    return {
        "day": day,
        "names": [entry.name for entry in entries],
        "curves": [[(day, round(value)) for day, value in entry.curve] for entry in entries],
        "versions": [
            [
                (version.seen, round(rating.mean), version.number)
                for version in (entry.student.versions if entry.student is not None else ())
                if (rating := standings.rating_of(version)) is not None
            ]
            for entry in entries
        ],
        "cells": [],
    }


def agent_page(book: Book, entry: Entry, standings: Standings, own: bool) -> str:
    """Return the page of an agent; a student's `own` page gives the full reasons for lost turns."""
    student = entry.student
    parts = (
        _summary(entry, standings, own),
        _card("Versions", _versions(entry, standings, own)),
        _card("Games", _games(entry, standings)),
        _card("Lost turns", _lost(book, entry, standings, own)),
        _card("How the games were run", paragraphs(read_protection(book).lines())),
    )
    facts = [f"{student.name} is {entry.name} on this site"] if student and own else []
    body = "\n".join(filter(None, parts))
    data = _chart(standings.last_seen, [entry], standings)
    return pages.page(entry.name, facts, body, data, "../")


def _summary(entry: Entry, standings: Standings, own: bool) -> str:
    """Return the rank, the rating and its interval, and the place of the chart."""
    rank = f"Rank {entry.rank}. " if entry.rank else ""
    week = minus(f", {entry.change:+z.0f} this week") if round(entry.change or 0) else ""
    rating = entry.rating
    if rating is None:
        text = f"No rating yet: {_unrated(entry)}."
    elif rating.low == rating.high:
        text = f"Rating <b>{rating.mean:z.0f}</b> by definition"
    else:
        few = ", few games" if few_games(rating.pairs) else ""
        bounds = minus(f"{rating.low:z.0f} to {rating.high:z.0f}") + few
        shown = minus(f"{rating.mean:z.0f}")
        text = f"Rating <b>{shown}</b> ({_level(standings)} interval: {bounds}){week}"
    text = f'<p class="points">{rank}{text}</p>'
    if own and entry.student is not None and entry.student.problem:
        text += paragraphs([f"The last hand-in could not be read: {entry.student.problem}"])
    if entry.curve:
        text += (
            '<p class="muted">Line: the rating of the version that counted on each day. '
            "Dots: every version, with its own rating.</p>\n"
            '<div class="plot" id="curve-plot"></div>'
        )
    return f'<section class="card box" aria-label="Rating">{text}</section>'


def _versions(entry: Entry, standings: Standings, own: bool) -> str:
    """Return the table of a student's versions; empty for an agent of the kit."""
    if entry.student is None:
        return ""
    scale = pages.Scale(item.rating for item in standings.entries)
    rows: list[list[Cell]] = []
    for version in reversed(entry.student.versions):
        rating = standings.rating_of(version)
        games = standings.totals.get(standings.league.index[version.sha256], Total()).games
        note = "counts" if version == entry.version else ""
        if version.problem is not None:
            unloaded = version.problem.startswith("cannot be loaded")
            kind = "it cannot be loaded" if unloaded else "a rule of form"  # without its source
            note = f"not played: {version.problem if own else kind}"
        elif rating is None:
            note = "no rating yet"
        name = f"v{version.number}"
        drawn = scale.drawn(rating)
        rows.append([name, version.seen, pages.value_text(rating), drawn, games, note])
    return table(("version", "first seen", "rating", scale.title, "games", "status"), rows)


def _games(entry: Entry, standings: Standings) -> str:
    """Return the opponents in the table, with links to the games."""
    rows: list[list[Cell]] = []
    for other in standings.entries:
        games = standings.games_between(entry, other)
        if entry.player is None or other.player is None or not games:
            continue
        total = standings.between[entry.player, other.player]
        link = Link(f"{total.games} games", f"../{pages.pairing_place(entry, other, standings)}")
        margin = f"{total.mean_margin:+.1f}"
        rows.append(
            [
                other.name,
                pages.value_text(other.rating),
                margin,
                total.record.replace("/", "\u2013"),
                link,
            ]
        )
    headers = ("opponent", "its rating", "points per game", "won-drawn-lost", "replay")
    return table(headers, rows)


def _lost(book: Book, entry: Entry, standings: Standings, own: bool) -> str:
    """Return why turns were lost: each reason once, with the number of such turns."""
    if entry.player is None:
        return ""
    total = standings.totals.get(entry.player, Total()).faults
    if not total.total:
        return "<p>None.</p>"
    reasons: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    player = standings.league.players[entry.player]
    mine = player.sha256 or player.name
    for game in standings.games:
        place = (game.one, game.two).index(mine) if mine in (game.one, game.two) else None
        if place is None or not game.faults[place].total:
            continue
        data = replays.replay(book, game.key, ("", "")) or {"turns": []}
        side = 3 - game.side if place else game.side
        for turn in data["turns"]:
            if turn[0] != side or turn[2] in OWN:
                continue
            outcome, detail = turn[2], "" if turn[-1] is None else data["details"][turn[-1]]
            reason = detail if own else replays.public_reason(outcome, detail)
            kind = kind_of_fault(outcome, reason), reason if outcome == "invalid" else ""
            first.setdefault(kind, f"{outcome}: {reason}" if reason else outcome)
            reasons[kind] += 1
    counts = f"{total.timeouts} late, {total.invalid} invalid, {total.errors} errors"
    return paragraphs([counts]) + listed(
        f"{count} &times; <pre>{html.escape(first[kind])}</pre>"
        for kind, count in reasons.most_common(MAX_REASONS)
    )

"""The site of a ladder: static files that open from disk; only changed pages are written."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from grader.ladder import pages
from grader.ladder.agent_page import agent_page
from grader.ladder.book import Book
from grader.ladder.league import Entry, Standings
from grader.ladder.listing import private_page
from grader.ladder.replays import pairing_digest, pairing_page
from grader.output.files import make_folder, write
from grader.output.pages import breakable

FOLDERS: Final = (pages.ASSETS, "agents", "games", "own")

ROBOTS: Final = "User-agent: *\nDisallow: /\n"


def write_site(book: Book, standings: Standings, secret: int, site: Path) -> int:
    """Write the pages that have changed and remove those of former agents; return how many."""
    links = pages.Links(standings, secret)
    for folder in FOLDERS:
        make_folder(site / folder)
    count, kept = 0, {site / "index.html"}
    shared = pages.shared_files(pages.PARTS) | pages.shared_files(pages.REPLAYS)
    for place, text in shared.items():
        kept.add(site / place)
        count += _write_changed(site / place, text)
    count += _write_changed(site / "robots.txt", ROBOTS)
    count += _write_changed(site / "index.html", index_page(book, standings, links))
    for entry in standings.entries:
        if links.agent(entry):
            kept.add(site / links.agent(entry))
            count += _write_changed(
                site / links.agent(entry), agent_page(book, entry, standings, links, own=False)
            )
        if entry.student is not None:
            path = site / private_page(entry.student.token)
            kept.add(path)
            count += _write_changed(path, agent_page(book, entry, standings, links, own=True))
    for one, two in _pairings(standings):
        path = site / links.pairing(one, two)
        kept.add(path)
        count += _write_pairing(book, path, one, two, links)
    for folder in FOLDERS:
        for path in (site / folder).glob("*.*"):
            if path not in kept:
                path.unlink()
                count += 1
    return count


def _write_changed(path: Path, text: str) -> int:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if path.read_bytes() == text.encode(errors="backslashreplace"):
            return 0
    write(path, text)
    return 1


def _pairings(standings: Standings) -> Iterator[tuple[Entry, Entry]]:
    """Yield the pairs of agents in the table that have met; each has a page of games.

    If several students have the same file, the first represents them all.
    """
    by_player: dict[int, Entry] = {}
    for entry in standings.entries:
        if entry.player is not None:
            by_player.setdefault(entry.player, entry)
    for one, two in standings.games_of:
        if one in by_player and two in by_player:
            yield by_player[one], by_player[two]


def _write_pairing(book: Book, path: Path, one: Entry, two: Entry, links: pages.Links) -> int:
    assert one.player is not None
    assert two.player is not None
    if two.rank and (not one.rank or two.rank < one.rank):
        one, two = two, one
    games = links.games(one.player or 0, two.player or 0)
    names = _label(one), _label(two)
    digest = pairing_digest(games, names)
    with contextlib.suppress(OSError), path.open(encoding="utf-8") as file:
        if digest in file.read(300):
            return 0
    back = '<nav class="report" aria-label="Site"><a href="../index.html">All agents</a></nav>\n'
    first = one.version.sha256 if one.version is not None else one.name
    write(path, pairing_page(book, games, names, first, back, digest))
    return 1


def _label(entry: Entry) -> str:
    return entry.name if entry.version is None else f"{entry.name} v{entry.version.number}"


HEADERS: Final = (
    *(("rank", "number"), ("agent", "name"), ("version", "number wide")),
    *(("rating", "number"), ("SCALE", ""), ("interval", "wide"), ("games", "number middle")),
    ("won / drawn / lost", "number middle"),
    *(("lost turns", "number wide"), ("this week", "number week")),
)
"""The columns of the table: `wide` ones are for wide screens, `middle` ones for all but phones."""


def index_page(book: Book, standings: Standings, links: pages.Links) -> str:
    """Return the first page: the table, the curves, the grid."""
    entries = standings.entries
    scale = pages.Scale([entry.rating for entry in entries])
    lines = [_line(entry, scale, links) for entry in entries]
    headers = [(scale.title if text == "SCALE" else text, kind) for text, kind in HEADERS]
    rules = standings.league.rubric
    level = f"{100 * rules.statistics.confidence:g}%"
    counts = "best" if rules.ladder.policy == "best" else "latest"
    zero = standings.league.players[0].name if standings.league.rungs else None
    rungs = "" if zero is None else f"The agent {zero} has rating 0. "
    kit = "" if zero is None else " Agents in italics belong to the kit and have no rank."
    explained = (
        f"A rating is a margin in points: an agent beats another one by the difference of their "
        f"ratings, on average. {html.escape(rungs)}The bar is the {level} confidence interval. "
        f"The {counts} version of each student counts.{kit}"
    )
    students = [entry for entry in entries if entry.student is not None]
    games = sum(entry.total.games for entry in entries) and len(standings.games)
    facts = [pages.day_text(standings.day), f"{len(students)} students", f"{games} games"]
    body = "\n".join(
        [
            f'<section class="card box" aria-label="Table"><p>{explained}</p>'
            f"{pages.rows(headers, lines)}</section>",
            CURVES,
            GRID,
            pages.protection_card(book),
        ]
    )
    return pages.page("Ladder", facts, body, _data(entries, standings, links))


CURVES: Final = """<section class="card box" id="curves" aria-labelledby="curves-title" hidden>
<div class="head"><h2 id="curves-title">Ratings over time</h2>
<label>Agent <select id="curve-agent"></select></label></div>
<p class="muted">Lines: the rating of the version that counted on each day, by all games up to now.
Dots: every version of the chosen agent, with its own rating.</p>
<div class="plot" id="curve-plot"></div></section>"""

GRID: Final = """<section class="card box" id="grid" aria-labelledby="grid-title" hidden>
<h2 id="grid-title">Every pairing</h2>
<div class="grid-all"><p class="muted">Each row shows one agent's mean margins: blue for wins,
orange for losses. A column has the number of its opponent's row. Click a cell, or move with the
arrow keys and press Enter, to see its games.</p>
<p class="legend" id="grid-legend"></p>
<div class="scroll"><canvas id="grid-canvas" tabindex="0" role="application"
aria-label="Grid of all pairings" aria-describedby="grid-told"></canvas></div>
<p id="grid-told" aria-live="polite"></p></div>
<div class="grid-one"><label>Agent <select id="grid-agent"></select></label>
<table><thead><tr><th scope="col">Opponent</th><th scope="col" class="number">Points per game</th>
<th scope="col">Replay</th></tr></thead><tbody id="grid-row"></tbody></table></div></section>"""


def _line(entry: Entry, scale: pages.Scale, links: pages.Links) -> list[str]:
    name = breakable(entry.name)
    place = links.agent(entry)
    shown = f'<a href="{quote(place)}">{name}</a>' if place else name
    if entry.is_rung:
        shown = f'<span class="rung">{shown}</span>'
    total = entry.total
    version = f"v{entry.version.number}" if entry.version else ""
    return [
        str(entry.rank or ""),
        shown + _more(entry, version),
        version,
        pages.number(None if entry.rating is None else entry.rating.mean),
        scale.drawn(entry.rating),
        "" if entry.rating is None else pages.interval_text(entry.rating),
        str(total.games),
        total.shown,
        str(total.faults.total or ""),
        pages.moved(entry),
    ]


def _more(entry: Entry, version: str) -> str:
    """Return the second line of a name: why it has no rating, or what a phone leaves out."""
    if entry.rating is None:
        return f'<span class="more">{pages.no_rating(entry)}</span>'
    total = entry.total
    record = f"{total.wins}\u2013{total.draws}\u2013{total.losses}"
    parts = [version, f"{total.games} games", record]
    shown = ", ".join(f"<span>{part}</span>" for part in parts if part)
    return f'<span class="more phone">{shown}</span>'


def _data(entries: list[Entry], standings: Standings, links: pages.Links) -> Mapping[str, Any]:
    """Return the data of the curves and of the grid."""
    shown = [entry for entry in entries if entry.player is not None and entry.rating is not None]
    place_of: dict[int, int] = {}
    for place, entry in enumerate(shown):
        place_of.setdefault(entry.player or 0, place)
    cells = []
    for (one, two), total in standings.between.items():
        if one in place_of and two in place_of:
            row, column = place_of[one], place_of[two]
            margin = round(total.mean_margin)
            games = quote(links.pairing(shown[row], shown[column])) if links.has_agents else ""
            cells.append([row, column, margin, total.games, games])
    return {
        "day": standings.day,
        "names": [entry.name for entry in shown],
        "rungs": [place for place, entry in enumerate(shown) if entry.is_rung],
        "ratings": [round(entry.rating.mean) if entry.rating else 0 for entry in shown],
        "curves": [[[day, round(value)] for day, value in entry.curve] for entry in shown],
        "versions": [pages.versions_data(entry, standings) for entry in shown],
        "cells": cells,
    }

"""The page of one agent: its versions, the rungs that it beats, its opponents and lost turns."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from connect4.views.words import kind_of_fault
from grader.ladder import pages
from grader.ladder.book import Book, GameRow, Version
from grader.ladder.league import Entry, Standings, Total
from grader.ladder.replays import public_reason, replay
from grader.output.pages import breakable

MAX_REASONS = 20
OWN = ("played", "pass")


def agent_page(
    book: Book, entry: Entry, standings: Standings, links: pages.Links, own: bool
) -> str:
    """Return the page of an agent; a student's `own` page gives the full reasons for lost turns."""
    met = _met(entry, standings)
    parts = [_summary(entry, standings, own)]
    if entry.student is not None:
        parts.append(_versions(entry, standings, own))
        parts.append(_rungs(entry, standings))
    parts.append(_games(entry, standings, links, met))
    parts.append(_lost(book, entry, standings, own))
    parts.append(pages.protection_card(book))
    data = {
        "day": standings.last_seen,
        "names": [entry.name],
        "rungs": [],
        "ratings": [],
        "curves": [[[day, round(value)] for day, value in entry.curve]],
        "versions": [pages.versions_data(entry, standings)],
        "cells": [],
    }
    facts = []
    if entry.student is not None and own:
        facts.append(f"{entry.student.name} is {entry.name} on this site")
    title = entry.name
    return pages.page(title, facts, "\n".join(filter(None, parts)), data, "../index.html")


def _card(title: str, body: str) -> str:
    return f'<section class="card box"><h2>{title}</h2>\n{body}</section>'


def _summary(entry: Entry, standings: Standings, own: bool) -> str:
    rank = f"Rank {entry.rank}. " if entry.rank else ""
    week = "" if entry.change is None else f", {pages.moved(entry)} this week"
    if entry.rating is None:
        text = f"{pages.no_rating(entry).capitalize()}."
    elif entry.rating.low == entry.rating.high:
        text = f"Rating <b>{pages.number(entry.rating.mean)}</b> by definition"
    else:
        level = f"{100 * standings.league.rubric.statistics.confidence:g}%"
        bounds = pages.interval_text(entry.rating)
        text = f"Rating <b>{pages.number(entry.rating.mean)}</b> ({level} interval: {bounds}){week}"
    text = f'<p class="points">{rank}{text}</p>'
    notes = ""
    if own and entry.student is not None and entry.student.problem:
        notes = f"<p>The last hand-in could not be read: {html.escape(entry.student.problem)}</p>"
    chart = ""
    if entry.curve:
        chart = (
            '<p class="muted">Line: the rating of the version that counted on each day. '
            "Dots: every version, with its own rating.</p>\n"
            '<div class="plot" id="curve-plot"></div>'
        )
    return f'<section class="card box" aria-label="Rating">{text}{notes}{chart}</section>'


def _versions(entry: Entry, standings: Standings, own: bool) -> str:
    assert entry.student is not None
    league = standings.league
    counted = entry.version.number if entry.version else None
    scale = pages.Scale([item.rating for item in standings.entries])
    lines = []
    for version in reversed(entry.student.versions):
        player = league.index[version.sha256]
        rating = standings.rating(player)
        total = standings.totals.get(player, Total())
        note = "counts" if version.number == counted else ""
        never = rating is None and version.problem is not None
        if version.problem is not None:
            note = f"not played: {html.escape(version.problem if own else _kind(version))}"
        lines.append(
            [
                f"v{version.number}",
                pages.day_text(version.seen),
                "" if rating is None else pages.number(rating.mean),
                scale.drawn(rating),
                "" if never else pages.interval_text(rating),
                str(total.games),
                note,
            ]
        )
    headers = (("version", ""), ("first seen", "day"), ("rating", "number"), (scale.title, ""))
    more = (("interval", "wide"), ("games", "number wide"), ("status", "status"))
    return _card("Versions", pages.rows((*headers, *more), lines))


def _kind(version: Version) -> str:
    """Return in general words why a version is not played, without quoting its source."""
    problem = version.problem or ""
    return "it cannot be loaded" if problem.startswith("cannot be loaded") else "a rule of form"


def _rungs(entry: Entry, standings: Standings) -> str:
    lines = []
    for item in standings.entries:
        if not item.is_rung or entry.player is None or item.player is None:
            continue
        total = standings.between.get((entry.player, item.player))
        if total is None:
            word = "not played"
        else:
            beaten = (
                "beaten" if total.margin > 0 else "drawn" if total.margin == 0 else "not beaten"
            )
            word = f"{beaten}, {total.mean_margin:+.1f} points per game".replace("-", "\u2212")
        lines.append([breakable(item.name), word, total.shown if total else ""])
    headers = (("agent", "name"), ("result", ""), ("won / drawn / lost", "number wide"))
    return _card("Against the kit's agents", pages.rows(headers, lines)) if lines else ""


@dataclass(frozen=True, slots=True)
class Met:
    """An opponent in the table, and the games in the order of their page."""

    entry: Entry
    games: list[GameRow]


def _met(entry: Entry, standings: Standings) -> list[Met]:
    found = []
    for item in standings.entries:
        if item.player is None or entry.player is None or item.player == entry.player:
            continue
        pairing = min(item.player, entry.player), max(item.player, entry.player)
        if pairing in standings.games_of:
            found.append(Met(item, standings.games_of[pairing]))
    return found


def _games(entry: Entry, standings: Standings, links: pages.Links, met: Sequence[Met]) -> str:
    """Return the opponents in the table with links to the games; best and worst game come first."""
    if entry.player is None or not met:
        return ""
    own = standings.league.players[entry.player]
    mine = own.sha256 or own.name
    margins = [
        (game.margin if game.one == mine else -game.margin, item, number_)
        for item in met
        for number_, game in enumerate(item.games, 1)
    ]
    extremes = []
    for title, (margin, item, place) in (
        ("Best game", max(margins, key=lambda found: found[0])),
        ("Worst game", min(margins, key=lambda found: found[0])),
    ):
        to = f"../{quote(links.pairing(entry, item.entry))}#{place}.0"
        shown = f"{margin:+d} against {html.escape(item.entry.name)}".replace("-", "\u2212")
        extremes.append(f'<p>{title}: <a href="{to}">{shown}</a></p>')
    lines = []
    for item in met:
        total = standings.between[entry.player, item.entry.player or 0]
        to = f"../{quote(links.pairing(entry, item.entry))}"
        lines.append(
            [
                breakable(item.entry.name),
                pages.number(None if item.entry.rating is None else item.entry.rating.mean),
                f"{total.mean_margin:+.1f}".replace("-", "\u2212"),
                total.shown,
                f'<a href="{to}">{total.games} games</a>',
            ]
        )
    headers = (("opponent", "name"), ("its rating", "number wide"), ("mean margin", "number"))
    more = (("won / drawn / lost", "number wide"), ("replay", ""))
    return _card("Games", "".join(extremes) + pages.rows((*headers, *more), lines))


def _lost(book: Book, entry: Entry, standings: Standings, own: bool) -> str:
    """Return why turns were lost: each reason once, with the number of such turns."""
    if entry.player is None:
        return ""
    total = standings.totals.get(entry.player, Total()).faults
    if not total.total:
        return _card("Lost turns", "<p>None.</p>")
    counts = f"{total.timeouts} late, {total.invalid} invalid, {total.errors} errors"
    reasons: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    player = standings.league.players[entry.player]
    mine = player.sha256 or player.name
    for game in standings.games:
        if mine not in (game.one, game.two):
            continue
        if not game.faults[0 if game.one == mine else 1].total:
            continue
        side = game.side if game.one == mine else 3 - game.side
        for outcome, reason in _reasons(book, game.key, side, own):
            kind = kind_of_fault(outcome, reason), reason if outcome == "invalid" else ""
            first.setdefault(kind, f"{outcome}: {reason}" if reason else outcome)
            reasons[kind] += 1
    items = "".join(
        f"<li>{count} &times; <pre>{html.escape(first[kind])}</pre></li>"
        for kind, count in reasons.most_common(MAX_REASONS)
    )
    return _card("Lost turns", f"<p>{counts}</p><ul>{items}</ul>")


def _reasons(book: Book, key: str, side: int, own: bool) -> list[tuple[str, str]]:
    """Return the outcome and the reason of each turn that a side of a game lost."""
    data = replay(book, key, ("", ""))
    if data is None:
        return []
    found = []
    for turn in data["turns"]:
        if turn[0] == side and turn[2] not in OWN:
            detail = "" if turn[-1] is None else data["details"][turn[-1]]
            reason = detail if own else public_reason(turn[2], detail)
            found.append((turn[2], reason))
    return found

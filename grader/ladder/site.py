"""The site of a ladder: static files that open from disk; only changed pages are written."""

import hashlib
import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from connect4.views.document import SHARED, Page, assets, heading, shared_files
from connect4.views.words import kind_of_fault
from grader.handin import file_name
from grader.ladder import Book, GameRow, private_token
from grader.ladder.league import Entry, Standings, player_id, private_page, terms_of
from grader.marks.tally import Interval, few_games
from grader.output import pages, write_changed
from grader.output.explain import MAX_REASONS
from grader.output.results import protection_lines
from grader.output.tables import Number
from grader.output.writing import list_unlikely
from grader.play.one_game import public_reason

PARTS: Final = ("base", "theme", "table", "report", "ladder")

FOLDERS: Final = (SHARED, "agents", "games", "own")

ROBOTS: Final = "User-agent: *\nDisallow: /\n"


def write_site(book: Book, standings: Standings, site: Path, playground: str = "") -> None:
    """Write the pages that have changed, and remove those of former agents.

    `playground` is the address of a site by `grader playground`.
    """
    texts = shared_files(PARTS) | shared_files(pages.REPLAYS)
    texts |= {"robots.txt": ROBOTS, "index.html": index_page(book, standings, playground)}
    for entry in standings.entries:
        if place := agent_place(entry, standings):
            texts[place] = agent_page(book, entry, standings, own=False)
        if entry.student is not None:
            texts[private_page(entry.student.token)] = agent_page(book, entry, standings, own=True)
    for place, text in texts.items():
        write_changed(site / place, text)
    kept = {site / place for place in texts}
    for place, games, names, first in _pairings(book, standings):
        shown, title = [*_shown(games, names, first)], f"{names[0]} against {names[1]}"
        if pages.write_games(site / place, book, title, shown, ("index.html", "All agents")):
            kept.add(site / place)
    for folder in FOLDERS:
        for path in (site / folder).glob("*.*"):
            if path not in kept:
                path.unlink()


def _pairings(
    book: Book, standings: Standings
) -> Iterator[tuple[str, list[GameRow], tuple[str, str], str]]:
    """Yield place, games, names and the first one's id of agents that have met, the better first.

    If several students have the same file, the first represents them all. Then come the pairs that
    have played unrated games, but for those of whoever was forgotten.
    """
    by_player: dict[int, Entry] = {}
    for entry in standings.entries:
        if entry.player is not None:
            by_player.setdefault(entry.player, entry)
    for both, games in standings.games_of.items():
        pair = [by_player[player] for player in both if player in by_player]
        if len(pair) == 2:
            one, two = sorted(pair, key=lambda entry: entry.rank or len(standings.entries))
            assert one.player is not None
            first = player_id(standings.league.players[one.player])
            yield pairing_place(one, two, standings), games, (one.label, two.label), first
    league, found = standings.league, dict[tuple[str, str], list[GameRow]]()
    for game in book.games(terms_of(league.rubric), rated=False):
        found.setdefault((game.one, game.two), []).append(game)
    for ids, games in found.items():
        if {*ids} <= league.index.keys():
            names = [league.players[league.index[own]].name for own in ids]
            place = challenge_place(league.secret, *ids)
            yield place, games, (names[0], names[1]), ids[0]


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
        f"\u00b1 is half the width of the {_level(standings)} confidence interval.",
        f"The {'best' if rules.policy == 'best' else 'latest'} version of each student counts.",
        "A rung is an agent of the kit and has no rank." if anchor else "",
    ]
    facts = [
        standings.day,
        f"{sum(not entry.is_rung for entry in entries)} students",
        f"{len(standings.games)} games",
    ]
    parts = (
        f'<section class="card box" aria-label="Table">'
        f"{pages.paragraphs([' '.join(filter(None, explained))])}{link if playground else ''}\n"
        f"{_table(standings)}</section>",
        assets(("ladder_charts",), "html").rstrip(),
        pages.section("How the games were run", pages.paragraphs(protection_lines(book))),
    )
    return page("Ladder", facts, "\n".join(parts), _data(standings))


def _table(standings: Standings) -> str:
    """Return the table of all agents with a rating; below it, the others by what they lack."""
    rows: list[list[pages.Cell]] = []
    unrated: dict[str, list[str]] = {}
    for entry in standings.entries:
        place, total = agent_place(entry, standings), entry.total
        agent: pages.Cell = pages.Link(entry.name, place) if place else entry.name
        if entry.rating is None:
            unrated.setdefault(_unrated(entry), []).append(pages.cell_html(agent))
            continue
        version = f"v{entry.version.number}" if entry.version else ""
        rows.append(
            [
                entry.rank or "",
                agent,
                "rung" if entry.is_rung else version,
                value_text(entry.rating),
                total.games,
                total.record("\u2013"),
                total.faults.total or "",
                f"{entry.change:+z.0f}" if round(entry.change or 0) else "",
            ]
        )
    headers = (
        *(Number("#"), "agent", "version", Number("rating"), Number("games")),
        *(Number("won-drawn-lost"), Number("lost turns"), Number("this week")),
    )
    without = [f"No rating yet, {why}: {'; '.join(names)}" for why, names in unrated.items()]
    return pages.table(headers, rows) + pages.listed(without)


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
            if has_agent_pages(standings):
                games = quote(pairing_place(shown[row], shown[column], standings))
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
        pages.section("Versions", _versions(entry, standings, own)),
        pages.section("Games", _games(entry, standings)),
        pages.section("Lost turns", _lost(book, entry, standings, own)),
        pages.section("How the games were run", pages.paragraphs(protection_lines(book))),
    )
    facts = [f"{student.name} is {entry.name} on this site"] if student and own else []
    body = "\n".join(filter(None, parts))
    last = max((item.seen for item in standings.league.versions()), default=standings.day)
    data = _chart(last, [entry], standings)
    return page(entry.name, facts, body, data, "../")


def _summary(entry: Entry, standings: Standings, own: bool) -> str:
    """Return the rank, the rating and its interval, and the place of the chart."""
    rank = f"Rank {entry.rank}. " if entry.rank else ""
    week = pages.minus(f", {entry.change:+z.0f} this week") if round(entry.change or 0) else ""
    rating = entry.rating
    if rating is None:
        text = f"No rating yet: {_unrated(entry)}."
    elif rating.low == rating.high:
        text = f"Rating <b>{rating.mean:z.0f}</b> by definition"
    else:
        few = ", few games" if few_games(rating.pairs) else ""
        bounds = pages.minus(f"{rating.low:z.0f} to {rating.high:z.0f}") + few
        shown = pages.minus(f"{rating.mean:z.0f}")
        text = f"Rating <b>{shown}</b> ({_level(standings)} interval: {bounds}){week}"
    text = f'<p class="points">{rank}{text}</p>'
    if own and entry.student is not None and entry.student.problem:
        text += pages.paragraphs([f"The last hand-in could not be read: {entry.student.problem}"])
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
    rows: list[list[pages.Cell]] = []
    for version in reversed(entry.student.versions):
        rating = standings.rating_of(version)
        games = standings.totals[standings.league.index[version.sha256]].games
        note = "counts" if version == entry.version else ""
        if version.problem is not None:
            note = f"not played: {version.problem if own else version.kind}"
        elif rating is None:
            note = "no rating yet"
        name = f"v{version.number}"
        rows.append([name, version.seen, value_text(rating), games, note])
    headers = ("version", "first seen", Number("rating"), Number("games"), "status")
    return pages.table(headers, rows)


def _games(entry: Entry, standings: Standings) -> str:
    """Return the opponents in the table, with links to the games."""
    rows: list[list[pages.Cell]] = []
    for other in standings.entries:
        total = standings.between.get((entry.player, other.player))
        if total is None:
            continue
        link = pages.Link(f"{total.games} games", f"../{pairing_place(entry, other, standings)}")
        margin, record = f"{total.mean_margin:+.1f}", total.record("\u2013")
        rows.append([other.name, value_text(other.rating), margin, record, link])
    headers = (
        *("opponent", Number("its rating"), Number("points per game")),
        *(Number("won-drawn-lost"), "replay"),
    )
    return pages.table(headers, rows)


def _lost(book: Book, entry: Entry, standings: Standings, own: bool) -> str:
    """Return why turns were lost: each reason once, with the number of such turns."""
    if entry.player is None:
        return ""
    total = standings.totals[entry.player].faults
    if not total.total:
        return ""
    reasons: dict[tuple[str, str], list[str]] = {}
    mine = player_id(standings.league.players[entry.player])
    for game in standings.games:
        sides = {game.one: game.side, game.two: 3 - game.side}
        has_lost = mine in sides and any(faults.total for faults in game.faults)
        for turn in book.lost(game.key) if has_lost else ():
            if turn.player == sides[mine]:
                outcome = turn.outcome
                reason = turn.detail if own else public_reason(outcome, turn.detail)
                kind = kind_of_fault(outcome, reason), reason if outcome == "invalid" else ""
                reasons.setdefault(kind, []).append(f"{outcome}: {reason}" if reason else outcome)
    counts = f"{total.timeouts} late, {total.invalid} invalid, {total.errors} errors"
    most = sorted(reasons.values(), key=len, reverse=True)[:MAX_REASONS]
    return pages.paragraphs([counts]) + pages.listed(
        f"{len(texts)} &times; <pre>{html.escape(texts[0])}</pre>" for texts in most
    )


def has_agent_pages(standings: Standings) -> bool:
    """Return whether the public table links to a page for each agent."""
    return standings.league.rubric.ladder.names != "own"


def agent_place(entry: Entry, standings: Standings) -> str:
    """Return the place of an agent's public page on the site; empty if there is none."""
    if entry.player is None or not has_agent_pages(standings):
        return ""
    return f"agents/{'rung ' if entry.is_rung else ''}{file_name(entry.name)}.html"


def write_unlikely(book: Book, standings: Standings) -> tuple[int, Path]:
    """Write `NAME-unlikely.csv` beside the results file; return the number of pairs, and its place.

    It lists versions whose margin their ratings do not predict, each with the page of their games.
    """
    league = standings.league
    real, entries = league.real_names(), {entry.player: entry for entry in standings.entries}

    def page(one: int, two: int) -> str:
        known = {one, two} <= entries.keys()
        return pairing_place(entries[one], entries[two], standings) if known else ""

    names = [real.get(player.id, player.name) for player in league.players]
    place = book.path.with_name(f"{book.path.stem}-unlikely.csv")
    return list_unlikely(place, league.pairs, names, len(league.rungs), page), place


def pairing_place(one: Entry, two: Entry, standings: Standings) -> str:
    """Return the place of the games of two agents; nobody can guess it if names are hidden."""
    both = sorted((one.name, two.name))
    if not has_agent_pages(standings):
        return f"games/{private_token(standings.league.secret, ' - '.join(both))}.html"
    apart = hashlib.sha256(json.dumps(both).encode()).hexdigest()[:8]  # from `A - B` against `C`
    return f"games/{file_name(f'{apart} {both[0]} - {both[1]}')}.html"


def challenge_place(secret: int, *ids: str) -> str:
    """Return the place of the unrated games of two players; nobody can guess it."""
    return f"games/{private_token(secret, f'challenge {sorted(ids)}')}.html"


def page(title: str, facts: Sequence[str], body: str, data: Any, up: str = "") -> str:
    """Return a page; `up` is the relative path to the site's folder, empty on its first page."""
    listed = "".join(f"<span>{html.escape(fact)}</span>" for fact in facts)
    back = f'<p><a href="{up}index.html">All agents</a></p>\n' if up else ""
    top = f'{heading(title)}\n<p class="facts">{listed}</p>\n{back}'
    main = f'<main class="report ladder">\n{top}{body}\n</main>'
    return Page(title, PARTS, main, data).beside(up)


def value_text(rating: Interval | None) -> str:
    """Return a rating with half the width of its interval; empty if there is none."""
    if rating is None:
        return ""
    half = (rating.high - rating.low) / 2
    return f"{rating.mean:z.0f}" + (f" \u00b1 {half:.0f}" if half else "")


def _shown(games: Sequence[GameRow], names: tuple[str, str], first: str) -> Iterator[pages.Shown]:
    """Yield the games of two agents; `first` is the id of the one that `names` has first."""
    for number, game in enumerate(games, 1):
        begins = (game.side == 1) == (game.one == first)
        label = f"Game {number}: {names[0]} {'first' if begins else 'second'}"
        yield pages.Shown(game.key, label, names if begins else (names[1], names[0]))

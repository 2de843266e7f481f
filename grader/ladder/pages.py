"""Shared parts of the site's pages: header, tables, drawn intervals."""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from connect4.views import document
from connect4.views.page import page as replay_page
from grader.handin.submission import file_name
from grader.ladder.book import Book, GameRow
from grader.ladder.names import private_token
from grader.ladder.standings import Entry, Standings
from grader.marks.tally import Interval, few_games
from grader.output.protection import read_protection

PARTS: Final = ("base", "theme", "report", "ladder")

REPLAYS: Final = (*replay_page.PARTS, "report")
"""The parts of a page of games."""

NARROW: Final = 180
"""The width of a drawn interval, in SVG units."""

ASSETS: Final = "assets"
"""The folder of the files that pages share."""

MINUS: Final = "\u2212"


MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Links:
    """The places of the site's pages, relative to its folder."""

    standings: Standings
    secret: int

    @property
    def has_agents(self) -> bool:
        """Return whether the public table links to a page for each agent."""
        return self.standings.league.rubric.ladder.names != "own"

    def agent(self, entry: Entry) -> str:
        """Return the place of an agent's public page; empty if there is none."""
        if entry.player is None or not self.has_agents:
            return ""
        return f"agents/{'rung ' if entry.is_rung else ''}{file_name(entry.name)}.html"

    def pairing(self, one: Entry, two: Entry) -> str:
        """Return the place of the games of two agents; nobody can guess it if names are hidden."""
        names = " - ".join(sorted((one.name, two.name)))
        if not self.has_agents:
            names = private_token(self.secret, names)
        return f"games/{file_name(names)}.html"

    def games(self, one: int, two: int) -> list[GameRow]:
        """Return the games of two players in the order in which they were played."""
        return self.standings.games_of.get((min(one, two), max(one, two)), [])


def page(
    title: str, facts: Sequence[str], body: str, data: Any, up: str = "", comment: str = ""
) -> str:
    """Return a page; `up` is the relative path to the site's first page, empty on that page."""
    back = f'<p><a href="{up}">All agents</a></p>' if up else ""
    listed = "".join(f"<span>{html.escape(fact)}</span>" for fact in facts)
    header = (
        '<header class="top"><div class="grow">'
        f'<h1>{html.escape(title)}</h1><p class="facts">{listed}</p>{back}</div>'
        '<button type="button" class="theme" id="theme"></button></header>\n'
    )
    main = f'{header}<main class="report ladder">\n{body}\n</main>'
    return linked(title, PARTS, document.content(PARTS, data, main), "../" if up else "", comment)


@cache
def shared_files(parts: tuple[str, ...]) -> dict[str, str]:
    """Return the style sheet and the script that pages of the same parts share, by their places.

    A hash of the content is part of the name, so that no browser shows an old one.
    """
    texts = document.style_sheet(parts), document.script(parts)
    digest = hashlib.sha256("".join(texts).encode()).hexdigest()[:12]
    name = f"{ASSETS}/{'replay' if 'page' in parts else 'site'}-{digest}"
    return {f"{name}.css": texts[0], f"{name}.js": texts[1]}


def linked(title: str, parts: tuple[str, ...], body: str, up: str, comment: str = "") -> str:
    """Return a page with the shared files of `parts`; `up` leads to the site's folder."""
    style, script = shared_files(parts)
    return document.linked(title, up + style, body, up + script, comment)


def day_text(day: str) -> str:
    """Return a day such as 2026-11-22 as a page shows it: 22 Nov 2026."""
    year, month, date = day.split("-")
    return f"{int(date)}\u00a0{MONTHS[int(month) - 1]}\u00a0{year}"


def number(value: float | None, sign: bool = False) -> str:
    """Return a whole number with a real minus sign; empty for None."""
    if value is None or math.isnan(value):
        return ""
    text = f"{value:+.0f}" if sign else f"{value:.0f}"
    text = "0" if text in ("-0", "+0") else text
    return text.replace("-", MINUS)


def rows(headers: Sequence[tuple[str, str]], lines: Sequence[Sequence[str]]) -> str:
    """Return a table of HTML cells; each header has a class for its column."""
    kinds = [f' class="{kind}"' if kind else "" for _, kind in headers]
    head = "".join(
        f'<th scope="col"{kind}>{text}</th>' if text else f"<td{kind}></td>"
        for (text, _), kind in zip(headers, kinds, strict=True)
    )
    body = "\n".join(
        f"<tr>{''.join(f'<td{kind}>{cell}</td>' for cell, kind in zip(line, kinds, strict=True))}"
        "</tr>"
        for line in lines
    )
    return (
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        f"{body}\n</tbody></table></div>"
    )


def protection_card(book: Book) -> str:
    """Return under which protections the games were played; empty if nothing is known."""
    texts = read_protection(book).lines()
    if not texts:
        return ""
    lines = "".join(f"<p>{html.escape(text)}</p>" for text in texts)
    return f'<section class="card box"><h2>How the games were run</h2>\n{lines}</section>'


class Scale:
    """The scale that all drawn intervals of a table share: whole steps that include all of them."""

    def __init__(self, ratings: Sequence[Interval | None]) -> None:
        known = [rating for rating in ratings if rating is not None]
        bounds = [value for rating in known for value in rating.bounds if math.isfinite(value)]
        means = [rating.mean for rating in known] or [0.0]
        span = max(max(means) - min(means), 1.0)
        low = max(min([*bounds, *means, 0.0]), min(means) - span)
        high = min(max([*bounds, *means, 1.0]), max(means) + span)
        tens = float(10 ** math.floor(math.log10(max(high - low, 1.0)) - 1))
        step = next(size * tens for size in (1, 2.5, 5, 10, 20) if (high - low) / tens / size <= 10)
        self.low, self.high = math.floor(low / step) * step, math.ceil(high / step) * step

    def across(self, value: float) -> float:
        """Return the place of a value; values beyond the scale are at its edge."""
        share = (value - self.low) / (self.high - self.low)
        return 4 + (NARROW - 8) * min(1.0, max(0.0, share))

    def drawn(self, rating: Interval | None) -> str:
        """Return a rating with its interval as SVG."""
        if rating is None:
            return ""
        low, high = (
            value if math.isfinite(value) else edge
            for value, edge in zip(rating.bounds, (self.low, self.high), strict=True)
        )
        left, right = self.across(low), self.across(high)
        zero = self.across(0.0)
        label = f"{number(rating.mean)}, between {number(low)} and {number(high)}"
        return (
            f'<svg class="drawn" viewBox="0 0 {NARROW} 18" width="{NARROW}" height="18" role="img" '
            f'aria-label="{label}"><title>{label}</title>'
            f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="18" class="axis"/>'
            f'<rect x="{left:.1f}" y="5" width="{right - left:.1f}" height="8" class="interval"/>'
            f'<circle cx="{self.across(rating.mean):.1f}" cy="9" r="4" class="pair"/></svg>'
        )

    @property
    def title(self) -> str:
        """Return the header of a column of drawn intervals."""
        return (
            f'<span class="scale"><span>{number(self.low)}</span><span class="word">rating</span>'
            f"<span>{number(self.high)}</span></span>"
        )


def interval_text(rating: Interval | None) -> str:
    """Return an interval in words."""
    if rating is None:
        return "no rating yet"
    if rating.low == rating.high:
        return "0 by definition"
    few = ", few games" if few_games(rating.pairs) else ""
    return f"{number(rating.low)} to {number(rating.high)}{few}"


def no_rating(entry: Entry) -> str:
    """Return why an agent has no rating yet, without quoting anybody's file."""
    student = entry.student
    if student is not None and entry.version is None:
        found = "no version can be played" if student.versions else "no file can be read"
        return f"no rating yet: {found}"
    return f"no rating yet: {'too few games' if entry.total.games else 'no game played'}"


def versions_data(entry: Entry, standings: Standings) -> list[tuple[str, int, int]]:
    """Return the day, the rating and the number of each version that has a rating, for a chart."""
    versions = entry.student.versions if entry.student is not None else ()
    found = []
    for version in versions:
        rating = standings.rating(standings.league.index[version.sha256])
        if rating is not None:
            found.append((version.seen, round(rating.mean), version.number))
    return found


def moved(entry: Entry) -> str:
    """Return what has changed since a week ago, as HTML."""
    if entry.change is None:
        return '<span class="muted">new</span>' if entry.rank else ""
    ranks = entry.rank_change or 0
    arrow = "" if not ranks else f" {'&#9650;' if ranks > 0 else '&#9660;'}{abs(ranks)}"
    kind = "up" if ranks > 0 else "down" if ranks < 0 else "muted"
    return f'{number(entry.change, sign=True)}<span class="{kind}">{arrow}</span>'

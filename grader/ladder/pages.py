"""Parts of the ladder's pages: their frame and places, ratings as drawings."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from connect4.views import document
from grader.handin.submission import file_name
from grader.ladder.book import Book, GameRow, private_token
from grader.ladder.league import Entry, Standings
from grader.marks.tally import Interval
from grader.output import replays
from grader.output.markup import Drawn, heading, minus
from grader.output.replays import Shown, linked, shared_files

PARTS: Final = ("base", "theme", "table", "report", "ladder")

NARROW: Final = 180
"""The width of a drawn interval, in SVG units."""


def has_agent_pages(standings: Standings) -> bool:
    """Return whether the public table links to a page for each agent."""
    return standings.league.rubric.ladder.names != "own"


def agent_place(entry: Entry, standings: Standings) -> str:
    """Return the place of an agent's public page on the site; empty if there is none."""
    if entry.player is None or not has_agent_pages(standings):
        return ""
    return f"agents/{'rung ' if entry.is_rung else ''}{file_name(entry.name)}.html"


def pairing_place(one: Entry, two: Entry, standings: Standings) -> str:
    """Return the place of the games of two agents; nobody can guess it if names are hidden."""
    names = " - ".join(sorted((one.name, two.name)))
    if not has_agent_pages(standings):
        names = private_token(standings.league.secret, names)
    return f"games/{file_name(names)}.html"


def page(
    title: str, facts: Sequence[str], body: str, data: Any, up: str = "", comment: str = ""
) -> str:
    """Return a page; `up` is the relative path to the site's folder, empty on its first page."""
    listed = "".join(f"<span>{html.escape(fact)}</span>" for fact in facts)
    back = f'<p><a href="{up}index.html">All agents</a></p>\n' if up else ""
    top = f'{heading(title)}\n<p class="facts">{listed}</p>\n{back}'
    main = f'<main class="report ladder">\n{top}{body}\n</main>'
    return linked(title, PARTS, document.content(PARTS, data, main), up, comment)


class Scale:
    """The scale that all drawn intervals of a table share: whole steps that include all of them."""

    def __init__(self, ratings: Iterable[Interval | None]) -> None:
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

    def drawn(self, rating: Interval | None) -> Drawn | str:
        """Return a rating with its interval as SVG."""
        if rating is None:
            return ""
        left, right = self.across(rating.low), self.across(rating.high)
        zero = self.across(0.0)
        label = minus(f"{rating.mean:z.0f}, between {rating.low:z.0f} and {rating.high:z.0f}")
        return Drawn(
            f'<svg class="drawn" viewBox="0 0 {NARROW} 18" width="{NARROW}" height="18" role="img" '
            f'aria-label="{label}"><title>{label}</title>'
            f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="18" class="axis"/>'
            f'<rect x="{left:.1f}" y="5" width="{right - left:.1f}" height="8" class="interval"/>'
            f'<circle cx="{self.across(rating.mean):.1f}" cy="9" r="4" class="pair"/></svg>',
            "drawn",
        )

    @property
    def title(self) -> Drawn:
        """Return the header of a column of drawn intervals."""
        ends = (minus(f"{value:z.0f}") for value in (self.low, self.high))
        return Drawn(
            f'<span class="scale">{"".join(f"<span>{end}</span>" for end in ends)}</span>', ""
        )


def value_text(rating: Interval | None) -> str:
    """Return a rating with half the width of its interval; empty if there is none."""
    if rating is None:
        return ""
    half = (rating.high - rating.low) / 2
    return f"{rating.mean:z.0f}" + (f" \u00b1 {half:.0f}" if half else "")


def pairing_page(
    book: Book, games: Sequence[GameRow], one: Entry, two: Entry, written: str
) -> str | None:
    """Return the page of the games of two agents; None if it begins as `written`, with its hash."""
    names = one.label, two.label
    first = one.version.sha256 if one.version is not None else one.name
    shown = []
    for number, game in enumerate(games, 1):
        begins = (game.side == 1) == (game.one == first)
        label = f"Game {number}: {names[0]} {'first' if begins else 'second'}"
        shown.append(Shown(game.key, label, names if begins else (names[1], names[0])))
    digest = replays.digest(shown, list(shared_files(PARTS)))  # those of a page without records
    if digest in written:
        return None
    title, comment = f"{names[0]} against {names[1]}", f"ladder {digest}"
    text = replays.games_page(book, title, shown, ("index.html", "All agents"), comment)
    if text:
        return text
    lost = '<section class="card box"><p>The results file has no records of these games, so '
    lost += "they cannot be replayed. Their results count.</p></section>"
    return page(title, [], lost, {"curves": [], "cells": []}, "../", comment)

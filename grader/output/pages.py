"""The HTML of all the grader's pages: cards, tables, links, lists, replays of games.

Text is escaped here and nowhere else, so that a student's text is never markup.
"""

import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from connect4 import record as records
from connect4.views import page as replay_page
from connect4.views.document import Json, Page, card, json_in_html
from grader.output import beginning, write
from grader.output.tables import Number
from grader.play.one_game import MADE_BY, as_seen_by, replay_data
from grader.results.store import Store

PARTS: Final = ("base", "report", "theme", "table")
"""The assets of a page without games."""

HYPHEN: Final = re.compile(r"(?<![\w.])-(?=\d)")
"""A hyphen that stands for a minus sign."""

RANK: Final = "#"
"""The header of a column of places; on a phone they stand before the titles of the rows."""

STACKED: Final = 5
"""Columns of a table whose rows are stacked on a phone."""


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that links to a file below `--out` or, without a path, to a place on the same page.

    With `whole_row` a click anywhere in its row follows the link.
    """

    text: str
    path: str
    anchor: str = ""
    whole_row: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """A cell that shows an interval as a bar on a scale from 0 to `full`, with a point in it."""

    text: str
    low: float
    value: float
    high: float
    full: float


Cell: TypeAlias = str | int | Link | Range


def whole(title: str, body: str, kind: str = "", parts: Sequence[str] = ()) -> str:
    """Return a page; `kind` is a class of its style sheet.

    `parts` are assets that it needs besides `PARTS`.
    """
    main = f'<main class="{" ".join(filter(None, ("report", kind)))}">\n{body}\n</main>'
    return Page(title, (*PARTS, *parts), main).alone()


def minus(text: str) -> str:
    """Return a text with real minus signs before its numbers."""
    return HYPHEN.sub("\u2212", text)


def progress(name: str, value: float, full: float) -> str:
    """Return a progress bar."""
    return (
        f'<progress max="{full:g}" value="{max(0.0, min(value, full)):g}" '
        f'aria-label="{html.escape(name)}"></progress>'
    )


def section(title: str, body: str) -> str:
    """Return a card below its title; nothing without a body."""
    return f"<h2>{html.escape(title)}</h2>\n{card(body)}" if body else ""


def paragraphs(texts: Iterable[str]) -> str:
    """Return a paragraph for each text."""
    return "".join(f"<p>{html.escape(text)}</p>" for text in texts)


def listed(texts: Iterable[str]) -> str:
    """Return a list with an item for each piece of HTML; nothing without any."""
    items = "".join(f"<li>{text}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def filters(label: str, names: Sequence[str], kinds: Sequence[Sequence[str]]) -> str:
    """Return a button for each kind of rows, with their number; it keeps the rows of this kind.

    `names` are all kinds in their order, `kinds` those of each row.
    """
    if not any(kinds):
        return ""
    counts = Counter(kind for row in kinds for kind in row)
    buttons = "".join(
        f'<button type="button" data-kind="{_word(kind)}" aria-pressed="false">'
        f"<b>{counts[kind]}</b> {html.escape(kind)}</button>"
        for kind in names
        if kind in counts
    )
    return f'<div class="filters" role="group" aria-label="{label}">{label} {buttons}</div>'


def _word(kind: str) -> str:
    return html.escape(kind.replace(" ", "-"))


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    kinds: Sequence[Sequence[str]] = (),
    sorted_by: str = "",
) -> str:
    """Return a table; a column is right-aligned if its header is a `Number`.

    `kinds` are those of each row, for `filters`. The rows are sorted by a column, highest first.

    On a phone, the rows of a wide table are stacked: below its first text a row has all other
    cells, each with its header. A column without any text is left out; nothing without rows.
    """
    if not rows:
        return ""
    columns = [
        (header, cells)
        for header, cells in zip(headers, zip(*rows, strict=True), strict=True)
        if any(str(cell) if isinstance(cell, str | int) else cell.text for cell in cells)
    ]
    is_number = [isinstance(header, Number) for header, _ in columns]
    stacked = ' class="stacked"' if len(columns) >= STACKED else ""
    title, head, lines = is_number.index(False) if False in is_number else 0, "", [""] * len(rows)
    for place, (header, cells) in enumerate(columns):
        kind = ' class="number"' if is_number[place] else ""
        order = ' aria-sort="descending"' if header == sorted_by else ""
        head += (
            f'<th scope="col"{kind}{order}>{html.escape(header)}</th>'
            if header
            else f"<td{kind}></td>"
        )
        label = f' data-label="{html.escape(header[:1].upper() + header[1:])}"'
        if place == title:
            label = " data-title"
        elif not place and header == RANK:
            label = " data-rank"
        kind += label if stacked else ""
        lines = [
            f"{line}<td{kind}>{cell_html(cell, is_number[place])}</td>"
            for line, cell in zip(lines, cells, strict=True)
        ]
    marks = [f' data-kinds="{" ".join(map(_word, kind))}"' for kind in kinds] or [""] * len(rows)
    body = "\n".join(f"<tr{mark}>{line}</tr>" for mark, line in zip(marks, lines, strict=True))
    return (
        f'<div class="scroll" tabindex="0"><table{stacked}>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def link(target: Link) -> str:
    """Return a link as HTML."""
    anchor = f"#{target.anchor}" if target.anchor else ""
    kind = ' class="whole-row"' if target.whole_row else ""
    return f'<a{kind} href="{quote(target.path)}{anchor}">{html.escape(target.text)}</a>'


def cell_html(cell: Cell, is_number: bool = False) -> str:
    """Return the HTML of a cell."""
    if isinstance(cell, Link):
        return link(cell)
    if isinstance(cell, Range):
        shown = (cell.low, cell.value, cell.high - cell.low)
        low, value, width = (f"{100 * number / cell.full:.1f}" for number in shown)
        return (
            f'<svg class="range" viewBox="0 0 100 10" role="img"><title>{html.escape(cell.text)}'
            '</title><path class="axis" d="M0 5h100"/><rect class="interval" '
            f'x="{low}" width="{width}" y="2" height="6" rx="2"/>'
            f'<circle cx="{value}" cy="5" r="2.5"/></svg>'
        )
    return html.escape(minus(str(cell)) if is_number else str(cell))


REPLAYS: Final = (*replay_page.PARTS, "report")
"""The parts of a page of games."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A game on a page: its key, its label, and the names of player 1 and player 2."""

    key: str
    label: str
    names: tuple[str, str]


def replay_text(store: Store, key: str, names: Sequence[str]) -> Json | None:
    """Return the data of a game for the replay page; None if its record is damaged or lost.

    A stored game names files. `names` are what the page shows for player 1 and player 2.
    """
    stored = store.page(key)
    try:
        if stored is None or not stored.startswith(MADE_BY):
            stored = replay_data(records.loads(store.record(key) or ""))
    except ValueError:
        return None
    return with_keys({"names": list(names)}, Json(stored.partition(" ")[2]))


def with_keys(keys: Mapping[str, Any], text: Json) -> Json:
    """Return an object of JSON with these keys before its own."""
    return Json(f"{json_in_html(dict(keys))[:-1]},{text[1:]}")


def public_replay(store: Store, key: str, names: Sequence[str]) -> dict[str, Any] | None:
    """Return the data of a game for the replay page as everybody may see them.

    What a player answered and said in a lost turn is left out; each has a `public_reason`.
    """
    try:
        record = as_seen_by(records.loads(store.record(key) or ""), ())
    except ValueError:
        return None
    shown: dict[str, Any] = json.loads(replay_data(record).partition(" ")[2])
    return {"names": list(names), **shown}


def write_games(
    path: Path, store: Store, title: str, games: Sequence[Shown], back: tuple[str, str]
) -> bool:
    """Write a page one folder below its site that replays games, unless it is up to date.

    `back` is a page of the site and the text of the link to it. Return whether the page is there:
    it is not if no game has a record.
    """
    frame = Page("", REPLAYS, data={"games": []}).beside("../")
    listed = [[game.key, game.label, *game.names] for game in games]
    digest = hashlib.sha256(json.dumps([MADE_BY, frame, listed]).encode()).hexdigest()
    comment = f"games {digest}"
    if comment in beginning(path):
        return True
    shown = []
    for game in games:
        data = public_replay(store, game.key, game.names)
        if data is not None:
            shown.append({"label": game.label, **data})
    if shown:
        place, text = back
        link = f'<nav class="report" aria-label="Site"><a href="../{place}">{text}</a></nav>\n'
        write(path, Page(title, REPLAYS, link, {"games": shown}, comment).beside("../"))
    return bool(shown)

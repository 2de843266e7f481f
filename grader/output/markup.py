"""The HTML of all the grader's pages: frame, cards, tables, links, lists.

Text is escaped here and nowhere else, so that a student's text is never markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote

from connect4.views.document import Page

PARTS: Final = ("base", "report", "theme", "table")
"""The assets of a page without games."""

WORDS_OF_NUMBERS: Final = re.compile(r"\b(?:to|of|few games|withheld|incomplete)\b")
"""Words that are allowed in a column of numbers."""

NUMBERS: Final = re.compile(r"[-+\u2212\u2013\u00b1\d.,%\s:()]*")

HYPHEN: Final = re.compile(r"(?<![\w.])-(?=\d)")
"""A hyphen that stands for a minus sign."""

LONG: Final = 40
"""Characters of a cell that may take several lines; shorter ones never do."""

SHORT: Final = 10
"""Characters of a cell that takes one line even on a narrow page."""

RANK: Final = "#"
"""The header of a column of places; on a phone they stand before the titles of the rows."""

STACKED: Final = 5
"""Columns of a table whose rows are stacked on a phone."""

ASIDE: Final = re.compile(r"(.+?) (\(.*\)|few games)")
"""A number, and what a narrow page shows below it: its interval, a remark."""

BREAKS: Final = re.compile(r"(?<=\w[,:/=_])(?=\S)")
"""Where a name may go on in the next line, as in the names of agents."""


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
class Drawn:
    """A cell or a header that is HTML; `text` says the same in words."""

    markup: str
    text: str


Cell: TypeAlias = str | int | Link | Drawn


def whole(
    title: str,
    body: str,
    kind: str = "",
    parts: Sequence[str] = (),
    comment: str = "",
) -> str:
    """Return a page; `kind` is a class of its style sheet, `comment` a comment in its source.

    `parts` are assets that it needs besides `PARTS`.
    """
    main = f'<main class="{" ".join(filter(None, ("report", kind)))}">\n{body}\n</main>'
    return Page(title, (*PARTS, *parts), main, comment=comment).alone()


def heading(title: str, more: str = "") -> str:
    """Return the top of a page: its title and the button for dark and light, `more` before it."""
    button = '<button type="button" class="theme"></button>'
    return f'<header class="top"><h1 id="name">{html.escape(title)}</h1>{more}{button}</header>'


def minus(text: str) -> str:
    """Return a text with real minus signs before its numbers."""
    return HYPHEN.sub("\u2212", text)


def card(body: str, kind: str = "") -> str:
    """Return a frame around a part of a page."""
    return f'<div class="{" ".join(filter(None, ("card box", kind)))}">\n{body}\n</div>'


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


def table(headers: Sequence[str | Drawn], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table; columns of numbers are right-aligned.

    On a phone, the rows of a wide table are stacked: below its first text a row has all other
    cells, each with its header. A column without any text is left out; nothing without rows.
    """
    if not rows:
        return ""
    columns = list(zip(*rows, strict=True))
    used = [place for place, column in enumerate(columns) if any(map(_text, column))]
    headers, columns = [headers[place] for place in used], [columns[place] for place in used]
    kinds = list(map(_kind, columns))
    title = next((place for place, kind in enumerate(kinds) if "number" not in kind), 0)
    names = list(map(_text, headers))
    labels = [f' data-label="{html.escape(name[:1].upper() + name[1:])}"' for name in names]
    labels[title : title + 1] = [" data-title"]
    if headers and headers[0] == RANK:
        labels[0] = " data-rank"
    stacked = ' class="stacked"' if len(headers) >= STACKED else ""
    cells = [kind + (label if stacked else "") for kind, label in zip(kinds, labels, strict=True)]
    head = "".join(
        f'<th scope="col"{kind}>{_inner(header)}</th>' if header else f"<td{kind}></td>"
        for header, kind in zip(headers, kinds, strict=True)
    )
    drawn = (
        [f"<td{kind}>{(_number if 'number' in kind else _inner)(cell)}</td>" for cell in column]
        for column, kind in zip(columns, cells, strict=True)
    )
    lines = "\n".join(f"<tr>{''.join(row)}</tr>" for row in zip(*drawn, strict=True))
    return (
        f'<div class="scroll" tabindex="0"><table{stacked}>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n"
        f"{lines}\n</tbody>\n</table></div>"
    )


def _text(cell: Cell) -> str:
    return str(cell) if isinstance(cell, str | int) else cell.text


def _kind(column: Sequence[Cell]) -> str:
    """Return the attribute of a column's cells: numbers, long texts, or nothing."""
    texts = set(map(_text, column))
    if _are_numbers(texts):
        return ' class="number"'
    longest = max(map(len, texts))
    if longest > LONG and any(isinstance(cell, str) for cell in column):
        return ' class="long"'
    return ' class="short"' if longest <= SHORT else ""


def _are_numbers(texts: Collection[str]) -> bool:
    """Return whether all texts of a column are numbers or empty, and at least one is a number."""
    return any(any(map(str.isdigit, text)) for text in texts) and all(
        NUMBERS.fullmatch(WORDS_OF_NUMBERS.sub("", text)) for text in texts
    )


def link(target: Link) -> str:
    """Return a link as HTML."""
    anchor = f"#{target.anchor}" if target.anchor else ""
    kind = ' class="whole-row"' if target.whole_row else ""
    return f'<a{kind} href="{quote(target.path)}{anchor}">{breakable(target.text)}</a>'


def _inner(cell: Cell) -> str:
    """Return the HTML of a cell."""
    if isinstance(cell, Drawn):
        return cell.markup
    return link(cell) if isinstance(cell, Link) else breakable(str(cell))


def _number(cell: Cell) -> str:
    """Return a number as HTML; what follows it stands apart."""
    if not isinstance(cell, str | int):
        return _inner(cell)
    text = minus(str(cell))
    found = ASIDE.fullmatch(text)
    if found is None:
        return html.escape(text)
    value, more = found.groups()
    return f'{html.escape(value)} <span class="aside">{html.escape(more)}</span>'


def breakable(text: str) -> str:
    """Return a text as HTML; a long name may break after some of its signs."""
    if " " in text:
        return html.escape(text)
    return "<wbr>".join(map(html.escape, BREAKS.split(text)))

"""Shared parts of the grader's pages: style, frame, tables. Students' text is never markup."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote

from connect4.views import document

STYLES: Final = ("base", "report")
SCRIPTS: Final = ("theme",)
"""The assets of a page without games."""

RELOAD: Final = "setTimeout(() => location.reload(), 10000);"
"""The script of a page that is shown during play."""

WORDS_OF_NUMBERS: Final = re.compile(r"\b(?:to|few games|withheld|incomplete)\b")
"""Words that are allowed in a column of numbers."""

NUMBERS: Final = re.compile(r"[-+\u2212\u00b1\d.,%\s:()]*")

HYPHEN: Final = re.compile(r"(?<![\w.])-(?=\d)")
"""A hyphen that stands for a minus sign."""

LONG: Final = 40
"""Characters of a cell that may take several lines; shorter ones never do."""


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that links to a file below `--out` or, without a path, to a place on the same page.

    With `whole_row` a click anywhere in its row follows the link.
    """

    text: str
    path: str
    anchor: str = ""
    whole_row: bool = False


Cell: TypeAlias = str | int | Link


def whole(
    title: str,
    body: str,
    kind: str = "",
    scripts: Sequence[str] = (),
    script: str = "",
    comment: str = "",
) -> str:
    """Return a page; `kind` is a class of its style sheet, `comment` a comment in its source.

    `scripts` are assets that it needs besides the shared ones, `script` is run after them.
    """
    main = f'<main class="{" ".join(filter(None, ("report", kind)))}">\n{body}\n</main>'
    code = f'"use strict";\n{{\n{document.assets((*SCRIPTS, *scripts), "js")}\n{script}\n}}\n'
    return document.whole(title, document.style_sheet(STYLES), main, code, comment)


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


def table(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table; columns of numbers are right-aligned, and a wide table scrolls separately."""
    kinds = list(map(_kind, zip(*rows, strict=True))) or [""] * len(headers)
    head = "".join(
        f"<th{kind}>{html.escape(header)}</th>" if header else f"<td{kind}></td>"
        for header, kind in zip(headers, kinds, strict=True)
    )
    lines = "\n".join(f"<tr>{''.join(map(_cell, row, kinds))}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        f"{lines}\n</tbody>\n</table></div>"
    )


def _kind(column: Sequence[Cell]) -> str:
    """Return the attribute of a column's cells: numbers, long texts, or nothing."""
    if _is_numbers(column):
        return ' class="number"'
    long = any(isinstance(cell, str) and len(cell) > LONG for cell in column)
    return ' class="long"' if long else ""


def _is_numbers(column: Sequence[Cell]) -> bool:
    """Return whether all cells of a column are numbers or empty, and at least one is a number."""
    texts = [cell.text if isinstance(cell, Link) else str(cell) for cell in column]
    return any(any(map(str.isdigit, text)) for text in texts) and all(
        NUMBERS.fullmatch(WORDS_OF_NUMBERS.sub("", text)) for text in texts
    )


def link(target: Link) -> str:
    """Return a link as HTML."""
    anchor = f"#{target.anchor}" if target.anchor else ""
    kind = ' class="whole-row"' if target.whole_row else ""
    return f'<a{kind} href="{quote(target.path)}{anchor}">{html.escape(target.text)}</a>'


def _cell(cell: Cell, kind: str = "") -> str:
    if isinstance(cell, Link):
        return f"<td{kind}>{link(cell)}</td>"
    return f"<td{kind}>{html.escape(minus(str(cell)) if 'number' in kind else str(cell))}</td>"

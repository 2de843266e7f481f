"""The report: the pairs with their evidence, sources side by side, and the class as a grid."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import Final

from grader.output.markup import Cell, Link, card, heading, table, whole
from grader.similar.pairs import Pair
from grader.similar.source import Document, base_spans

FIRST: Final = "This is screening, not proof."
LISTED: Final = 60
SHOWN: Final = 20
"""The number of pairs whose sources are shown."""

CELL: Final = 14
FULL: Final = 40.0
"""The percentage that has the full colour in the grid."""


def similar_page(pairs: Sequence[Pair], found: Sequence[Document], notes: Sequence[str]) -> str:
    """Return the page; it contains everybody's name, so students must not see it."""
    parts = [
        heading("Pairs that look alike"),
        f"<p><strong>{FIRST}</strong> Two students may have used the same textbook, the same "
        "lecture or the same idea. Read both files, then talk to both students.</p>",
        "<p>Source: the share of the smaller file that both contain. Names, comments, layout and "
        "the order of functions do not count, nor does code of the handout and of the textbook "
        "agents. Code that few others have counts more; the rank is of what a pair shares beyond "
        "what either shares with most others. Behaviour: how much more two files choose the "
        "same moves than their strength explains, in standard deviations over all pairs.</p>",
        *(f"<p>{html.escape(note)}</p>" for note in notes),
        "<h2>Pairs by evidence</h2>",
        "<p>A pair stands where the better of its two ranks puts it: first those of rank 1, by "
        "source or by behaviour, then those of rank 2. Of two such pairs, the one that shares "
        "more source comes first. One kind of evidence is therefore enough for a high place.</p>",
        card(table(HEADERS, [_row(number, pair) for number, pair in _numbered(pairs[:LISTED])])),
        "<h2>The class</h2>",
        "<p>Each cell is a pair; the stronger the colour, the more source they share.</p>",
        card(f'<div class="scroll" tabindex="0">{grid(pairs, found)}</div>'),
        "<h2>Sources side by side</h2>",
        "<p>Marked: in both files. Grey: base code, which does not count.</p>",
    ]
    parts += [_sides(number, pair) for number, pair in _numbered(pairs[:SHOWN])]
    return whole("Pairs that look alike", "\n".join(parts), "similar")


HEADERS: Final = ("", "one", "the other", "source", "rank", "behaviour", "its rank", "sources")


def _numbered(pairs: Sequence[Pair]) -> Iterator[tuple[int, Pair]]:
    return enumerate(pairs, 1)


def _row(number: int, pair: Pair) -> list[Cell]:
    link: Cell = Link("side by side", "", f"pair-{number}") if number <= SHOWN else ""
    alike = "" if math.isnan(pair.behaviour) else f"{pair.behaviour:+.1f}"
    return [
        number,
        pair.one.name,
        pair.two.name,
        f"{pair.shared.percent:.0f} %",
        pair.source_rank,
        alike,
        "" if pair.behaviour_rank is None else pair.behaviour_rank,
        link,
    ]


def _sides(number: int, pair: Pair) -> str:
    blocks = "".join(
        f'<div><h3>{html.escape(document.name)}</h3><pre tabindex="0">{marked(document, spans)}'
        "</pre></div>"
        for document, spans in zip((pair.one, pair.two), pair.shared.spans, strict=True)
    )
    title = f"{number}. {pair.one.name} and {pair.two.name}: {pair.shared.percent:.0f} %"
    head = f'<summary id="pair-{number}">{html.escape(title)}</summary>'
    return card(f'<details open>{head}<div class="sides">{blocks}</div></details>')


def marked(document: Document, spans: Sequence[tuple[int, int]]) -> str:
    """Return a source as HTML: matching code is highlighted, base code is grey."""
    kinds = bytearray(len(document.source))
    for kind, listed in ((1, base_spans(document)), (2, spans)):
        for begin, end in listed:
            kinds[begin:end] = bytes([kind]) * (end - begin)
    parts = []
    begin = 0
    for end in range(1, len(kinds) + 1):
        if end == len(kinds) or kinds[end] != kinds[begin]:
            text = html.escape(document.source[begin:end])
            if kinds[begin] == 2:
                text = f"<mark>{text}</mark>"
            elif kinds[begin] == 1:
                text = f'<span class="base">{text}</span>'
            parts.append(text)
            begin = end
    return "".join(parts)


def grid(pairs: Sequence[Pair], found: Sequence[Document]) -> str:
    """Return the class as a grid in SVG."""
    place = {document.name: number for number, document in enumerate(found)}
    cells = []
    for pair in pairs:
        if pair.one.name not in place or pair.two.name not in place:
            continue
        row, column = sorted((place[pair.one.name], place[pair.two.name]), reverse=True)
        opacity = min(1.0, pair.shared.percent / FULL)
        title = html.escape(f"{pair.one.name}, {pair.two.name}: {pair.shared.percent:.0f} %")
        cells.append(
            f'<rect class="bar" x="{column * CELL}" y="{row * CELL}" width="{CELL - 1}" '
            f'height="{CELL - 1}" fill-opacity="{opacity:.2f}"><title>{title}</title></rect>'
        )
    names = [
        f'<text x="{number * CELL + 3}" y="{number * CELL + CELL - 3}" font-size="{CELL - 4}">'
        f"{html.escape(document.name[:30])}</text>"
        for document, number in zip(found, place.values(), strict=True)
    ]
    size = len(found) * CELL
    return (
        f'<svg viewBox="0 0 {size + 200} {size}" width="{size + 200}" height="{size}" role="img" '
        f'aria-label="The share of source of each pair">{"".join([*cells, *names])}</svg>'
    )

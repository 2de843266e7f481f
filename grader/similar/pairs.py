"""Ranks the pairs of a class by shared source and by behaviour, and reports them as a page."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.output.markup import Cell, Link, card, heading, paragraphs, section, table, whole
from grader.similar.source import Class, Document, Shared, base_spans

FIRST: Final = "This is screening, not proof."
LISTED: Final = 60
SHOWN: Final = 20
"""The number of pairs whose sources are shown."""

ADVICE: Final = (
    "Two students may have used the same textbook, the same lecture or the same idea. Read both "
    "files, then talk to both students."
)
EVIDENCE: Final = (
    "Source: the share of the smaller file that both contain. Names, comments, layout and the "
    "order of functions do not count, nor does code of the handout and of the textbook agents. "
    "Code that few others have counts more; the rank is of what a pair shares beyond what either "
    "shares with most others."
)
BEHAVIOUR: Final = (
    "Behaviour: how much more two files choose the same moves than their strength explains, in "
    "standard deviations over all pairs."
)
BOTH_RANKS: Final = (
    "A pair stands where the better of its two ranks puts it: first those of rank 1, by source or "
    "by behaviour, then those of rank 2. Of two such pairs, the one that shares more source comes "
    "first. One kind of evidence is therefore enough for a high place."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions, or one and a hand-in of another year."""

    one: Document
    two: Document
    shared: Shared
    source_rank: int
    behaviour: float
    """In standard deviations; NaN if one of them did not play."""
    behaviour_rank: int | None

    @property
    def rank(self) -> tuple[int, float]:
        """Return the better of the two ranks, then the shared percentage; identical files first."""
        if self.shared.identical:
            return 0, -100.0
        ranks = [rank for rank in (self.source_rank, self.behaviour_rank) if rank is not None]
        return min(ranks), -self.shared.percent


def ranked(
    found: Sequence[Document],
    against: Sequence[Document],
    players: Sequence[str],
    agreement: NDArray[np.float64],
) -> list[Pair]:
    """Return all pairs with a submission of this class, the most similar first."""
    everything = Class([*found, *against])
    sides = [*combinations(found, 2), *((one, two) for one in found for two in against)]
    place = {name: number for number, name in enumerate(players)}
    shared = [everything.shared(one, two) for one, two in sides]
    alike = [
        float(agreement[place[one.name], place[two.name]])
        if one.name in place and two.name in place
        else math.nan
        for one, two in sides
    ]
    by_source = _ranks(_beyond([(one.name, two.name) for one, two in sides], shared))
    by_play = _ranks(alike)
    pairs = [
        Pair(
            one,
            two,
            shared[number],
            by_source[number],
            alike[number],
            None if math.isnan(alike[number]) else by_play[number],
        )
        for number, (one, two) in enumerate(sides)
    ]
    return sorted(pairs, key=lambda pair: pair.rank)


def _beyond(names: Sequence[tuple[str, str]], shared: Sequence[Shared]) -> list[float]:
    """Return by how much each pair shares more than either file shares with most others."""
    own: dict[str, list[float]] = {}
    for pair, item in zip(names, shared, strict=True):
        for name in pair:
            own.setdefault(name, []).append(item.percent)
    usual = {name: median(values) if len(values) > 2 else 0.0 for name, values in own.items()}
    return [
        math.inf if item.identical else item.percent - max(usual[one], usual[two])
        for (one, two), item in zip(names, shared, strict=True)
    ]


def _ranks(values: Sequence[float]) -> list[int]:
    """Return the rank of each value, 1 for the largest; NaN comes last."""
    order = sorted(
        range(len(values)),
        key=lambda at: -math.inf if math.isnan(values[at]) else values[at],
        reverse=True,
    )
    ranks = [0] * len(values)
    for rank, at in enumerate(order, 1):
        ranks[at] = rank
    return ranks


def similar_page(pairs: Sequence[Pair], notes: Sequence[str]) -> str:
    """Return the page; it contains everybody's name, so students must not see it."""
    played = any(pair.behaviour_rank is not None for pair in pairs)
    rows = [_row(number, pair) for number, pair in enumerate(pairs[:LISTED], 1)]
    order = "Pairs stand in the order of the source that they share beyond what either shares with "
    order += "most others."
    if played:
        order = BOTH_RANKS
    else:
        rows = [[*row[:4], *row[7:]] for row in rows]
    headers = HEADERS if played else [*HEADERS[:4], *HEADERS[7:]]
    parts = [
        heading("Pairs that look alike"),
        f"<p><strong>{FIRST}</strong> {html.escape(ADVICE)}</p>",
        paragraphs([EVIDENCE, *([BEHAVIOUR] if played else []), *notes]),
        section("Pairs by evidence", f"{paragraphs([order])}\n{table(headers, rows)}"),
        "<h2>Sources side by side</h2>",
        "<p>Marked: in both files. Grey: base code, which does not count.</p>",
    ]
    parts += [_sides(number, pair) for number, pair in enumerate(pairs[:SHOWN], 1)]
    return whole("Pairs that look alike", "\n".join(parts), "similar")


HEADERS: Final = ("#", "one", "the other", "source", "rank", "behaviour", "its rank", "sources")


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

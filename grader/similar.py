"""Pairs of a class: shared source, ranks together with behaviour, and the page that shows them.

Source is compared by fingerprints of tokens, by the winnowing of the library copydetect.
Names, comments, layout and the order of functions do not count, nor does code from the handed-out
file or a textbook agent. A fingerprint that many submissions have counts less than one that only
two have.
"""

from __future__ import annotations

import html
import importlib
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from connect4.errors import InputError
from connect4.players.names import NEWLINE
from grader.handin.bounded import READER, BoundError
from grader.output.markup import Cell, Link, card, heading, paragraphs, section, table, whole

LENGTH: Final = 14
"""Characters of filtered code in a fingerprint.

Shorter than copydetect's 25, which finds no translation; common fingerprints get less weight.
"""

GUARANTEED: Final = 16
"""Matches of this length are always found."""

SECONDS: Final = 5.0
"""The processor time for a source's fingerprints. A pair then takes less than that."""

LEAST: Final = 15
"""A file with fewer fingerprints of its own is treated as if it had this number."""


@dataclass(frozen=True)
class Document:
    """A source and its fingerprints: hash to places in the filtered code."""

    name: str
    source: str
    prints: Mapping[int, Sequence[int]]
    base: Sequence[int]
    """The places of base code."""
    offsets: Any
    """The number of characters that filtering removed before each place."""
    problem: str | None = None
    """Why there are no fingerprints."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What two sources share: weight in percent of the smaller source, and spans in each."""

    percent: float
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    identical: bool = False
    """Whether the sources are the same, and not only base code."""


def library() -> Any:
    """Return the functions of copydetect; raises `InputError` if it is not installed."""
    try:
        return importlib.import_module("copydetect.utils")
    except ImportError:
        raise InputError(
            "similar requires copydetect: pip install -e '.[similar]' in the kit's folder"
        ) from None


def documents(sources: Mapping[str, str], base: Collection[str]) -> list[Document]:
    """Return the documents with their fingerprints; `base` has the sources of base code."""
    known: set[int] = set()
    for text in base:
        known.update(_filtered(_trimmed(text))[0].tolist())
    return [_document(name, _trimmed(text), known) for name, text in sources.items()]


def _trimmed(source: str) -> str:
    """Return a source without the blanks that end its lines.

    The library's time grows with the square of the lines in a row that have nothing but blanks.
    """
    return "\n".join(line.rstrip() for line in NEWLINE.split(source))


def _filtered(source: str) -> tuple[Any, Any]:
    """Return the hash of each piece of the filtered code, and the offsets of filtering."""
    utils = library()
    code, offsets = utils.filter_code(source, "ai.py", "python")
    pieces = (code[at : at + LENGTH].encode() for at in range(len(code) - LENGTH + 1))
    return np.array([crc32(piece) for piece in pieces]), offsets  # `hash` differs in each run


def fingerprints(source: str) -> tuple[list[int], list[int], list[int], list[list[int]]]:
    """Return the hashes of all pieces, the chosen ones and their places, and the offsets."""
    hashes, offsets = _filtered(source)
    if not len(hashes):
        return [], [], [], []
    chosen, places = library().winnow(
        hashes, min(GUARANTEED - LENGTH + 1, len(hashes)), remove_duplicates=False
    )
    return hashes.tolist(), chosen.tolist(), places.tolist(), np.asarray(offsets).tolist()


def _document(name: str, source: str, known: set[int]) -> Document:
    try:
        hashes, chosen, at, offsets = READER.ask(fingerprints, source, seconds=SECONDS)
    except BoundError as error:
        return Document(name, source, {}, [], np.array([]), str(error))
    prints: dict[int, list[int]] = {}
    for value, place in zip(chosen, at, strict=True):
        if value not in known:
            prints.setdefault(value, []).append(place)
    base = [place for place, value in enumerate(hashes) if value in known]
    return Document(name, source, prints, base, np.array(offsets))


class Class:
    """All documents; a fingerprint that fewer of them have gets more weight."""

    def __init__(self, found: Sequence[Document]) -> None:
        """Count the documents that contain each fingerprint."""
        self.found = found
        self._count = Counter(value for document in found for value in document.prints)

    def weight(self, values: Collection[int]) -> float:
        """Return the weight of fingerprints."""
        most = len(self.found) + 1
        return sum(math.log(most / self._count[value]) for value in values)

    def shared(self, one: Document, two: Document) -> Shared:
        """Return what two documents share."""
        common = one.prints.keys() & two.prints.keys()
        least = LEAST * math.log(len(self.found) + 1)
        smaller = max(least, min(self.weight(one.prints), self.weight(two.prints)))
        identical = one.source == two.source and bool(one.prints)
        percent = 100.0 if identical else 100 * self.weight(common) / smaller
        places = [
            _spans(document, [at for value in common for at in document.prints[value]])
            for document in (one, two)
        ]
        return Shared(percent, (places[0], places[1]), identical)


def _spans(document: Document, places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of fingerprints in the source; touching spans are joined."""
    spans: list[tuple[int, int]] = []
    for place in sorted(places):
        begin, end = place, place + LENGTH
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((begin, end))
    places_of = _originals(document, np.array(spans, dtype=int).reshape(-1))
    return list(zip(places_of[::2], places_of[1::2], strict=True))


def _originals(document: Document, places: NDArray[np.int_]) -> list[int]:
    """Return the places in the source of places in the filtered code."""
    offsets = document.offsets
    if len(offsets):
        numbers = np.searchsorted(offsets[:, 0], places)
        places = places + offsets[np.minimum(numbers, len(offsets) - 1), 1]
        places = np.clip(places, 0, len(document.source))
    found: list[int] = places.tolist()
    return found


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
    order = np.argsort(
        -np.nan_to_num(np.array(values), nan=-math.inf, posinf=math.inf), kind="stable"
    )
    ranks = np.empty(len(values), dtype=int)
    ranks[order] = np.arange(1, len(values) + 1)
    return [int(rank) for rank in ranks]


def similar_page(pairs: Sequence[Pair], notes: Sequence[str]) -> str:
    """Return the page; it contains everybody's name, so students must not see it."""
    played = any(pair.behaviour_rank is not None for pair in pairs)
    rows: list[list[Cell]] = [[*HEADERS]]
    rows += [_row(number, pair) for number, pair in enumerate(pairs[:LISTED], 1)]
    if not played:  # there is one rank
        rows = [[*row[:4], *row[7:]] for row in rows]
    parts = [
        heading("Pairs that look alike"),
        f"<p><strong>{FIRST}</strong> {html.escape(ADVICE)}</p>",
        paragraphs([EVIDENCE, *([BEHAVIOUR, BOTH_RANKS] if played else []), *notes]),
        section("Pairs by evidence", table(tuple(map(str, rows[0])), rows[1:])),
        "<h2>Sources side by side</h2>",
        "<p>Marked: in both files. Grey: base code, which does not count.</p>",
    ]
    parts += [_sides(number, pair) for number, pair in enumerate(pairs[:SHOWN], 1)]
    return whole("Pairs that look alike", "\n".join(parts), "similar")


HEADERS: Final = ("#", "file", "other file", "source", "rank", "behaviour", "rank", "sources")


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
    for kind, listed in ((1, _spans(document, document.base)), (2, spans)):
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

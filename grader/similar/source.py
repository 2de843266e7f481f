"""Shared source: fingerprints of tokens, by the winnowing of the library copydetect.

Names, comments, layout and the order of functions do not count, nor does code from the handed-out
file or a textbook agent. A fingerprint that many submissions have counts less than one that only
two have.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from connect4.errors import InputError
from connect4.players.names import NEWLINE
from grader.handin.bounded import READER, BoundError

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


def base_spans(document: Document) -> list[tuple[int, int]]:
    """Return the spans of base code in a source."""
    return _spans(document, document.base)


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

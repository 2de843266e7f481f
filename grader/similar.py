"""The command `similar`: screens a class for pairs that share source, and shows them side by side.

Source is compared by fingerprints of tokens, by the winnowing of the library copydetect.
Names, comments, layout and the order of functions do not count, nor does code from the handed-out
file or a textbook agent. A fingerprint that many submissions have counts less than one that only
two have.
"""

from __future__ import annotations

import html
import importlib
import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from connect4.errors import InputError
from connect4.players.names import NEWLINE
from grader.handin import find as submissions
from grader.handin.bounded import READER, BoundError
from grader.output.files import write
from grader.output.markup import Cell, Link, card, heading, paragraphs, section, table, whole
from grader.output.tables import wrapped
from grader.rubric import reading as rubrics
from grader.rubric.model import SubmissionRules

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
    "Code that few others have counts more."
)

THRESHOLD: Final = 15.0
"""Percent; files that were written independently share less."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions, or one and a hand-in of another year."""

    one: Document
    two: Document
    shared: Shared


def ranked(found: Sequence[Document], against: Sequence[Document]) -> list[Pair]:
    """Return the pairs with a submission of this class that share much, the most similar first."""
    everything = Class([*found, *against])
    sides = [*combinations(found, 2), *((one, two) for one in found for two in against)]
    pairs = [Pair(one, two, everything.shared(one, two)) for one, two in sides]
    listed = [pair for pair in pairs if pair.shared.percent >= THRESHOLD]
    return sorted(listed, key=lambda pair: (-pair.shared.identical, -pair.shared.percent))


def similar_page(pairs: Sequence[Pair], notes: Sequence[str]) -> str:
    """Return the page; it contains everybody's name, so students must not see it."""
    rows: list[list[Cell]] = [
        [
            *(number, pair.one.name, pair.two.name, f"{pair.shared.percent:.0f} %"),
            Link("side by side", "", f"pair-{number}") if number <= SHOWN else "",
        ]
        for number, pair in enumerate(pairs[:LISTED], 1)
    ]
    none = f"No pair shares {THRESHOLD:g} % or more."
    parts = [
        heading("Pairs that look alike"),
        f"<p><strong>{FIRST}</strong> {html.escape(ADVICE)}</p>",
        paragraphs([EVIDENCE, *notes, *([] if pairs else [none])]),
        section(f"Pairs that share {THRESHOLD:g} % or more", table(HEADERS, rows)),
    ]
    if pairs:
        parts.append("<h2>Sources side by side</h2>")
        parts.append("<p>Marked: in both files. Grey: base code, which does not count.</p>")
    parts += [_sides(number, pair) for number, pair in enumerate(pairs[:SHOWN], 1)]
    return whole("Pairs that look alike", "\n".join(parts), "similar")


HEADERS: Final = ("#", "file", "other file", "source", "sources")


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


KIT: Final = Path(__file__).resolve().parents[1]
STUB: Final = KIT / "grader" / "handout" / "ai_stub.py"
AGENTS: Final = KIT / "connect4" / "players" / "agents.py"
BASE: Final = (STUB, KIT / "README.md", AGENTS, *sorted((KIT / "connect4" / "search").glob("*.py")))
"""Code that students were given or may read in a textbook; it does not count."""

TOLD: Final = 10


def similar(
    paths: Sequence[Path],
    against: Sequence[Path],
    base: Sequence[Path],
    rubric: Path | None,
    out: Path,
) -> int:
    """Compare all pairs of hand-ins, and each with those `against`; print and write the first ones.

    `base` names more code that students were given.
    """
    rules = rubrics.read(rubric).submission
    left: list[str] = []
    here = _sources(paths, rules, "", left)
    if len(here) < 2:
        raise InputError("similar requires at least two submissions with a source")
    before = _sources(against, rules, "earlier: ", left) if against else {}
    made = documents({**here, **before}, [code_of(path) for path in (*BASE, *base)])
    found, others = made[: len(here)], made[len(here) :]
    notes = [f"{len(found)} submissions, {len(others)} other hand-ins to compare with."]
    told = [f"Not compared: {'; '.join(left)}."] if left else []
    told += [
        f"{item.name}: {item.problem}; its pairs are not compared."
        for item in made
        if item.problem is not None
    ]
    for line in told:
        print(line, file=sys.stderr)
    same = [name for name, text in before.items() if text in here.values()]
    again = [f"Handed in again without a change: {'; '.join(same)}."] if same else []
    pairs = ranked(found, others)
    write(out, similar_page(pairs, [*notes, *told, *again]))
    print(wrapped(FIRST))
    for number, pair in enumerate(pairs[:TOLD], 1):
        line = f"{number:3}. {pair.one.name} and {pair.two.name}: {pair.shared.percent:.0f} %"
        print(wrapped(line))
    if not pairs:
        print(f"no pair shares {THRESHOLD:g} % or more")
    print(f"The report is in {out}", file=sys.stderr)
    return 0


def code_of(path: Path) -> str:
    """Return the code in a file; in a Markdown page, that of its Python blocks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        return text
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


def _sources(
    paths: Sequence[Path], rules: SubmissionRules, prefix: str, left: list[str]
) -> dict[str, str]:
    """Return the sources of hand-ins by name; those without one are added to `left`."""
    found: dict[str, str] = {}
    for item in submissions.find(paths, rules):
        name = f"{prefix}{item.name}"
        if item.source and item.source.strip():
            found[name] = item.source
        else:
            why = (item.problem or "the file is empty").partition(";")[0]
            left.append(f"{name} ({why})")
    return found

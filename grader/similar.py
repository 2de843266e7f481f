"""The command `similar`: screens a class for pairs that share source, and shows them side by side.

Source is compared by fingerprints of tokens, by the winnowing of the library copydetect.
Names, comments, layout and the order of functions do not count, nor does code from the handed-out
file or a textbook agent. A fingerprint that many submissions have counts less than one that only
two have.
"""

import html
import importlib
import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np

from connect4.errors import InputError
from connect4.players.base import NEWLINE
from connect4.views.document import card, heading
from grader.handin import find as submissions
from grader.handin import form
from grader.handin.worker import BoundError, ask
from grader.output import write
from grader.output.pages import Cell, Link, paragraphs, section, table, whole
from grader.output.tables import Number, wrapped
from grader.rubric import reading as rubrics
from grader.rubric.model import SubmissionRules

LENGTH: Final = 14
"""Characters of filtered code in a fingerprint.

Shorter than copydetect's 25, which finds no translation; common fingerprints get less weight.
"""

SECONDS: Final = 5.0
"""The processor time for a source's fingerprints. A pair then takes less than that."""

LEAST: Final = 15
"""A file with fewer fingerprints of its own is treated as if it had this number."""


@dataclass(frozen=True, slots=True)
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
class Pair:
    """Two submissions, or one and a hand-in of another year, and what they share."""

    one: Document
    two: Document
    percent: float
    """The weight of what they share, relative to the smaller source."""
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    """The places of what they share in each source."""
    identical: bool
    """Whether the sources are the same, and not only base code."""

    @property
    def title(self) -> str:
        """Return the pair in one line."""
        return f"{self.one.name} and {self.two.name}: {self.shared}"

    @property
    def shared(self) -> str:
        """Return how much they share, in words."""
        return "identical" if self.identical else f"{self.percent:.0f} %"


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
    found = []
    for name, text in sources.items():
        source = _trimmed(text)
        try:
            hashes, chosen, at, offsets = ask(fingerprints, source, seconds=SECONDS)
        except BoundError as error:
            found.append(Document(name, source, {}, [], np.array([]), str(error)))
            continue
        prints: dict[int, list[int]] = {}
        for value, place in zip(chosen, at, strict=True):
            if value not in known:
                prints.setdefault(value, []).append(place)
        given = [place for place, value in enumerate(hashes) if value in known]
        found.append(Document(name, source, prints, given, np.array(offsets)))
    return found


def _trimmed(source: str) -> str:
    """Return a source without the blanks that end its lines.

    The library's time grows with the square of the lines in a row that have nothing but blanks.
    """
    return "\n".join(line.rstrip() for line in NEWLINE.split(source))


RAW: Final = re.compile(r"""(?i)\b(?:[bf]?r|r[bf])(?=["']{3})""")
"""The prefix of a raw string in three quotes, which the library's lexer would end too early."""


def _filtered(source: str) -> tuple[Any, Any]:
    """Return the hash of each piece of the filtered code, and the offsets of filtering."""
    plain = RAW.sub(lambda raw: raw[0].lower().replace("r", "").rjust(len(raw[0])), source)
    code, offsets = library().filter_code(plain, "ai.py", "python")
    pieces = (code[at : at + LENGTH].encode() for at in range(len(code) - LENGTH + 1))
    return np.array([crc32(piece) for piece in pieces]), offsets  # `hash` differs in each run


def fingerprints(source: str) -> tuple[list[int], list[int], list[int], list[list[int]]]:
    """Return the hashes of all pieces, the chosen ones and their places, and the offsets."""
    hashes, offsets = _filtered(source)
    if not len(hashes):
        return [], [], [], []
    window = min(16 - LENGTH + 1, len(hashes))  # so that every match of 16 letters is found
    chosen, places = library().winnow(hashes, window, remove_duplicates=False)
    return hashes.tolist(), chosen.tolist(), places.tolist(), np.asarray(offsets).tolist()


def compared(found: Sequence[Document], against: Sequence[Document] = ()) -> list[Pair]:
    """Return all pairs with a submission of this class.

    A fingerprint counts more if fewer of all documents have it.
    """
    everything = [*found, *against]
    holders = Counter(value for document in everything for value in document.prints)
    most = len(everything) + 1

    def weight(values: Collection[int]) -> float:
        return sum(math.log(most / holders[value]) for value in values)

    def pair(one: Document, two: Document) -> Pair:
        common = one.prints.keys() & two.prints.keys()
        least = LEAST * math.log(most)
        smaller = max(least, min(weight(one.prints), weight(two.prints)))
        identical = one.source == two.source and bool(one.prints)
        percent = 100.0 if identical else 100 * weight(common) / smaller
        spans = [
            _spans(document, [at for value in common for at in document.prints[value]])
            for document in (one, two)
        ]
        return Pair(one, two, percent, (spans[0], spans[1]), identical)

    sides = [*combinations(found, 2), *((one, two) for one in found for two in against)]
    return [pair(one, two) for one, two in sides]


def listed(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that share much, the most similar first."""
    much = [pair for pair in pairs if pair.percent >= THRESHOLD]
    return sorted(much, key=lambda pair: (-pair.identical, -pair.percent))


def _spans(document: Document, places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of fingerprints in the source; touching spans are joined."""
    ends: list[int] = []
    for place in sorted(places):
        if ends and place <= ends[-1]:
            ends[-1] = place + LENGTH
        else:
            ends += [place, place + LENGTH]
    found, offsets = np.array(ends, dtype=int), document.offsets
    if len(offsets):  # back from the filtered code to the source
        numbers = np.searchsorted(offsets[:, 0], found)
        found = found + offsets[np.minimum(numbers, len(offsets) - 1), 1]
        found = np.clip(found, 0, len(document.source))
    return list(zip(found[::2].tolist(), found[1::2].tolist(), strict=True))


FIRST: Final = "This is screening, not proof."
LISTED: Final = 60
SHOWN: Final = 20
TOLD: Final = 10
"""The numbers of pairs that the page lists, whose sources it shows, that the terminal prints."""

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


def similar_page(pairs: Sequence[Pair], notes: Sequence[str]) -> str:
    """Return the page; it contains everybody's name, so students must not see it."""
    rows: list[list[Cell]] = [
        [
            *(number, pair.one.name, pair.two.name, pair.shared),
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
    for number, pair in enumerate(pairs[:SHOWN], 1):
        blocks = "".join(
            f'<div><h3>{html.escape(document.name)}</h3><pre tabindex="0">'
            f"{marked(document, spans)}</pre></div>"
            for document, spans in zip((pair.one, pair.two), pair.spans, strict=True)
        )
        title = html.escape(f"{number}. {pair.title}")
        head = f'<summary id="pair-{number}">{title}</summary>'
        parts.append(card(f'<details open>{head}<div class="sides">{blocks}</div></details>'))
    return whole("Pairs that look alike", "\n".join(parts), "similar")


HEADERS: Final = (Number("#"), "file", "other file", Number("source"), "sources")


def marked(document: Document, spans: Sequence[tuple[int, int]]) -> str:
    """Return a source as HTML: matching code is highlighted, base code is grey."""
    kinds = bytearray(len(document.source))
    for kind, listed in ((1, _spans(document, document.base)), (2, spans)):
        for begin, end in listed:
            kinds[begin:end] = bytes([kind]) * (end - begin)
    for word in re.finditer(r"\w+", document.source):  # no mark ends within one
        begin, end = word.span()
        kinds[begin:end] = bytes([max(kinds[begin:end])]) * (end - begin)
    parts, begin = [], 0
    around = {0: "{}", 1: '<span class="base">{}</span>', 2: "<mark>{}</mark>"}
    for kind, run in groupby(kinds):
        end = begin + len(list(run))
        parts.append(around[kind].format(html.escape(document.source[begin:end])))
        begin = end
    return "".join(parts)


KIT: Final = Path(__file__).resolve().parents[1]
STUB: Final = KIT / "grader" / "handout" / "ai_stub.py"
AGENTS: Final = KIT / "connect4" / "players" / "agents.py"
BASE: Final = (
    STUB,
    KIT / "docs" / "assignment.md",
    AGENTS,
    *sorted((KIT / "connect4" / "search").glob("*.py")),
)
"""Code that students were given or may read in a textbook; it does not count."""


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
        f"{one.name}: {one.problem}; its pairs are not compared." for one in made if one.problem
    ]
    checked = {name: form.check(text.encode(), None, rules) for name, text in here.items()}
    hidden = [name for name in here if form.RUNS_TEXT in {item.rule for item in checked[name]}]
    if hidden:
        told.append(f"Read yourself: {'; '.join(hidden)}. What exec or eval runs is not compared.")
    for line in told:
        print(line, file=sys.stderr)
    same = [name for name, text in before.items() if text in here.values()]
    again = [f"Handed in again without a change: {'; '.join(same)}."] if same else []
    pairs = listed(compared(found, others))
    write(out, similar_page(pairs, [*notes, *told, *again]))
    print(wrapped(FIRST))
    for number, pair in enumerate(pairs[:TOLD], 1):
        print(wrapped(f"{number:3}. {pair.title}"))
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
            found[name] = item.source.decode()
        else:
            why = (item.problem or "the file is empty").partition(";")[0]
            left.append(f"{name} ({why})")
    return found

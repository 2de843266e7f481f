"""Rank the copies of a made-up class: `python3 -m benchmarks.similar [--source-only]`.

The class has twenty independent searches, five copies and five files that are almost empty. The
table shows the rank of each copy among all pairs, by source and by behaviour, and the first pair
of independent files. Exits with status 1 if an independent pair is above a copy by source.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tabulate import tabulate

from grader.__main__ import make_parser
from grader.commands.similar import compare
from grader.similar import Pair
from tests.grading import hand_in
from tests.similar_class import COPIES, the_class


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "class"
        for name, source in the_class().items():
            hand_in(folder, name, source)
        out = str(Path(temporary) / "similar.html")
        arguments = ["similar", str(folder), "--out", out, *sys.argv[1:]]
        pairs, notes = compare(make_parser().parse_args(arguments))
    copied = {frozenset(item) for item in COPIES.items()}
    copies = [pair for pair in pairs if _names(pair) in copied]
    others = [pair for pair in pairs if _names(pair) not in copied]
    copies.sort(key=lambda pair: pair.source_rank)
    first = min(others, key=lambda pair: pair.source_rank)
    played = [pair for pair in others if pair.behaviour_rank is not None]
    alike = min(played, key=lambda pair: pair.behaviour_rank or 0, default=first)
    rows = [_row(" of ".join(sorted(_names(pair), key=len, reverse=True)), pair) for pair in copies]
    rows.append(_row("the first independent pair by source", first))
    if played:
        rows.append(_row("the first independent pair by behaviour", alike))
    headers = ("pair", "source", "rank by source", "rank by behaviour", "place in the report")
    places = {id(pair): place for place, pair in enumerate(pairs, 1)}
    shown = [*copies, first, *([alike] if played else [])]
    table = [[*row, places[id(pair)]] for row, pair in zip(rows, shown, strict=True)]
    print(tabulate(table, headers))
    print(f"{len(pairs)} pairs. {' '.join(notes)}")
    sys.exit(max(pair.source_rank for pair in copies) > first.source_rank)


def _names(pair: Pair) -> frozenset[str]:
    return frozenset((pair.one.name, pair.two.name))


def _row(text: str, pair: Pair) -> list[object]:
    return [text, f"{pair.shared.percent:.0f} %", pair.source_rank, pair.behaviour_rank or ""]


if __name__ == "__main__":
    main()

"""Fills the gradebooks that a teacher exported, after showing who is not in them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final

from grader.commands.common import name_all, say
from grader.handin.owners import decided, doubts
from grader.handin.people import Matching, Person
from grader.marks.tally import full_points
from grader.output import write
from grader.output.gradebooks import Filled, Gradebook, Graded, fill, matched, read_gradebook
from grader.output.results import Results
from grader.output.tables import columns_of, remark
from grader.results.store import Store

FILLED: Final = re.compile(r"(canvas|moodle|worksheet|brightspace|blackboard)\.(csv|xls)")
"""The files that are written below `--out`."""

QUESTION: Final = (
    "Which are one person? Such as `1=2 3=1`; `y` writes the gradebook without those on the left, "
    "anything else writes nothing: "
)


@contextmanager
def writable(store: Store) -> Iterator[Store]:
    """Yield a store that can be written to: this one, or the same file opened once more.

    Raises `InputError` if another grader is at work on it.
    """
    if store.writing:
        yield store
        return
    with Store(store.path, writing=True) as other:
        yield other


@dataclass
class _Filling:
    """A gradebook, and how its lines are matched so far."""

    book: Gradebook
    graded: Sequence[Graded]
    pairs: list[tuple[int, int]]
    """What the teacher has decided, by places."""

    @property
    def here(self) -> list[Person]:
        """Return the students with a mark."""
        return [one.person for one in self.graded]

    @property
    def matching(self) -> Matching:
        """Return who is who."""
        return matched(self.book, self.graded, self.pairs)


def fill_gradebooks(
    results: Results,
    store: Store,
    paths: Sequence[Path],
    out: Path,
    column: str | None,
    maximum: float | None,
    yes: bool,
) -> bool:
    """Write the marks into copies of exports; return whether all were written.

    Of hand-ins that are in none of the exports, and of the lines that have none, both lists are
    shown first, and the teacher is asked unless `yes`.
    """
    people = [(mark, student) for mark in results.marks for student in mark.students]
    graded = [
        Graded(Person(one.name, one.keys), mark.known(one), remark(mark, one))
        for mark, one in people
    ]
    handed_in = {n for n, (mark, _) in enumerate(people) if not mark.submission.missing}
    fillings = []
    for path in paths:
        book = read_gradebook(path)
        known = decided(store.decisions(), [one.person for one in graded], book.people)
        fillings.append(_Filling(book, graded, known))
    lost = handed_in.intersection(
        *({*range(len(graded))} - {*one.matching.pairs} for one in fillings)
    )
    names = set()
    for filling in fillings:
        if lost and not yes and not _agreed(filling, lost, store):
            continue
        _tell_decided(filling, out)
        filled = fill(
            filling.book, graded, full_points(results.rubric), column, maximum, filling.pairs
        )
        _tell(filled, filling.book.table.path, full_points(results.rubric), out)
        write(out / filled.name, filled.content)
        names.add(filled.name)
    for place in sorted(out.iterdir()) if fillings or out.is_dir() else ():
        if FILLED.fullmatch(place.name) and place.name not in names:
            say(f"{place} is from an earlier run; give --gradebook again")
    return len(names) == len(fillings)


def _tell_decided(filling: _Filling, out: Path) -> None:
    """Name the pairs that the teacher has declared to be one person, now or in an earlier run."""
    shown = [f"{filling.here[one]} is {filling.book.people[two]}" for one, two in filling.pairs]
    path = filling.book.table.path
    name_all(f"{path}: as you decided", shown, out, f"{filling.book.system.file}-decided.txt")


def _tell(filled: Filled, path: Path, full: float, out: Path) -> None:
    """Report what the teacher has to know about a filled gradebook."""
    if filled.new_column:
        say(
            f"{path}: has no column {filled.new_column!r}: the marks are in a new one; "
            "--gradebook-column names another"
        )
    if filled.unscaled:
        say(
            f"{path}: states no maximum: marks are out of {full:g}; --gradebook-maximum scales them"
        )
    kind = filled.name.partition(".")[0]
    unknown = doubts(filled.here, filled.there, filled.matching)
    for name, people, what in (
        ("unknown", unknown, "no line of their own there"),
        ("unmarked", filled.without, "students there without a mark here"),
        ("incomplete", filled.withheld, "the mark is incomplete, and its cell stays as it was"),
        ("capped", filled.capped, "more points than the maximum, at which the system cuts them"),
    ):
        name_all(f"{path}: {what}", list(map(str, people)), out, f"{kind}-{name}.txt")


def _agreed(filling: _Filling, lost: set[int], store: Store) -> bool:
    """Show both lists and ask; return whether the gradebook is to be written.

    Pairs that the teacher names are kept in the results file.
    """
    path = filling.book.table.path
    left = {place: one for place, one in enumerate(filling.here) if place in lost}
    free = {
        place: one
        for place, one in enumerate(filling.book.people)
        if place not in filling.matching.pairs.values()
    }
    say(f"{path}: hand-ins of nobody there, and students there without a hand-in:")
    for line in _side_by_side(list(left.values()), list(free.values())):
        say(line)
    if not sys.stdin.isatty():
        say(
            f"{path}: not filled: put numbers into the files' names or into a roster, or give --yes"
        )
        return False
    print(QUESTION, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip()
    found = _pairs(answer, len(left), len(free))
    if found is None and answer.lower() not in ("y", "yes"):
        say(f"{path}: not filled")
        return False
    pairs = [(list(left)[one - 1], list(free)[two - 1]) for one, two in found or ()]
    filling.pairs += pairs
    people = [(filling.here[one], filling.book.people[two]) for one, two in pairs]
    with writable(store) as own:
        own.decide(people)
    return True


def _pairs(answer: str, most_left: int, most_right: int) -> list[tuple[int, int]] | None:
    """Return the pairs of an answer such as `1=2 3=1`; None if it is anything else.

    A number that is not there, or that stands in two pairs, decides nothing.
    """
    found = re.split(r"[\s,;]+", re.sub(r"\s*=\s*", "=", answer.strip()))
    if not all(re.fullmatch(r"\d+=\d+", pair, re.ASCII) for pair in found):
        return None
    pairs = [(int(one), int(two)) for one, _, two in (pair.partition("=") for pair in found)]
    for side, most in zip(zip(*pairs, strict=True), (most_left, most_right), strict=True):
        if len(set(side)) < len(side) or not all(1 <= number <= most for number in side):
            return None
    return pairs


def _side_by_side(left: Sequence[Person], right: Sequence[Person]) -> Iterator[str]:
    """Yield lines with one list beside the other, each with its numbers."""
    columns = [
        [f"{number:3}  {person}" for number, person in enumerate(side, 1)] for side in (left, right)
    ]
    width = max(map(columns_of, columns[0]), default=0)
    for one, two in zip_longest(*columns, fillvalue=""):
        yield f"{one}{' ' * (width - columns_of(one))}  {two}".rstrip()

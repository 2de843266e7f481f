"""The command `report`: writes every table and file again from stored results, without playing.

`grade` and `tournament` end with the same step.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader import commands
from grader.handin import Person, named_few
from grader.handin.roster import decided
from grader.marks.tally import full_points
from grader.output import check_out, gradebooks, write, writing
from grader.output.explain import note_written, tell_changes
from grader.output.results import GRADE, PLACEMENT, TOURNAMENT, Results, read_results
from grader.output.tables import columns_of, remark, wrapped
from grader.play import number_of
from grader.results.store import COMMAND, Store


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a run prints and writes."""

    out: Path | None = None
    """The folder of all files; None writes none."""
    records: bool = False
    details: bool = False
    gradebook: Sequence[Path] = ()
    gradebook_column: str | None = None
    gradebook_maximum: float | None = None
    feedback_zip: Path | None = None
    yes: bool = False
    """Whether a gradebook is written although hand-ins belong to nobody in it."""

    def check(self) -> None:
        """Raise `InputError` if a file cannot be written or read: rather now than after hours."""
        if self.out is not None:
            check_out(self.out)
        for export in self.gradebook:
            book = gradebooks.read_gradebook(export)
            gradebooks.maxima(book, gradebooks.grade_column(book, self.gradebook_column))


def report(
    path: Path,
    outputs: Outputs,
    roster: Sequence[Path] = (),
    placement: Path | None = None,
    pairs: str | None = None,
) -> int:
    """Write every table and file again; return the exit status.

    Games without a result, and gradebooks that are not written, make it 3. With `pairs`, what the
    teacher has answered on persons is taken back first.
    """
    if pairs:
        with Store(path, writing=True) as store:
            store.take_back()
    with Store(path, writing=False) as store:
        results = read_results(store)
        if roster and results.kind != GRADE:
            raise InputError(f"{path}: holds a {results.kind}; --roster is for a grading")
        held = store.roster()
        new = commands.read_roster(roster, held) if roster else held
        if results.kind == GRADE:
            commands.say_owners(
                store, store.submissions(), new, results.rubric, roster, outputs.out
            )
        placed = None if placement is None else placement_points(placement, results)
    if new != held or placed is not None:
        with Store(path, writing=True) as store:
            store.set_roster(new)
            store.set_meta({} if placed is None else {PLACEMENT: placed})
            if roster and (words := store.meta_json(COMMAND)):
                store.set_meta({COMMAND: json.dumps(commands.with_rosters(words, roster))})
    with Store(path, writing=False) as store:  # a grader may be at work on it
        results = read_results(store)
        written = put_out(results, store, outputs)
    if results.missing:
        games = "1 game has" if results.missing == 1 else f"{results.missing} games have"
        why = first_fault(results)
        commands.say(f"{games} no result yet{why and f' ({why})'}")
        return commands.STOPPED
    return commands.DONE if written else commands.STOPPED


def first_fault(results: Results) -> str:
    """Return the first failure of a game, in words; empty if none failed."""
    failed = (game.key for game in results.games if game.key in results.faults)
    return next((results.faults[key] for key in failed), "")


def put_out(results: Results, store: Store, outputs: Outputs) -> bool:
    """Print the tables, write all requested files; return whether every gradebook was written."""
    if results.tournament:
        commands.say(f"placement points of {results.tournament} are included")
    if results.unplaced:
        commands.say(
            f"{results.tournament}: {named_few(sorted(results.unplaced))} earned points "
            "there and are not among these submissions: nobody is given those points"
        )
    print(results.text(outputs.details), end="")
    if len(results.marks) == 1:
        for lost in next(iter(writing.reasons_of(results, store).values()), [])[:3]:
            first = f"the first in {lost.title}"
            turns = number_of(lost.count, "turn")
            print(wrapped(f"{turns} lost: {lost.cause} ({first})"))
    written = True
    if outputs.out is not None:
        writing.write_all(results, store, outputs.out)
        if results.kind == TOURNAMENT and (count := writing.write_unlikely(results, outputs.out)):
            commands.say(commands.UNLIKELY.format(count, outputs.out / "unlikely.csv"))
        if results.kind == GRADE:
            if line := tell_changes(results, store, outputs.out):
                commands.say(line)
            with suppress(InputError), writable(store) as own:  # else the other grader notes them
                note_written(results, own, outputs.out)
        if outputs.records:
            writing.write_records(results.games, store, outputs.out)
        written = fill_gradebooks(results, store, outputs, outputs.out)
        commands.say(f"{'Everything' if written else 'Everything else'} is in {outputs.out}")
        if (place := outputs.feedback_zip) is not None:
            if results.kind != GRADE:
                raise InputError("--feedback-zip: a tournament has no pages for single students")
            if without := writing.write_feedback(results, outputs.out, place):
                commands.say(
                    f"{place} is without {named_few(without)}: they have no number of Moodle's "
                    "download, so Moodle cannot tell whose their pages are"
                )
            mail = place.with_suffix(".csv")
            commands.say(f"{place} is for Moodle; {mail} is for a mail merge")
    writing.show_errors(results, store)
    return written


def placement_points(path: Path, results: Results) -> str:
    """Return the points of the tournament of `--placement` as a results file has them.

    `none` takes stored points out. Raises `InputError` if there is no tournament, it is not
    finished, or it has no points.
    """
    if str(path) == "none":
        return "null"
    with Store(path, writing=False) as other:
        held = read_results(other)
    rules, wrong = held.rubric.tournament, ""
    if held.kind != TOURNAMENT:
        wrong = f"holds a {held.kind}, not a tournament"
    elif results.kind != GRADE:
        wrong = "its points are for marks, and the results here are a tournament's"
    elif len(held.stages) < len(rules.stages) or held.missing:
        wrong = "the tournament is not finished; give its command again, it goes on"
    elif not rules.points:
        wrong = "its rubric has no tournament.points; set them and give the tournament's command "
        wrong += "again, nothing is played"
    if wrong:
        raise InputError(f"--placement {path}: {wrong}")
    earned = {item.standing.contestant.id: item.points for item in held.placings if item.points}
    points = [
        {
            "people": [person.to_json() for person in item.people],
            "sha256": item.sha256,
            "points": earned[str(item.sha256)],
        }
        for item in held.submissions
        if str(item.sha256) in earned
    ]
    return json.dumps({"file": path.name, "points": points})


QUESTION: Final = (
    "Which are one person? Such as `1=2 3=1`. `y` keeps that and writes the gradebook without "
    "those on the left, `n` keeps and writes nothing: "
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


def fill_gradebooks(results: Results, store: Store, outputs: Outputs, out: Path) -> bool:
    """Write the marks into copies of exports; return whether all were written.

    Of hand-ins that are in none of the exports, and of the lines that have none, both lists are
    shown first, and the teacher is asked unless the outputs say `yes`.
    """
    people = [(mark, student) for mark in results.marks for student in mark.students]
    here = [Person(one.name, one.keys) for _, one in people]
    marks = [(mark.known(one), remark(mark, one)) for mark, one in people]
    handed_in = {n for n, (mark, _) in enumerate(people) if not mark.submission.missing}
    wanted = full_points(results.rubric), outputs.gradebook_column, outputs.gradebook_maximum
    fillings = []
    for path in outputs.gradebook:
        book = gradebooks.read_gradebook(path)
        claims = [one if n in handed_in else Person("") for n, one in enumerate(here)]
        known = decided(store.decisions(), claims, book.people)
        fillings.append(gradebooks.Filling(book, here, marks, *wanted, known))
    lost = handed_in.intersection(
        *({*range(len(here))} - {*one.matching.pairs} for one in fillings)
    )
    names = set()
    for filling in fillings:
        if lost and not outputs.yes and not _agreed(filling, lost, handed_in, store):
            continue
        path = filling.book.table.path
        shown = [f"{here[one]} is {filling.book.people[two]}" for one, two in filling.pairs]
        commands.name_all(f"{path}: as you decided (--pairs none takes it back)", shown, out)
        name, content, notices, people_of = filling.fill()
        for text in notices:
            commands.say(f"{path}: {text}")
        for why, persons in people_of.items():
            commands.name_all(f"{path}: {gradebooks.TOLD[why]}", persons, out)
        write(out / name, content)
        names.add(name)
    for place in sorted(out.iterdir()) if (out / "grades.csv").is_file() else ():
        is_old = place.stat().st_mtime < (out / "grades.csv").stat().st_mtime
        if gradebooks.FILLED.fullmatch(place.name) and place.name not in names and is_old:
            commands.say(f"{place} has earlier marks; give --gradebook again")
    return len(names) == len(fillings)


def _agreed(filling: gradebooks.Filling, lost: set[int], handed_in: set[int], store: Store) -> bool:
    """Show both lists and ask until the answer is `y` or `n`; return which.

    Pairs that the teacher names before a `y` are kept in the results file, and no longer lost.
    """
    path, here, there = filling.book.table.path, filling.here, filling.book.people
    known = len(filling.pairs)
    while True:
        new = [(here[one], there[two]) for one, two in filling.pairs[known:]]
        for both in new:
            commands.say(f"{path}: {both[0]} is {both[1]}")
        matched = filling.matching.pairs
        taken = {two for one, two in matched.items() if one in handed_in}
        left = sorted(lost - matched.keys())
        free = [place for place in range(len(there)) if place not in taken]
        commands.say(f"{path}: hand-ins of nobody there, and students there without a hand-in:")
        sides = [here[place] for place in left], [there[place] for place in free]
        columns = [[f"{n:3}  {person}" for n, person in enumerate(side, 1)] for side in sides]
        width = max(map(columns_of, columns[0]), default=0)
        for one, two in zip_longest(*columns, fillvalue=""):
            commands.say(f"{one}{' ' * (width - columns_of(one))}  {two}".rstrip())
        if not sys.stdin.isatty():
            commands.say(
                f"{path}: not filled: put numbers into the files' names or into a roster, or give "
                "--yes, which leaves them out"
            )
            return False
        pairs = None
        while pairs is None:
            print(QUESTION, end="", file=sys.stderr, flush=True)
            answer = sys.stdin.readline()
            if answer.strip().lower() in ("y", "yes"):
                with writable(store) as own:
                    own.decide(new)
                lost.difference_update(matched)
                return True
            if not answer or answer.strip().lower() in ("n", "no"):
                commands.say(f"{path}: not filled")
                return False
            pairs = _pairs(answer, len(left), len(free))
        filling.pairs += [(left[one - 1], free[two - 1]) for one, two in pairs]


def _pairs(answer: str, most_left: int, most_right: int) -> list[tuple[int, int]] | None:
    """Return the pairs of an answer such as `1=2 3=1`; None if it is anything else.

    A number that is not there, or that stands in two pairs, decides nothing.
    """
    if not re.fullmatch(r"(\s*\d+\s*=\s*\d+(?!\d)[\s,;]*)+", answer, re.ASCII):
        return None
    pairs = [(int(one), int(two)) for one, two in re.findall(r"(\d+)\s*=\s*(\d+)", answer)]
    sides = zip(zip(*pairs, strict=True), (most_left, most_right), strict=True)
    each_once = (len(set(side)) == len(side) and {*side} <= {*range(1, n + 1)} for side, n in sides)
    return pairs if all(each_once) else None

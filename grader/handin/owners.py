"""Whose mark is whose: hand-ins matched with the lines of a roster, and groups."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from grader.handin import Missing, Submission, on_disk, told_apart
from grader.handin.people import IN_TIME, LATE, Kind, Matching, Person, letters, match, may_be
from grader.handin.roster import Correction, Student

SUBMITTED: Final = "a time for each in the roster's column submitted decides which one counts"


@dataclass(frozen=True, slots=True)
class Owners:
    """The students of each hand-in, and all that could not be decided."""

    submissions: list[Submission]
    """All hand-ins that count, then one with a problem for each student who has none."""
    students: dict[str, list[Student]]
    """Who gets the mark of each submission, by its name."""
    open: dict[str, str]
    """Why a submission's mark stays open, by its name."""
    unknown: list[Doubt]
    """Who handed in and has no line in the roster."""
    told: list[str]
    """Which hand-in of a group counts, and whose correction counts for nobody, in words."""
    matching: Matching
    """Between `people` and the roster."""
    people: list[Person]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A person without a counterpart in another list, who that may be, and why it is not clear."""

    person: Person
    may_be: tuple[Person, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        """Return the person, and who it may be."""
        shown = " or ".join(map(str, self.may_be[:3])) + (" or ..." if self.may_be[3:] else "")
        return f"{self.person} (may be {shown})" if shown else f"{self.person}"


def doubts(here: Sequence[Person], there: Sequence[Person], matching: Matching) -> list[Doubt]:
    """Return whoever of `here` is not matched, and who they may be."""
    undecided = {place: item for item in matching.undecided for place in item.here}
    taken = {*matching.pairs.values()}
    free = [one for place, one in enumerate(there) if place not in taken]
    found = []
    for place, person in enumerate(here):
        if place in undecided:
            item = undecided[place]
            found.append(Doubt(person, tuple(there[n] for n in item.there), item.why))
        elif place not in matching.pairs:
            found.append(Doubt(person, tuple(one for one in free if may_be(person, one))))
    return found


def decided(
    decisions: Iterable[tuple[Person, Person]], here: Sequence[Person], there: Sequence[Person]
) -> list[tuple[int, int]]:
    """Return the places of the pairs that a teacher has declared to be one person."""
    found = []
    for one, two in decisions:
        mine = [place for place, person in enumerate(here) if _is(person, one)]
        yours = [place for place, person in enumerate(there) if _is(person, two)]
        if len(mine) == len(yours) == 1:
            found.append((mine[0], yours[0]))
    return found


def _is(person: Person, held: Person) -> bool:
    """Return whether a person is the one of a decision; more keys may be known by now."""
    mine, yours = set(person.keys), set(held.keys)
    return person.name == held.name and (mine <= yours or yours <= mine)


def assign(
    found: Sequence[Submission],
    roster: Sequence[Student],
    decisions: Iterable[tuple[Person, Person]] = (),
    corrections: Sequence[tuple[Person, Correction]] = (),
) -> Owners:
    """Return whose mark each hand-in is; a group shares the one of a member or of its own name.

    `decisions` are persons whom the teacher has declared to be one, `corrections` those that no
    roster has. Of two hand-ins of a group the newer one counts. A student is absent only if no
    hand-in is left over that may be the student's. Of a single hand-in nobody is missed.
    """
    known = _Class(found, roster, decisions)
    students, missed = known.students()
    everybody = [item for item in found if item.name not in known.instead]
    for line in missed if len(found) > 1 else ():
        one = roster[line]
        missing, why = known.why_none(line)
        absent = Submission(one.name, one.name, problem=why, people=(one,), missing=missing)
        everybody = told_apart([*everybody, absent])
        students[everybody[-1].name] = [one]
    told = [*known.told(), *_correct(students, corrections)]
    left_open = known.left_open()
    undecided = (item for item in everybody if item.missing is Missing.UNDECIDED)
    left_open |= {item.name: str(item.problem) for item in undecided}
    called = {item.name: item.name for item in everybody} | _full_names(everybody, students)
    return Owners(
        [replace(item, name=called[item.name]) for item in everybody],
        {called[item.name]: students[item.name] for item in everybody},
        {called.get(name, name): why for name, why in left_open.items()},
        *(known.unknown, told, known.matching, known.people),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """The hand-ins of a group of the roster, by name."""

    items: Sequence[str]
    counting: str | None
    """The one that counts; None if that is not decided."""
    told: str = ""
    """What the teacher has to know."""
    open: str = ""
    """Why their mark stays open."""


def _group(name: str, items: Sequence[Submission], clock: Mapping[str, str]) -> _Group:
    """Return a group with the hand-in that counts: the only one, or the newest."""
    names = [item.name for item in items]
    if len({item.sha256 for item in items}) == 1:
        return _Group(names, names[0])
    newest = _newest(names, clock)
    if newest is None:
        why = f"group {name} handed in several times ({'; '.join(names)})"
        told = f"{why}: their mark stays open; {SUBMITTED}"
        return _Group(names, None, told, f"{Missing.UNDECIDED}: {why}, {SUBMITTED}")
    older = "; ".join(one for one in names if one != newest)
    return _Group(names, newest, f"group {name}: {newest} is newer than {older}")


class _Class:
    """Hand-ins beside a roster: who is who, and which hand-in of each group counts."""

    def __init__(
        self,
        found: Sequence[Submission],
        roster: Sequence[Student],
        decisions: Iterable[tuple[Person, Person]],
    ) -> None:
        self.found, self.roster = found, roster
        self.owners = [(item, person) for item in found for person in item.people]
        self.people = [person for _, person in self.owners]
        self.named = _named(self.owners, roster)
        self.written = {own: one.group for one in roster if (own := _group_key(one.group))}
        pairs = [(place, line) for _, place, line in self.named]
        pairs += decided(decisions, self.people, roster)
        self.matching = match(self.people, roster, pairs)
        matched = self.matching.pairs.items()
        self.by_line = {line: self.owners[place][0].name for place, line in matched}
        """The name of the hand-in of each line of the roster that has one."""
        self.by_line |= {line: name for name, _, line in self.named}
        self.lines: dict[str, list[int]] = {item.name: [] for item in found}
        for line, name in self.by_line.items():
            self.lines[name].append(line)
        self.clock = {
            item.name: _clock(item, [roster[line] for line in self.lines[item.name]])
            for item in found
        }
        items: dict[str, list[Submission]] = {own: [] for own in self.written}
        for item in found:
            groups = {_group_key(roster[line].group) for line in self.lines[item.name]}
            shared = (person for person in item.people if self._is_shared(item, person))
            for group in items.keys() & groups.union(_group_key(one.name) for one in shared):
                items[group].append(item)
        self.groups = {
            own: _group(self.written[own], held, self.clock) for own, held in items.items() if held
        }
        self.instead = {
            name: group.counting
            for group in self.groups.values()
            for name in group.items
            if group.counting not in (None, name)
        }
        """The hand-in that counts in place of an older one."""
        sharing = [person for item, person in self.owners if self._is_shared(item, person)]
        listed = doubts(self.people, roster, self.matching) if roster else []
        self.unknown = [doubt for doubt in listed if doubt.person not in sharing]

    def _is_shared(self, item: Submission, person: Person) -> bool:
        """Return whether a hand-in has the name of a group and not that of a student."""
        if sum(name == item.name for name, _, _ in self.named) >= len(item.people):
            return True  # all have their lines
        return not self.lines[item.name] and _group_key(person.name) in self.written

    def students(self) -> tuple[dict[str, list[Student]], list[int]]:
        """Return the students of each hand-in, and the lines of the roster that have none."""
        students: dict[str, list[Student]] = {item.name: [] for item in self.found}
        for place, (item, person) in enumerate(self.owners):
            own = students[self.instead.get(item.name, item.name)]
            if place in self.matching.pairs:
                own.append(self.roster[self.matching.pairs[place]].with_keys(person.keys))
            elif not self._is_shared(item, person):
                own.append(Student(person.name, person.keys))
        taken = {*self.matching.pairs.values()}
        for called, _, line in self.named:
            if line not in taken:
                students[self.instead.get(called, called)].append(self.roster[line])
                taken.add(line)
        missed = []
        for line, student in enumerate(self.roster):
            group = self.groups.get(_group_key(student.group))
            if line not in taken and group and group.counting:
                students[group.counting].append(student)
            elif line not in taken:
                missed.append(line)
        for name, listed in students.items():
            students[name] = [replace(one, submitted=self.clock[name]) for one in listed]
        return students, missed

    def why_none(self, line: int) -> tuple[Missing, str]:
        """Return why a student of the roster has no mark, or that nothing was handed in."""
        student, why = self.roster[line], ""
        if group := self.groups.get(_group_key(student.group)):
            why = group.open
        elif any(line in item.there for item in self.matching.undecided) or any(
            student in doubt.may_be for doubt in self.unknown
        ):
            why = f"{Missing.UNDECIDED}: it is not clear which hand-in is this student's"
        return (Missing.UNDECIDED, why) if why else (Missing.ABSENT, Missing.ABSENT)

    def left_open(self) -> dict[str, str]:
        """Return why marks stay open that the roster may change, by the names of hand-ins."""
        changed = [
            doubt.person
            for doubt in self.unknown
            for line in doubt.may_be
            if isinstance(line, Student)
            and (line.corrections or line.extension or line.group or line.submitted)
        ]
        found = {
            name: group.open for group in self.groups.values() for name in group.items if group.open
        }
        return found | {
            item.name: f"{Missing.UNDECIDED}: it is not clear whose hand-in this is"
            for item, person in self.owners
            if not self.lines[item.name] and any(person is one for one in changed)
        }

    def told(self) -> list[str]:
        """Return in words which hand-ins count, and the cells of `hand_in` that decide nothing."""
        return [group.told for group in self.groups.values() if group.told] + [
            f"{student}: hand_in {student.hand_in!r} is no hand-in here, or several"
            for line, student in enumerate(self.roster)
            if student.hand_in and line not in self.by_line
        ]


def _correct(
    students: dict[str, list[Student]], entries: Sequence[tuple[Person, Correction]]
) -> list[str]:
    """Add corrections to the students; return in words those whose student is not there."""
    wanted = list(dict.fromkeys(person for person, _ in entries))
    places = [(name, place) for name, listed in students.items() for place in range(len(listed))]
    found = match(wanted, [students[name][place] for name, place in places]).pairs
    for person, entry in entries:
        there = found.get(wanted.index(person))
        if there is not None:
            name, place = places[there]
            own = students[name][place]
            students[name][place] = replace(own, corrections=(*own.corrections, entry))
    lost = [person for place, person in enumerate(wanted) if place not in found]
    return [f"{person} has a correction and is not here" for person in lost]


def _full_names(
    found: Sequence[Submission], students: Mapping[str, Sequence[Student]]
) -> dict[str, str]:
    """Return the whole names of students whose names Canvas wrote as one word, by that word.

    A name whose page would be another one's file is not taken.
    """
    taken = {on_disk(item.name) for item in found}
    names = {}
    for item in found:
        own = students[item.name]
        of_canvas = len(own) == len(item.people) == 1 and item.people[0].key(Kind.CANVAS)
        if of_canvas and on_disk(own[0].name) not in taken:
            names[item.name] = own[0].name
            taken.add(on_disk(own[0].name))
    return names


def _named(
    owners: Sequence[tuple[Submission, Person]], roster: Sequence[Student]
) -> list[tuple[str, int | None, int]]:
    """Return each hand-in that a line of the roster names, and which of its persons the line is.

    The person is None unless the names and keys say it, or all others have lines of their own.
    """
    known = match([person for _, person in owners], roster).pairs
    places: dict[int, list[int]] = {}
    for line, student in enumerate(roster):
        wanted = _plain(student.hand_in)
        fitting = [n for n, (item, _) in enumerate(owners) if wanted and _is_called(item, wanted)]
        if len({owners[n][0].name for n in fitting}) == 1:
            places[line] = fitting
    sure = {n: line for line, fitting in places.items() for n in fitting if known.get(n) == line}
    found = []
    for line, fitting in places.items():
        left = [n for n in fitting if n not in sure and (n not in known or len(fitting) == 1)]
        others = [one for one in places if places[one] == fitting and one not in sure.values()]
        mine = [n for n in fitting if sure.get(n) == line]
        mine = mine or (left if len(left) == len(others) == 1 else [])
        found.append((owners[fitting[0]][0].name, mine[0] if mine else None, line))
    return found


def _is_called(item: Submission, wanted: str) -> bool:
    """Return whether a roster means a hand-in: by its name, or by a part of its path.

    Only what a teacher or a platform named counts, nothing inside an upload.
    """
    place = f"/{_plain(item.entry)}"
    return wanted == _plain(item.name) or f"/{wanted}/" in f"{place}/" or f"/{wanted}." in place


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.rstrip("/ ")).casefold().split())


def _group_key(name: str) -> str:
    """Return what tells a group from others; empty for a cell such as `-`."""
    return letters(name) or name.strip(" -\u2013\u2014./")


def _clock(item: Submission, lines: Sequence[Student]) -> str:
    """Return when a hand-in was handed in: the roster says it, else the platform."""
    stated = [line.submitted for line in lines if line.submitted]
    times = stated or [person.submitted for person in item.people if person.submitted]
    known = [text for text in times if text not in (LATE, IN_TIME)]
    return max(known or times, default="")


def _newest(names: Sequence[str], clock: Mapping[str, str]) -> str | None:
    """Return the newest of hand-ins, None if their times cannot be compared or are equal."""
    try:
        times = {name: datetime.fromisoformat(clock[name]) for name in names}
        newest = max(names, key=times.__getitem__)
        alone = list(times.values()).count(times[newest]) == 1
    except (TypeError, ValueError):  # one with a zone and one without; no time
        return None
    return newest if alone else None

"""The students of a roster, and whose mark is whose: hand-ins beside its lines, and groups."""

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from connect4.errors import InputError
from connect4.games import nearest
from grader.handin import (
    IN_TIME,
    LATE,
    Matching,
    Missing,
    Person,
    Submission,
    forms,
    keys_from_json,
    letters,
    match,
    may_be,
    named_few,
    told_apart,
    written_name,
)


class Change(StrEnum):
    """The kinds of corrections of a mark."""

    ADJUST = "adjust"
    """Points that are added."""
    PERCENT = "percent"
    """The share of the points that is added, in percent: -20 takes a fifth off."""
    MARK = "mark"
    """The mark itself, whatever the games say."""


NOT_SET: Final = -math.inf  # as a mark: it is no longer set


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of one student's mark by the teacher."""

    kind: Change
    amount: float
    reason: str = ""
    day: str = ""
    """The day on which it was entered, as 2030-01-31."""

    def __str__(self) -> str:
        text = {
            Change.ADJUST: f"corrected by {self.amount:+g}",
            Change.PERCENT: f"corrected by {self.amount:+g} %",
            Change.MARK: f"set to {self.amount:g}" if self.amount >= 0 else "no longer set",
        }[self.kind]
        text = f"{text}: {self.reason}" if self.reason else text
        return f"{text} ({self.day})" if self.day else text


@dataclass(frozen=True, slots=True)
class Student(Person):
    """A student, with what the roster says."""

    section: str = ""
    group: str = ""
    extension: float = 0.0
    """In days."""
    hand_in: str = ""
    """The file or folder of the hand-in, if the roster names it."""
    corrections: tuple[Correction, ...] = ()

    @staticmethod
    def from_json(held: Mapping[str, Any]) -> "Student":
        changes = [
            Correction(**{**one, "kind": Change(one["kind"])}) for one in held["corrections"]
        ]
        more = {"keys": keys_from_json(held["keys"]), "corrections": tuple(changes)}
        return Student(**{**held, **more})


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
    unknown: "list[Doubt]"
    """Who handed in and has no line in the roster."""
    told: list[str]
    """Which hand-in of a group counts, and whose correction counts for nobody, in words."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A person without a counterpart in another list, who that may be, and why it is not clear."""

    person: Person
    may_be: tuple[Person, ...] = ()
    why: str = ""

    def __str__(self) -> str:
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
    decisions: Sequence[tuple[Person, Person]], here: Sequence[Person], there: Sequence[Person]
) -> list[tuple[int, int]]:
    """Return the places of the pairs that a teacher has declared to be one person.

    A pair counts no more if keys or names say that one of them is somebody else.
    """
    known = match(here, there).pairs if decisions else {}
    found = []
    for one, two in decisions:
        mine = [place for place, person in enumerate(here) if _is(person, one)]
        yours = [place for place, person in enumerate(there) if _is(person, two)]
        if len(mine) == len(yours) == 1 and all(
            (one == mine[0]) == (two == yours[0]) for one, two in known.items()
        ):
            found.append((mine[0], yours[0]))
    return found


def _is(person: Person, held: Person) -> bool:
    """Return whether a person is the one of a decision; more keys may be known by now."""
    mine, yours = set(person.keys), set(held.keys)
    return person.name == held.name and (mine <= yours or yours <= mine)


def assign(
    found: Sequence[Submission],
    roster: Sequence[Student],
    decisions: Sequence[tuple[Person, Person]] = (),
    corrections: Sequence[tuple[Person, Correction]] = (),
) -> Owners:
    """Return whose mark each hand-in is; a group shares the one of a member or of its own name.

    `decisions` are persons whom the teacher has declared to be one, `corrections` those that no
    roster has. Of two hand-ins of a group the newer one counts. A student is absent only if no
    hand-in is left over that may be the student's. Of a single hand-in nobody is missed.
    """
    people = [person for item in found for person in item.people]
    hand_ins, matching = _beside(found, roster, people, decisions)
    groups = _groups(hand_ins, roster)
    shared = [people[place] for one in hand_ins for place in one.shared]
    listed = doubts(people, roster, matching) if roster else []
    unknown = [doubt for doubt in listed if all(doubt.person is not one for one in shared)]
    left_open = {
        name: group.open for group in groups.values() for name in group.items if group.open
    }
    left_open |= {one.item.name: NOT_CLEAR for one in hand_ins if _may_be_changed(one, unknown)}
    counting = {one.item.name: one.item.name for one in hand_ins}
    for group in groups.values():
        counting |= {name: group.counting for name in group.items if group.counting}
    students: dict[str, list[Student]] = {name: [] for name in counting.values()}
    for one in hand_ins:
        students[counting[one.item.name]] += one.authors
    everybody = [item for item in found if item.name in students]
    taken = {line for one in hand_ins for line in one.lines}
    for line, student in enumerate(roster):
        group_of = groups.get(_group_key(student.group))
        if line not in taken and group_of and group_of.counting:
            students[counting[group_of.counting]].append(student)
        elif line not in taken and len(found) > 1:
            is_open = any(line in item.there for item in matching.undecided) or any(
                student in doubt.may_be for doubt in unknown
            )
            why = (group_of.open if group_of else "") or (WHICH if is_open else "")
            missing, name = Missing.UNDECIDED if why else Missing.ABSENT, student.name
            absent = Submission(name, name, problem=why or missing, people=(student,))
            everybody = told_apart([*everybody, replace(absent, missing=missing)])
            students[everybody[-1].name] = [student]
            left_open |= {everybody[-1].name: why} if why else {}
    for one in hand_ins:
        if own := students.get(one.item.name):
            students[one.item.name] = [replace(author, submitted=one.time) for author in own]
    told = [*_told(groups.values(), roster, hand_ins), *_correct(students, corrections)]
    return Owners(everybody, students, left_open, unknown, told)


NOT_CLEAR: Final = f"{Missing.UNDECIDED}: it is not clear whose hand-in this is"
WHICH: Final = f"{Missing.UNDECIDED}: it is not clear which hand-in is this student's"


@dataclass(frozen=True, slots=True)
class _HandIn:
    """A hand-in beside the roster."""

    item: Submission
    lines: Sequence[int]
    authors: Sequence[Student]
    shared: Collection[int]
    """Persons that are nobody by themselves: all have lines that name the hand-in, or the name is
    that of a group."""
    time: str
    """When it was handed in: the roster says it, else the platform."""


def _beside(
    found: Sequence[Submission],
    roster: Sequence[Student],
    people: Sequence[Person],
    decisions: Sequence[tuple[Person, Person]],
) -> tuple[list[_HandIn], Matching]:
    """Return the hand-ins beside the roster, whose column `hand_in` decides first."""
    owners = [(item, person) for item in found for person in item.people]
    named = _named(owners, roster)
    pairs = [(place, line) for _, place, line in named]
    claims = Counter(name for name, _, _ in named)
    claimed = {name for name, place, _ in named if place is None}
    free = [  # whoever's hand-in is that of the lines which name it is nobody else
        Person("") if item.name in claimed and claims[item.name] >= len(item.people) else person
        for item, person in owners
    ]
    matching = match(free, roster, [*pairs, *decided(decisions, people, roster)])
    of_groups = {_group_key(one.group) for one in roster} - {""}
    hand_ins: list[_HandIn] = []
    begin = 0
    for item in found:
        places = range(begin, begin := begin + len(item.people))
        by_name = [line for name, _, line in named if name == item.name]
        matched = {place: matching.pairs[place] for place in places if place in matching.pairs}
        lines = list(dict.fromkeys([*matched.values(), *by_name]))
        shared = [
            place
            for place in places
            if len(by_name) >= len(places)
            or (not lines and _group_key(people[place].name) in of_groups)
        ]
        authors = [
            roster[matched[place]].with_keys(people[place].keys)
            if place in matched
            else Student(people[place].name, people[place].keys)
            for place in places
            if place in matched or place not in shared
        ]
        authors += [roster[line] for line in lines if line not in matched.values()]
        stated = [roster[line].submitted for line in lines if roster[line].submitted]
        times = stated or [person.submitted for person in item.people if person.submitted]
        clear = [text for text in times if text not in (LATE, IN_TIME)]
        time = max(clear or times, default="")
        hand_ins.append(_HandIn(item, lines, authors, shared, time))
    return hand_ins, matching


@dataclass(frozen=True, slots=True)
class _Group:
    """The hand-ins of a group of the roster, by name."""

    items: Sequence[str]
    counting: str | None
    """The one that counts; None if that is not decided."""
    told: str = ""
    """What the teacher has to know."""
    open: str = ""


def _groups(hand_ins: Sequence[_HandIn], roster: Sequence[Student]) -> dict[str, _Group]:
    """Return the groups that handed in; a group is that of an author, or one of a shared name."""
    written = {own: one.group for one in roster if (own := _group_key(one.group))}
    held: dict[str, list[_HandIn]] = {}
    for one in hand_ins:
        names = [roster[line].group for line in one.lines]
        if one.shared:
            names += [person.name for person in one.item.people]
        for own in written.keys() & set(map(_group_key, names)):
            held.setdefault(own, []).append(one)
    return {own: _group(written[own], held[own]) for own in written if own in held}


def _group(name: str, hand_ins: Sequence[_HandIn]) -> _Group:
    """Return a group with the hand-in that counts: the only one, or the newest."""
    names = [one.item.name for one in hand_ins]
    if len({one.item.sha256 for one in hand_ins}) == 1:
        return _Group(names, names[0])
    newest = None
    with suppress(TypeError, ValueError):  # one with a zone and one without; no time
        times = {one.item.name: datetime.fromisoformat(one.time) for one in hand_ins}
        last = max(times.values())
        (newest,) = (name for name, time in times.items() if time == last)
    if newest is None:
        why = f"group {name} handed in several times ({'; '.join(names)})"
        told = f"{why}: their mark stays open; {SUBMITTED}"
        return _Group(names, None, told, f"{Missing.UNDECIDED}: {why}, {SUBMITTED}")
    older = "; ".join(one for one in names if one != newest)
    return _Group(names, newest, f"group {name}: {newest} is newer than {older}")


def _told(
    groups: Iterable[_Group], roster: Sequence[Student], hand_ins: Sequence[_HandIn]
) -> Iterator[str]:
    """Yield which hand-in of a group counts, and whose `hand_in` is none or another's, in words."""
    yield from (group.told for group in groups if group.told)
    people = [(one, person) for one in hand_ins for person in one.item.people]
    by_name = match([person for _, person in people], roster).pairs
    taken = {line for one in hand_ins for line in one.lines}
    for place, line in by_name.items() if any(one.hand_in for one in roster) else ():
        one, person = people[place]
        if one.lines and line not in taken and not roster[line].group:
            other = f"the column hand_in gives {person} to {roster[one.lines[0]]}"
            yield f"{roster[line]} has no hand-in: {other}"
    for line, student in enumerate(roster):
        wanted = _plain(student.hand_in)
        own = [one.item for one in hand_ins if line in one.lines]
        if wanted and not any(_is_called(item, wanted) for item in own):
            yield f"{student}: hand_in {student.hand_in!r} is no hand-in here, or several"


def _may_be_changed(one: _HandIn, unknown: Sequence[Doubt]) -> bool:
    """Return whether a hand-in without a line may be that of a line that changes its mark."""
    return not one.lines and any(
        any(doubt.person is person for person in one.item.people)
        and isinstance(line, Student)
        and bool(line.corrections or line.extension or line.group or line.submitted)
        for doubt in unknown
        for line in doubt.may_be
    )


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
    """Return whether a roster means a hand-in: by its name, as shown, or by a part of its path.

    Only what a teacher or a platform named counts, nothing inside an upload.
    """
    place = f"/{_plain(item.entry)}"
    shown = [item.name, *(text for one in item.people for text in one.shown)]
    return wanted in map(_plain, shown) or f"/{wanted}/" in f"{place}/" or f"/{wanted}." in place


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.rstrip("/ ")).casefold().split())


def _group_key(name: str) -> str:
    """Return what tells a group from others; empty for a cell such as `-`."""
    return letters(name) or name.strip(" -\u2013\u2014./")


def find(text: str, groups: Sequence[Collection[Person]], where: object) -> int:
    """Return the place of the group with a person of that name, number, login or address.

    A group are the persons of one hand-in, or one person. Raises `InputError` if none or several
    fit; `where` begins the message.
    """
    fitting = [[one for one in group if _is_exactly(text, one)] for group in groups]
    if not any(fitting):
        own = forms(Person(text))
        fitting = [[one for one in group if own & forms(one)] for group in groups]
    found = [place for place, people in enumerate(fitting) if people]
    if len(found) == 1:
        return found[0]
    if found:
        shown = "; ".join(str(max(one, key=lambda p: len(p.keys))) for one in fitting if one)
        raise InputError(f"{where}: {text!r} may be {shown}; give one as it stands here")
    names = sorted({one.name for group in groups for one in group})
    near = [name for name in names if text.casefold() in name.casefold()]
    near_names = " or ".join(map(repr, near[:3]))
    hint = f" (did you mean {near_names}?)" if near else nearest(text, names)
    raise InputError(f"{where}: {text!r} is not in it{hint}; {named_few(names)} are")


def _is_exactly(text: str, person: Person) -> bool:
    held = {own.casefold() for own in (*person.shown, *(own for _, own in person.keys))}
    return text.casefold() in held or written_name(text) == written_name(person.name)

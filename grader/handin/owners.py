"""Whose mark is whose: hand-ins matched with the lines of a roster, and groups."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from grader.handin import Submission, on_disk, told_apart
from grader.handin.people import IN_TIME, LATE, Kind, Matching, Person, match, may_be, words
from grader.handin.roster import Correction, Student

ABSENT: Final = "nothing was handed in"
UNDECIDED: Final = "not decided"
"""How the problem of a student begins who has no hand-in, or whose hand-in nobody can tell.
Students read these texts, so nobody else is named in them."""


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
        return f"{self.person} (may be {_listed(self.may_be)})" if self.may_be else f"{self.person}"


def _listed(people: Iterable[Person]) -> str:
    shown = [str(person) for person in people]
    return " or ".join(shown[:3]) + (" or ..." if len(shown) > 3 else "")


def doubts(
    here: Sequence[Person], there: Sequence[Person], matching: Matching, back: bool = False
) -> list[Doubt]:
    """Return whoever of `here` is not matched, or with `back` of `there`, and who they may be."""
    undecided = {
        place: item for item in matching.undecided for place in (item.there if back else item.here)
    }
    mine, yours = (there, here) if back else (here, there)
    taken = {*matching.pairs.values()}, {*matching.pairs}
    left = [n for n in range(len(mine)) if n not in taken[0 if back else 1]]
    free = [n for n in range(len(yours)) if n not in taken[1 if back else 0]]
    found = []
    for place in left:
        item = undecided.get(place)
        if item is not None:
            others = tuple(yours[n] for n in (item.here if back else item.there))
            found.append(Doubt(mine[place], others, item.why))
        else:
            others = tuple(yours[n] for n in free if may_be(mine[place], yours[n]))
            found.append(Doubt(mine[place], others))
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
    owners = [(item, person) for item in found for person in item.people]
    people = [person for _, person in owners]
    named = _named(owners, roster)
    known = [(place, line) for _, place, line in named]
    matching = match(people, roster, [*known, *decided(decisions, people, roster)])
    by_line = {line: owners[place][0].name for place, line in matching.pairs.items()}
    by_line |= {line: name for name, _, line in named}
    lines: dict[str, list[int]] = {item.name: [] for item in found}
    for line, name in by_line.items():
        lines[name].append(line)
    groups = _Groups(found, roster, lines, Counter(name for name, _, _ in named))
    sharing = [person for item, person in owners if groups.shared(item, person)]
    listed = doubts(people, roster, matching) if roster else []
    unknown = [doubt for doubt in listed if doubt.person not in sharing]
    clock = {item.name: _clock(item, [roster[line] for line in lines[item.name]]) for item in found}
    groups.choose(clock)
    students, missing = _students(owners, roster, matching, named, groups)
    everybody = [item for item in found if item.name not in groups.instead]
    for name, own in students.items():
        students[name] = [replace(one, submitted=clock[name]) for one in own]
    for line in missing if len(found) > 1 else ():
        one = roster[line]
        why = groups.open.get(_letters(one.group)) or _why_none(line, roster, unknown, matching)
        absent = Submission(one.name, one.name, problem=why, people=(one,))
        everybody = told_apart([*everybody, absent])
        students[everybody[-1].name] = [one]
    groups.told += [*_misnamed(roster, by_line), *_correct(students, corrections)]
    left_open = groups.left_open | _unclear(owners, unknown, lines)
    left_open |= {item.name: str(item.problem) for item in everybody if _is_undecided(item)}
    called = {item.name: item.name for item in everybody} | _full_names(everybody, students)
    return Owners(
        [replace(item, name=called[item.name]) for item in everybody],
        {called[item.name]: students[item.name] for item in everybody},
        {called.get(name, name): why for name, why in left_open.items()},
        *(unknown, groups.told, matching, people),
    )


def _is_undecided(item: Submission) -> bool:
    return (item.problem or "").startswith(UNDECIDED)


def _misnamed(roster: Sequence[Student], by_line: Mapping[int, str]) -> list[str]:
    """Return in words the cells of `hand_in` that decide nothing."""
    return [
        f"{student}: hand_in {student.hand_in!r} is no hand-in here, or several"
        for line, student in enumerate(roster)
        if student.hand_in and line not in by_line
    ]


def _unclear(
    owners: Sequence[tuple[Submission, Person]],
    unknown: Sequence[Doubt],
    lines: Mapping[str, Sequence[int]],
) -> dict[str, str]:
    """Return why a mark stays open that a line of the roster may change, by the hand-in's name."""
    changed = [
        doubt.person
        for doubt in unknown
        for line in doubt.may_be
        if isinstance(line, Student)
        and (line.corrections or line.extension or line.group or line.submitted)
    ]
    return {
        item.name: f"{UNDECIDED}: it is not clear whose hand-in this is"
        for item, person in owners
        if not lines[item.name] and any(person is one for one in changed)
    }


def _students(
    owners: Sequence[tuple[Submission, Person]],
    roster: Sequence[Student],
    matching: Matching,
    named: Sequence[tuple[str, int | None, int]],
    groups: _Groups,
) -> tuple[dict[str, list[Student]], list[int]]:
    """Return the students of each hand-in, and the lines of the roster that have none."""
    students: dict[str, list[Student]] = {item.name: [] for item, _ in owners}
    for place, (item, person) in enumerate(owners):
        name = groups.instead.get(item.name, item.name)
        if place in matching.pairs:
            known = roster[matching.pairs[place]]
            students[name].append(known.with_keys(person.keys))
        elif not groups.shared(item, person):
            students[name].append(Student(person.name, person.keys))
    taken = {*matching.pairs.values()}
    for called, _, line in named:
        if line not in taken:
            students[groups.instead.get(called, called)].append(roster[line])
            taken.add(line)
    missing = []
    for line, student in enumerate(roster):
        counting = groups.counting.get(_letters(student.group))
        if line not in taken and counting:
            students[counting].append(student)
        elif line not in taken:
            missing.append(line)
    return students, missing


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


def _letters(name: str) -> str:
    """Return what tells a group from others; empty for a cell such as `-`."""
    return "".join(words(name)) or name.strip(" -\u2013\u2014./")


def _clock(item: Submission, lines: Sequence[Student]) -> str:
    """Return when a hand-in was handed in: the roster says it, else the platform."""
    stated = [line.submitted for line in lines if line.submitted]
    times = stated or [person.submitted for person in item.people if person.submitted]
    known = [text for text in times if text not in (LATE, IN_TIME)]
    return max(known or times, default="")


@dataclass
class _Groups:
    """The hand-ins of each group of a roster, by the letters of its name; and which one counts."""

    found: Sequence[Submission]
    roster: Sequence[Student]
    lines: Mapping[str, Sequence[int]]
    named: Mapping[str, int]
    """How many lines of the roster name a hand-in."""
    items: dict[str, list[str]] = field(default_factory=dict)
    """The names of the hand-ins."""
    counting: dict[str, str] = field(default_factory=dict)
    """The hand-in that counts, for each group that has one."""
    instead: dict[str, str] = field(default_factory=dict)
    """The hand-in that counts in place of an older one."""
    open: dict[str, str] = field(default_factory=dict)
    """Why it is not decided which one counts."""
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.items = {own: [] for one in self.roster if (own := _letters(one.group))}
        for item in self.found:
            groups = {_letters(self.roster[line].group) for line in self.lines[item.name]}
            groups |= {_letters(person.name) for person in item.people if self.shared(item, person)}
            for group in groups & self.items.keys():
                self.items[group].append(item.name)

    def shared(self, item: Submission, person: Person) -> bool:
        """Return whether a hand-in has the name of a group and not that of a student."""
        if self.named.get(item.name, 0) >= len(item.people):  # all have their lines
            return True
        return not self.lines[item.name] and _letters(person.name) in self.items

    @property
    def left_open(self) -> dict[str, str]:
        """Return why a hand-in's mark stays open, by its name."""
        return {name: why for group, why in self.open.items() for name in self.items[group]}

    def choose(self, clock: Mapping[str, str]) -> None:
        """Choose the hand-in of each group that counts: the only one, or the newest."""
        by_name = {item.name: item for item in self.found}
        called = {_letters(one.group): one.group for one in self.roster}
        for group, names in self.items.items():
            if not names:
                continue
            same = len({by_name[name].sha256 for name in names}) == 1
            newest = names[0] if same else _newest(names, clock)
            listed = "; ".join(names)
            if newest is None:
                why = f"group {called[group]} handed in several times ({listed})"
                self.open[group] = f"{UNDECIDED}: {why}, {SUBMITTED}"
                self.told.append(f"{why}: their mark stays open; {SUBMITTED}")
                continue
            self.counting[group] = newest
            older = [name for name in names if name != newest]
            self.instead |= dict.fromkeys(older, newest)
            if older and not same:
                self.told.append(
                    f"group {called[group]}: {newest} is newer than {'; '.join(older)}"
                )


SUBMITTED: Final = "a time for each in the roster's column submitted decides which one counts"


def _newest(names: Sequence[str], clock: Mapping[str, str]) -> str | None:
    """Return the newest of hand-ins, None if their times cannot be compared or are equal."""
    try:
        times = {name: datetime.fromisoformat(clock[name]) for name in names}
        newest = max(names, key=times.__getitem__)
        alone = list(times.values()).count(times[newest]) == 1
    except (TypeError, ValueError):  # one with a zone and one without; no time
        return None
    return newest if alone else None


def _why_none(
    line: int, roster: Sequence[Student], unknown: Sequence[Doubt], matching: Matching
) -> str:
    """Return why a student of the roster has no mark, or that nothing was handed in."""
    if line in matching.doubtful or any(roster[line] in doubt.may_be for doubt in unknown):
        return f"{UNDECIDED}: it is not clear which hand-in is this student's"
    return ABSENT

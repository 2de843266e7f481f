"""What was handed in and by whom: hand-ins and persons as values, and who of two lists is who.

Hand-ins, the lines of a roster and the lines of a gradebook are all persons, with a name and keys
of a kind. Nobody is guessed: a person is matched with the only one on the other side that fits, or
with nobody.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import partial
from itertools import product
from typing import Any, Final, Self, TypeAlias


class Kind(StrEnum):
    """The kinds of keys. Keys of different kinds are never compared."""

    NUMBER = "number"
    """The number of the university: Canvas's SIS User ID, Moodle's ID number, a roster's id."""
    LOGIN = "login"
    EMAIL = "email"
    CANVAS = "canvas"
    """Canvas's own number of a student (`ID`)."""
    MOODLE = "moodle"
    """Moodle's number of a participant in one assignment."""
    GRADESCOPE = "gradescope"
    """Gradescope's `sid`, the number that its roster has."""


Key: TypeAlias = tuple[Kind, str]

KEY_NAMES: Final[Mapping[Kind, str]] = {
    **{Kind.EMAIL: "e-mail address", Kind.CANVAS: "Canvas ID"},
    **{Kind.MOODLE: "participant", Kind.GRADESCOPE: "SID"},
}

LATE: Final = "late"
IN_TIME: Final = "in time"


@dataclass(frozen=True, slots=True)
class Person:
    """A person by the name that a list has, and by all keys that it states."""

    name: str
    keys: tuple[Key, ...] = ()
    submitted: str = ""
    """The time in ISO 8601, or `LATE` or `IN_TIME` if a download says no more; empty if unknown."""

    def key(self, *kinds: Kind) -> str:
        """Return the first key of one of these kinds, in their order; empty if there is none."""
        return next((text for kind in kinds for own, text in self.keys if own is kind), "")

    @property
    def identity(self) -> str:
        """Return the key that a table shows: the number, else the login, else a system's own."""
        kinds = [one for one in Kind if one is not Kind.EMAIL]
        shown = (text for one in kinds for kind, text in self.keys if kind is one)
        return next((text for text in shown if text != self.name), "")

    @property
    def email(self) -> str:
        return self.key(Kind.EMAIL)

    def with_keys(self, keys: Iterable[Key]) -> Self:
        return replace(self, keys=tuple(dict.fromkeys((*self.keys, *keys))))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(held: Mapping[str, Any]) -> "Person":
        return Person(held["name"], keys_from_json(held["keys"]), held["submitted"])

    def __str__(self) -> str:
        """Return the name, with the keys that tell the person from others."""
        known = ", ".join(
            f"{KEY_NAMES[kind]} {text}" if kind in OWN[1:] else text
            for kind, text in self.keys
            if text != self.name
        )
        return f"{self.name} ({known})" if known else self.name

    @property
    def shown(self) -> list[str]:
        """Return how the person may be called: with all keys, or with one alone."""
        return [str(self), *(f"{self.name} ({text})" for _, text in self.keys)]


def keys_from_json(held: Iterable[Sequence[str]]) -> tuple[Key, ...]:
    """Return keys that were written as JSON."""
    return tuple((Kind(kind), text) for kind, text in held)


def keys(**found: str) -> tuple[Key, ...]:
    """Return the keys that are not empty, by the name of their kind: `keys(number="00123")`."""
    return tuple((Kind(kind), text) for kind, text in found.items() if text)


def by_form(text: str) -> tuple[Key, ...]:
    """Return what a text may be by its form; for a name that the teacher chose, never a student.

    An address has an `@`. Digits are a number. One word of letters, perhaps with digits, may be a
    login or a number.
    """
    if re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        return keys(email=text)
    if re.fullmatch(r"\d+", text):
        return keys(number=text)
    if not re.fullmatch(r"[\w.\-]+", text):
        return ()
    return keys(login=text, number=text if re.search(r"\d", text) else "")


EXPANDED: Final = {
    **{"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "ß": "ss", "æ": "ae", "œ": "oe"},
    **{"đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i"},
}
"""Letters that are written as others where a keyboard or a system lacks them."""

STRIPPED: Final = {**EXPANDED, "ø": "o", "å": "a", "ä": "a", "ö": "o", "ü": "u"}


def words(name: str, plainer: Mapping[str, str] = STRIPPED) -> list[str]:
    """Return the words of a name without accents, case and punctuation."""
    text = unicodedata.normalize("NFC", name).casefold()
    text = "".join(plainer.get(letter, letter) for letter in text)
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = re.sub(r"(?<=\w)['\u2019\u02bc`\u00b4](?=\w)", "", plain)
    return re.findall(r"[^\W_]+", plain)


def letters(text: str) -> str:
    """Return the letters and digits of a text, by which titles and groups are compared."""
    return "".join(words(text))


def written_name(name: str, in_any_case: bool = False) -> str:
    """Return a name letter for letter: in NFC, in one form of blanks, `Lee, Ann` as `Ann Lee`."""
    text = " ".join(unicodedata.normalize("NFC", name).split())
    last, comma, first = text.partition(", ")
    text = f"{first} {last}" if comma and "," not in first else text
    return text.casefold() if in_any_case else text


def forms(person: Person) -> set[str]:
    """Return what two names share if only case, accents or the order of words differ.

    Canvas writes all words of a name as one, from any of them on: `Ann Lee` is `leeann`.
    """
    shared: set[str] = set()
    for plainer in (STRIPPED, EXPANDED):
        found = words(person.name, plainer)
        shared.add(" ".join(sorted(found)))
        shared |= {"".join(found[place:] + found[:place]) for place in range(len(found))}
    return shared - {""}


@dataclass(frozen=True, slots=True)
class Undecided:
    """Persons of both sides, by their places, of whom nobody can tell who is who; and why."""

    here: tuple[int, ...]
    there: tuple[int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Matching:
    """Who of one list is who in another, by their places."""

    pairs: Mapping[int, int]
    """The place in the second list, by that in the first."""
    undecided: Sequence[Undecided] = ()


SEVERAL: Final = "several fit"
OTHER_NUMBER: Final = "the names are the same, and the numbers differ"

REMEDY: Final = (
    "write the name of the file or its folder into the roster's column hand_in; a file's name that "
    "you chose yourself may be the number"
)
"""What decides between persons of one name."""

OWN: Final = (Kind.NUMBER, Kind.CANVAS, Kind.MOODLE, Kind.GRADESCOPE)
"""The kinds of which a person has only one key."""


def _own(person: Person, kind: Kind) -> set[str]:
    """Return the keys of a kind without case and leading zeros.

    What may be a login as well, by the form of a file's name, is not said to be a number.
    """
    logins, sids = (
        {text for own, text in person.keys if own is one} for one in (Kind.LOGIN, Kind.GRADESCOPE)
    )
    found = {text for own, text in person.keys if own is kind} - (logins - sids)
    return {text.casefold().lstrip("0") for text in found}


def _differ(one: Person, two: Person, kinds: Collection[Kind]) -> bool:
    """Return whether both have a key of one of these kinds, and not the same."""
    both = ((_own(one, kind), _own(two, kind)) for kind in kinds)
    return any(mine and yours and mine.isdisjoint(yours) for mine, yours in both)


Edges: TypeAlias = dict[int, set[int]]
"""Who of the second list fits each person of the first, by their places."""


def _groups(edges: Edges) -> list[tuple[list[int], list[int]]]:
    """Return the connected parts of a graph between two sides, each with its sorted places."""
    found: list[tuple[set[int], set[int]]] = []
    for place, others in edges.items():
        apart = [group for group in found if group[1].isdisjoint(others)]
        joined = [group for group in found if not group[1].isdisjoint(others)]
        both = {place}.union(*(one for one, _ in joined)), others.union(*(two for _, two in joined))
        found = [*apart, both] if others else found
    return sorted((sorted(here), sorted(there)) for here, there in found)


def _keys(person: Person) -> set[Key]:
    return {(kind, text.casefold()) for kind, text in person.keys}


def _numbers(person: Person) -> set[Key]:
    """Return the keys without leading zeros."""
    return {(kind, text.casefold().lstrip("0")) for kind, text in person.keys if text.strip("0")}


def _edges(
    here: Sequence[Person],
    there: Sequence[Person],
    free: tuple[set[int], set[int]],
    tokens: Callable[[Person], Iterable[object]],
) -> Edges:
    """Return who of the other side shares a token with each person; only who is still free."""
    holders: dict[object, set[int]] = {}
    for place in free[1]:
        for token in tokens(there[place]):
            holders.setdefault(token, set()).add(place)
    return {
        place: set().union(*(holders.get(token, ()) for token in tokens(here[place])))
        for place in sorted(free[0])
    }


def match(
    here: Sequence[Person], there: Sequence[Person], decided: Iterable[tuple[int | None, int]] = ()
) -> Matching:
    """Match the persons of two lists; `decided` are pairs of places that the teacher has named.

    None in a pair states that the other person is not in this list. The passes: keys of the same
    kind; numbers without leading zeros; the name letter for letter, if the lists write names alike;
    the name apart from case, accents, punctuation and the order of its words. Each compares only
    whoever is still free. Whoever is undecided in one is not matched later either. A name counts
    for nothing if own numbers differ of a kind of which the lists have some in common.
    """
    pairs: dict[int, int] = {}
    undecided: list[Undecided] = []
    free = set(range(len(here))), set(range(len(there)))
    edges = partial(_edges, here, there, free)

    def settle(found: Edges, told: Collection[Kind] = ()) -> None:
        """Match who is the only one for somebody, unless keys of the kinds `told` differ."""
        for mine, yours in _groups(found):
            alone = len(mine) == len(yours) == 1
            if alone and not _differ(here[mine[0]], there[yours[0]], told):
                pairs[mine[0]] = yours[0]
            else:
                why = OTHER_NUMBER if alone else SEVERAL
                undecided.append(Undecided(tuple(mine), tuple(yours), why))
            free[0].difference_update(mine)
            free[1].difference_update(yours)

    for one, two in decided:
        if one in free[0] and two in free[1]:
            pairs[one] = two
            free[0].remove(one)
        free[1].discard(two)
    called, found = edges(forms), edges(_keys)
    for place, others in found.items():  # a file's name that is a key may also be somebody's name
        if others and here[place].name in (text for _, text in here[place].keys):
            found[place] = others | called[place]
    settle(found)
    settle(edges(_numbers))
    held = (
        {(kind, own) for one in side for kind in OWN for own in _own(one, kind)}
        for side in (here, there)
    )
    shared = {kind for kind, _ in set.intersection(*held)}
    alone = [(one[0], two[0]) for one, two in _groups(edges(forms)) if len(one) == len(two) == 1]
    both = [(here[one], there[two]) for one, two in [*pairs.items(), *alone]]
    if written := _written_alike(both):
        settle(edges(written), shared)
    settle(edges(forms), shared)
    return Matching(pairs, undecided)


def _written_alike(pairs: Iterable[tuple[Person, Person]]) -> Callable[[Person], list[str]] | None:
    """Return how names are compared letter for letter, None if two lists write them differently.

    That shows in the names of all whom nobody can confuse. A list that drops accents, turns names
    round or has capitals of its own may give a person the name of another one.
    """
    sure = [(one, two) for one, two in pairs if not forms(one).isdisjoint(forms(two))]
    for in_any_case in (False, True):
        if all(written_name(one.name, in_any_case) == written_name(two.name, in_any_case)
            for one, two in sure
        ):  # fmt: skip
            return lambda person: [written_name(person.name, in_any_case)]
    return None


def may_be(one: Person, two: Person) -> bool:
    """Return whether two persons who are not matched may be the same one.

    A word of one name begins or ends a word of the other, or the names are alike, or one has no
    name to compare. Keys of a kind that a person has only once, and that differ, speak against it.
    """
    if _differ(one, two, OWN):
        return False
    if any("@" in person.name for person in (one, two)):
        return True
    mine, yours = (set(words(person.name)) for person in (one, two))
    if not all(any(word.isalpha() for word in found) for found in (mine, yours)):
        return True
    both = [*product(mine, yours), *product(yours, mine)]
    if any(len(b) > 2 and (a.startswith(b) or a.endswith(b)) for a, b in both):
        return True
    if any(len(word) > 1 for word in mine & yours):
        return True
    one_text, other_text = ("".join(sorted(found)) for found in (mine, yours))
    return SequenceMatcher(None, one_text, other_text, autojunk=False).ratio() >= 0.7


FOLDER: Final = "submissions"
"""Folder of the students' files, beside the records that name them."""

RESERVED: Final = re.compile(
    r"(CON|PRN|AUX|NUL|(COM|LPT)[0-9¹²³])\s*(\.|$)|(index\.csv|hidden-boards)$", re.IGNORECASE
)
"""Names that Windows reserves for devices, with any suffix, and those of the kit's own entries
beside the students' folders of records."""


class Missing(StrEnum):
    """Why a student of the class has no hand-in; students read it, so it names nobody."""

    ABSENT = "nothing was handed in"
    UNDECIDED = "not decided"
    """Nobody can tell which hand-in is the student's, or which one counts."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One hand-in. If `problem` is set it cannot be graded, and `source` may be None."""

    name: str
    place: str
    """The path: on disk, or in an archive."""
    source: bytes | None = None
    report: str | None = None
    """The text of `report.txt`, None if there is none."""
    problem: str | None = None
    people: tuple[Person, ...] = ()
    entry: str = ""
    """The file or folder that a teacher or a platform named, without what a student named in it."""
    missing: Missing | None = None
    """Why there is no hand-in, if this stands for a student without one."""
    stored_sha256: str | None = None
    """The hash of a source that is no longer held, because its author was forgotten."""

    @property
    def sha256(self) -> str | None:
        """Return the SHA-256 of the source's bytes in hexadecimal."""
        if self.source is None:
            return self.stored_sha256
        return hashlib.sha256(self.source).hexdigest()


def sources_of(found: Iterable[Submission]) -> dict[str, bytes]:
    """Return the sources of hand-ins, by their hash."""
    return {str(item.sha256): item.source for item in found if item.source is not None}


def file_name(name: str) -> str:
    """Return a student's name as a file name that is safe on every system: at most 200 bytes."""
    kept = "".join(
        letter if letter.isalnum() or letter in " -_().@+" else "_"
        for letter in unicodedata.normalize("NFC", name)
    ).strip(" .")
    kept = f"_{kept}" if RESERVED.match(kept) else kept
    return kept[:100].encode()[:200].decode(errors="ignore") or "_"


def named_few(names: Sequence[str]) -> str:
    """Return the first of many names, and the number of names."""
    shown = "; ".join([*names[:4], *(["..."] if len(names) > 4 else [])])
    return f"{shown} ({len(names)} in all)"


def told_apart(found: list[Submission]) -> list[Submission]:
    """Number submissions that would get the same file name."""
    taken: set[str] = set()
    apart = []
    for submission in found:
        name, number = submission.name, 1
        begin = name[:80].encode(errors="ignore")[:180].decode(errors="ignore")
        while (on_disk := unicodedata.normalize("NFC", file_name(name).casefold())) in taken:
            number += 1
            name = f"{begin} ({number})"
        taken.add(on_disk)
        apart.append(replace(submission, name=name))
    return apart


FOLDERS: Final = re.compile(r"(?<![\w./])(?:/[^\s/\"'<>|:*?]+)+/(?=[^\s/\"'<>|:*?])")
"""The folders of an absolute path."""


def without_folders(text: str) -> str:
    """Return a text with the folders of paths removed, so that students do not see them."""
    return FOLDERS.sub("", text)

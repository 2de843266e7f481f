"""A class of sixty, as six platforms pack it, and five lists of it that disagree; made from a seed.

The names are those that a course meets: accents, namesakes, names that differ in an accent or in
the order of their words, right-to-left letters, commas, quotes, formulas. Every mark is worth
another sum, so that a mark in the wrong place shows. Who owns what is decided here, before any
name is written down, and nothing of the grader is used for it.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from tests.marked import agent, points

PLAIN: Final = """
Zoë|Müller-Őry Jürgen|Groß Søren|Ångström Łukasz|Żak Đặng~Thị|Hoa Iñaki|Peña François|Lefèvre
Nuño|Ibáñez Žofie|Dvořáková Ólafur|Þórsson İbrahim|Çelik Ștefan|Țurcanu Αλέξης|Παπαδόπουλος
Михаил|Ёлкин محمد|العلي شرف|الدين דוד|כהן יעל|בן-ארי 小龙|李 民準|김 さくら|田中 Niamh|O'Brien
Chloé|D’Angelo Sammy|Davis,~Jr. Anna~"Annie"|Berg =SUM(A1)|Formula +Plus|Sign @dele|Okafor
-Minus|Dash Plato| X|Y Ana~Maria~del~Carmen|García~de~la~Vega Maarten|van~der~Berg
Aleksandra|Konstantinova Priya|Raghunathan Tariq|Bashir Ngozi|Adeyemi Ewa|Nowak Grace|Hopper
Edsger|Dijkstra Barbara|Liskov Ada|Lovelace Alan|Turing Radia|Perlman Tony|Hoare
"""
LONG: Final = "Wolfeschlegelsteinhausenbergerdorff " * 3
PAIRS: Final = (
    (("Kim", "Lee"), ("Kim", "Lee")),
    (("Wei", "Zhang"), ("Wei", "Zhang")),
    (("José", "Ruiz"), ("Jose", "Ruiz")),
    (("Anna", "Köhler"), ("Anna", "Koehler")),
    (("Thomas", "James"), ("James", "Thomas")),
    (("Ali", "Hassan"), ("Hassan", "Ali")),
)
"""Two of one name, or of names that differ only in an accent or in the order of their words."""

PLATFORMS: Final = ("canvas", "moodle", "gradescope", "brightspace", "blackboard", "folder")
BOOKS: Final = ("canvas", "moodle", "worksheet", "brightspace", "blackboard")

DEADLINE: Final = datetime(2030, 1, 31, 23, 59)
LATE: Final = '[late]\ndeadline = "2030-01-31 23:59"\nzone = "UTC"\npoints_a_day = 2.0\n'
OPEN: Final = -1
"""In place of the pupil whose hand-in counts: nobody can tell."""


@dataclass(frozen=True, repr=False)
class Pupil:
    """One of the class, with all that is true of him or her."""

    place: int
    first: str
    last: str
    pair: bool = False
    """Whether another one has the same name, or nearly."""
    role: str = ""
    shown: str = ""
    """The name on the platform, if the pupil has changed it."""
    margin: int = 0
    hours: int = -5
    """The time after the deadline."""
    group: str = ""
    extension: int = 0
    adjust: str = ""
    percent: str = ""
    mark: str = ""
    ids: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __repr__(self) -> str:
        more = f", shows {self.shown}" if self.shown else ""
        return f"<{self.place} {self.name}, {self.role or self.group or self.pair}{more}>"

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}".strip()

    @property
    def on_platform(self) -> str:
        return self.shown or self.name

    @property
    def handed_in(self) -> bool:
        return self.role not in ("absent", "member")

    @property
    def time(self) -> datetime:
        return DEADLINE + timedelta(hours=self.hours)

    @property
    def source(self) -> str:
        return agent(self.margin, f"file {self.margin}")


@dataclass
class Course:
    """A class and its lists."""

    seed: int
    platform: str
    pupils: list[Pupil] = field(default_factory=list)
    named_by: dict[int, str] = field(default_factory=dict)
    """The kind of key in the name of a hand-in, where a teacher chose the names."""
    columns: dict[str, set[str]] = field(default_factory=dict)
    """The kinds of keys that each list has."""
    lines: dict[str, list[Pupil]] = field(default_factory=dict)
    """Who is in each list."""
    named: dict[int, str] = field(default_factory=dict)
    """The hand-ins that the teacher has named in the roster, by the places of pupils."""

    def __post_init__(self) -> None:
        self.rng = random.Random(f"{self.seed} {self.platform}")
        self.pupils = _pupils(self.rng)
        if self.platform == "folder":  # no pupil writes a name there
            self.pupils = [replace(one, shown="") for one in self.pupils]
        for one in self.pupils:
            kinds = ["name", "name", "name", "number", "login", "email"]
            kinds = ["number"] if one.pair else ["name"] if one.group else kinds
            self.named_by[one.place] = self.rng.choice(kinds)
        for name in ("roster", *BOOKS):
            self.lines[name] = self._members(name)
            self.columns[name] = self._kinds(name)

    def _members(self, name: str) -> list[Pupil]:
        without = {"auditor", "dropped" if name == "roster" else "gone"}
        found = [one for one in self.pupils if one.role not in without]
        pair = self.rng.choice([one for one in found if one.pair])
        others = [one for one in found if one.pair and one is not pair]
        has_name = self.platform != "folder" or name != "roster"
        if has_name and all(one.handed_in for one in (pair, *others)):  # else nobody could tell
            found.remove(pair)
        self.rng.shuffle(found)
        return found

    def _kinds(self, name: str) -> set[str]:
        choices = {
            "roster": [(), ("number",), ("number", "email"), ("login",), ("number", "canvas")],
            "canvas": [("canvas",), ("canvas", "number"), ("canvas", "login"), ("canvas", "email")],
            "moodle": [("email",), ("number", "email")],
            "worksheet": [("moodle",), ("moodle", "email")],
            "brightspace": [("number", "login"), (), ("number",)],
            "blackboard": [("login",), (), ("number",)],
        }
        return set(self.rng.choice(choices[name]))

    # what is true

    def counting(self, one: Pupil) -> int | None:
        """Return the place of the pupil whose hand-in counts for one, `OPEN`, or None."""
        mates = [other for other in self.pupils if one.group and other.group == one.group]
        several = [other for other in mates if other.handed_in]
        if len(several) < 2:
            return several[0].place if several else (one.place if one.handed_in else None)
        if one.group == "Hares" and self.platform in ("canvas", "moodle", "folder"):
            return OPEN  # no time is known
        return max(several, key=lambda other: other.time).place

    def total(self, one: Pupil, on_roster: bool = True) -> Decimal | None:
        """Return the mark of a pupil, None if it is open; `on_roster`, what its line adds."""
        whose = self.counting(one) if on_roster else one.place
        if whose == OPEN:
            return None
        value = Decimal(0)
        if whose is not None and self.pupils[whose].role != "broken":
            value = points(self.pupils[whose].margin)
            value -= min(value, Decimal(2 * self.days(self.pupils[whose], on_roster)))
        if on_roster and (one.adjust or one.percent or one.mark):
            value = value * (100 + Decimal(one.percent or 0)) / 100 + Decimal(one.adjust or 0)
            value = Decimal(one.mark) if one.mark else max(Decimal(0), value)
        return value

    def days(self, one: Pupil, on_roster: bool) -> int:
        """Return the late days of a hand-in, as far as a list or the platform tells the time."""
        told = self.platform in ("gradescope", "brightspace", "blackboard")
        if not told and not (on_roster and one.hours > 0):
            return 0
        return max(0, -(-(one.hours - 24 * (one.extension if on_roster else 0)) // 24))

    def keys(self, one: Pupil) -> set[str]:
        """Return the kinds of keys that the download has of a pupil."""
        found = {
            **{"canvas": {"canvas"}, "moodle": {"moodle"}, "blackboard": {"login"}},
            **{"gradescope": {"number", "email"}, "folder": {self.named_by[one.place]} - {"name"}},
        }
        return found.get(self.platform, set())

    def is_clear(self, one: Pupil, name: str) -> bool:
        """Return whether a list has all that is needed to find a pupil who handed in."""
        leaders = [p for p in self.pupils if p.group == one.group and p.handed_in]
        if one not in self.lines[name]:
            return False
        if name == "roster" and one.place in self.named:
            return True
        if one.role == "member" and self.platform != "gradescope":
            known, called = set[str](), ""
            if name == "roster":
                return self.is_clear(leaders[0], name)
        elif self.platform == "folder" and self.named_by[one.place] != "name":
            known, called = self.keys(one), ""
        else:
            known, called = self.keys(one), one.on_platform
        if name != "roster" and self.is_clear(one, "roster"):
            known, called = known | self.columns["roster"], one.name
        elif name != "roster":  # without its line, nobody knows what that adds to the mark
            return False
        by_name = not one.pair and one.role != "name" and called == self.line_name(one, name)
        return by_name or bool(known & self.columns[name])

    def title(self, one: Pupil) -> str:
        """Return the name that a teacher gives a hand-in."""
        kind = self.named_by[one.place]
        whole = f"{one.last}, {one.first}" if one.last else one.first
        return one.ids.get(kind, whole)

    def line_name(self, one: Pupil, name: str) -> str:
        """Return what a list calls a pupil: a platform's own list has the name that it shows."""
        own = {"canvas": ("canvas",), "moodle": ("moodle", "worksheet")}
        return one.on_platform if name in own.get(self.platform, ()) else one.name

    def id_in(self, one: Pupil, name: str, kind: str) -> str:
        """Return the key of a pupil in a list; one that only this list has, if it lacks the kind.

        Spreadsheets drop zeros in front, and directories write addresses in other letters.
        """
        if kind not in self.columns[name]:
            return f"zz{one.place}"
        text = one.ids[kind]
        if kind == "number" and self.seed % 2:
            return text.lstrip("0")
        return text.upper() if kind == "email" and self.seed % 3 == 0 else text


def _pupils(rng: random.Random) -> list[Pupil]:
    """Return sixty pupils in the order of the university's numbers."""
    names = [(text.replace("~", " ").split("|"), False) for text in PLAIN.split()]
    names += [([f"Anna {LONG}", last], False) for last in ("Alba", "Alma")]
    names += [(list(one), True) for pair in PAIRS for one in pair]
    rng.shuffle(names)
    margins = rng.sample(range(-9, 51), 60)
    numbers = {
        kind: rng.sample(range(101, 161), 60) for kind in ("number", "canvas", "moodle", "org")
    }
    found = []
    for place, ((first, last), pair) in enumerate(names):
        ids = {kind: str(listed[place]) for kind, listed in numbers.items()}
        ids["number"] = f"00{ids['number']}"
        ids |= {"login": f"u{place}x", "email": f"Pupil.{place}@uni.example"}
        found.append(Pupil(place, first, last, pair, margin=margins[place], ids=ids))
    return _with_roles(found, rng)


ROLES: Final = (
    *(("absent", {}),) * 5,
    *(("auditor", {}),) * 2,
    *(("dropped", {}), ("gone", {}), ("again", {}), ("again", {}), ("broken", {}), ("copy", {})),
    *(("late", {"hours": 30}), ("late", {"hours": 1}), ("late", {"hours": 40, "extension": 1})),
    *(("", {"adjust": "1.5"}), ("", {"percent": "-20"}), ("", {"mark": "33"})),
    *(("", {"group": "Owls"}), ("member", {"group": "Owls"}), ("member", {"group": "Owls"})),
    *(("", {"group": "Larks"}), ("", {"group": "Larks", "hours": -2})),
    *(("", {"group": "Hares"}), ("", {"group": "Hares", "hours": -3})),
    *(("nick", {}),) * 3,
    *(("number", {}), ("email", {}), ("name", {})),
)
"""What some pupils do; the last three show a classmate's number, address or name."""


def _with_roles(pupils: list[Pupil], rng: random.Random) -> list[Pupil]:
    """Give roles to pupils whose name nobody else has; of each pair, somebody may be absent."""
    free = [one.place for one in pupils if not one.pair and one.last and "," not in one.last]
    chosen = rng.sample(free, len(ROLES))
    found = list(pupils)
    rest = [place for place in free if place not in chosen]
    for place, (role, more) in zip(chosen, ROLES, strict=True):
        found[place] = replace(found[place], role=role, **more)
    for place in chosen:
        one, victim = found[place], pupils[rng.choice(rest)]
        if one.role == "copy":
            found[place] = replace(one, margin=victim.margin)
        elif one.role == "nick":
            found[place] = replace(one, shown=f"Sunny {one.last}")
        elif one.role in ("number", "email"):
            found[place] = replace(one, shown=victim.ids[one.role])
        elif one.role == "name":
            found[place] = replace(one, shown=victim.name)
            found[victim.place] = replace(victim, pair=True)
    for one in found:
        if one.pair and one.place not in rest and rng.random() < 0.15:
            found[one.place] = replace(one, role="absent")
    return found

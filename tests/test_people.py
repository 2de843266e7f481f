"""Who is who: persons by typed keys and names, matched one to one, and nobody is guessed."""

from dataclasses import replace

import pytest

from connect4.errors import InputError
from grader.handin import IN_TIME, LATE, Missing, Person, Submission, by_form, keys, match, may_be
from grader.handin.roster import Change, Correction, Student, assign, decided, find


def person(text: str) -> Person:
    """Return the person of `Name number=1 email=a@x`."""
    words = text.split()
    found = dict(word.split("=") for word in words if "=" in word)
    return Person(" ".join(word for word in words if "=" not in word), keys(**found))


@pytest.mark.parametrize(
    ("here", "there", "found"),
    [
        ("Jose Ruiz; José Ruiz", "José Ruiz number=1", "- 0"),
        ("Jose Ruiz; José Ruiz", "José Ruiz number=1; Jose Ruiz number=2", "1 0"),
        ("Jose Ruiz", "José Ruiz number=1", "0"),
        ("Thomas James; James Thomas", "James, Thomas; Thomas, James", "0 1"),
        ("ANN LEE; ann lee", "Ann Lee", "- -"),
        ("Kim Lee moodle=1; Kim Lee moodle=2", "Kim Lee", "- -"),
        ("Kim Lee moodle=1; Kim Lee moodle=2", "Kim Lee moodle=2", "- 0"),
        ("Kim Lee", "Kim Lee number=1; Kim Lee number=2", "-"),
        ("1001 moodle=7", "Ann Lee number=1001", "-"),
        ("a@x.org moodle=7", "Ann Lee email=a@x.org", "-"),
        ("Ann Lee moodle=7", "Bo Ode login=Ann; Ann Lee", "1"),
        ("x number=00123", "Ann Lee number=123", "0"),
        ("x email=Ann@X.org", "Ann Lee email=ann@x.ORG", "0"),
        ("x number=1 email=b@x", "Ann number=1; Bo email=b@x", "-"),
        ("x number=1; y email=a@x", "Ann number=1 email=a@x", "- -"),
        ("anna_mueller; wei-li; leeann canvas=1", "Müller, Anna; Li, Wei; Ann Lee", "0 1 2"),
        ("Chloe Obrien; O’Neil, Bo", "O'Brien, Chloé; Bo O'Neil", "0 1"),
        ("Bjorn Strom; Soren Groß", "Björn Ström; Søren Gross", "0 1"),
        ("Kim Lee number=5; Al number=8", "Kim Lee number=7; Bo number=8", "- 1"),
        ("Kim Lee number=5; Al Ode", "Kim Lee number=101; Al Ode number=102", "0 1"),
        ("x gradescope=5", "Ann number=5", "-"),
        ("Muller Anna", "Müller Anna; Mueller Anna", "0"),
        ("Müller Anna", "Muller Anna; Mueller Anna", "-"),
        ("Kim Lee number=007; Kim Lee number=8", "Kim Lee number=8; Kim Lee number=7", "1 0"),
        ("José Ruiz; Jose Ruiz; Zoë Ko", "Jose Ruiz; Zoe Ko", "- - 1"),
        ("José Ruiz; Jose Ruiz; ZOË KO", "Jose Ruiz; Zoë Ko", "- 0 1"),
        ("Kim LEE; Kim Lee; Zoë KO", "Kim Lee; Zoë Ko", "- - 1"),
        ("Thomas James; James Thomas; Ann Lee", "James Thomas; Thomas James; Lee Ann", "- - 2"),
        ("José Ruiz; Jose Ruiz; Zoë number=1", "Jose Ruiz; José Ruiz; Zoe number=1", "- - 2"),
        ("Ann Lee login=u1 number=u1", "Ann Lee number=7; Bo number=u1x", "0"),
    ],
)
def test_two_lists_are_matched_or_left_alone(here: str, there: str, found: str) -> None:
    """Each person of the first list gets a place in the second one, or none."""
    mine, yours = ([person(text) for text in side.split(";")] for side in (here, there))
    pairs = match(mine, yours).pairs
    assert [str(pairs.get(place, "-")) for place in range(len(mine))] == found.split()
    back = {two: one for one, two in match(yours, mine).pairs.items()}
    assert back == pairs


def test_a_decision_comes_first_and_who_is_undecided_is_listed() -> None:
    mine = [person(text) for text in ("A number=1", "Bo Ode", "dée cy", "Kim", "Kim")]
    yours = [person(text) for text in ("X number=1", "Bo Ode", "Cy Dee", "Kim", "Kim", "Fay")]
    found = match(mine, yours, [(0, 5)])
    assert found.pairs == {0: 5, 1: 1, 2: 2}
    assert [(item.here, item.there, item.why) for item in found.undecided] == [
        ((3, 4), (3, 4), "several fit")
    ]


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("ann", "Anna Bell login=ann; Bo", 0),
        ("ann", "Anna Bell login=ann; Ann", None),
        ("1001", "Ann number=1001", 0),
        ("1001", "Ann number=1001; 1001 number=7", None),
        ("ann@x.org", "Ann email=ANN@x.org", 0),
        ("s1234567", "Ann number=s1234567", 0),
        ("Ann Lee", "Bo login=Ann; Ann Lee", 1),
    ],
)
def test_a_name_that_the_teacher_chose_may_be_a_number_a_login_or_an_address(
    name: str, line: str, found: int | None
) -> None:
    lines = [person(text.strip()) for text in line.split(";")]
    assert match([Person(name, by_form(name))], lines).pairs.get(0) == found


@pytest.mark.parametrize(
    ("one", "two", "answer"),
    [
        ("Jose Ruiz", "José Ruiz number=1", True),
        ("amuller", "Anna Müller", True),
        ("A. Muller", "Muller, Anna", True),
        ("sunnygroß canvas=1", "Jürgen Groß", True),
        ("Ann Lee", "Bo Ode", False),
        ("1001", "Ann Lee", True),
        ("1001 number=1001", "Ann Lee number=7", False),
        ("u23x login=u23x number=u23x", "Ann Lee number=7", True),
        ("Ann Lee moodle=1", "Ann Lee moodle=2", False),
    ],
)
def test_who_may_be_whom(one: str, two: str, answer: bool) -> None:
    assert may_be(person(one), person(two)) is answer


def test_a_person_is_found_by_anything_that_tells_who_it_is() -> None:
    people = [[person("Kim Lee number=1 email=k@x.org")], [person("Kim Lee number=2")]]
    people.append([person("Ann Ode"), person("Bo Ray login=bray")])
    assert [find(text, people, "x.db") for text in ("1", "K@x.org", "2", "bray", "ode ann")] == [
        *(0, 0, 1, 2, 2)
    ]
    with pytest.raises(
        InputError, match=r"x.db: 'Kim Lee' may be Kim Lee \(1, k@x.org\); Kim Lee "
    ):
        find("Kim Lee", people, "x.db")
    with pytest.raises(InputError, match=r"x.db: 'Cy' is not in it; Ann Ode; Bo Ray; Kim Lee "):
        find("Cy", people, "x.db")
    for text, name in (("bo", "Bo Ray"), ("Anne Ode", "Ann Ode")):
        with pytest.raises(InputError, match=rf"not in it \(did you mean '{name}'\?\); Ann Ode"):
            find(text, people, "x.db")


def handed_in(text: str, source: str = "", time: str = "") -> Submission:
    """Return the hand-in of one person."""
    one = person(text)
    known = Person(one.name, one.keys, time)
    place = f"class/{one.name}"
    return Submission(
        text, f"{place}/ai.py", (source or text).encode(), "", people=(known,), entry=place
    )


def test_a_zero_for_nothing_needs_that_no_hand_in_is_left_over() -> None:
    found = [handed_in(name) for name in ("Jose Ruiz", "Kim Lee moodle=1", "Kim Lee moodle=2")]
    roster = [Student(name) for name in ("José Ruiz", "Josè Ruiz", "Kim Lee", "Bo Ode")]
    owners = assign(found, roster)
    undecided = Missing.UNDECIDED
    assert {item.name: item.missing for item in owners.submissions[3:]} == {
        **{"José Ruiz": undecided, "Josè Ruiz": undecided, "Kim Lee": undecided},
        **{"Bo Ode": Missing.ABSENT},
    }
    problems = {item.name: item.problem or "" for item in owners.submissions}
    assert owners.open.keys() == {"José Ruiz", "Josè Ruiz", "Kim Lee"}
    assert problems["José Ruiz"].startswith("not decided: it is not clear which hand-in is")
    assert [str(doubt.person) for doubt in owners.unknown] == [
        *("Jose Ruiz", "Kim Lee (participant 1)", "Kim Lee (participant 2)")
    ]


def test_a_hand_in_may_have_the_name_of_a_group_or_of_a_student_in_one_word() -> None:
    found = [handed_in(name) for name in ("Zoe", "team7", "leeann canvas=1", "müllerbo")]
    roster = [Student("Gus", group="Team 7"), Student("Hu", group="Team 7"), Student("Ann Lee")]
    owners = assign(found, [*roster, Student("Müller, Bo")])
    assert {name: [one.name for one in own] for name, own in owners.students.items()} == {
        **{"Zoe": ["Zoe"], "team7": ["Gus", "Hu"], "leeann canvas=1": ["Ann Lee"]},
        **{"müllerbo": ["Müller, Bo"]},
    }
    assert [str(doubt) for doubt in owners.unknown] == ["Zoe"]


def test_the_rosters_column_hand_in_and_the_teachers_answer_decide_first() -> None:
    found = [handed_in("Jose Ruiz"), handed_in("xyz"), handed_in("Ann Lee number=1")]
    one, two = Student("José Ruiz", hand_in="class/xyz"), Student("Josè Ruiz", hand_in="ann lee")
    owners = assign(found, [one, two, Student("Ann Lee", keys(number="1"))])
    assert [[own.name for own in owners.students[item.name]] for item in found] == [
        *(["Jose Ruiz"], ["José Ruiz"], ["Josè Ruiz"])
    ]
    both = [Student("Ann Ode", hand_in="xyz"), Student("Bo Xyz", hand_in="xyz"), Student("Xyz")]
    owners = assign(found[:2], both)
    assert [own.name for own in owners.students["xyz"]] == ["Ann Ode", "Bo Xyz"], "and no namesake"
    roster = [Student("José Ruiz"), Student("Josè Ruiz")]
    owners = assign(found[:2], roster, [(Person("Jose Ruiz"), Person("Josè Ruiz"))])
    assert [own.name for own in owners.students["Jose Ruiz"]] == ["Josè Ruiz"]
    one, two = person("Al email=a@x"), person("Bo login=bo")
    assert decided([(one, two)], [one], [two]) == [(0, 0)]
    assert decided([(one, two)], [one], [two, person("Al Ode email=a@x")]) == []


def test_a_namesake_of_whoever_the_roster_names_is_unknown() -> None:
    """A platform that states no keys gives two persons who are equal."""
    found = [replace(handed_in("Kim Lee", f"{n}"), name=f"Kim Lee ({n})") for n in (1, 2)]
    owners = assign(found, [Student("Ann Ode", hand_in="Kim Lee (1)"), Student("Bo Ray")])
    assert [own.name for own in owners.students["Kim Lee (1)"]] == ["Ann Ode"]
    assert list(map(str, owners.unknown)) == ["Kim Lee"]


@pytest.mark.parametrize(
    ("times", "counting", "told"),
    [
        (("2030-01-01T10:00", "2030-01-01T11:00"), "Bo", "group 7: Bo is newer than Ann"),
        (("2030-01-01T11:00Z", "2030-01-01T10:00Z"), "Ann", "group 7: Ann is newer than Bo"),
        (("2030-01-01T10:00", ""), "", "handed in several times (Ann; Bo): their mark stays open"),
        (("2030-01-01T10:00Z", "2030-01-01T10:00"), "", "mark stays open"),
        ((LATE, IN_TIME), "", "mark stays open"),
    ],
)
def test_of_two_hand_ins_of_a_group_the_newer_counts(
    times: tuple[str, str], counting: str, told: str
) -> None:
    found = [handed_in(name, time=time) for name, time in zip(("Ann", "Bo"), times, strict=True)]
    roster = [Student(name, group="7", extension=days) for name, days in (("Ann", 0), ("Bo", 2))]
    owners = assign(found, [*roster, Student("Cy", group="7"), Student("Di")])
    assert told in owners.told[0]
    by_name = {
        item.name: [own.name for own in owners.students[item.name]]
        for item in found
        if item.name in owners.students
    }
    if counting:
        assert sorted(by_name[counting]) == ["Ann", "Bo", "Cy"]
        assert [item.name for item in owners.submissions] == [counting, "Di"]
        assert {own.submitted for own in owners.students[counting]} == {max(times)}
        return
    assert owners.open.keys() == {"Ann", "Bo", "Cy"}
    (absent,) = (item for item in owners.submissions if item.name == "Di")
    assert (absent.missing, absent.problem) == (Missing.ABSENT, "nothing was handed in")


def test_two_of_a_group_with_the_same_file_need_no_decision() -> None:
    found = [handed_in("Ann", "x = 1\n"), handed_in("Bo", "x = 1\n")]
    owners = assign(found, [Student("Ann", group="7"), Student("Bo", group="7")])
    assert (owners.open, owners.told) == ({}, [])
    assert [len(owners.students[item.name]) for item in owners.submissions] == [2]


def test_corrections_reach_the_student_or_are_named() -> None:
    entry = Correction(Change.ADJUST, 2.0, "late bus", "2030-01-31")
    found = [handed_in("Kim Lee moodle=1"), handed_in("Kim Lee moodle=2")]
    wanted = [(person("Kim Lee moodle=2"), entry), (Person("Cy"), entry)]
    owners = assign(found, [], corrections=wanted)
    assert [owners.students[item.name][0].corrections for item in found] == [(), (entry,)]
    assert owners.told == ["Cy has a correction and is not here"]

"""Submissions are found in every layout; what cannot be graded is said, the others are."""

import io
import os
import socket
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.handin import Person, Submission, file_name, keys
from grader.handin.archive import file_reader
from grader.handin.find import find
from grader.handin.platforms import scalar
from grader.rubric import reading as rubrics
from tests.grading import zipped
from tests.mutations import try_all

RULES = rubrics.read().submission


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def odd_zip(name: str, **fields: int) -> bytes:
    """Return a zip of one `ai.py` that has this name, and these fields, in the end."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        info = zipfile.ZipInfo("ai.py")
        archive.writestr(info, "x = 1\n")
        for key, value in {"filename": name, **fields}.items():
            setattr(info, key, value)
    return data.getvalue()


def doubled(*files: tuple[str, bytes]) -> bytes:
    """Return a zip with files in this order, names perhaps twice."""
    data = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(data, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


def placed(folder: Path, files: dict[str, str | bytes], form: str) -> Path:
    """Write the files of a class as a folder, a zip or a zip of the folder; return its path."""
    if form == "folder":
        return write(folder / "class", files)
    inside = files if form == "zip" else {f"class/{key}": files[key] for key in files}
    path = folder / "class.zip"
    path.write_bytes(zipped(inside))
    return path


def source_of(item: Submission) -> str | None:
    return None if item.source is None else item.source.decode()


def sources(found: list[Submission]) -> dict[str, str | None]:
    return {item.name: source_of(item) for item in found}


NO_FILE = "is a link or no file at all; put the file itself there"


def problems(found: list[Submission]) -> dict[str, str]:
    return {item.name: item.problem for item in found if item.problem}


@pytest.mark.parametrize("around", ["", "kit/"])
def test_of_a_copy_of_the_whole_kit_the_students_file_is_taken(tmp_path: Path, around: str) -> None:
    files = {f"{around}{name}": name for name in ("old/ai.py", "grader/__main__.py")}
    files |= {f"{around}connect4/players/ai.py": "mine", f"{around}connect4/utils.py": "kit"}
    write(tmp_path, {"ann.zip": zipped(files), "class/bo.zip": zipped(files)})
    write(tmp_path / "class" / "cy", files)
    whole = {f"{who}/{name}": text for who in ("dee", "eve") for name, text in files.items()}
    write(tmp_path, {"whole.zip": zipped(whole)})
    found = [
        item
        for name in ("ann.zip", "class", "whole.zip")
        for item in find([tmp_path / name], RULES)
    ]
    assert [item.name for item in found] == ["ann", "bo", "cy", "dee", "eve"]
    assert {source_of(item) for item in found} == {"mine"}


GRADESCOPE = """\
---
submission_11:
  :submitters:
  - :name: Ann Arbor
    :sid: '101'
    :email: ann@school.example
  :created_at: 2024-01-01 10:00:00 +0000
  :score: 3.0
  :status: processed
  :history:
  - :id: 9
    :created_at: 2023-12-31 10:00:00 Z
    :submitters:
    - :name: Ann Arbor
      :sid: '101'
      :email: ann@school.example
  :results:
    tests:
    - :name: not a student
submission_12:
  :submitters:
  - :name: Bo Derek
    :sid: 102
    :email: bo@school.example
  - :name: Cy Young
    :sid: 103
    :email: cy@school.example
  :created_at: 2024-01-01 10:00:00 +0000
"""

LAYOUTS: dict[str, dict[str, str | bytes]] = {
    "a folder each": {
        "ann/ai.py": "a",
        "ann/report.txt": "r",
        "bo/project/ai.py": "b",
        "bo/__pycache__/ai.cpython-311.pyc": b"\0",
        "__MACOSX/ann/._ai.py": "junk",
        "bo/.idea/x.py": "junk",
    },
    "a file each": {
        "ann.py": "a",
        "ann_report.txt": "r",
        "bo.py": "b",
        "grades.csv": "x",
        "README.txt": "x",
    },
    "a zip each": {
        "ann.zip": zipped({"hw1/ai.py": "a", "hw1/report.txt": "r", "__MACOSX/hw1/._ai.py": "x"}),
        "bo.zip": zipped({"ai.py": "b"}),
    },
    "capitals": {"ann/AI.PY": "a", "ann/old.py": "x", "ann/Report.txt": "r", "bo.PY": "b"},
    "another name of the file": {"ann/agent.py": "a", "ann/report.txt": "r", "bo/bo_final.py": "b"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["folder", "zip", "zip of the folder"])
def test_every_layout_is_found(tmp_path: Path, layout: str, form: str) -> None:
    found = find([placed(tmp_path, LAYOUTS[layout], form)], RULES)
    assert problems(found) == {}
    assert sources(found) == {"ann": "a", "bo": "b"}
    assert [item.report for item in found] == ["r", None]


DOWNLOADS: dict[str, tuple[dict[str, str | bytes], dict[str, str]]] = {
    "Canvas": (
        {
            "leeann_LATE_101_9002_ai-1.py": "new",
            "leeann_LATE_101_9001_ai.py": "old",
            "leeann_LATE_101_9003_report.txt": "r",
            "mary_annray_102_9004_work.zip": zipped({"ai.py": "b"}),
            "zoe_LATE_103_9005_222_assignsubmission_file_ai.py": "z",
        },
        {
            "leeann canvas=101 late": "new r",
            "mary_annray canvas=102 in time": "b",
            "zoe canvas=103 late": "z",
        },
    ),
    "Canvas of earlier years": (
        {"lee-ann_late_101_9002_ai.py": "a", "derek-bo_102_9003_ai.py": "b"},
        {"derek-bo canvas=102 in time": "b", "lee-ann canvas=101 late": "a"},
    ),
    "Canvas, with a name that ends with a classmate's number": (
        {"x_101_102_9003_ai.py": "may be of 101", "raybo_103_9004_2_ai.py": "b"},
        {"raybo canvas=103 in time": "b", "x in time": "may be of 101"},
    ),
    "Moodle with folders": (
        {
            "Ann Lee_123456_assignsubmission_file_/ai.py": "a",
            "Ann Lee_123456_assignsubmission_file_/report.txt": "r",
            "Ann Lee_123456_assignsubmission_onlinetext_/onlinetext.html": "x",
            "1001_123457_assignsubmission_file_/hw/ai.py": "b",
            "Cy_123458_assignsubmission_file/work.zip": zipped({"ai.py": "c"}),
        },
        {"1001 moodle=123457": "b", "Ann Lee moodle=123456": "a r", "Cy moodle=123458": "c"},
    ),
    "Moodle without folders": (
        {
            "ann@uni.example_123456_assignsubmission_file_solution.py": "a",
            "ann@uni.example_123456_assignsubmission_file_report.txt": "r",
            "Bo Ray_123457_assignsubmission_file_x_9_assignsubmission_file_ai.py": "b",
        },
        {"ann@uni.example moodle=123456": "a r", "Bo Ray moodle=123457": "b"},
    ),
    "Gradescope": (
        {
            "submission_metadata.yml": GRADESCOPE,
            "submission_11/ai.py": "a",
            "submission_12/ai.py": "b",
        },
        {
            "Ann Arbor gradescope=101 email=ann@school.example number=101 "
            "2024-01-01T10:00:00+00:00": "a",
            "Bo Derek gradescope=102 email=bo@school.example number=102 "
            "2024-01-01T10:00:00+00:00 and Cy Young gradescope=103 email=cy@school.example "
            "number=103 2024-01-01T10:00:00+00:00": "b",
        },
    ),
    "Brightspace with folders": (
        {
            "index.html": "x",
            "4711-815 - Ann Lee - Jan 30, 2030 1159 PM/ai.py": "oldest",
            "4711-815 - Ann Lee - Jan 31, 2030 105 AM/ai.py": "new",
            "4711-815 - Ann Lee - Jan 31, 2030 1259 AM/ai.py": "old",
            "4712-815 - Bo - Ray - 2 February, 2030 0930/hw/ai.py": "b",
        },
        {"Ann Lee 2030-01-31T01:05:00": "new", "Bo - Ray 2030-02-02T09:30:00": "b"},
    ),
    "Brightspace without folders": (
        {
            "index.html": "x",
            "4711-815 - Ann Lee - Jan 30, 2030 1159 PM - ai.py": "old",
            "4711-815 - Ann Lee - Jan 31, 2030 105 PM - ai.py": "new",
            "4711-815 - Ann Lee - Jan 31, 2030 105 PM - report.txt": "r",
            "4712-815 - Bo Ray - Jan 31, 2030 106 PM - Jan 1, 2030 106 PM - ai.py": "b",
        },
        {"Ann Lee 2030-01-31T13:05:00": "new r", "Bo Ray 2030-01-31T13:06:00": "b"},
    ),
    "Blackboard": (
        {
            "Home_work_a_lee_attempt_2030-01-30-10-00-00_ai.py": "old",
            "Home_work_a_lee_attempt_2030-01-30-10-00-00.txt": "Name: Ann Lee (a_lee)\nx",
            "Home_work_a_lee_attempt_2030-01-31-23-59-00_ai.py": "new",
            "Home_work_a_lee_attempt_2030-01-31-23-59-00.txt": "Name: Ann Lee (a_lee)\nx",
            "Home_work_a_ray_attempt_2030-01-31-08-00-00_x_a_lee_attempt_"
            "2031-01-01-00-00-00_ai.py": "b",
            "Home_work_Group 1_attempt_2030-01-31-23-59-00_ai.py": "c",
            "Home_work_Group 1_attempt_2030-01-31-23-59-00.txt": "Name: Ann Lee (a_lee)",
            "Home_work_a_ray_attempt_2030-01-31-08-00-00.txt": (
                "\ufeffName: Bo (a_lee) (a_ray)\r\nComments:\r\nName: Ann Lee (a_lee)\r\n"
            ),
        },
        {
            "Ann Lee login=a_lee 2030-01-31T23:59:00": "new",
            "Bo (a_lee) login=a_ray 2030-01-31T08:00:00": "b",
            "Group 1 2030-01-31T23:59:00": "c",
        },
    ),
    "Blackboard without its receipts": (
        {
            "Home_work_ann_lee_attempt_2030-01-31-23-59-00_ai.py": "a",
            "Home_work_bray_attempt_2030-01-31-23-59-00_ai.py": "b",
        },
        {
            "ann_lee login=ann_lee 2030-01-31T23:59:00": "a",
            "bray login=bray 2030-01-31T23:59:00": "b",
        },
    ),
    "names that a teacher chose": (
        {
            "1001.py": "a",
            "M\xfcller, Anna.zip": zipped({"ai.py": "b"}),
            "ann@uni.example/ai.py": "c",
            "carol/ai.py": "d",
            "u1002/ai.py": "e",
        },
        {
            **{"1001 number=1001": "a", "ann@uni.example email=ann@uni.example": "c"},
            **{"carol login=carol": "d", "M\xfcller, Anna": "b"},
            **{"u1002 login=u1002 number=u1002": "e"},
        },
    ),
}
"""The files of a download; who handed in, and the source and the report."""


@pytest.mark.parametrize("form", ["folder", "zip", "zip of the folder"])
@pytest.mark.parametrize("download", DOWNLOADS)
def test_every_download_says_who_handed_in_what(
    tmp_path: Path, download: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files, expected = DOWNLOADS[download]
    found = find([placed(tmp_path, files, form)], RULES)
    listed = []
    for item in found:
        people = [
            [one.name, *(f"{kind}={text}" for kind, text in one.keys), one.submitted]
            for one in item.people
        ]
        who = " and ".join(" ".join(filter(None, words)) for words in people)
        listed.append((who, " ".join(filter(None, (source_of(item), item.report)))))
    assert listed == [*expected.items()]
    assert problems(found) == {}
    assert all(" newer files count, not " in one for one in capsys.readouterr().err.splitlines())


MISFITS: dict[str, tuple[dict[str, str | bytes], dict[str, str], list[str]]] = {
    "a participant of Moodle among files of Canvas": (
        {
            "annlee_101_9002_ai.py": "a",
            "boray_102_9003_ai.py": "b",
            "eve_103_9004_ai.py": "e",
            "Cy Young_222_assignsubmission_file_ai.py": "c",
            "dee.py": "d",
            "grades.csv": "x",
        },
        {"annlee": "a", "boray": "b", "eve": "e"},
        ["Cy Young_222_assignsubmission_file_ai.py", "dee.py", "grades.csv"],
    ),
    "a student's odd files in a folder that a teacher named": (
        {"ann.py": "a", "ann_report.txt": "r", "x_101_9002_ai.py": "x", "x_101_9003_ai.py": "y"},
        {"ann": "a", "x_101_9002_ai": "x", "x_101_9003_ai": "y"},
        [],
    ),
    "as many of each": (
        {"ann.py": "a", "Bo Ray_9_assignsubmission_file_/ai.py": "b"},
        {"ann": "a", "Bo Ray_9_assignsubmission_file_": "b"},
        [],
    ),
    "Gradescope's folders without its list": (
        {"submission_11/ai.py": "a", "submission_12/ai.py": "b", "cy.py": "c"},
        {"submission_11": "a", "submission_12": "b", "cy": "c"},
        [],
    ),
    "a folder that Gradescope's list does not name": (
        {
            "submission_metadata.yml": GRADESCOPE,
            "submission_11/ai.py": "a",
            "submission_13/ai.py": "b",
            "other/ai.py": "c",
        },
        {"Ann Arbor": "a", "submission_13": "b"},
        ["other"],
    ),
}
"""The names of a folder, whose sources are found, and which names are told to the teacher."""


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("case", MISFITS)
def test_a_name_is_read_by_the_rule_of_its_own_platform_alone(
    tmp_path: Path, case: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files, expected, misfits = MISFITS[case]
    path = placed(tmp_path, files, form)
    found = find([path], RULES)
    assert sources(found) == expected
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" is not graded, because ")[0] for line in told] == [
        f"{path}: {name}" for name in misfits
    ]
    assert all(line.endswith("; to grade it, put it into another folder") for line in told)


def test_an_attempt_of_an_unknown_time_is_none_to_choose(tmp_path: Path) -> None:
    """Months of other languages have no known order; a second attempt is a second hand-in."""
    names = [f"1-5 - Ann - {month} 31, 2030 1159 PM" for month in ("Jul", "Mai")]
    write(
        tmp_path,
        {f"{name}/ai.py": "a" for name in names} | {"2-5 - Bo - Mai 1, 2030 100 AM/ai.py": "b"},
    )
    found = find([tmp_path], RULES)
    assert [source_of(item) for item in found] == [None, "b"]
    assert found[0].problem == f"two hand-ins of one student: {', '.join(names)}"
    assert found[1].people == (Person("Bo"),)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("'D''Angelo'", "D'Angelo"),
        (r'"Jos\xE9 \"Pepe\" O\\Hara"', r'José "Pepe" O\Hara'),
        (r'"\U0001F600x"', "\U0001f600x"),
        ("'Ann # Lee' # late", "Ann # Lee"),
        ("&3 Ann Lee", "Ann Lee"),
        ('"Ann\n    Lee \\\n    Ray"', "Ann Lee Ray"),
        (r'"Ann\U99999999"', r"Ann\U99999999"),
        *(("", ""), ("~", "")),
    ],
)
def test_a_name_is_read_as_yaml_writes_it(written: str, name: str) -> None:
    assert scalar(written) == name


@pytest.mark.parametrize("indent", ["  ", "    "])
def test_gradescopes_list_is_read_by_its_indents(tmp_path: Path, indent: str) -> None:
    text = (
        f"---\nsubmission_1:\n  :submitters: &1\n{indent}- :name: |-\n{indent}    Ann\x1b\n"
        f"{indent}    :sid: '9'\n{indent}    - :name: Bo\n"
        f"{indent}  :sid: '101' # his\n{indent}  :email: ann@x.example\n"
        "  :created_at: !ruby/object:ActiveSupport::TimeWithZone\n"
        "    utc: &2 2030-01-31 22:59:30.123456789 Z\n  :history:\n"
        "  - :submitters: *1\n    :text: |\n      submission_1:\n        :submitters:\n"
    )
    write(tmp_path, {"submission_metadata.yml": text, "submission_1/ai.py": "a"})
    (found,) = find([tmp_path], RULES)
    known = keys(gradescope="101", email="ann@x.example", number="101")
    name = "|- Ann\\x1b :sid: '9' - :name: Bo"
    assert found.people == (Person(name, known, "2030-01-31T22:59:30.123456+00:00"),)


def test_single_files_and_folders_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"ann/ai.py": "a", "ann/report.txt": "r", "bo/ai.py": "b"})
    file = tmp_path / "ann" / "ai.py"
    assert sources(find([file], RULES)) == {"ai": "a"}
    assert find([file], RULES)[0].place == str(file)
    assert sources(find([file, tmp_path / "bo" / "ai.py"], RULES)) == {"ann": "a", "bo": "b"}
    assert sources(find([tmp_path / "ann"], RULES)) == {"ann": "a"}
    assert sources(find([tmp_path / "ann"], RULES, "Ann")) == {"Ann": "a"}


MOODLE = "_assignsubmission_file_/ai.py"
ODD: dict[str, tuple[dict[str, str | bytes], dict[str, str]]] = {
    "two files of one name in a zip, of which the last counts": (
        {"eve.zip": doubled(("ai.py", b"old"), (".\\ai.py", b"new"))},
        {"eve": "new"},
    ),
    "a student beside a file of the same name": (
        {"class.zip": zipped({"ann": "x", "ann/ai.py": "a", "bo/ai.py": "b"})},
        {"ann": "a", "bo": "b"},
    ),
    "names that would read alike": (
        {"a\x1b/ai.py": "a", "a\\x1b/ai.py": "b"},
        {"a\\x1b": "a", "a\\\\x1b": "b"},
    ),
    "a trap in the zip of a class": (
        {"class.zip": zipped({"ann/ai.py": "a", "eve/../../ai.py": "x"})},
        {"ann": "a", "eve": "x"},
    ),
    "an online text and no file, of Moodle": (
        {
            f"ann_1{MOODLE}": "a",
            "ann_1_assignsubmission_onlinetext_/onlinetext.html": "x",
            "eve_2_assignsubmission_onlinetext_/onlinetext.html": "x",
        },
        {"ann": "a", "eve": "an online text and no file"},
    ),
    "an online text and no file, of Canvas": (
        {"ann_1_2_ai.py": "a", "ann_1_text.html": "x", "leejo_LATE_3_text.html": "x"},
        {"ann": "a", "leejo": "an online text and no file"},
    ),
    "an online text as the newest attempt of Blackboard; a folder in the place of a receipt": (
        {
            "hw_ann_attempt_2030-01-01-00-00-00_ai.py": "a",
            "hw_ann_attempt_2030-01-01-00-00-00.txt/x": "",
            "hw_eve_attempt_2030-01-01-00-00-00_ai.py": "x",
            "hw_eve_attempt_2030-01-02-00-00-00.txt": "Name: Eve (eve)",
        },
        {"ann": "a", "Eve": "an online text and no file"},
    ),
    "an empty folder, a pipe, a linked folder": (
        {"ann.py": "a", "bo/": "", "eve/ai.py|": "", "joe/code@": ""},
        {
            "ann": "a",
            "bo": "no ai.py and no other .py file in it",
            "eve": f"ai.py {NO_FILE}",
            "joe": f"code {NO_FILE}",
        },
    ),
}
"""Files, and each student's source or problem. `/` ends a folder, `|` a pipe, `@` a link."""


@pytest.mark.parametrize("case", ODD)
def test_nobody_is_forgotten_or_taken_for_another(tmp_path: Path, case: str) -> None:
    files, expected = ODD[case]
    write(tmp_path, {name: text for name, text in files.items() if name[-1] not in "/|@"})
    for name in files:
        path = tmp_path / name[:-1]
        if name[-1] == "/":
            path.mkdir()
        elif name[-1] in "|@":
            path.parent.mkdir()
            os.mkfifo(path) if name[-1] == "|" else path.symlink_to(tmp_path / "bo")
    found = find([tmp_path / "class.zip" if "class.zip" in files else tmp_path], RULES)
    assert {item.name: item.problem or source_of(item) for item in found} == expected


def test_a_student_called_like_a_namesake_with_number_costs_nobody_the_mark(tmp_path: Path) -> None:
    """Everybody is graded under a name of their own, whatever students call themselves."""
    names = {1: "Ann", 2: "Ann", 3: "Ann (1)", 4: "Ann (1) (1)", 5: "Bo"}
    files = {f"{name}_{n}_assignsubmission_file_/ai.py": f"{n}" for n, name in names.items()}
    write(tmp_path, files)
    found = sources(find([tmp_path], RULES))
    assert sorted(found.values()) == ["1", "2", "3", "4", "5"]
    assert found["Ann (2)"] == "2"
    assert found["Bo"] == "5"


def test_two_students_of_one_name_on_gradescope_are_told_apart(tmp_path: Path) -> None:
    """By their numbers, else by their addresses; two hand-ins of one student stay that."""
    text = "".join(
        f"submission_{place}:\n  :submitters:\n  - :name: Kim Lee\n    :sid: '{number}'\n"
        f"    :email: {mail}\n"
        for place, number, mail in ((1, "101", "a@x"), (2, "102", "b@x"), (3, "", "c@x"))
    )
    write(tmp_path, {f"submission_{number}/ai.py": f"{number}" for number in (1, 2, 3)})
    metadata = tmp_path / "submission_metadata.yml"
    metadata.write_text(text)
    names = {"Kim Lee (101)": "1", "Kim Lee (102)": "2", "Kim Lee (c@x)": "3"}
    assert sources(find([tmp_path], RULES)) == names
    metadata.write_text(text.replace("102", "101"))
    found = find([tmp_path], RULES)
    assert [source_of(item) for item in found] == [None, "3"]
    assert "two hand-ins of one student" in str(found[0].problem)


def test_names_that_would_be_one_file_are_numbered(tmp_path: Path) -> None:
    names = ["A:b", "A;b", "JOSE\u0301", "Jos\xe9", "Kim Lee", "kim lee", "Sam Ruiz", "S\xe1m Ruiz"]
    names += ["x" * 120 + "1", "x" * 120 + "2", *("\u6f22" * 83 + letter for letter in "123")]
    write(tmp_path, {f"{name}/ai.py": name for name in names})
    found = find([tmp_path], RULES)
    assert [source_of(item) for item in found] == names
    files = {file_name(item.name).casefold() for item in found}
    assert len(files) == len(names)
    assert all(len(file.encode()) <= 200 for file in files)
    assert [item.name.endswith(" (2)") for item in found[:6]] == [False, True] * 3
    assert [item.name for item in found[6:8]] == names[6:8]
    assert [item.people[0].name for item in found] == names


def test_a_folder_that_can_be_listed_but_not_entered_stops_no_other() -> None:
    def tried(folder: Path) -> str | None:
        write(folder, {"ann.py": "a", "eve/ai.py": "x", "fay/hw/ai.py": "x"})
        (folder / "eve").chmod(0o444)
        (folder / "fay").chmod(0o444)
        said = problems(find([folder], RULES))
        (folder / "eve").chmod(0o755)
        (folder / "fay").chmod(0o755)
        refused = "cannot be read: Permission denied"
        wanted = {"eve": f"ai.py {refused}", "fay": f"the folder hw {refused}"}
        return None if said == wanted else str(said)

    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() == 0:
            assert _as_ordinary_user(Path(name), lambda: tried(Path(name))) is None
        else:
            assert tried(Path(name)) is None


BOMB = zipped({"ai.py": b"#" * 30_000_000})
BAD: dict[str, tuple[dict[str, str | bytes], str | tuple[str, ...]]] = {
    "zip bomb": ({"eve.zip": BOMB}, "the zip unpacks to more than the 20 MB allowed"),
    "many files": (
        {"eve.zip": zipped({f"{number}.txt": "x" for number in range(2001)})},
        "the zip holds 2001 files, allowed are 2000",
    ),
    "nested zip": (
        {"eve.zip": zipped({"inner.zip": zipped({"ai.py": "x"})})},
        "the archive holds another archive, inner.zip; hand in ai.py or one zip of it",
    ),
    "damaged zip": ({"eve.zip": b"PK\x03\x04 nonsense"}, "no readable zip"),
    "two files": (
        {"eve/one.py": "x", "eve/two.py": "y"},
        "two files that could be the agent: one.py, two.py; hand in one ai.py",
    ),
    "two agents": (
        {"eve/ai.py": "x", "eve/old/ai.py": "y"},
        "two files that could be the agent: ai.py, old/ai.py; hand in one ai.py",
    ),
    "two hand-ins": ({"eve/ai.py": "x", "eve.py": "y"}, "two hand-ins of one student: eve, eve.py"),
    "notebook": (
        {"eve/hw.ipynb": "{}"},
        "hw.ipynb is a Jupyter notebook; save its code as ai.py (File > Save and Export As)",
    ),
    "text file": (
        {"eve/ai.py.txt": "x"},
        "ai.py.txt is a text file; rename it to ai.py (Windows may hide the .txt)",
    ),
    "another archive": (
        {"eve.tar.gz": b"\x1f\x8b"},
        "eve.tar.gz is not opened; hand in ai.py or one zip of it",
    ),
    "not UTF-8": (
        {"eve.py": "x = 1\ny = 'caf\xe9'".encode("latin-1")},
        "not UTF-8 (line 2, byte 14); save the file as UTF-8",
    ),
    "a file without a name": ({"eve.zip": odd_zip("")}, "no ai.py and no other .py file in it"),
    "a path longer than a disk takes": (
        {"eve.zip": zipped({f"{'d/' * 3000}ai.py": b"\xff"})},
        "not UTF-8 (line 1, byte 0)",
    ),
    "a locked zip": (
        {"eve.zip": odd_zip("ai.py", flag_bits=1)},
        "ai.py in the zip cannot be read (File 'ai.py' is encrypted",
    ),
    "huge source": ({"eve.py": b"#" * 256_001}, "larger than 256 kB"),
}


@pytest.mark.parametrize("case", BAD)
def test_one_bad_hand_in_stops_no_other(tmp_path: Path, case: str) -> None:
    files, message = BAD[case]
    write(tmp_path, {**files, "ann.py": "a"})
    found = find([tmp_path], RULES)
    assert [item.name for item in found] == ["ann", "eve"]
    assert found[0].problem is None
    assert found[0].source == b"a"
    problem = found[1].problem
    assert problem is not None
    assert problem.startswith(message)
    assert "\n" not in problem


def test_of_several_paths_one_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    write(tmp_path, {"ann.py": "a", "bo.zip": b"PK", "class.zip": odd_zip("ai.py", flag_bits=1)})
    write(tmp_path, {"dee.rar": b"Rar!"})
    (tmp_path / "cy").mkdir()
    paths = [tmp_path / name for name in ("ann.py", "bo.zip", "cy", "class.zip", "dee.rar")]
    assert problems(find(paths, RULES)) == {
        "bo": "no readable zip (File is not a zip file)",
        "class": "ai.py in the zip cannot be read (File 'ai.py' is encrypted, password required "
        "for extraction)",
        "cy": "no ai.py and no other .py file in it",
        "dee": "dee.rar is not opened; hand in ai.py or one zip of it",
    }


@pytest.mark.slow
def test_folders_that_are_too_deep_stop_no_other(tmp_path: Path) -> None:
    write(tmp_path, {"ann.py": "a"})
    deep = [tmp_path / "fay"]
    for _ in range(1100):  # deeper than Python recurses
        deep.append(deep[-1] / "d")
    for folder in deep:
        folder.mkdir()
    try:
        said = problems(find([tmp_path], RULES))
    finally:
        for folder in reversed(deep):  # pytest could not
            folder.rmdir()
    assert said == {"fay": "folders more than 100 deep; hand in ai.py and report.txt"}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_file_holds_nobody_up(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"ann.py": "a", "eve/hw/ai.py": "x"})
    (tmp_path / "eve" / "hw" / "ai.py").unlink()
    monkeypatch.chdir(tmp_path / "eve" / "hw")  # a socket's path is short
    if kind == "pipe":
        os.mkfifo("ai.py")
    else:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind("ai.py")
    assert problems(find([tmp_path], RULES)) == {"eve": f"ai.py {NO_FILE}"}
    with pytest.raises(InputError, match=r"is a link or no file|No such device"):
        file_reader(tmp_path / "eve" / "hw" / "ai.py")(10)  # it was a file when it was listed


@pytest.mark.parametrize(
    "name", ["index.csv", "Hidden-Boards", "con", "NUL.py", "Com1", "lpt\xb9", "aux .x"]
)
def test_a_student_has_no_folder_of_the_kits_own_name_or_of_a_device_of_windows(name: str) -> None:
    assert file_name(name) == f"_{name}"
    assert file_name(f"x{name}") == f"x{name}"


def test_a_place_in_a_message_leads_to_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From several paths, from a class below another folder, of the file that counts."""
    for folder in ("two/class", "two/other"):
        write(tmp_path / folder, {"ada/ai.py": "a", "bad/notes.txt": "x", f"{folder[4:]}.py": "c"})
    files = {"leeann_1_9_helper.py": "h", "leeann_1_8_ai.py": "a", "boray_2_7_ai.py": "b"}
    write(tmp_path, {f"down/load/{name}": text for name, text in files.items()})
    write(tmp_path, {"one.zip": zipped({"ai.py": "z"}), "class.py": "another file"})
    monkeypatch.chdir(tmp_path)
    paths = [Path(name) for name in ("two/class", "two/other", "one.zip")]
    found = {item.name: item for item in find(paths, RULES)}
    assert found["class"].place == "two/class/class.py"
    assert found["other"].place == "two/other/other.py"
    assert found["one"].place == "one.zip/ai.py"
    assert found["ada"].place == "two/class/ada"
    assert found["ada"].problem == "two hand-ins of one student: two/class/ada, two/other/ada"
    found = {item.name: item for item in find([Path("down")], RULES)}
    assert found["boray"].place == "down/load/boray_2_7_ai.py"
    assert found["leeann"].place == "down/load/leeann_1_8_ai.py"
    write(tmp_path, {"one/class/ada/ai.py": "a"})  # may be a class of one, or the folders of one
    (ada,) = find([Path("one")], RULES)
    assert (ada.name, ada.place) == ("class", "one/class/ada/ai.py")
    write(tmp_path, {"one/class/bela/ai.py": "b"})
    assert [(item.name, item.place) for item in find([Path("one")], RULES)] == [
        ("ada", "one/class/ada/ai.py"),
        ("bela", "one/class/bela/ai.py"),
    ]


def test_names_are_ones_that_a_terminal_and_a_database_take(tmp_path: Path) -> None:
    names = [b"lat\xe9n", b"red\x1b[31m", b"two\nlines"]
    for name in names:
        folder = os.path.join(os.fsencode(tmp_path), b"class", name)
        os.makedirs(folder)
        with open(os.path.join(folder, b"ai.py"), "w", encoding="utf-8") as file:
            file.write("a")
    found = find([tmp_path / "class"], RULES)
    assert [item.name for item in found] == ["lat\\udce9n", "red\\x1b[31m", "two\\nlines"]
    assert not problems(found)
    path = write(tmp_path, {"ann.py": "a"}) / "ann.py"
    assert [item.name for item in find([path], RULES, "a\udcff")] == ["a\\udcff"]
    archive = write(tmp_path, {"class.zip": zipped({"red\x1b[31m/ai.py": "a", "bo/ai.py": "b"})})
    assert [item.name for item in find([archive / "class.zip"], RULES)] == ["bo", "red\\x1b[31m"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"secret/ai.py": "s", "class/ann.py": "a", "class/eve/notes.txt": "x"})
    (tmp_path / "class" / "eve" / "ai.py").symlink_to(tmp_path / "secret" / "ai.py")
    (tmp_path / "class" / "bo.py").symlink_to(tmp_path / "secret" / "ai.py")
    (tmp_path / "class" / "joe").symlink_to(tmp_path / "secret")
    found = find([tmp_path / "class"], RULES)
    links = {"bo": "bo.py", "eve": "ai.py", "joe": "joe"}
    assert problems(found) == {name: f"{link} {NO_FILE}" for name, link in links.items()}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("empty", "empty: no submissions there; expected NAME.py"),
        ("nowhere", "nowhere: no such file or folder"),
        ("brokn", "brokn: no such file or folder (did you mean 'broken.zip'?)"),
        ("notes.txt", "notes.txt: expected a .py file, a folder or a .zip"),
        ("broken.zip", "broken.zip: no readable zip"),
    ],
)
def test_a_path_without_submissions_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path, {"notes.txt": "x", "broken.zip": b"PK\x05"})
    with pytest.raises(InputError) as caught:
        find([tmp_path / name], RULES)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


FUZZED = 10_000
"""Mutated hand-ins, each beside a good one."""


@pytest.mark.slow
@pytest.mark.parametrize("who", ["this user", "an ordinary user"])
@pytest.mark.parametrize(
    "numbers",
    [
        range(300),
        pytest.param(
            range(300, FUZZED),
            marks=[pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(1800)],
        ),
    ],
    ids=["few", "many"],
)
def test_no_mutated_hand_in_stops_another(who: str, numbers: range) -> None:
    with tempfile.TemporaryDirectory() as name:
        if who == "this user":
            assert try_all(Path(name), RULES, numbers) is None
            return
        if os.geteuid() != 0:
            pytest.skip("this user is an ordinary one already")
        assert _as_ordinary_user(Path(name), lambda: try_all(Path(name), RULES, numbers)) is None


def _as_ordinary_user(folder: Path, work: Callable[[], str | None]) -> str | None:
    """Do work in a process of user 65534, which owns a folder; return its report."""
    os.chown(folder, 65534, 65534)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        said: str | None = "the work ended early"
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            said = work()
        except BaseException as error:
            said = repr(error)
        finally:
            os.write(write, (said or "").encode(errors="replace")[:60_000])
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text or None

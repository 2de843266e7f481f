"""A student puts a link in the place of a file or folder while the grader reads the hand-ins."""

import os
import zipfile
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.handin import archive
from grader.handin.archive import folder_tree
from grader.handin.find import find
from grader.results.store import Store
from grader.rubric.reading import read

RULES = read().submission
NO_FILE = "is a link or no file at all"


@pytest.fixture
def hand_ins(tmp_path: Path) -> Path:
    """Return a class in which eve has `hw/ai.py`, beside a folder `secret` with the same files."""
    for name, text in (("secret/hw/ai.py", "SECRET"), ("class/eve/hw/ai.py", "mine")):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "class" / "ann.py").write_text("a", encoding="utf-8")
    return tmp_path


def put_link(root: Path, place: str) -> None:
    """Put a link to the secret files where eve's file or folder of that name was."""
    own = root / "class" / place
    own.rename(root / "moved")
    own.symlink_to(root / "secret" / Path(place).relative_to("eve"))


@pytest.mark.parametrize("place", ["eve/hw/ai.py", "eve/hw", "eve"])
def test_a_link_that_takes_the_place_of_what_was_listed_is_not_followed(
    hand_ins: Path, place: str
) -> None:
    tree = folder_tree(hand_ins / "class")
    assert tree["eve/hw/ai.py"](10) == b"mine"
    put_link(hand_ins, place)
    assert (hand_ins / "class" / "eve" / "hw" / "ai.py").read_text() == "SECRET"
    with pytest.raises(InputError, match=NO_FILE):
        tree["eve/hw/ai.py"](10)
    assert tree["ann.py"](10) == b"a"


@pytest.mark.parametrize("place", ["eve/hw", "eve"])
def test_a_folder_that_becomes_a_link_while_the_class_is_listed_is_not_listed(
    hand_ins: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = archive._seen_entries

    def list_then_swap(root: Path, names: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
        found = listed(root, names)
        if [*names, Path(place).name] == place.split("/"):
            put_link(hand_ins, place)
        return found

    monkeypatch.setattr(archive, "_seen_entries", list_then_swap)
    ann, eve = find([hand_ins / "class"], RULES)
    assert (hand_ins / "class" / place).is_symlink()
    assert (ann.source, eve.source) == (b"a", None)
    assert eve.problem == f"the folder {Path(place).name} cannot be read: Not a directory"


def test_what_a_person_names_may_lie_behind_a_link_but_a_file_of_a_hand_in_may_not(
    hand_ins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hand_ins)
    Path("this-year").symlink_to("class")
    assert [item.source for item in find([Path("this-year")], RULES)] == [b"a", b"mine"]
    for name in ("cy/ai.py", "dee/ai.py", "dee/report.txt"):
        Path(name).parent.mkdir(exist_ok=True)
    Path("cy/ai.py").symlink_to("../secret/hw/ai.py")
    Path("dee/ai.py").write_text("d", encoding="utf-8")
    Path("dee/report.txt").symlink_to("../secret/hw/ai.py")
    with zipfile.ZipFile("secret/all.zip", "w") as packed:
        packed.writestr("ai.py", "SECRET")
    Path("flo.zip").symlink_to("secret/all.zip")
    found = find([Path("cy/ai.py"), Path("dee/ai.py"), Path("flo.zip")], RULES)
    links = ("ai.py", "flo.zip", "report.txt")
    problems = sorted(str(item.problem) for item in found)
    assert problems == [f"{link} {NO_FILE}; put the file itself there" for link in links]
    assert "SECRET" not in str(found)
    with pytest.raises(InputError, match=f"flo.zip: flo.zip {NO_FILE}"):
        find([Path("flo.zip")], RULES)


@pytest.mark.parametrize("was_open", [False, True])
def test_only_the_owner_of_a_results_file_can_hold_its_lock(tmp_path: Path, was_open: bool) -> None:
    """A student who can open the lock can hold it, and then nobody grades."""
    lock = tmp_path / "marks.db.lock"
    before = os.umask(0)
    try:
        if was_open:
            lock.touch(0o666)
        with Store(tmp_path / "marks.db", True):
            assert lock.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)

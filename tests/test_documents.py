"""The documents: their links lead somewhere, and what they name exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests import needs
from tests.command import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md")))
TOPS = ("", "connect4", "grader")
ENDS = ("", ".py", ".js", ".css")
SETTINGS = ("pyproject.toml", "Makefile", ".ci/run", "grader/__main__.py")
"""Files that define what is no name of the code: targets, markers, commands."""

EXAMPLE = "classic"
"""Stands for NAME in a path such as `connect4/games/NAME.py`."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def headings(page: Path) -> set[str]:
    """Return what a link can name after `#`."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in found}


def broken_links(page: Path) -> list[str]:
    """Return the links of a page that lead to no file or to no heading."""
    text, broken = page.read_text(encoding="utf-8"), []
    for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)", text):
        linked = page.parent / target if target else page
        if not linked.exists() or (heading and heading not in headings(linked)):
            broken.append(f"{target}#{heading}")
    return broken


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    assert broken_links(ROOT / name) == []


def test_both_readmes_have_the_same_two_commands() -> None:
    """Those of the students' edition are run by the tests of `handout`, the others by the gate."""
    first, second = (
        re.findall(r"^python3 -m venv .*$", read(name), re.MULTILINE)
        for name in ("README.md", "docs/assignment.md")
    )
    assert first == second
    assert len(first) == 2
    assert len(read("README.md").splitlines()) <= 100


@cache
def names_of_the_code() -> set[str]:
    """Return the names of modules, functions, classes and members, with each end of their path."""
    found = set()
    for top in ("connect4", "grader", "tests", "benchmarks"):
        for path in sorted({*(ROOT / top).rglob("*.py")} - {*(ROOT / "tests/data").rglob("*.py")}):
            module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
            found |= {module, *_defined(ast.parse(path.read_bytes()).body, module)}
    parts = [name.split(".") for name in found]
    return {".".join(name[at:]) for name in parts for at in range(len(name))}


def _defined(body: list[ast.stmt], within: str) -> set[str]:
    found = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(f"{within}.{node.name}")
        if isinstance(node, ast.ClassDef):
            found |= _defined(node.body, f"{within}.{node.name}")
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {f"{within}.{name.id}" for name in targets if isinstance(name, ast.Name)}
    return found


def is_there(word: str, folders: list[Path]) -> bool:
    """Return whether a word is a path, from the kit or one of these folders, or names code."""
    places = [*folders, *(ROOT / top for top in TOPS)]
    if any((place / f"{word}{end}").exists() for place in places for end in ENDS):
        return True
    if any([*place.glob(f"*/{word}{end}")] for place in folders for end in ENDS):
        return True
    settings = "".join(map(read, SETTINGS))
    return word in names_of_the_code() or bool(re.search(rf"\b{re.escape(word)}\b", settings))


def missing(text: str, folders: list[Path]) -> list[str]:
    """Return the words in backticks that are neither a path nor a name of the code."""
    found = []
    for quoted in re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        is_command = " " in quoted and "(" not in quoted
        words = quoted.split() if is_command else [quoted.partition("(")[0].partition("=")[0]]
        if is_command:
            words = [word for word in words if "/" in word or word.startswith("connect4.")]
        for word in (word.replace("NAME", EXAMPLE) for word in words if word[0] != "-"):
            found += [] if is_there(word, folders) else [word]
            folders = [*folders, *(place for place in [ROOT / word] if place.is_dir())]
    return found


def test_every_path_and_name_of_contributing_exists() -> None:
    text = read("CONTRIBUTING.md")
    assert missing(text, []) == []
    markers = re.search(r"markers\s(.*?)\sshow\s", text, re.DOTALL)
    assert markers is not None
    assert set(re.findall(r"`(\w+)`", markers[1])) == set(needs.NEEDS)


def test_every_path_and_module_of_the_architectures_tables_exists() -> None:
    """A module is looked for in the folders that its row names first."""
    gone = []
    for row in re.findall(r"^\| (`.*?) \| (.*) \|$", read("docs/architecture.md"), re.MULTILINE):
        folders: list[Path] = []
        for word in re.findall(r"`([^`]+)`", row[0]):
            near = [*(folder.parent for folder in folders[-1:]), *folders[-1:], ROOT]
            place = next((folder / word for folder in near if (folder / word).exists()), None)
            if place is None:
                gone.append(word)
            else:
                folders.append(place if place.is_dir() else place.parent)
        gone += missing(row[1], folders)
    assert gone == []

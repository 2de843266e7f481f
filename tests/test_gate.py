"""The gate: skips that are failures, and what the architecture page and the layers promise."""

import ast
import re
import tomllib
from itertools import takewhile

import pytest

from tests import needs
from tests.command import ROOT

KIT = ("connect4", "grader")
OF_PACKAGES = ("__init__", "__main__")

NO_NC = "nc is not installed (apt install netcat-openbsd)"


@pytest.mark.parametrize(
    ("reason", "without", "fails"),
    [
        (NO_NC, "gcc", True),
        (NO_NC, "gcc nc", False),
        ("bwrap does not work here: no namespaces", "bwrap", False),
        ("root may read every file", "", False),
    ],
)
def test_only_what_could_not_be_installed_may_be_skipped(
    reason: str, without: str, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(needs.CI_WITHOUT, without)
    monkeypatch.delenv(needs.CI, raising=False)
    assert not needs.is_failure(reason)
    monkeypatch.setenv(needs.CI, "1")
    assert needs.is_failure(reason) == fails


def test_every_marker_but_three_has_its_needs() -> None:
    """So that a test with a new marker is left out of the quick run as its author means."""
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    _, _, rest = settings.partition("\nmarkers = [")
    named = [
        line.strip().strip('"').partition(":")[0]
        for line in rest.partition("\n]")[0].split("\n")[1:]
    ]
    assert named == ["full", "slow", "soak", *needs.NEEDS]


def test_the_architecture_page_names_every_module_and_no_other() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    modules = {
        path.stem
        for top in KIT
        for path in (ROOT / top).rglob("*.py")
        if "corpus" not in path.parts and path.stem not in OF_PACKAGES
    }
    commands = {path.stem for path in (ROOT / "grader" / "commands").glob("*.py")}
    words = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`[^`]+`", text))))
    assert modules - commands - words == set(), "modules that the page does not name"
    named = set(re.findall(r"(\w+)\.py", text))
    there = {path.stem for top in KIT for path in (ROOT / top).rglob("*.py")}
    assert named - there == set(), "modules that the page names and that do not exist"


NAMED_OBJECT = re.compile(r"((?:connect4|grader)[.\w]*):[A-Za-z_]\w*")


def heights() -> dict[str, int]:
    """Return how high a module stands in the contracts of import-linter; more is higher."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {}
    for contract in settings["tool"]["importlinter"]["contracts"]:
        for container in contract.get("containers", ()):
            for depth, layer in enumerate(contract["layers"]):
                for name in re.findall(r"\w+", layer):
                    found[f"{container}.{name}"] = -depth
    return found


def test_no_string_names_an_object_of_a_higher_layer() -> None:
    known, upward, seen = heights(), [], 0
    for path in (path for top in KIT for path in (ROOT / top).rglob("*.py")):
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            if not (isinstance(value, str) and (named := NAMED_OBJECT.fullmatch(value))):
                continue
            seen += 1
            ours, theirs = f"{own}.".split("."), f"{named[1]}.".split(".")
            pairs = zip(ours, theirs, strict=False)
            same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
            below = known.get(".".join(ours[: same + 1]), 0)
            if known.get(".".join(theirs[: same + 1]), 0) > below or ours[0] < theirs[0]:
                upward.append(f"{own}: {value}")
    assert seen, "the agents' table has such names"
    assert upward == []

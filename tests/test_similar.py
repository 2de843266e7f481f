"""`python3 -m grader similar`: copies stand out in a made-up class, independent searches do not."""

import base64
import re
import subprocess
import sys
import zlib
from itertools import combinations
from pathlib import Path

import pytest

from grader.similar import BASE, THRESHOLD, Pair, code_of, compared, documents, listed, marked
from tests.command import assert_refused, environment, run
from tests.grading import hand_in
from tests.similar_class import COPIES, independent, read, the_class


def has_copydetect() -> None:
    pytest.importorskip("copydetect", reason="needs copydetect")


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    """Return all pairs of the class."""
    has_copydetect()
    return compared(documents(the_class(), [code_of(path) for path in BASE]))


@pytest.fixture(scope="module")
def percent(pairs: list[Pair]) -> dict[frozenset[str], float]:
    """Return what each pair of the class shares, in percent."""
    return {frozenset((pair.one.name, pair.two.name)): pair.percent for pair in pairs}


@pytest.mark.slow
def test_copies_are_listed_and_no_independent_pair(pairs: list[Pair]) -> None:
    found = listed(pairs)
    copies = set(map(frozenset, COPIES.items()))
    assert {frozenset((pair.one.name, pair.two.name)) for pair in found} == copies
    shares = [pair.percent for pair in found]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.slow
def test_what_hides_no_copy(percent: dict[frozenset[str], float]) -> None:
    """Names, comments and layout change nothing, order and a half that is own little."""
    for copy, least in (("renamed_gina", 95), ("reformatted_hugo", 80), ("reordered_dora", 75)):
        assert percent[frozenset((copy, COPIES[copy]))] > least, copy
    assert percent[frozenset(("half_olga", "olga"))] > 25
    assert max(percent[frozenset(pair)] for pair in combinations(independent(), 2)) < THRESHOLD


def test_a_string_that_a_lexer_misreads_hides_no_copy() -> None:
    has_copydetect()
    text = the_class()["gina"]
    hidden = "A = rb'''\\'''x'''\n" + text
    (pair,) = compared(documents({"gina": text, "other": hidden}, []))
    assert pair.percent > 95


@pytest.mark.slow
def test_what_was_handed_out_does_not_count(percent: dict[frozenset[str], float]) -> None:
    empty = [pair for pair in percent if all(name.startswith("empty") for name in pair)]
    assert len(empty) == 10
    assert max(percent[pair] for pair in empty) < THRESHOLD


@pytest.mark.slow
def test_matching_and_handed_out_code_are_told_apart_on_the_page() -> None:
    has_copydetect()
    given = "def given(board):\n    return [row for row in board if row.sum() > 3 * len(board)]\n"
    own = "def mine(x):\n    for i in range(9):\n        x = x * 7 + i // 3 - x % 11  # <b>\n"
    (pair,) = compared(documents({"ann": given + own, "ben": own + given}, [given]))
    text = marked(pair.one, pair.spans[0])
    assert not re.search(r"\w</?(mark|span)[^>]*>\w", text), "no mark ends within a word"
    grey = "".join(re.findall(r'<span class="base">(.*?)</span>', text, re.DOTALL))
    match = "".join(re.findall(r"<mark>(.*?)</mark>", text, re.DOTALL))
    assert "row.sum()" in grey
    assert "row.sum()" not in match
    assert "x * 7" in match
    assert "<b>" not in text
    assert re.sub(r"<[^>]*>", "", text).replace("&gt;", ">").replace("&lt;", "<") == given + own


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_lines_of_blanks_take_no_time(newline: str) -> None:
    """The library takes an hour for these."""
    has_copydetect()
    own = "def f(x):\n    return x * 7 + 3\n"
    found = documents({"ann": own + f"   {newline}" * 60_000 + own, "ben": own}, [])
    assert found[0].source == own + "\n" * 60_000 + own


def test_a_source_that_takes_long_to_read_is_named_and_the_others_are_compared(
    tmp_path: Path,
) -> None:
    has_copydetect()
    for name, source in (("ann", read("ada")), ("ben", read("ada")), ("eve", "x=1+2\n" * 42_000)):
        hand_in(tmp_path / "class", name, source)
    hand_in(tmp_path / "class", "fay", "\n")
    (tmp_path / "class" / "gil.ipynb").write_text("{}", encoding="utf-8")
    script = "import sys; from grader import similar; similar.SECONDS = 1.0; "
    script += "from grader.__main__ import main; sys.exit(main())"
    words = ["-c", script, "similar", "class"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[1].startswith("  1. ann and ben: identical")
    page = (tmp_path / "similar.html").read_text(encoding="utf-8")
    for note in (
        "eve: not read within 1 s; its pairs are not compared.",
        "Not compared: fay (the file is empty); gil (gil.ipynb is a Jupyter notebook).",
    ):
        assert note in done.stderr.splitlines()
        assert note in page


def test_a_packed_copy_is_named_because_no_comparison_sees_it(tmp_path: Path) -> None:
    has_copydetect()
    packed = base64.b64encode(zlib.compress(read("gina").encode())).decode()
    text = f"import base64, zlib\nexec(zlib.decompress(base64.b64decode('{packed}')))\n"
    for name, source in (("ann", read("ada")), ("eve", text), ("gina", read("gina"))):
        hand_in(tmp_path / "class", name, source)
    done = run("grader", "similar", "class", cwd=tmp_path)
    assert done.stdout.splitlines()[1] == "no pair shares 15 % or more"
    note = "Read yourself: eve. What exec or eval runs is not compared."
    assert note in done.stderr.splitlines()
    assert note in (tmp_path / "similar.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_compares_a_class_with_the_year_before(tmp_path: Path) -> None:
    has_copydetect()
    hand_in(tmp_path / "class", "ann", read("ada"))
    hand_in(tmp_path / "class", "ben", read("emil"))
    hand_in(tmp_path / "class", "cy", read("hugo"))
    hand_in(tmp_path / "before", "zoe", re.sub(r"\brate\b", "judge", read("hugo")))
    done = run("grader", "similar", "class", "--against", "before", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "This is screening, not proof.",
        "  1. cy and earlier: zoe: 100 %",
    ]
    page = (tmp_path / "similar.html").read_text(encoding="utf-8")
    assert page.count("<details") == 1
    again = run("grader", "similar", "class", "--out", "s.html", cwd=tmp_path)
    assert (again.returncode, again.stdout.splitlines()[1]) == (0, "no pair shares 15 % or more")
    assert "No pair shares 15 % or more." in (tmp_path / "s.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_without_the_library_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    hand_in(tmp_path / "class", "ann", "x = 1\n")
    hand_in(tmp_path / "class", "ben", "x = 2\n")
    (tmp_path / "copydetect.py").write_text("raise ImportError\n", encoding="utf-8")
    done = run("grader", "similar", "class", cwd=tmp_path)
    assert_refused(done, "similar requires copydetect: pip install -e '.[similar]'")

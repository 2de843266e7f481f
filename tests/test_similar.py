"""`python3 -m grader similar`: copies stand out in a made-up class, independent searches do not."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from grader.commands.similar import BASE, code_of, unusual
from grader.similar import Class, Pair, documents, marked, ranked
from tests.command import assert_refused, environment, run
from tests.grading import hand_in
from tests.similar_class import COPIES, independent, read, the_class

NOBODY = np.zeros((0, 0))


def has_copydetect() -> None:
    pytest.importorskip("copydetect", reason="needs copydetect")


def base() -> list[str]:
    return [code_of(path) for path in BASE]


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    """Return the pairs of the whole class by what their sources share."""
    has_copydetect()
    return ranked(documents(the_class(), base()), [], [], NOBODY)


def names(pair: Pair) -> frozenset[str]:
    return frozenset((pair.one.name, pair.two.name))


@pytest.mark.slow
def test_no_independent_pair_is_above_a_copy_by_source(pairs: list[Pair]) -> None:
    first = sorted(pairs, key=lambda pair: pair.source_rank)[: len(COPIES)]
    assert {names(pair) for pair in first} == {frozenset(item) for item in COPIES.items()}


@pytest.mark.slow
def test_what_hides_no_copy(pairs: list[Pair]) -> None:
    """Names, comments and layout change nothing, order and a half that is own little."""
    percent = {names(pair): pair.shared.percent for pair in pairs}
    for copy, least in (("renamed_gina", 95), ("reformatted_nils", 95), ("reordered_dora", 75)):
        assert percent[frozenset((copy, COPIES[copy]))] > least, copy
    assert percent[frozenset(("half_olga", "olga"))] > 25
    own = independent()
    assert max(percent[frozenset(pair)] for pair in combinations(own, 2)) < 15


@pytest.mark.slow
def test_what_was_handed_out_does_not_count(pairs: list[Pair]) -> None:
    empty = [pair for pair in pairs if all(name.startswith("empty") for name in names(pair))]
    assert len(empty) == 10
    assert max(pair.shared.percent for pair in empty) < 15


@pytest.mark.slow
def test_matching_and_handed_out_code_are_told_apart_on_the_page() -> None:
    has_copydetect()
    given = "def given(board):\n    return [row for row in board if row.sum() > 3 * len(board)]\n"
    own = "def mine(x):\n    for i in range(9):\n        x = x * 7 + i // 3 - x % 11  # <b>\n"
    one, two = documents({"ann": given + own, "ben": own + given}, [given])
    shared = Class([one, two]).shared(one, two)
    text = marked(one, shared.spans[0])
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
    words = ["-c", script, "similar", "class", "--source-only"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[1].startswith("  1. ann and ben: source 100 %")
    page = (tmp_path / "similar.html").read_text(encoding="utf-8")
    for note in (
        "eve: not read within 1 s; its pairs are not compared by source.",
        "Not compared: fay (the file is empty); gil (gil.ipynb is a Jupyter notebook).",
    ):
        assert note in done.stderr.splitlines()
        assert note in page


def test_an_agreement_counts_the_more_the_fewer_others_chose_the_move() -> None:
    """Ten strong players agree on the best move; two more share their odd moves too."""
    random = np.random.default_rng(3)
    moves = {}
    for number in range(12):
        odd = random.integers(7, size=200)
        best = random.random(200) < 0.3 + 0.05 * number
        moves[f"s{number}"] = [
            str(0 if is_best else own) for is_best, own in zip(best, odd, strict=True)
        ]
    moves["copy"] = [
        own if random.random() < 0.6 else str(random.integers(7)) for own in moves["s1"]
    ]
    moves["crashed"] = [None] * 200
    players, unusual_pairs = unusual(moves)
    assert "crashed" not in players
    best_pair = np.unravel_index(np.nanargmax(unusual_pairs), unusual_pairs.shape)
    assert {players[at] for at in best_pair} == {"s1", "copy"}
    strong = unusual_pairs[players.index("s11"), players.index("s10")]
    assert strong < 0.5 * np.nanmax(unusual_pairs)


@pytest.mark.slow
def test_the_command_compares_a_class_with_the_year_before(tmp_path: Path) -> None:
    has_copydetect()
    hand_in(tmp_path / "class", "ann", read("ada"))
    hand_in(tmp_path / "class", "ben", read("emil"))
    hand_in(tmp_path / "class", "cy", read("hugo"))
    hand_in(tmp_path / "before", "zoe", re.sub(r"\brate\b", "judge", read("hugo")))
    options = ["--against", "before", "--positions", "8", "--isolation", "process"]
    done = run("grader", "similar", "class", *options, cwd=tmp_path, seconds=110)
    assert done.returncode == 0, done.stderr
    first, best = done.stdout.splitlines()[:2]
    assert first == "This is screening, not proof."
    assert re.fullmatch(
        r" +1\. cy and earlier: zoe: source 100 % \(rank 1\), behaviour \+\d.* \(rank \d+\)", best
    )
    page = (tmp_path / "similar.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", " ", page[page.index("<main") :])
    assert text.split(". ")[0].split("  ")[-1].strip().endswith("This is screening, not proof")
    assert "Behaviour: 8 positions, 0.1 s each." in page
    assert page.count("<details") == 6  # three pairs of the class, three with the year before
    again = run("grader", "similar", "class", "--source-only", "--out", "s.html", cwd=tmp_path)
    assert "zoe" not in (tmp_path / "s.html").read_text(encoding="utf-8")
    assert again.returncode == 0


@pytest.mark.slow
def test_one_submission_is_no_class(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ann", "x = 1\n")
    assert_refused(run("grader", "similar", "class", cwd=tmp_path), "two submissions")


@pytest.mark.slow
def test_without_the_library_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    hand_in(tmp_path / "class", "ann", "x = 1\n")
    hand_in(tmp_path / "class", "ben", "x = 2\n")
    (tmp_path / "copydetect.py").write_text("raise ImportError\n", encoding="utf-8")
    done = run("grader", "similar", "class", "--source-only", cwd=tmp_path)
    assert_refused(done, "similar requires copydetect: pip install -e '.[similar]'")

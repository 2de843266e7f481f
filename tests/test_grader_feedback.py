"""What a student reads: how the points come about, in sentences with the numbers in them."""

import zipfile
from pathlib import Path

import pytest

from grader.handin import without_folders
from grader.marks import MatchMark
from grader.marks.tally import Tally
from grader.output.explain import Reason, explained, told_plainly
from grader.play.schedule import PART_A, Match, grade_games, opponent, submitted
from grader.results import Faults, LostTurn
from grader.rubric import reading as rubrics
from tests.marked import agent, grade_without_playing, grader, rows, write_class

RUBRIC = rubrics.read()
STUDENT = submitted("ann", "1" * 64)
RANDOM = opponent(RUBRIC.part_a.opponent)


def mark(tally: Tally, points: float, of: float, part: str = PART_A) -> MatchMark:
    """Return a mark of a match against random, in part B its first step: 5 points from 0 to 40."""
    bounds = (points - 1, points + 1) if len(tally.pairs) > 1 else None
    return MatchMark(Match(part, STUDENT, RANDOM), tally, {}, points, of, bounds)


def tally(own: int, other: int, pairs: int, **more: int) -> Tally:
    margins = [(own - other) / pairs / 2] * pairs
    games = 2 * pairs
    return Tally(games, games, own, other, wins=games, pairs=margins, **more)


def test_part_a_is_what_happened_and_the_formula_with_its_numbers() -> None:
    lines = explained(mark(tally(1234, 900, 6), 29.69, 40), RUBRIC)
    assert lines == [
        "You won all 12 games, ahead by 27.8 points on average.",
        "Points start above a margin of 0 %; all 40 need +50 %. Yours is +37.1 %.",
        "Margin in percent of the opponent's points: 100 x (1234 - 900) / 900 = +37.11 %.",
        "Points: 40 x 37.11 / 50 = 29.69 of 40 (a margin counts from 0 % to 50 %).",
        "With other pairs of games like these the points would lie between 28.69 and 30.69 (95 % "
        "confidence interval of 6 pairs).",
    ]


def test_a_student_reads_what_happened_and_what_full_points_need() -> None:
    lost = mark(tally(100, 500, 2), 0, 40)
    lost.tally.wins, lost.tally.losses, lost.tally.shown_faults = 0, 4, Faults(errors=8)
    assert told_plainly(lost, RUBRIC) == [
        "You lost all 4 games, behind by 100.0 points on average.",
        "Points start above a margin of 0 %; all 40 need +50 %. Yours is -80.0 %.",
        "You lost turns (8 errors); the opponent then moves twice in a row.",
    ]
    won = mark(tally(900, 300, 4), 40, 40)
    won.tally.wins, won.tally.draws, won.tally.losses = 5, 1, 2
    assert told_plainly(won, RUBRIC) == [
        "You won 5, drew 1 and lost 2 of 8 games, ahead by 75.0 points on average.",
        "These are all 40 points.",
    ]


def test_part_b_names_the_margins_between_which_points_grow() -> None:
    lines = explained(mark(tally(120, 100, 1), 1.25, 5, "B"), RUBRIC)
    counts = "a mean margin counts from 0 to +40"
    assert f"Points: 5 x (10.00 - 0) / (40 - 0) = 1.25 of 5 ({counts})." in lines
    assert lines[1].endswith("all 5 need +40. Yours is +10.0.")
    assert "Too few games for an interval." in lines


def test_more_than_the_cap_counts_as_the_cap_and_few_or_missing_games_are_told() -> None:
    whole = mark(tally(900, 300, 4), 40, 40)
    lines = explained(whole, RUBRIC)
    counts = "a margin counts from 0 % to 50 %, so +200.00 % counts as 50 %"
    assert f"Points: 40 x 50.00 / 50 = 40.00 of 40 ({counts})." in lines
    assert lines[-1].endswith("Few games: with fewer than 6 pairs this is rough.")
    whole.tally.planned = 9
    assert explained(whole, RUBRIC) == [
        "Not finished: 8 of 9 games are played; the points are withheld until all are."
    ]


def test_pages_go_back_to_students_as_moodle_and_a_mail_merge_want_them(tmp_path: Path) -> None:
    """Moodle takes the number behind a name's first underscore, whatever the name is."""
    folders = ("Ann Lee_9001_assignsubmission_file_", "Ben O Hara_9002_assignsubmission_file_")
    write_class(tmp_path / "class", {f"{name}/ai.py": agent(10) for name in folders})
    grade_without_playing(tmp_path / "class", tmp_path / "a.db")
    roster = "name,e-mail\nAnn Lee,ann@uni.example\nBen O_Hara,\nDi,\n"
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    zipped = ("--out", "out", "--roster", "roster.csv", "--feedback-zip", "back.zip")
    done = grader("report", "a.db", *zipped, cwd=tmp_path)
    assert "back.zip is without Di (1 in all): they have no number of Moodle's" in done.stderr
    with zipfile.ZipFile(tmp_path / "back.zip") as file:
        assert file.namelist() == [f"{folder}/feedback.html" for folder in folders]
        page = (tmp_path / "out/feedback/Ann Lee.html").read_bytes()
        assert file.read(file.namelist()[0]) == page
    merged = rows(tmp_path / "back.csv")
    assert [(row["Name"], row["Email"], row["Mark"]) for row in merged] == [
        *(("Ann Lee", "ann@uni.example", "18.00"), ("Ben O_Hara", "", "18.00"), ("Di", "", "0.00")),
    ]
    assert Path(merged[0]["Page"]).read_bytes() == page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('  File "/usr/lib/python3.11/json/decoder.py", line 3', '  File "decoder.py", line 3'),
        ("No such file: '/home/ta/weights.npy'", "No such file: 'weights.npy'"),
        ("/srv/kit/ai.py:3: x", "ai.py:3: x"),
        ("1/2/3 and a / b and https://example.org/a/b", None),
    ],
)
def test_no_folder_of_the_server_is_in_a_traceback(text: str, shown: str | None) -> None:
    assert without_folders(text) == (text if shown is None else shown)


def test_a_long_traceback_keeps_its_end_in_files_that_others_show() -> None:
    game = grade_games([STUDENT], RUBRIC)[0]
    detail = "\n".join(f"line {number}" for number in range(1000))
    text = Reason(game, LostTurn(game.side, 3, "error", detail, "0 1\n2 0"), 4).text
    assert text.startswith("A: random, empty8x10, as player 1, round 1, turn 3: error\n...\nline ")
    assert text.endswith(
        "\nline 999\nthe position (0: empty, 1 and 2: the players):\n0 1\n2 0\nand 3 more like it"
    )
    assert len(text) < 2000

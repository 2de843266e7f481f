"""Classes of other games: Pop Out and classic Connect 4, graded and in a tournament."""

import html
import re
from pathlib import Path

import pytest

import connect4
from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.base import Ending
from connect4.referee import Result
from grader.marks import mark_match
from grader.output.explain import explained
from grader.play.one_game import counted_scores
from grader.play.schedule import PART_A, grade_games, submitted
from grader.results import Faults, PlayedGame
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric
from tests.command import run
from tests.grading import COMMAND, SEED, SUBMISSIONS, hand_in
from tests.marked import rows

BLOCKER = (SUBMISSIONS / "blocker.py").read_text(encoding="utf-8")
"""Plays Pop Out; without pop-outs it plays classic Connect 4 too."""

STUCK = BLOCKER.replace("board, popouts = state", "return (0, True)")
"""Answers a pop-out from an empty column in its first turn."""

BASELINES = """
[[part_b.baselines]]
agent = "greedy"
points = 10.0
low = 0.0
high = 1.0
"""


def written(folder: Path, game: str, text: str = "") -> Path:
    path = folder / "rubric.toml"
    match = f'[match]\ngame = "{game}"\ntime_limit = 10.0\nseed = {SEED}\n'
    path.write_text(match + "[limits]\nstartup = 30.0\n" + text, encoding="utf-8")
    return path


def game_rubric(folder: Path, game: str, text: str = "") -> Rubric:
    return rubrics.read(written(folder, game, text))


def words(page: Path) -> str:
    """Return the text of a page's report without its markup, with hyphens for minus signs."""
    whole = page.read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-")
    body = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", whole, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.mark.parametrize(
    ("game", "text", "message"),
    [
        ("dynamic", "", "match.game: 'dynamic'; expected one of extended, classic, classic-full"),
        ("popout", '[part_a]\nboards = ["case1"]\n', "part_a.boards: case1: no such file"),
        ("popout", '[part_a]\nopponent = "solver"\n', "'solver' plays classic, not popout"),
    ],
)
def test_what_a_game_lacks_is_refused_in_one_line(
    game: str, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        game_rubric(tmp_path, game, text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("game", ["popout", "classic", "classic-full"])
def test_naming_the_game_is_enough(game: str, tmp_path: Path) -> None:
    rubric = game_rubric(tmp_path, game)
    games = grade_games([submitted("ann", "0" * 64)], rubric)
    assert {planned.board.game for planned in games} == {game}
    start = GAMES[game].start(None, None)
    assert all(GAMES[game].from_json(planned.board.start) == start for planned in games)
    assert {(step.low, step.high) for step in rubric.part_b.baselines} == {(0.0, 1.0)}
    again = rubrics.from_stored(rubrics.stored_values(rubric), "results")
    assert [planned.key for planned in grade_games([submitted("ann", "0" * 64)], again)] == [
        planned.key for planned in games
    ]


def test_a_win_counts_one_and_a_loss_minus_one(tmp_path: Path) -> None:
    rubric = game_rubric(tmp_path, "popout", "[part_a]\npoints = 40.0\ncap_percent = 80.0\n")
    planned = [
        game
        for game in grade_games([submitted("ann", "0" * 64)], rubric)
        if game.match.part == PART_A
    ]
    scores = {1: (1, 0), 2: (0, 0)}  # won as player 1, drawn as player 2
    played = {
        game.key: PlayedGame(scores[game.side], "line", 9, (Faults(), Faults())) for game in planned
    }
    mark = mark_match(planned[0].match, planned, played, rubric, {})
    assert mark.points == 40 * 50 / 80
    text = "\n".join(explained(mark, rubric))
    assert text.startswith("You won 1 and drew 1 of 2 games.\n")
    assert "\nA win counts 1, a draw 0, a loss -1: a mean of +0.50 a game.\n" in text
    assert "100 x (1 - 0) / 2 = +50.00 %" in text
    assert "Points: 40 x 50.00 / 80 = 25.00 of 40" in text
    assert "scores" not in text


@pytest.mark.parametrize(
    ("game", "scores", "counted"),
    [("popout", (0, 0), (0, 1)), ("classic-full", (3, 2), (0, 2)), ("extended", (9, 5), (9, 5))],
)
def test_whoever_forfeits_has_no_points(
    game: str, scores: tuple[int, int], counted: tuple[int, int]
) -> None:
    assert counted_scores(GAMES[game], Result(scores, Ending.FORFEIT, 2)) == counted


@pytest.mark.parametrize("game", ["popout", "classic", "classic-full"])
def test_a_students_file_plays_other_games(game: str, tmp_path: Path) -> None:
    path = tmp_path / "ai.py"
    path.write_text(BLOCKER.replace("POPS = True", f"POPS = {game == 'popout'}"), encoding="utf-8")
    record = connect4.play(f"ai:{path}", "random", game=game, seed=3, seconds=20, isolation="none")
    assert not record.faults
    assert record.winner == 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_a_class_of_pop_out_is_graded(tmp_path: Path) -> None:
    written(tmp_path, "popout", BASELINES)
    hand_in(tmp_path / "class", "ann", BLOCKER)
    hand_in(tmp_path / "class", "ben", STUCK)
    named = ("class", "--rubric", "rubric.toml", "--out", "out", "--jobs", "1")
    run(COMMAND, "grade", *named, cwd=tmp_path, status=0)
    ann, ben = rows(tmp_path / "out" / "grades.csv")
    assert ann["Part A"] == "40.00"
    assert (ben["Total"], ben["Invalid"], ben["Errors"]) == ("0.00", "4", "0")
    page = words(tmp_path / "out" / "feedback" / "ann.html")
    assert "A: random 40.00 / 40 You won all 2 games." in page
    assert "game part opponent board side round result game 1 A random popout first 1 won" in page
    assert not re.search(r"\d to \d+ [+-]", page)  # no scores
    page = words(tmp_path / "out" / "feedback" / "ben.html")
    assert "You lost turns (2 invalid); each loses its game." in page
    assert "lost turns popout 2 -1.00 -100.0 2 invalid" in page
    assert "column 0 is empty: there is nothing to pop out" in page


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_a_tournament_of_classic_connect_4(tmp_path: Path) -> None:
    written(tmp_path, "classic")
    drops = BLOCKER.replace("POPS = True", "POPS = False")
    hand_in(tmp_path / "class", "ann", drops)
    hand_in(tmp_path / "class", "ben", drops.replace("abs(one[0] - middle)", "one[0]"))
    hand_in(tmp_path / "class", "cem", STUCK)
    named = ("class", "--rubric", "rubric.toml", "--out", "out", "--jobs", "1")
    done = run(COMMAND, "tournament", *named, cwd=tmp_path, status=0)
    places = done.stdout.split("\nplaces\n")[1].splitlines()
    last = places[4].split()
    assert last[:2] == ["3", "cem"]
    assert last[-4:] == ["-1.00", "4", "0-0-4", "groups"]
    standings = (tmp_path / "out" / "standings.html").read_text(encoding="utf-8")
    assert ">\N{MINUS SIGN}1.00</span>" in standings

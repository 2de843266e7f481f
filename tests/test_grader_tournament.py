"""Tournaments: groups, promotion, standings; stopped ones go on; placement earns points."""

import csv
import shutil
from pathlib import Path

import pytest

from grader.handin import Submission
from grader.handin.roster import assign
from grader.marks.tournament import StageState, deal, group_count, placings, stages
from grader.output.result_pages import _stage
from grader.output.results import TOURNAMENT, Results
from grader.output.tables import tournament_text
from grader.play.schedule import Contestant, seed_of, submitted
from grader.results import Faults, PlayedGame
from grader.rubric import reading as rubrics
from tests.command import assert_refused, run
from tests.grading import COMMAND, games, hand_in, kill, rubric, searcher, start, wait_for_games


def contestants(number: int) -> list[Contestant]:
    return [submitted(f"s{place:02}", f"{place:064}") for place in range(number)]


def play(
    state: StageState, strength: dict[str, int], late: dict[str, int] | None = None
) -> dict[str, PlayedGame]:
    """Return results: margins are differences of strength, `late` counts timeouts by player."""
    found = {}
    for group in state.groups:
        for game in group.games:
            one, two = (strength[player.name] for player in game.players)
            first, second = (Faults((late or {}).get(player.name, 0)) for player in game.players)
            found[game.key] = PlayedGame((one, two), "no_action", 9, (first, second))
    return found


@pytest.mark.parametrize(("number", "groups"), [(2, 1), (3, 1), (6, 1), (7, 2), (13, 3), (40, 7)])
def test_groups_differ_by_one_at_most(number: int, groups: int) -> None:
    stage = rubrics.read().tournament.stages[0]
    assert stage.group_size == 6
    dealt = deal(contestants(number), group_count(number, stage))
    assert len(dealt) == groups
    assert {player for group in dealt for player in group} == set(contestants(number))
    sizes = {len(group) for group in dealt}
    assert max(sizes) - min(sizes) <= 1


def test_strength_decides_groups_and_final() -> None:
    rubric = rubrics.read()
    entered = contestants(14)
    strength = {player.name: 10 * place for place, player in enumerate(entered)}
    begun = stages(entered, {}, rubric)
    assert [state.stage.name for state in begun] == ["groups"]
    assert not begun[0].complete
    played = play(begun[0], strength)
    begun = stages(entered, played, rubric)
    assert [state.stage.name for state in begun] == ["groups", "final"]
    best = {group.standings[place].contestant.name for group in begun[0].groups for place in (0, 1)}
    (final,) = begun[1].groups
    assert {standing.contestant.name for standing in final.standings} == best
    played |= play(begun[1], strength)
    begun = stages(entered, played, rubric)
    placed = placings(begun, rubric)
    assert [placing.place for placing in placed] == list(range(1, 15))
    names = [placing.standing.contestant.name for placing in placed]
    assert names[: len(best)] == sorted(best, reverse=True)
    assert names[0] == "s13"
    assert {placing.stage for placing in placed[: len(best)]} == {"final"}
    winner = placed[0].standing.total
    assert winner.wins == winner.games > 0
    assert placed[0].standing.rating.value > 0


def test_the_draw_is_the_same_every_time_and_another_one_with_another_seed(tmp_path: Path) -> None:
    drawn = []
    for seed in (1, 2):
        path = tmp_path / "mine.toml"
        path.write_text(f"[match]\nseed = {seed}\n", encoding="utf-8")
        rubric = rubrics.read(path)
        first = stages(contestants(14), {}, rubric)
        again = stages(list(reversed(contestants(14))), {}, rubric)
        assert repr(first) == repr(again)  # no rating is no number, which never equals itself
        drawn.append([{one.contestant.name for one in own.standings} for own in first[0].groups])
    assert drawn[0] != drawn[1]
    assert seed_of(1, "draw") == 659556073706824278, "or stored tournaments are drawn again"


def test_ties_are_broken_as_the_rubric_says_and_at_last_by_the_draw(tmp_path: Path) -> None:
    path, first = tmp_path / "mine.toml", set()
    for seed in range(8):
        rules = f'[match]\nseed = {seed}\n[tournament]\ntie_breaks = ["faults", "name"]\n'
        path.write_text(rules, encoding="utf-8")
        rubric, entered = rubrics.read(path), contestants(3)
        (begun, *_) = stages(entered, {}, rubric)
        drawn = [standing.contestant.name for standing in begun.groups[0].standings]
        strength = {"s00": 0, "s01": 5, "s02": 9}
        played = play(begun, strength, late={"s00": 3, "s01": 1, "s02": 1})
        standings = stages(entered, played, rubric)[0].groups[0].standings
        names = [standing.contestant.name for standing in standings]
        assert names == [*(name for name in drawn if name != "s00"), "s00"]
        first.add(names[0])
    assert first == {"s01", "s02"}


def test_who_are_equal_in_all_but_their_names_share_the_points(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[tournament]\npoints = [10, 6, 2]\n", encoding="utf-8")
    rubric = rubrics.read(path)
    entered = contestants(4)
    strength = {"s00": 3, "s01": 8, "s02": 8, "s03": 3}
    played: dict[str, PlayedGame] = {}
    for place in (0, 1):
        played |= play(stages(entered, played, rubric)[place], strength)
    begun = stages(entered, played, rubric)
    placed = placings(begun, rubric)
    earned = {placing.standing.contestant.name: placing.points for placing in placed}
    assert [placing.place for placing in placed] == [1, 1, 3, 3]
    assert tournament_text(begun, placed, rubric).count("\n1  s0") == 3 * 2, "in both stages too"
    held = [Submission(one.name, "", stored_sha256=one.sha256) for one in entered]
    results = Results(TOURNAMENT, rubric, held, played, {}, assign(held, ()))
    assert results.text().count("\nplaces\n") == 1
    page = _stage(begun[-1], results, decided=True, out=Path())
    assert page.count('class="winner"><span class="place">1<') == 2
    assert earned["s01"] == earned["s02"] == 8.0
    assert earned["s00"] == earned["s03"] == 1.0


def test_those_who_tie_in_a_group_stand_side_by_side() -> None:
    rubric, entered, played = rubrics.read(), contestants(8), dict[str, PlayedGame]()
    strength = {one.name: int(own) for one, own in zip(entered, "81309379", strict=True)}
    for place in (0, 1):
        played |= play(stages(entered, played, rubric)[place], strength)
    placed = placings(stages(entered, played, rubric), rubric)
    assert [one.place for one in placed][4:] == [5, 5, 7, 8], "s01, third elsewhere, is after both"


def test_places_stand_there_once_the_last_stage_is_played() -> None:
    rubric = rubrics.read()
    entered = contestants(4)
    strength = {player.name: place for place, player in enumerate(entered)}
    played: dict[str, PlayedGame] = {}
    for complete in (False, False, True):
        begun = stages(entered, played, rubric)
        text = tournament_text(begun, placings(begun, rubric), rubric)
        assert ("\nplaces\n" in text) == complete
        assert max(map(len, text.splitlines())) <= 80
        played |= play(begun[-1], strength)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_a_killed_tournament_goes_on_and_its_places_earn_points(tmp_path: Path) -> None:
    rubric(tmp_path, tournament="points = [5, 3]\n")
    for name, source in {"ann": searcher(2), "bo": searcher(1, -1), "cy": searcher(1)}.items():
        hand_in(tmp_path / "class", name, source)
    arguments = ("tournament", "class", "--rubric", "rubric.toml", "--isolation", "process")
    running = start(*arguments, cwd=tmp_path)
    wait_for_games(tmp_path / "tournament.db", 1)
    kill(running)
    graded = ("grade", "class", "--rubric", "rubric.toml", "--isolation", "process")
    assert run(COMMAND, *graded, cwd=tmp_path).returncode == 0
    placed = ("report", "grade.db", "--placement", "tournament.db", "--out", "m")
    assert_refused(run(COMMAND, *placed, cwd=tmp_path), "tournament.db: the tournament is not fin")
    assert not (tmp_path / "m").exists()
    done = run(COMMAND, *arguments, "--out", "night", "--records", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    played = games(tmp_path / "tournament.db")
    assert {game[-2] for game in played.values()} == {1}
    assert "places" in done.stdout
    assert " 0 games to go" not in done.stdout
    for name in ("standings.txt", "standings.html", "tables.txt"):
        text = (tmp_path / "night" / name).read_text(encoding="utf-8")
        assert "places" in text.lower()
    assert len(list((tmp_path / "night" / "records").rglob("*.json"))) == len(played)
    told = run(COMMAND, *placed, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "placement" in told.stdout
    with (tmp_path / "m" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        listed = list(csv.DictReader(file))
    assert sorted(row["Placement"] for row in listed) == ["0.00", "3.00", "5.00"]
    hand_in(tmp_path / "class", "dee", searcher(1, note="dee"))
    renamed = {"ann": "anna", "bo": "bob", "cy": "cyn"}
    for old, new in renamed.items():
        (tmp_path / "class" / old).rename(tmp_path / "class" / new)
    assert run(COMMAND, *graded, cwd=tmp_path).returncode == 0
    lost = run(COMMAND, *placed, cwd=tmp_path)
    assert "earned points there" not in lost.stderr  # the same files by other names
    for old, new in renamed.items():
        (tmp_path / "class" / new).rename(tmp_path / "class" / old)
    shutil.rmtree(tmp_path / "class" / "dee")
    rubric(tmp_path)  # without points
    assert "0 games to play" in run(COMMAND, *arguments, cwd=tmp_path).stderr
    assert_refused(run(COMMAND, *placed, cwd=tmp_path), "its rubric has no tournament.points; set")
    swapped = run(COMMAND, "report", "tournament.db", "--placement", "grade.db", cwd=tmp_path)
    assert_refused(swapped, "--placement grade.db: holds a grade, not a tournament")
    mixed = run(COMMAND, *graded, "--results", "tournament.db", cwd=tmp_path)
    assert_refused(mixed, "tournament.db: holds a tournament; --results names another file")

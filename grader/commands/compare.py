"""Compare two agents: play pairs of games on varied openings until the verdict is clear.

Part A calls `get_expectimax_move`: both play the same random player from the same openings and
seeds. Part B calls `get_intelligent_move`: they play each other.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from connect4 import record as records
from connect4.errors import InputError, headline, one_line
from connect4.games import find_game
from connect4.games.base import Game
from connect4.players.base import Method
from connect4.players.registry import parse_agent
from connect4.views.page.page import page
from grader.commands.common import DONE, STOPPED, isolation_level, open_pool, read_rubric, say
from grader.handin import find as submissions
from grader.handin.submission import FOLDER, file_name
from grader.marks.tally import Interval, Tally, Verdict, margin_of, verdict
from grader.output.files import write
from grader.output.results import last_lines
from grader.play import schedule
from grader.play.executors import Pool, Progress, duration
from grader.play.one_game import play_all
from grader.play.schedule import COMPARE, SIDES, Contestant, Match, PlannedGame, opening
from grader.play.working_time import Pace, load_all, too_slow
from grader.results.store import Faults, PlayedGame, Store
from grader.rubric.keys import PLAYABLE, make_board
from grader.rubric.model import Rubric
from grader.rubric.reading import EQUAL_WINS

Part: TypeAlias = Literal["a", "b"]

TITLES: Final[dict[Part, str]] = {
    "a": "part A, get_expectimax_move, each against random:",
    "b": "part B, get_intelligent_move, against each other:",
}

METHOD_OF: Final[dict[Part, Method]] = {"a": "expectimax", "b": "intelligent"}


def pairs(
    new: Contestant, old: Contestant, rubric: Rubric, games: int, part: Part = "b"
) -> Iterator[list[PlannedGame]]:
    """Yield the pairs of a comparison, at most `games` games of `new`; boards alternate.

    In part A each pair also contains the two games of `old` on the same opening.
    """
    rules = rubric.compare
    matches = [Match(COMPARE, new, old)]
    if part == "a":
        weak = schedule.opponent(rubric.part_a.opponent)
        matches = [Match(COMPARE, one, weak) for one in (new, old)]
    for number in range(games // 2):
        board = rules.boards[number % len(rules.boards)]
        seed = schedule.seed_of(rubric.match.playing_seed, COMPARE, number)
        start = opening(board, rules.opening_plies, seed)
        yield [
            PlannedGame(match, start, number, side, seed, rubric.match.time_limit, rubric.limits)
            for match in matches
            for side in SIDES
        ]


@dataclass(slots=True)
class PartComparison:
    """Accepts results in any order and judges them in the order of the schedule.

    The verdict therefore does not depend on which game ends first. In part A `tally` has the games
    of the new agent and `old` those of the old one. In part B they are the same games.
    """

    rubric: Rubric
    part: Part = "b"
    old_agent: Contestant | None = None
    """The old agent, in part A only; there it plays separate games."""
    tally: Tally = field(default_factory=Tally)
    old: Tally = field(default_factory=Tally)
    samples: list[float] = field(default_factory=list)
    waiting: dict[int, list[tuple[PlannedGame, PlayedGame]]] = field(default_factory=dict)
    verdict: Verdict = "open"
    interval: Interval | None = None

    def add(self, game: PlannedGame, played: PlayedGame) -> None:
        """Count a game; judge once its pair and all earlier pairs are complete."""
        whole = 4 if self.part == "a" else 2
        self.waiting.setdefault(game.repeat, []).append((game, played))
        while self.verdict == "open" and len(self.waiting.get(len(self.samples), ())) == whole:
            sample = 0.0
            for item in self.waiting.pop(len(self.samples)):
                of_old = self.part == "a" and item[0].match.one == self.old_agent
                (self.old if of_old else self.tally).add(*item)
                sample += margin_of(*item) * (-0.5 if of_old else 0.5)
            self.samples.append(sample)
            self.verdict, self.interval = verdict(self.samples, self.rubric.compare)

    @property
    def mean(self) -> float:
        """Return the mean margin per game; in part A, its difference from the old agent's."""
        return sum(self.samples) / len(self.samples) if self.samples else 0.0


def shorter(rubric: Rubric, games: int | None) -> Rubric:
    """Return the rubric with another maximum number of games; raises `InputError` below 2."""
    if games is None:
        return rubric
    if games < len(SIDES):
        raise InputError(
            f"--games {games}: expected 2 or more; a pair of games is one from each side"
        )
    return replace(rubric, compare=replace(rubric.compare, max_games=games))


def of_game(rubric: Rubric, game: Game) -> Rubric:
    """Return the rubric with the usual start of a game in place of its boards.

    Where only winning counts, the margin of a game is 1, 0 or -1.
    """
    board = make_board(game.name, game.start(None, None).to_json(), game.name)
    rules = replace(rubric.compare, boards=(board,))
    if not game.counts_points:
        rules = replace(rules, equal_within=EQUAL_WINS)
    match = replace(rubric.match, game=game.name)
    return replace(rubric, match=match, compare=rules)


def conclusion(comparison: PartComparison, names: Sequence[str]) -> str:
    """Return the conclusion of a comparison in two lines, in part A in three."""
    new, old = names
    words = {
        "better": f"{new} is better than {old}",
        "worse": f"{new} is worse than {old}",
        "equal": f"no difference between {new} and {old} that matters",
        "open": f"not clear yet whether {new} is better than {old}",
    }
    interval = comparison.interval
    percent = f"{1 - comparison.rubric.compare.error:.0%}"
    bounds = "no interval with so few games"
    if interval is not None and abs(interval.low) != float("inf"):
        bounds = f"{percent} interval {interval.low:+.1f} .. {interval.high:+.1f}"
    total = comparison.tally
    counts_points = comparison.rubric.match.counts_points
    worth = "" if counts_points else "; a win is 1, a draw 0, a loss -1"
    what, listed = f"mean margin {total.mean_margin:+.2f} a game", [total.results]
    if comparison.part == "a":
        unit = "points more margin" if counts_points else "more margin"
        what = f"{comparison.mean:+.2f} {unit} a game"
        tallies = {new: total, old: comparison.old}
        listed = [
            f"{name}: {tally.results}{_lost_text(name, tally.faults)}"
            for name, tally in tallies.items()
        ]
    else:
        listed[0] += _lost_text(new, total.faults) + _lost_text(old, total.other_faults)
    return "\n".join([f"{words[comparison.verdict]}: {what} ({bounds}{worth})", *listed])


def _lost_text(name: str, faults: Faults) -> str:
    return f", lost turns of {name}: {faults.total}" if faults.total else ""


def compare(
    contestants: tuple[Contestant, Contestant],
    parts: Sequence[Part],
    rubric: Rubric,
    store: Store,
    pool: Pool,
    level: str,
    sources: Mapping[str, str],
) -> Iterator[tuple[PartComparison, PlannedGame]]:
    """Play one part after the other; yield the part's comparison after each game.

    Raises `InputError` if one of the two cannot be loaded, `GraderError` if a game fails.
    """
    new, old = contestants
    methods: tuple[Method, ...] = tuple(METHOD_OF[part] for part in parts)
    pace = Pace(rubric.match.time_limit, methods, rubric.compare.boards)
    _check_loading(contestants, rubric, store, pool, level, sources, pace)
    most = rubric.compare.max_games
    for part in parts:
        comparison = PartComparison(rubric, part, old)
        games = (game for pair in pairs(new, old, rubric, most, part) for game in pair)
        played = play_all(games, store, pool.executor, pool.slots, level, sources)
        with contextlib.closing(played):
            for game, attempt in played:
                if attempt.played is None or attempt.fault:
                    raise GraderError(f"{game.title}: {attempt.fault}")
                comparison.add(game, attempt.played)
                yield comparison, game
                if comparison.verdict != "open":
                    break


class GraderError(RuntimeError):
    """A game could not be played, and neither agent caused it."""


def _check_loading(
    contestants: tuple[Contestant, Contestant],
    rubric: Rubric,
    store: Store,
    pool: Pool,
    level: str,
    sources: Mapping[str, str],
    pace: Pace,
) -> None:
    """Load both; report on standard error which does not play with the time of the games."""
    tried = [item for item in contestants if item.sha256 is not None]
    for item, problem, fault in load_all(tried, rubric, store, pool, level, sources, pace):
        if fault is not None:
            raise GraderError(f"loading {item.name}: {fault}")
        if problem is not None:
            error = InputError(f"{item.name}: cannot be loaded: {headline(problem)}")
            error.add_note(last_lines(problem))
            raise error
    for line in too_slow(tried, rubric, pace, store):
        say(line)


def run_compare(arguments: argparse.Namespace) -> int:
    """Play a new agent against an old one until the verdict is clear."""
    rubric = shorter(read_rubric(arguments), arguments.games)
    sources: dict[str, str] = {}
    if arguments.game not in (None, rubric.match.game):
        rubric = of_game(rubric, find_game(arguments.game))
    new, old = contestants(arguments.new, arguments.old, rubric, sources)
    parts: list[Part] = ["a", "b"] if arguments.part == "both" else [arguments.part]
    if arguments.game and arguments.part == "both" and not sources:
        parts = ["b"]  # agents of the kit have one method
    level = isolation_level(arguments, rubric)
    found: dict[Part, PartComparison] = {}
    games: list[PlannedGame] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="connect4-compare-")))
        store = stack.enter_context(Store(folder / "results.db", writing=True))
        pool = stack.enter_context(open_pool(arguments, folder))
        progress = stack.enter_context(Progress(_announce((new, old), rubric, parts, pool.slots)))
        status = STOPPED
        with contextlib.suppress(KeyboardInterrupt):
            try:
                for comparison, game in compare(
                    (new, old), parts, rubric, store, pool, level, sources
                ):
                    found[comparison.part] = comparison
                    games.append(game)
                    progress.step(f"{comparison.mean:+.1f} a game")
                status = DONE
            except InputError as error:
                for note in getattr(error, "__notes__", ()):
                    say(note)
                raise
            except GraderError as error:
                say(str(error))
        for comparison in found.values():
            title = f"{TITLES[comparison.part]}\n" if len(parts) > 1 else ""
            print(title + conclusion(comparison, (new.name, old.name)))
        if arguments.records is not None:
            keep(games, store, sources, arguments.records, arguments.page)
    return status


def _announce(
    contestants: tuple[Contestant, Contestant], rubric: Rubric, parts: Sequence[Part], slots: int
) -> int:
    """Print the maximum number of games and their duration; return that number."""
    most = rubric.compare.max_games
    games = [
        game for part in parts for pair in pairs(*contestants, rubric, most, part) for game in pair
    ]
    seconds = sum(map(schedule.worth, games))
    say(
        f"at most {len(games)} games, at most {duration(seconds / slots)} with {slots} at once; "
        "less once the answer is clear; Ctrl-C gives the result so far"
    )
    return len(games)


def keep(
    games: Sequence[PlannedGame],
    store: Store,
    sources: Mapping[str, str],
    folder: Path,
    as_page: bool,
) -> None:
    """Write the records of games, and the files that were played, below a folder.

    With `as_page` also write `games.html`, which replays all games.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for game in games:
            for player in game.players:
                if player.is_submission:
                    place = folder / FOLDER / file_name(player.name)
                    place.mkdir(parents=True, exist_ok=True)
                    write(place / "ai.py", sources[str(player.sha256)])
    except OSError as error:
        raise InputError(f"--records {folder}: cannot be made: {error.strerror}") from None
    shown = []
    for game in games:
        text = store.record(game.key)
        if text is None:
            raise InputError(f"{game.title}: its record is damaged or lost")
        names = [player.name for player in game.players]
        number = f"{game.repeat + 1:03}"
        name = file_name(f"{number}-{' against '.join(names)}").replace(" ", "-")
        write(folder / f"{name}.json", text)
        record = records.loads(text)
        one, two = (
            replace(player, agent=name) for player, name in zip(record.players, names, strict=True)
        )
        shown.append(replace(record, players=(one, two)))
    say(f"{len(shown)} games are in {folder}")
    if as_page and shown:
        write(folder / "games.html", page(shown))
        say(f"the page is in {folder / 'games.html'}")


def contestants(
    new: str, old: str, rubric: Rubric, sources: dict[str, str]
) -> tuple[Contestant, Contestant]:
    """Return both agents with distinct names; store the text of files in `sources`, by hash.

    Raises `InputError` for anything that is neither a submission nor an agent.
    """
    one, two = (_contestant(text, rubric, sources) for text in (new, old))
    if one.name == two.name:
        one, two = replace(one, name="NEW"), replace(two, name="OLD")
    return one, two


def _contestant(text: str, rubric: Rubric, sources: dict[str, str]) -> Contestant:
    """Return the kit's agent with this name, or the submission at this path."""
    path, game = Path(text), rubric.match.game
    if not path.exists():
        if path.suffix in (".py", ".zip"):
            raise InputError(f"{text}: no such file")
        name = parse_agent(text, game)
        if name.kind in ("human", "remote"):
            raise InputError(
                f"{text}: only a file or an agent that needs no person can be compared"
            )
        return schedule.baseline(name.text, game)
    if game not in PLAYABLE:
        raise InputError(f"{text}: a student's file plays {', '.join(PLAYABLE)}, not {game}")
    found = submissions.find([path], rubric.submission)
    if len(found) != 1:
        raise InputError(f"{text}: {len(found)} submissions there; name one of them")
    if found[0].problem or found[0].source is None:
        raise InputError(f"{text}: {found[0].problem}")
    sha256 = str(found[0].sha256)
    sources[sha256] = found[0].source
    return schedule.submitted(one_line(text), sha256)

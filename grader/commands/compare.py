"""Compares two agents: plays pairs of games on varied openings until the verdict is clear.

Part A calls `get_expectimax_move`: both play the same random player from the same openings and
seeds. Part B calls `get_intelligent_move`: they play each other. The command and `grader.compare`
differ in what they print: the function prints only notes, and it leaves no process behind, even if
interrupted.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from connect4.api import show_progress
from connect4.errors import InputError, headline, one_line
from connect4.games.base import Seconds
from connect4.isolation.seat import Level
from connect4.isolation.wasm.level import read_fuel
from connect4.players.registry import parse_agent
from grader.commands import DONE, STOPPED, Playing, read_rubric, required_level, say
from grader.handin import file_name
from grader.handin import find as submissions
from grader.handin.positions import METHOD_OF, Part
from grader.marks.tally import PartComparison
from grader.output import write
from grader.output.results import last_lines
from grader.output.tables import faults_text
from grader.play import Pool, Progress, duration, schedule
from grader.play.one_game import play_all, source_path
from grader.play.schedule import COMPARE, SIDES, Contestant, Match, PlannedGame, opening
from grader.play.working_time import Pace, load_all, too_slow
from grader.results import Faults
from grader.results.store import Store
from grader.rubric import PLAYABLE
from grader.rubric.model import Rubric

Parts: TypeAlias = Literal["a", "b", "both"]

TITLES: Final[dict[Part, str]] = {
    "a": "part A, get_expectimax_move, each against random:",
    "b": "part B, get_intelligent_move, against each other:",
}


def conclusion(comparison: PartComparison, names: Sequence[str]) -> str:
    """Return the conclusion of a comparison in two lines, in part A in three."""
    new, old = names
    words = {
        "better": f"{new} is better than {old}",
        "worse": f"{new} is worse than {old}",
        "equal": f"no difference between {new} and {old} that matters",
        "open": f"not clear yet whether {new} is better than {old}",
    }
    bounds = "no interval with so few games"
    if comparison.bounds is not None:
        low, high = comparison.bounds
        bounds = f"{1 - comparison.rubric.compare.error:.0%} interval {low:+.1f} .. {high:+.1f}"
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
    first = f"{words[comparison.verdict]}: {what} ({bounds}{worth})"
    return "\n".join([first, *listed])


def _lost_text(name: str, faults: Faults) -> str:
    return f", lost turns of {name}: {faults_text(faults)}" if faults.total else ""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two agents with distinct names, and what is played between them."""

    new: Contestant
    old: Contestant
    sources: dict[str, bytes]
    """The text of each file, by its hash."""
    parts: list[Part]
    rubric: Rubric

    @property
    def names(self) -> tuple[str, str]:
        return self.new.name, self.old.name

    def games(self, part: Part) -> Iterator[PlannedGame]:
        """Yield the games of a part, pair by pair; boards alternate, and fewer may be enough.

        In part A the two games of `old` on the same opening follow those of `new`.
        """
        rules, limit = self.rubric.compare, self.rubric.match.time_limit
        matches = [Match(COMPARE, self.new, self.old)]
        if part == "a":
            weak = schedule.opponent(self.rubric.part_a.opponent)
            matches = [Match(COMPARE, one, weak) for one in (self.new, self.old)]
        for number in range(rules.max_games // 2):
            board = rules.boards[number % len(rules.boards)]
            seed = schedule.seed_of(self.rubric.match.playing_seed, COMPARE, number)
            start = opening(board, rules.opening_plies, seed)
            for match in matches:
                for side in SIDES:
                    yield PlannedGame(match, start, number, side, seed, limit, self.rubric.limits)

    def play(self, store: Store, pool: Pool) -> Iterator[tuple[PartComparison, PlannedGame]]:
        """Play one part after the other; yield the part's comparison after each game.

        Raises `InputError` if one of the two cannot be loaded, `GraderError` if a game fails.
        """
        self._load(store, pool)
        for part in self.parts:
            comparison = PartComparison(self.rubric, part, self.old)
            games = self.games(part)
            with contextlib.closing(play_all(games, store, pool)) as played:
                for game, attempt in played:
                    if attempt.played is None or attempt.fault:
                        raise GraderError(f"{game.title}: {attempt.fault}")
                    comparison.add(game, attempt.played)
                    yield comparison, game
                    if comparison.verdict != "open":
                        break

    def _load(self, store: Store, pool: Pool) -> None:
        """Load both; report on standard error which does not play with the time of the games."""
        rubric = self.rubric
        methods = tuple(METHOD_OF[part] for part in self.parts)
        pace = Pace(rubric.match.time_limit, methods, rubric.compare.boards)
        tried = [item for item in (self.new, self.old) if item.sha256 is not None]
        store.add_sources(self.sources)
        for item, problem, fault in load_all(tried, rubric, store, pool, pace):
            if fault is not None:
                raise GraderError(f"loading {item.name}: {fault}")
            if problem is not None:
                error = InputError(f"{item.name}: cannot be loaded: {headline(problem)}")
                error.add_note(last_lines(problem))
                raise error
        for line in too_slow(tried, rubric, pace, store):
            say(line)


class GraderError(RuntimeError):
    """A game could not be played, and neither agent caused it."""


def duel_of(new: str, old: str, part: Parts, rubric: Rubric, games: int | None = None) -> Duel:
    """Return the duel of two agents, given by name or path, with at most `games` games.

    Raises `InputError` below 2, and for anything that is neither a submission nor an agent.
    """
    if games is not None and games < len(SIDES):
        raise InputError(
            f"--games {games}: expected 2 or more; a pair of games is one from each side"
        )
    most = games or rubric.compare.max_games
    rubric = replace(rubric, compare=replace(rubric.compare, max_games=most))
    sources: dict[str, bytes] = {}
    one, two = (_contestant(text, rubric, sources) for text in (new, old))
    if one.name == two.name:
        one, two = replace(one, id="NEW", name="NEW"), replace(two, id="OLD", name="OLD")
    return Duel(one, two, sources, ["a", "b"] if part == "both" else [part], rubric)


@contextlib.contextmanager
def opened(playing: Playing, level: Level) -> Iterator[tuple[Store, Pool]]:
    """Open a results file that is removed in the end, and the workers."""
    with tempfile.TemporaryDirectory(prefix="connect4-compare-") as name:
        folder = Path(name)
        with Store(folder / "results.db", writing=True) as store, playing.pool(level) as pool:
            yield store, pool


def compare_and_say(
    new: str,
    old: str,
    playing: Playing,
    games: int | None = None,
    part: Parts = "both",
    records: Path | None = None,
) -> int:
    """Play a new agent against an old one until the verdict is clear, and print it.

    The records of the games are kept below a folder.
    """
    duel = duel_of(new, old, part, playing.rubric, games)
    level = playing.level()
    most = [one for each in duel.parts for one in duel.games(each)]
    with opened(playing, level) as (store, pool), Progress(len(most)) as progress:
        longest = duration(sum(map(schedule.worth, most)) / pool.slots)
        say(
            f"at most {len(most)} games, at most {longest} with {pool.slots} at once; less once "
            "the answer is clear; Ctrl-C gives the result so far"
        )
        found: dict[Part, PartComparison] = {}
        kept: list[PlannedGame] = []
        status = STOPPED
        try:
            for comparison, played in duel.play(store, pool):
                found[comparison.part] = comparison
                kept.append(played)
                progress.step(f"{comparison.mean:+.1f} a game")
            status = DONE
        except KeyboardInterrupt:
            pass
        except GraderError as error:
            say(str(error))
        for comparison in found.values():
            title = f"{TITLES[comparison.part]}\n" if len(duel.parts) > 1 else ""
            print(title + conclusion(comparison, duel.names))
        for line in thoughts_text(kept, store, duel.names):
            print(line)
        if records is not None:
            keep(kept, store, duel.sources, records)
    return status


def thoughts_text(
    games: Sequence[PlannedGame], store: Store, names: Sequence[str]
) -> Iterator[str]:
    """Yield the mean depth and number of nodes of a move of each agent that says them."""
    for name in names:
        thoughts = [
            turn.get("thought", {})
            for game in games
            for turn in json.loads(store.record(game.key) or '{"turns": []}')["turns"]
            if game.players[turn["player"] - 1].name == name
        ]
        parts = []
        for key, shape in (("depth", "depth {:.1f}"), ("nodes", "{:,.0f} nodes")):
            values = [thought[key] for thought in thoughts if key in thought]
            parts += [shape.format(sum(values) / len(values))] if values else []
        if parts:
            yield f"{name}: on average {', '.join(parts)} a move"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one part; `str` returns it in words.

    `verdict` is `better`, `worse`, `equal` or `open` (more games are required), for the new agent.
    `margin` is its mean margin in points per game; in part A, the difference from the old agent's.
    `interval` is the confidence interval of the mean; None if there are too few games.
    """

    verdict: str
    margin: float
    interval: tuple[float, float] | None
    games: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict of each part, None for a part that was not played; `str` returns both in words.

    In part `a`, `get_expectimax_move` of both plays the same random player; in part `b`,
    `get_intelligent_move` of both play each other.
    """

    a: Verdict | None = None
    b: Verdict | None = None

    def __str__(self) -> str:
        parts = (("part A", self.a), ("part B", self.b))
        return "\n".join(f"{name}: {verdict}" for name, verdict in parts if verdict)


def compare(
    new: str | os.PathLike[str],
    old: str | os.PathLike[str],
    *,
    seconds: Seconds | None = None,
    fuel: int | str | None = None,
    games: int | None = None,
    part: Parts = "both",
    rubric: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    isolation: str = "auto",
    progress: bool = False,
) -> Comparison:
    """Compare a new agent with an old one; return a verdict for each part.

    Each argument is a file, such as `old/ai.py`, or an agent's name. The agents play pairs of
    games, one from each side, on varied openings of the rubric's boards, until the verdict is
    clear. In each part the new agent plays at most `games` games. `seconds` is the time limit
    per move, `fuel` a budget of instructions in its place, such as `"5G"`. `rubric` is a file
    with keys that differ from the default rubric. `jobs` is the number of games at once (None:
    one for each physical core). Raises `InputError` if a file or an agent does not exist or
    cannot be loaded, and `RuntimeError` if the machine fails.

    >>> verdict = compare("greedy", "random", seconds=1, games=4, part="b")
    >>> verdict.b.games, verdict.b.margin > 20, verdict.a
    (4, True, None)
    """
    if part not in ("a", "b", "both"):
        raise InputError(f"part {part!r}: expected a, b or both")
    for agent in (new, old):
        if not isinstance(agent, str | os.PathLike):
            shown = getattr(agent, "__name__", type(agent).__name__)
            raise InputError(f"{shown}: compare takes a file, such as ai.py, or an agent's name")
    where = None if rubric is None else Path(rubric)
    budget = None if fuel is None else read_fuel(str(fuel))
    rules = read_rubric(where, seconds, budget, isolation)
    duel = duel_of(os.fspath(new), os.fspath(old), part, rules, games)
    level, _ = required_level(isolation, rules)
    verdicts: dict[Part, Verdict] = {}
    with contextlib.ExitStack() as stack:
        store, pool = stack.enter_context(opened(Playing(rules, isolation, jobs), level))
        update = show_progress(stack, "games").update if progress else None
        for latest, _ in duel.play(store, pool):
            margin, interval, played = latest.mean, latest.bounds, latest.tally.games
            told = conclusion(latest, duel.names)
            verdicts[latest.part] = Verdict(latest.verdict, margin, interval, played, told)
            if update is not None:
                update()
    return Comparison(verdicts.get("a"), verdicts.get("b"))


def keep(
    games: Sequence[PlannedGame], store: Store, sources: dict[str, bytes], folder: Path
) -> None:
    """Write the records of games, and the files that were played, below a folder."""
    for player in {player for game in games for player in game.players}:
        if player.is_submission:
            write(folder / source_path(str(player.sha256)), sources[str(player.sha256)])
    for game in games:
        text = store.record(game.key)
        if text is None:
            raise InputError(f"{game.title}: its record is damaged or lost")
        names = " against ".join(player.name for player in game.players)
        name = file_name(f"{game.repeat + 1:03}-{names}").replace(" ", "-")
        write(folder / f"{name}.json", text)
    say(f"{len(games)} games are in {folder}")


def _contestant(text: str, rubric: Rubric, sources: dict[str, bytes]) -> Contestant:
    """Return the kit's agent with this name, or the submission at this path."""
    path, game = Path(text), rubric.match.game
    if not path.exists():
        if path.suffix in (".py", ".zip"):
            raise InputError(f"{text}: no such file")
        name = parse_agent(text, game)
        if name.kind == "human":
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
    return Contestant(one_line(text), "ai:", sha256, one_line(text))

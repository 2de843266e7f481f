"""What the commands `check`, `grade`, `compare`, `tournament` and `report` do."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from connect4.errors import BadInput
from connect4.isolation import choose_level
from connect4.players.registry import parse_agent
from grader import compare, formats, report, submissions, tables
from grader import rubric as rubrics
from grader.check import Finding, check
from grader.grading import by_match
from grader.progress import Progress, duration
from grader.report import GRADE, TOURNAMENT, Results, read_results
from grader.rubric import Rubric
from grader.run import play_all
from grader.schedule import Contestant, Game, baseline, seed_of, submitted, timed_turns
from grader.store import Played, Store
from grader.submissions import Submission
from grader.workers import Pool, cluster_pool, job_count, local_pool

DONE: Final = 0
FAILED: Final = 1
STOPPED: Final = 3

REWRITE_SECONDS: Final = 5.0
"""At most so often the quick files of a large class are written anew."""


def run_check(arguments: argparse.Namespace) -> int:
    """Check the form of files; return 1 where a required rule is broken."""
    rules = read_rubric(arguments).submission
    failed = False
    for item in submissions.find(arguments.paths, rules):
        place = str(item.path or item.place)
        findings = [Finding(1, "file", item.problem)] if item.problem else []
        if item.source is not None and not item.problem:
            findings = check(item.source, item.report, rules)
        whose = "" if item.name in place else f" ({item.name})"
        for finding in findings:
            in_report = finding.in_report and item.report is not None
            where = str(Path(place).with_name("report.txt")) if in_report else place
            print(f"{where}:{finding.line}: {finding.rule}: {finding.text}{whose}")
            if os.environ.get("GITHUB_ACTIONS") == "true":
                print(formats.annotation(where, finding))
        if not findings:
            print(f"{place}: well formed{whose}")
        failed = failed or any(finding.required for finding in findings)
    return FAILED if failed else DONE


def read_rubric(arguments: argparse.Namespace) -> Rubric:
    """Return the rubric of `--rubric`, with the time limit of `--time`."""
    rubric = rubrics.read(arguments.rubric)
    seconds = getattr(arguments, "time", None)
    if seconds is None:
        return rubric
    values = {**rubric.values, "match": {**rubric.values["match"], "time_limit": seconds}}
    stages = [{**stage, "time_limit": seconds} for stage in values["tournament"]["stages"]]
    values["tournament"] = {**values["tournament"], "stages": stages}
    folder = None if arguments.rubric is None else arguments.rubric.parent
    return rubrics.from_values(values, rubric.source, folder)


def run_grade(arguments: argparse.Namespace) -> int:
    """Grade submissions; what has a result already is not played again."""
    rubric = read_rubric(arguments)
    found = submissions.find(arguments.paths, rubric.submission, arguments.name)
    return Run(arguments, GRADE, rubric, found).go()


def run_tournament(arguments: argparse.Namespace) -> int:
    """Play a staged tournament; a stopped one goes on."""
    rubric = read_rubric(arguments)
    found = submissions.find([arguments.folder], rubric.submission)
    if sum(item.problem is None for item in found) < 2:
        raise BadInput(f"{arguments.folder}: a tournament needs two submissions that can play")
    return Run(arguments, TOURNAMENT, rubric, found).go()


@dataclass
class Run:
    """One call of `grade` or `tournament`."""

    arguments: argparse.Namespace
    kind: str
    rubric: Rubric
    found: list[Submission]
    written: float = 0.0

    def go(self) -> int:
        """Play what is missing, then report; return the exit status."""
        path: Path = self.arguments.results or Path(f"{self.kind}.db")
        job_count(self.arguments.jobs, self.arguments.force_jobs)
        for item in self.found:
            if item.problem:
                print(f"{item.name}: not graded: {item.problem}", file=sys.stderr)
        if self.arguments.dry_run:
            self._announce(self._foreseen(path))
            return DONE
        with Store(path, writing=True) as store:
            self._announce(self._plan(store))
            interrupted = not self._play(store)
            return self._report(store, interrupted)

    def _foreseen(self, path: Path) -> Results:
        """Return what a run would begin with; the results file is only read."""
        played: dict[str, Played] = {}
        if path.is_file():
            with Store(path, writing=False) as store:
                self._check_kind(store)
                played = store.played()
        return Results(self.kind, self.rubric, self.found, played, {})

    def _check_kind(self, store: Store) -> None:
        kind = store.meta("kind")
        if kind not in (None, self.kind):
            raise BadInput(f"{store.path}: holds a {kind}; --results names another file")

    def _plan(self, store: Store) -> Results:
        """Note rubric and submissions in the results file; return what it says so far."""
        self._check_kind(store)
        left_out = {item.name for item in store.submissions()} - {item.name for item in self.found}
        if left_out:
            names = sorted(left_out)
            shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
            print(
                f"{store.path}: {shown} ({len(names)} in all) had results there and are not among "
                "these submissions: tables and files are without them, their games are kept",
                file=sys.stderr,
            )
        values = json.dumps(rubrics.stored_values(self.rubric))
        store.set_meta({"kind": self.kind, "rubric": values})
        store.set_submissions(self.found)
        return read_results(store)

    def _announce(self, results: Results) -> None:
        """Say how many games are ahead, and about how much time."""
        todo = self._missing(results)
        note = ""
        if results.kind == TOURNAMENT and len(results.stages) < len(self.rubric.tournament.stages):
            note = f" in stage {results.stages[-1].stage.name!r}; more in the stages after it"
        seconds = seconds_ahead(todo, results)
        cores = job_count(self.arguments.jobs, self.arguments.force_jobs)
        seed = self.rubric.match.playing_seed
        if self.kind == GRADE and len(self.found) > 1 and seed < rubrics.LEAST_SECRET:
            print(
                f"{self.rubric.source}: match.seed {seed} can be guessed, and the random player's "
                "moves with it; for marks, set it to a secret number of 18 digits",
                file=sys.stderr,
            )
        where = f"{duration(seconds / cores)} on the {cores} used here"
        if self.arguments.scheduler is not None:
            where = "divided by the cores of the cluster"
        done = len({game.key for game in results.games}) - len(todo)
        print(
            f"{len(todo)} games to play{note} ({done} have results): about {duration(seconds)} of "
            f"one core, {where}",
            file=sys.stderr,
        )

    def _missing(self, results: Results) -> list[Game]:
        """Return the games without a result, each once, and with `--retry-starved` those too."""
        retry = set()
        if self.arguments.retry_starved:
            retry = {
                key
                for key, played in results.played.items()
                if any(faults.starved for faults in played.faults)
            }
        todo = {
            game.key: game
            for game in results.games
            if game.key not in results.played or game.key in retry
        }
        return list(todo.values())

    def _play(self, store: Store) -> bool:
        """Play until nothing is missing; return whether that was reached."""
        sources = {str(item.sha256): item.source for item in self.found if item.source is not None}
        tried: set[str] = set()
        with contextlib.suppress(KeyboardInterrupt), open_pool(self.arguments, store.path) as pool:
            level = isolation_level(self.arguments)
            while True:
                results = read_results(store)
                todo = [game for game in self._missing(results) if game.key not in tried]
                if not todo:
                    return True
                tried |= {game.key for game in todo}
                with Progress(len(todo)) as progress:
                    for game, result in play_all(
                        todo, store, pool.executor, pool.slots, level, sources
                    ):
                        if result["fault"]:
                            progress.say(f"{formats.game_title(game)}: {result['fault']}")
                        progress.step()
                        self._rewrite(store)
                self._tell_stage(store)
        return False

    def _rewrite(self, store: Store) -> None:
        """Write results.json or the standings anew, so that a stopped run leaves them."""
        out = self.arguments.out
        few = len(self.found) <= tables.FEW
        if out is not None and (few or time.monotonic() - self.written > REWRITE_SECONDS):
            report.write_quick(read_results(store), out, {})
            self.written = time.monotonic()

    def _tell_stage(self, store: Store) -> None:
        """Print a stage of a tournament that has been played, unless it was the last one."""
        if self.kind == TOURNAMENT:
            done = [state for state in read_results(store).stages if state.complete]
            if done and len(done) < len(self.rubric.tournament.stages):
                print(tables.stage_text(done[-1], self.rubric) + "\n", flush=True)

    def _report(self, store: Store, interrupted: bool) -> int:
        results = read_results(store)
        tell(results, store, self.arguments)
        if interrupted or results.missing:
            command = "the same command goes on where it was"
            why = (
                "stopped"
                if interrupted
                else f"not all games could be played; {first_fault(results)}"
            )
            print(f"{why}: {results.missing} games to go, {command}", file=sys.stderr)
            return STOPPED
        return DONE


def first_fault(results: Results) -> str:
    """Return the grader's first own failure, in words."""
    return next((fault.text for fault in results.faults.values()), "no reason is known")


def tell(results: Results, store: Store, arguments: argparse.Namespace) -> None:
    """Print the tables and write all files that were asked for."""
    placement: dict[str, float] = {}
    named = getattr(arguments, "placement", None)
    if named is not None:
        with Store(named, writing=False) as other:
            held = read_results(other)
        try:
            placement = report.placement_points(held)
        except BadInput as error:
            raise BadInput(f"--placement {named}: {error}") from None
    print(results.text(placement, arguments.details), end="")
    if arguments.out is not None:
        report.write_all(results, store, arguments.out, placement)
        if arguments.records:
            report.write_records(results, store, arguments.out)
        print(f"Everything is in {arguments.out}", file=sys.stderr)
    report.tell_github(results.marks, placement, results.rubric)


def seconds_ahead(todo: Sequence[Game], results: Results) -> float:
    """Return about how many seconds of a core the games take.

    Games of the same contestants that have been played say it best; else every turn of an agent
    that uses its time is taken as a whole one.
    """
    spent: dict[str, list[float]] = {}
    for match, listed in by_match(results.games).items():
        for game in listed:
            if game.key in results.played:
                key = f"{match.part} {game.board.name}"
                spent.setdefault(key, []).append(results.played[game.key].seconds)
    total = 0.0
    for game in todo:
        known = spent.get(f"{game.match.part} {game.board.name}")
        total += sum(known) / len(known) if known else timed_turns(game) * game.time_limit
    return total


@contextlib.contextmanager
def open_pool(arguments: argparse.Namespace, results: Path) -> Iterator[Pool]:
    """Open the local workers or the cluster that the command line asks for."""
    if arguments.scheduler is not None:
        with cluster_pool(arguments.scheduler) as pool:
            yield pool
        return
    jobs = job_count(arguments.jobs, arguments.force_jobs)
    with local_pool(jobs, scratch_for(results)) as pool:
        yield pool


def scratch_for(results: Path) -> Path:
    """Return the workers' folder, the same for the same results: so a killed run's is cleared."""
    user = os.getuid() if hasattr(os, "getuid") else ""  # Windows: the folder is the user's anyway
    name = seed_of(str(results.resolve()), user)
    return Path(tempfile.gettempdir(), f"connect4-grader-{name:x}")


def isolation_level(arguments: argparse.Namespace) -> str:
    """Return the level at which agents are kept; grading is never done without one."""
    level, notes = choose_level(arguments.isolation)
    for note in notes:
        print(f"isolation: {note}", file=sys.stderr)
    return level


def run_compare(arguments: argparse.Namespace) -> int:
    """Play a new agent against an old one until the answer is clear."""
    rubric = compare.shorter(read_rubric(arguments), arguments.games)
    sources: dict[str, str] = {}
    new, old = (_contestant(text, rubric, sources) for text in (arguments.new, arguments.old))
    if new.name == old.name:
        new, old = replace(new, name="NEW"), replace(old, name="OLD")
    level = isolation_level(arguments)
    comparison = compare.begin(rubric)
    total = rubric.compare.max_games
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="connect4-compare-")))
        store = stack.enter_context(Store(folder / "results.db", writing=True))
        pool = stack.enter_context(open_pool(arguments, folder))
        progress = stack.enter_context(Progress(total))
        games = (game for pair in compare.pairs(new, old, rubric, total) for game in pair)
        status = DONE
        with contextlib.suppress(KeyboardInterrupt):
            status = STOPPED
            played = play_all(games, store, pool.executor, pool.slots, level, sources)
            status = _compare(played, comparison, progress)
    print(compare.conclusion(comparison, (new.name, old.name)))
    return status


def _compare(
    results: Iterable[tuple[Game, dict[str, object]]],
    comparison: compare.Comparison,
    progress: Progress,
) -> int:
    for game, result in results:
        if result["fault"]:
            print(f"{formats.game_title(game)}: {result['fault']}", file=sys.stderr)
            return STOPPED
        comparison.add(game, compare.played_of(result))
        progress.step(f"{comparison.tally.mean_margin:+.1f} a game")
        if comparison.verdict != "open":
            break
    return DONE


def _contestant(text: str, rubric: Rubric, sources: dict[str, str]) -> Contestant:
    """Return an agent of the kit by name, or a submission by its path."""
    path = Path(text)
    if not path.exists():
        if path.suffix in (".py", ".zip"):
            raise BadInput(f"{text}: no such file")
        name = parse_agent(text)
        if name.kind in ("human", "remote"):
            raise BadInput(f"{text}: only a file or an agent that needs no person can be compared")
        return baseline(name.text)
    found = submissions.find([path], rubric.submission)
    if len(found) != 1:
        raise BadInput(f"{text}: {len(found)} submissions there; name one of them")
    if found[0].problem or found[0].source is None:
        raise BadInput(f"{text}: {found[0].problem}")
    sha256 = str(found[0].sha256)
    sources[sha256] = found[0].source
    return submitted(text, sha256)


def run_report(arguments: argparse.Namespace) -> int:
    """Make every table and file again from stored results."""
    with Store(arguments.results, writing=False) as store:
        results = read_results(store)
        tell(results, store, arguments)
    if results.missing:
        print(f"{results.missing} games have no result yet", file=sys.stderr)
    return DONE

"""One run of `grade` or `tournament`: plays the games without a result, then reports."""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from connect4.errors import InputError, headline
from grader.commands.common import (
    DONE,
    STOPPED,
    hours_text,
    isolation_level,
    named_few,
    open_pool,
    say,
)
from grader.commands.report import first_fault, outputs_of, read_roster, tell, tell_owners
from grader.handin import Submission, sources_of
from grader.handin.owners import assign
from grader.handin.roster import Student
from grader.marks import gradable
from grader.marks.tournament import later_games
from grader.output import check_out, tables, writing
from grader.output.gradebooks import grade_column, maxima, read_gradebook
from grader.output.results import (
    GRADE,
    TOURNAMENT,
    Results,
    note_run,
    read_results,
    results_of,
)
from grader.play import Pool, Progress, duration, load_text, other_load, worker_count
from grader.play.one_game import HOPELESS, play_suspects_alone
from grader.play.schedule import Contestant, PlannedGame, opponent, worth
from grader.play.trials import (
    DEADLY,
    PROOF,
    STAND,
    grade_trials,
    play_trials,
    prove_deadly,
    tournament_trials,
    ways_out,
)
from grader.play.working_time import LOADING, Pace, grading_pace, is_passing, load_all, too_slow
from grader.results import ATTEMPTS, STARVED, Attempt, EndedGames
from grader.results.database import has_results
from grader.results.store import Store
from grader.rubric import reading as rubrics
from grader.rubric.model import LEAST_SECRET, PRACTICE_SEED, Rubric, kit_agents

FOR_ONE_FILE: Final = (
    "games that an opponent lost by its own fault do not count: close other programs and give the "
    "same command again"
)
FOR_A_CLASS: Final = (
    "{}: games that an opponent lost by its own fault count for nobody until you decide: fix the "
    "opponent and give the same command, or count them as they are with [match] opponent_faults "
    '= "count"'
)

REWRITE_SECONDS: Final = 5.0
"""The quick files of a large class are written at most once in this time."""


@dataclass
class ClassRun:
    """One run of `grade` or `tournament`."""

    arguments: argparse.Namespace
    kind: str
    rubric: Rubric
    found: list[Submission]
    written: float = 0.0
    tries: Counter[str] = field(default_factory=Counter)
    """How often a game has failed in this run, by key."""
    held: set[str] = field(default_factory=set)
    """The sources whose processes could not be ended."""
    deadly: set[str] = field(default_factory=set)
    """The games that have ended the grader too often."""
    told: bool = False
    """Whether a file that cannot be written has been reported."""
    any_played: bool = False

    def go(self) -> int:
        """Play the missing games, then report; return the exit status."""
        path: Path = self.arguments.results or Path(f"{self.kind}.db")
        self.arguments.results = path
        worker_count(self.arguments.jobs, self.arguments.force_jobs)
        for item in self.found:
            if item.problem:
                say(f"{item.name}: 0 points: {item.problem}")
        if self.arguments.dry_run:
            foreseen = self._foreseen(path)
            contestants = gradable(self.found)
            if contestants and not getattr(self.arguments, "quick", False):
                print(hours_text(self.kind, contestants, self.rubric))
            self._announce(foreseen)
            self._check_seed()
            self._ask_only()
            return DONE
        self._check_seed()
        if self.arguments.out is not None:
            check_out(self.arguments.out)
            for export in self.arguments.gradebook:  # rather now than after hours
                book = read_gradebook(export)
                maxima(book, grade_column(book, self.arguments.gradebook_column))
        with Store(path, writing=True) as store:
            self._check_kind(store)
            roster = self._roster(store)
            self._plan(store)
            store.set_roster(roster)
            for name in self.arguments.try_again:
                sha256 = str(read_results(store).find(name, path).sha256)
                store.try_again(sha256)
                for game in read_results(store).games_by_file.get(sha256, ()):
                    store.end(game.key, died=False)  # what was held against it
            results = self._play(store)
            return self._report(results or read_results(store), store, interrupted=results is None)

    @property
    def _of_a_class(self) -> bool:
        """Whether several people are marked, so that the seed must be secret."""
        return self.kind == TOURNAMENT or len(self.found) > 1

    def _check_seed(self) -> None:
        """Reject the practice seed for a class; warn of other seeds that can be guessed."""
        seed = self.rubric.match.seed
        if seed is None or not self._of_a_class:
            return
        if seed == PRACTICE_SEED:
            raise InputError(rubrics.PUBLIC_SEED.format(source=self.rubric.source))
        if seed < LEAST_SECRET:
            say(
                f"{self.rubric.source}: match.seed {seed} can be guessed, and the random player's "
                "moves with it; leave it out, and a secret one is made"
            )

    def _foreseen(self, path: Path) -> Results:
        """Return the results that a run would start with; the results file is only read."""
        if not has_results(path):
            roster = self._roster(None)
            owners = assign(self.found, roster) if self.kind == GRADE else None
            return Results(self.kind, self.rubric, self.found, {}, {}, owners=owners)
        with Store(path, writing=False) as store:
            self._check_kind(store)
            self._roster(store)
            return results_of(store, self.kind, self.rubric, self.found)

    def _roster(self, store: Store | None) -> tuple[Student, ...]:
        """Return the roster of the command, else the stored one; list who cannot be found."""
        held = store.roster() if store else ()
        if self.kind != GRADE:
            return held
        paths: Sequence[Path] = self.arguments.roster
        roster = read_roster(paths, held) if paths else held
        out = None if self.arguments.dry_run else self.arguments.out
        tell_owners(store, self.found, roster, self.rubric, paths, out)
        return roster

    def _check_kind(self, store: Store) -> None:
        kind = store.meta("kind")
        if kind not in (None, self.kind):
            raise InputError(f"{store.path}: holds a {kind}; --results names another file")

    def _plan(self, store: Store) -> None:
        """Store rubric and submissions in the results file; note what ended the last grader."""
        before = store.meta_json("rubric")
        values = json.dumps(rubrics.stored_values(self.rubric))
        changed = [] if before is None else rubrics.changes(before, json.loads(values))
        if changed:
            say(f"{store.path}: the rubric is not the stored one: {'; '.join(changed)}")
        self._tell_left_out(store)
        store.set_meta({"kind": self.kind, "rubric": values})
        quick = getattr(self.arguments, "quick", False)
        store.set_submissions(self.found, whole=not (quick or self._of_one_file))
        if store.secret(self._of_a_class) is None and self.rubric.match.seed is None:
            say(
                "practice: the random player plays the same moves in every run (seed "
                f"{PRACTICE_SEED}); your mark is made with a secret seed, so it will differ"
            )
        ended = store.take_stock()
        games = {game.key: game for game in read_results(store).games} if ended else {}
        kinds = ((LOADING, "loading"), (PROOF, "a trial of"), (STAND, "a trial of"))
        names = {
            f"{kind}{item.sha256}": f"{what} {item.name}"
            for item in self.found
            for kind, what in kinds
        }
        for key in ended:
            what = names.get(key, "what is no longer planned")
            if key in games:
                what = f"{games[key].match.one.name}, {games[key].title}"
            say(f"the last run was ended by the machine during {what}")

    def _tell_left_out(self, store: Store) -> None:
        """Report hand-ins with results that are not here, and files under another name."""
        before = store.submissions()
        gone = {item.name: item for item in before if item.name not in self._names}
        if not gone or getattr(self.arguments, "quick", False):
            return  # `--quick`: one student's own files, one after another
        for item in self.found:
            same = [name for name, old in gone.items() if old.sha256 == item.sha256 is not None]
            if len(same) == 1 and item.name not in {old.name for old in before}:
                say(f"{store.path}: {same[0]} is now called {item.name}, with the same file")
                del gone[same[0]]
        if gone:
            say(
                f"{store.path}: {named_few(sorted(gone))} had results there and are not among "
                "these submissions: tables and files are without them, their games are kept"
            )

    @property
    def _names(self) -> set[str]:
        return {item.name for item in self.found}

    @property
    def _of_one_file(self) -> bool:
        """Return whether the command names a single hand-in and not a class."""
        paths: Sequence[Path] = getattr(self.arguments, "paths", ())
        return len(self.found) == len(paths) == 1 and (
            paths[0].is_file() or (paths[0] / "ai.py").is_file()
        )

    def _announce(self, results: Results) -> None:
        """Print the number of games to be played and their approximate duration."""
        todo = self._missing(results)
        later = later_games(results.stages, results.rubric) if results.kind == TOURNAMENT else {}
        note = ""
        if later:
            listed = ", ".join(f"{len(games)} in {name!r}" for name, games in later.items())
            note = f" in stage {results.stages[-1].stage.name!r}, then {listed}"
        ahead = [*todo, *(game for games in later.values() for game in games)]
        seconds = sum(map(worth, ahead))
        cores = worker_count(self.arguments.jobs, self.arguments.force_jobs)
        where = f"{duration(seconds / cores)} on the {cores} used here"
        if self.arguments.scheduler is not None:
            where = "divided by the cores of the cluster"
        keys = {game.key for game in todo}
        done = len({game.key for game in results.games} & results.played.keys() - keys)
        say(
            f"{len(todo)} games to play{note} ({done} have results): about {duration(seconds)} of "
            f"one core, {where}, if submissions use all their time"
        )
        hours, most = seconds / 3600, self.arguments.max_hours
        if hours > most and not self.arguments.yes:
            raise InputError(
                f"{hours:.0f} core-hours are more than --max-hours {most:g}; fewer boards, repeats "
                "or seconds a move make it shorter, --yes plays it anyway"
            )

    def _missing(self, results: Results) -> list[PlannedGame]:
        """Return the missing games, each once, without those that failed too often in this run."""
        hopeless = {key for key, count in self.tries.items() if count >= ATTEMPTS} | self.deadly
        todo = {
            game.key: game
            for game in results.games
            if game.key not in results.played and game.key not in hopeless
        }
        return list(todo.values())

    def _play(self, store: Store) -> Results | None:
        """Play until no playable game is missing; return the results, None if interrupted."""
        with contextlib.suppress(KeyboardInterrupt), open_pool(self.arguments, store.path) as pool:
            level = isolation_level(self.arguments, self.rubric)
            note_run(store, level)
            trials = (grade_trials if self.kind == GRADE else tournament_trials)(self.rubric)
            play_trials(trials, "agent", self.rubric.source, store, pool, level)
            results = self._load(store, pool, level)
            if prove_deadly(results.games, store, pool.executor, level):
                results = read_results(store)
            self._note_deadly(store)
            self._announce(results)
            todo = self._missing(results)
            if todo and self._of_a_class and self.arguments.scheduler is None:
                load = other_load()
                if load is not None:
                    say(load_text(load))
            while todo:
                played = play_suspects_alone(todo, iter, store, pool, level)
                so_far = results.ended
                with Progress(len(todo)) as progress, contextlib.closing(played):
                    hopeless = not self._follow(played, results, so_far, progress)
                results = results.after(so_far)
                if prove_deadly(self._deadly_games(results, store), store, pool.executor, level):
                    results = read_results(store)
                if hopeless:
                    return results
                done = [state for state in results.stages if state.complete]
                if self.kind == TOURNAMENT and 0 < len(done) < len(self.rubric.tournament.stages):
                    print(tables.stage_text(done[-1], self.rubric) + "\n", flush=True)
                self._note_deadly(store)
                todo = [
                    game for game in self._missing(results) if self.held.isdisjoint(game.submitted)
                ]
            return results
        return None

    def _deadly_games(self, results: Results, store: Store) -> list[PlannedGame]:
        """Return the games that became deadly in this run."""
        before = set(self.deadly)
        self._note_deadly(store)
        return [game for game in results.games if game.key in self.deadly - before]

    def _note_deadly(self, store: Store) -> None:
        self.deadly = {key for key, deaths in store.suspects().items() if deaths >= DEADLY}

    def _follow(
        self,
        ended: Iterator[tuple[PlannedGame, Attempt]],
        results: Results,
        so_far: EndedGames,
        progress: Progress,
    ) -> bool:
        """Add and report games as they end; return False if the machine cannot play any."""
        for game, attempt in ended:
            so_far.add(attempt)
            if attempt.key in so_far.played:
                self.any_played = True
            else:
                self.tries[game.key] += 1
                again = "; it is played again" if self.tries[game.key] < ATTEMPTS else ""
                progress.say(f"{game.title}: {attempt.fault}{again}")
            for side in attempt.left_behind:
                player = game.players[side - 1]
                self.held.add(str(player.sha256))
                progress.say(
                    f"{player.name}: a process of its own could not be ended; its other games wait "
                    "for the next run"
                )
            progress.step()
            self._rewrite(results, so_far)
            if not self.any_played and len(self.tries) >= HOPELESS:
                return False
        return True

    def _load(self, store: Store, pool: Pool, level: str) -> Results:
        """Load each submission, and each baseline that has a file, once; return all results.

        Raises `InputError` if a baseline cannot be loaded, or a tournament has nobody left.
        """
        aside = store.aside()
        tried = [item for item in self._with_files() if item.sha256 not in aside]
        pace = self._pace()
        trials = load_all(tried, self.rubric, store, pool, level, pace)
        with contextlib.closing(trials):  # whatever is raised here, it still needs the store
            for item, problem, fault in trials:
                if problem is not None and not item.is_submission:
                    raise InputError(
                        f"{self.rubric.source}: agent {item.name!r} cannot be loaded: "
                        f"{headline(problem)}"
                    )
                if fault is not None:
                    say(f"loading {item.name}: {fault}")
        known = {item.sha256 for item in self.found if item.problem is None}
        results = read_results(store)
        for submission in results.submissions:
            if submission.problem and submission.sha256 in known:
                why = tables.clipped(submission.problem or "")
                again = "; the next run tries again" if is_passing(submission.problem or "") else ""
                say(f"{submission.name}: 0 points: {why}{again}")
        if self.kind == TOURNAMENT and len(gradable(results.submissions)) < 2:
            raise InputError("a tournament needs two submissions that can play")
        self._tell_too_slow(store)
        return results

    def _with_files(self) -> list[Contestant]:
        """Return the submissions and, for `grade`, the rubric's agents that have a file."""
        agents = map(opponent, kit_agents(self.rubric)) if self.kind == GRADE else ()
        return [*gradable(self.found), *(item for item in agents if item.sha256 is not None)]

    def _pace(self) -> Pace:
        """Return what this run asks of a file."""
        rubric = self.rubric
        if self.kind == GRADE:
            return grading_pace(rubric)
        stages = rubric.tournament.stages
        boards = tuple(board for stage in stages for board in stage.boards)
        return Pace(min(stage.time_limit for stage in stages), ("intelligent",), boards)

    def _tell_too_slow(self, store: Store) -> None:
        """Name the files that do not play with the time of this run."""
        for line in too_slow(self._with_files(), self.rubric, self._pace(), store):
            say(line)

    def _ask_only(self) -> None:
        """Ask each file for moves, for `--dry-run`; the results file keeps the answers."""
        path: Path = self.arguments.results
        with Store(path, writing=True) as store, open_pool(self.arguments, path) as pool:
            level = isolation_level(self.arguments, self.rubric)
            say("asking each file for a move ...")
            pace, tried = self._pace(), self._with_files()
            store.add_sources(sources_of(self.found))
            for item, problem, fault in load_all(tried, self.rubric, store, pool, level, pace):
                if problem or fault:
                    say(f"{item.name}: {headline(problem or fault or '')}")
            self._tell_too_slow(store)

    def _rewrite(self, results: Results, so_far: EndedGames) -> None:
        """Write results.json or the standings again, so that they are current if the run stops."""
        out = self.arguments.out
        few = len(self.found) <= tables.FEW
        if out is not None and (few or time.monotonic() - self.written > REWRITE_SECONDS):
            try:
                writing.write_quick(results.after(so_far), out)
            except InputError as error:  # the games are in the results file all the same
                if not self.told:
                    say(f"{error}; the games go on")
                self.told = True
            self.written = time.monotonic()

    def _report(self, results: Results, store: Store, interrupted: bool) -> int:
        written = tell(results, store, outputs_of(self.arguments))
        self._tell_too_slow(store)
        if not interrupted and not results.missing:
            return DONE if written else STOPPED
        failed = {game.key for game in results.games} & results.faults.keys()
        if any(results.faults[key].text.startswith("the opponent ") for key in failed):
            say(FOR_ONE_FILE if self._of_one_file else FOR_A_CLASS.format(self.rubric.source))
        starved = any(results.faults[key].text == STARVED for key in failed)
        busy = "close other programs; " if starved else ""
        if interrupted:
            why = "stopped"
        elif len(failed) == results.missing and not self._missing(results):
            games = "1 game" if len(failed) == 1 else f"{len(failed)} games"
            again = (
                "" if failed <= self.deadly else f": {busy}the same command plays what is missing"
            )
            say(
                f"{games} failed repeatedly: {first_fault(results)}; the points of the matches are "
                f"withheld{again}"
            )
            for line in ways_out(game for game in results.games if game.key in self.deadly):
                say(line)
            return STOPPED
        else:
            why = f"not all games could be played; {first_fault(results) or 'no reason is known'}"
        say(
            f"{why}: {results.missing} games to go, {busy}the same command continues where it "
            "stopped"
        )
        return STOPPED

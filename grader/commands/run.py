"""One run of `grade` or `tournament`: plays the games without a result, then reports."""

import contextlib
import json
import math
import shlex
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from connect4.errors import InputError, headline
from grader.commands import DONE, STOPPED, Playing, read_roster, say, say_owners
from grader.commands.report import Outputs, first_fault, put_out
from grader.handin import Submission, named_few, sources_of
from grader.handin.roster import Student, assign
from grader.marks import gradable
from grader.marks.tournament import later_games
from grader.output import tables, writing
from grader.output.results import GRADE, TOURNAMENT, Results, note_run, read_results, results_of
from grader.play import Pool, Progress, duration, load_text, number_of, other_load, trials
from grader.play.one_game import HOPELESS, play_suspects_alone
from grader.play.schedule import Contestant, PlannedGame, opponent, worth
from grader.play.working_time import Pace, grading_pace, is_passing, load_all, too_slow
from grader.results import ATTEMPTS, STARVED, Attempt, EndedGames
from grader.results.store import COMMAND, Store
from grader.rubric import reading as rubrics
from grader.rubric.model import LEAST_SECRET, PRACTICE_SEED, Rubric, kit_agents, level_of_games

MAX_HOURS: Final = 100
"""The most core-hours of a run without `--yes`."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a run is to do."""

    kind: str
    """`grade` or `tournament`."""
    playing: Playing
    found: Sequence[Submission]
    path: Path
    """The results file."""
    outputs: Outputs
    try_again: Sequence[str] = ()
    """The submissions that an earlier run has set aside, and that may play again."""
    roster: Sequence[Path] = ()
    quick: bool = False
    """Whether it is a first look at one of the student's own files, one after another."""
    of_one_file: bool = False
    """Whether the command names a single hand-in and not a class."""

    @property
    def rubric(self) -> Rubric:
        return self.playing.rubric

    @property
    def of_a_class(self) -> bool:
        """Return whether several people are marked, so that the seed must be secret."""
        return self.kind == TOURNAMENT or len(self.found) > 1

    @property
    def files(self) -> list[Contestant]:
        """Return the submissions and, for `grade`, the rubric's agents that have a file."""
        agents = map(opponent, kit_agents(self.rubric)) if self.kind == GRADE else ()
        return [*gradable(self.found), *(item for item in agents if item.sha256 is not None)]

    @property
    def pace(self) -> Pace:
        """Return what this run asks of a file."""
        if self.kind == GRADE:
            return grading_pace(self.rubric)
        stages = self.rubric.tournament.stages
        boards = tuple(board for stage in stages for board in stage.boards)
        return Pace(min(stage.time_limit for stage in stages), ("intelligent",), boards)


def go(task: Task) -> int:
    """Play the missing games, then report; return the exit status."""
    _begin(task)
    _check_seed(task)
    task.outputs.check()
    with Store(task.path, writing=True) as store:
        _check_kind(store, task.kind)
        roster = _roster(task, store, task.outputs.out)
        _store_plan(task, store)
        store.set_roster(roster)
        for name in task.try_again:
            sha256 = str(read_results(store).find(name, task.path).sha256)
            store.try_again(sha256)
            for game in read_results(store).games_by_file.get(sha256, ()):
                store.end(game.key, died=False)  # it is no suspect any more
        run = ClassRun(task, store)
        results = None
        playing = task.playing
        with contextlib.suppress(KeyboardInterrupt), playing.pool(playing.level()) as pool:
            results = run.play(pool)
        interrupted = results is None
        results = results or read_results(store)
        written = put_out(results, store, task.outputs)
        _say_too_slow(task, store)
        if not interrupted and not results.missing:
            return DONE if written else STOPPED
        for line in why_incomplete(task, results, run, interrupted):
            say(line)
        return STOPPED


def foresee(task: Task) -> int:
    """Say how much there is to play, and ask each file for moves, whose answers are kept."""
    _begin(task)
    if task.path.is_file() and task.path.stat().st_size:  # 0: its making was stopped
        with Store(task.path, writing=False) as store:
            _check_kind(store, task.kind)
            _roster(task, store, None)
            _rubric_values(task, store)
            foreseen = results_of(store, task.kind, task.rubric, task.found)
    else:
        owners = assign(task.found, _roster(task, None, None))
        foreseen = Results(task.kind, task.rubric, [*task.found], {}, {}, owners)
    if foreseen.games and not task.quick:
        print(hours_text(foreseen))
    _announce(task, foreseen, missing(foreseen))
    _check_seed(task)
    level = task.playing.level()
    with Store(task.path, writing=True) as store, task.playing.pool(level) as pool:
        say("asking each file for a move ...")
        store.add_sources(sources_of(task.found))
        if store.meta("kind") is None:  # else the command is that of the run
            store.set_meta({COMMAND: json.dumps(task.playing.words)})
        for item, problem, fault in load_all(task.files, task.rubric, store, pool, task.pace):
            if problem or fault:
                say(f"{item.name}: {headline(problem or fault or '')}")
        _say_too_slow(task, store)
    return DONE


def _begin(task: Task) -> None:
    """Say whose hand-in cannot be read; raises `InputError` if there are too many jobs."""
    task.playing.workers()
    for item in task.found:
        if item.problem:
            say(f"{item.name}: 0 points: {item.problem}")


def _check_seed(task: Task) -> None:
    """Reject the practice seed for a class; warn of other seeds that can be guessed."""
    seed, source = task.rubric.match.seed, task.rubric.source
    if seed is None or not task.of_a_class:
        return
    if seed == PRACTICE_SEED:
        raise InputError(rubrics.PUBLIC_SEED.format(source=source))
    if seed < LEAST_SECRET:
        say(
            f"{source}: match.seed {seed} can be guessed, and the random player's moves with it; "
            "leave it out, and a secret one is made"
        )


def _check_kind(store: Store, kind: str) -> None:
    held = store.meta("kind")
    if held not in (None, kind):
        raise InputError(f"{store.path}: holds a {held}; --results names another file")


def _roster(task: Task, store: Store | None, out: Path | None) -> tuple[Student, ...]:
    """Return the roster of the command, else the stored one; list who cannot be found."""
    held = store.roster() if store else ()
    if task.kind != GRADE:
        return held
    roster = read_roster(task.roster, held) if task.roster else held
    say_owners(store, task.found, roster, task.rubric, task.roster, out)
    return roster


def _store_plan(task: Task, store: Store) -> None:
    """Store rubric and submissions in the results file; say what ended the last grader."""
    values = _rubric_values(task, store)
    gone = {item.name for item in store.submissions()} - {item.name for item in task.found}
    told = f"{store.path}: {named_few(sorted(gone))} had results there and are not among these "
    told += "submissions"
    if len(gone) > len(task.found) and not (task.quick or task.outputs.yes):
        raise InputError(f"{told}; give the whole class, or --yes, which leaves them out")
    if gone and not task.quick:
        say(f"{told}: tables are without them, their games and old files are kept")
    words = json.dumps(task.playing.words)
    store.set_meta({"kind": task.kind, "rubric": values, COMMAND: words})
    store.set_submissions(task.found, whole=not (task.quick or task.of_one_file))
    if store.secret(task.of_a_class) is None and task.rubric.match.seed is None:
        say(
            "practice: the random player plays the same moves in every run (seed "
            f"{PRACTICE_SEED}); your mark is made with a secret seed, so it will differ"
        )
    ended = store.take_stock()
    games = {game.key: game for game in read_results(store).games} if ended else {}
    names = {str(item.sha256): item.name for item in task.found}
    for key in ended:
        kind, _, sha256 = key.rpartition(" ")
        what = f"the {kind or 'game'} of {names.get(sha256, 'a file that is not here')}"
        if key in games:
            what = f"{games[key].match.one.name}, {games[key].title}"
        say(f"the last run was ended by the machine during {what}")


def _rubric_values(task: Task, store: Store) -> str:
    """Return the rubric as a results file has it; say what differs from the stored one."""
    before = store.meta_json("rubric")
    values = json.dumps(rubrics.stored_values(task.rubric))
    if changed := rubrics.changes(before, task.rubric):
        say(f"{store.path}: the rubric is not the stored one: {'; '.join(changed)}")
    return values


def _say_too_slow(task: Task, store: Store) -> None:
    """Name the files that do not play with the time of this run."""
    for line in too_slow(task.files, task.rubric, task.pace, store):
        say(line)


def missing(results: Results, hopeless: Collection[str] = ()) -> list[PlannedGame]:
    """Return the games without a result, each once, but for those whose keys are hopeless."""
    todo = {game.key: game for game in results.games}
    return [game for key, game in todo.items() if key not in results.played and key not in hopeless]


def _announce(task: Task, results: Results, todo: Sequence[PlannedGame]) -> None:
    """Say how many games are to be played, and how long that may take.

    Raises `InputError` if it takes more hours than it may.
    """
    later = later_games(results.stages, results.rubric)
    note = ""
    if later:
        listed = ", ".join(f"{len(games)} in {name!r}" for name, games in later.items())
        note = f" in stage {results.stages[-1].stage.name!r}, then {listed}"
    seconds = sum(map(worth, [*todo, *(game for games in later.values() for game in games)]))
    cores = task.playing.workers()
    where = f"{duration(seconds / cores)} on the {cores} used here"
    if task.playing.scheduler is not None:
        where = "divided by the cores of the cluster"
    keys = {game.key for game in todo}
    done = len({game.key for game in results.games} & results.played.keys() - keys)
    say(
        f"{len(todo)} games to play{note} ({done} have results): about {duration(seconds)} of one "
        f"core, {where}, if submissions use all their time"
    )
    if seconds / 3600 > MAX_HOURS and not task.outputs.yes:
        raise InputError(
            f"{seconds / 3600:.0f} core-hours are more than {MAX_HOURS}; fewer boards, repeats or "
            "seconds a move make it shorter, --yes plays it anyway"
        )


def hours_text(results: Results) -> str:
    """Return the core-hours of a whole class if every submission uses all of its time."""
    rubric = results.rubric
    planned = [results.games, *later_games(results.stages, rubric).values()]
    games = {game.key: game for games in planned for game in games}.values()  # once if shared
    rows = []
    for label, limit in level_of_games(rubric).other_limits().items():
        once = (replace(game, time_limit=limit) for game in games if game.repeat == 0)
        one_pair = sum(map(worth, once))
        rows.append((label, _hours(one_pair), _hours(2 * one_pair)))
    headers = ("a move", "1 pair on each board", "2 pairs on each board")
    return (
        f"{rubric.source} takes {_hours(sum(map(worth, games)))} core-hours if submissions use "
        "all their time.\nCore-hours with another limit and other `repeats`:\n"
        f"{tables.text_table(rows, headers)}"
    )


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.1f}" if hours >= 1 else f"{hours:.2g}"


@dataclass
class ClassRun:
    """The games of a run, until none is left that can be played."""

    task: Task
    store: Store
    tries: Counter[str] = field(default_factory=Counter)
    """How often a game has failed in this run, by key."""
    deadly: set[str] = field(default_factory=set)
    """The games that have ended the grader too often."""
    sound: set[str] = field(default_factory=set)
    """The opponents with a game that counts."""
    failing: Counter[str] = field(default_factory=Counter)
    """How many games against each opponent have failed."""
    written: float = 0.0
    """When the quick files were written; infinite if they cannot be."""

    @property
    def hopeless(self) -> set[str]:
        """Return the keys of the games that are no longer tried."""
        return {key for key, tries in self.tries.items() if tries >= ATTEMPTS} | self.deadly

    def play(self, pool: Pool) -> Results:
        """Play until no playable game is missing; return the results."""
        task, store = self.task, self.store
        note_run(store, pool.level)
        self._load(pool)
        results = self._proven(read_results(store), pool)
        todo = missing(results, self.hopeless)
        _announce(task, results, todo)
        if todo and task.of_a_class and task.playing.scheduler is None:
            load = other_load()
            if load is not None:
                say(load_text(load))
        while todo:
            played = play_suspects_alone(todo, iter, store, pool)
            so_far = results.ended
            with Progress(len(todo)) as progress, contextlib.closing(played):
                able = self._follow(played, results, so_far, progress)
            results = self._proven(results.after(so_far), pool)
            if not able:
                break
            done = [state for state in results.stages if state.complete]
            if 0 < len(done) < len(task.rubric.tournament.stages):
                print(tables.stage_text(done[-1], task.rubric) + "\n", flush=True)
            todo = missing(results, self.hopeless)
        return replace(results, starved=store.starved())

    def _load(self, pool: Pool) -> None:
        """Load each submission, and each baseline that has a file, once.

        Raises `InputError` if a baseline cannot be loaded, or a tournament has nobody left.
        """
        task, store = self.task, self.store
        aside = store.aside()
        tried = [item for item in task.files if item.sha256 not in aside]
        for item, problem, fault in load_all(tried, task.rubric, store, pool, task.pace):
            if problem is not None and not item.is_submission:
                raise InputError(
                    f"{task.rubric.source}: agent {item.name!r} cannot be loaded: "
                    f"{headline(problem)}"
                )
            if fault is not None:
                say(f"loading {item.name}: {fault}")
        known = {item.sha256 for item in task.found if item.problem is None}
        submissions = read_results(store).submissions
        for one in submissions:
            if one.problem and one.sha256 in known:
                again = "; the next run tries again" if is_passing(one.problem) else ""
                say(f"{one.name}: 0 points: {tables.clipped(one.problem)}{again}")
        if task.kind == TOURNAMENT and len(gradable(submissions)) < 2:
            raise InputError("a tournament needs two submissions that can play")
        _say_too_slow(task, store)

    def _proven(self, results: Results, pool: Pool) -> Results:
        """Look for the cause of each game that has become deadly; return the results after that."""
        before = self.deadly
        deaths = self.store.suspects()
        self.deadly = {key for key, number in deaths.items() if number >= trials.DEADLY}
        new = [game for game in results.games if game.key in self.deadly - before]
        if trials.prove_deadly(new, self.store, pool):
            return read_results(self.store)
        return results

    def _follow(
        self,
        ended: Iterator[tuple[PlannedGame, Attempt]],
        results: Results,
        so_far: EndedGames,
        progress: Progress,
    ) -> bool:
        """Add and report games as they end; return False if all against one opponent fail.

        A file's results.json or the standings are written again, so that they are current if the
        run stops.
        """
        for game, attempt in ended:
            rival = "" if game.match.two.is_submission else game.match.two.name
            so_far.add(attempt)
            if attempt.key in so_far.played:
                self.sound.add(rival)
            else:
                self.failing[rival] += game.key not in self.tries
                self.tries[game.key] += 1
                again = "; it is played again" if self.tries[game.key] < ATTEMPTS else ""
                progress.say(f"{game.title}: {attempt.fault}{again}")
            progress.step()
            out = self.task.outputs.out
            pause = 0.0 if len(self.task.found) <= tables.FEW else 5.0
            if out is not None and time.monotonic() - self.written > pause:
                self.written = time.monotonic()
                try:
                    writing.write_quick(results.after(so_far), out)
                except InputError as error:  # the games are in the results file all the same
                    say(f"{error}; the games go on")
                    self.written = math.inf
            if rival not in self.sound and self.failing[rival] >= HOPELESS:
                return False
        return True


def why_incomplete(task: Task, results: Results, run: ClassRun, interrupted: bool) -> Iterator[str]:
    """Yield why games have no result, and what the teacher can do."""
    failed = {game.key for game in results.games} & results.faults.keys()
    texts = [results.faults[key] for key in failed]
    if any(text.startswith("the opponent ") for text in texts):
        remedy = "close other programs"
        if not task.of_one_file:
            remedy = f"fix the opponent that {task.rubric.source} names"
        yield (
            "games that an opponent lost by its own fault count for nobody: "
            f"{remedy} and give the same command again"
        )
    busy = "close other programs, or give --jobs 1; " if STARVED in texts else ""
    why = "stopped"
    if not interrupted:
        fault = first_fault(results)
        if len(failed) == results.missing and not missing(results, run.hopeless):
            again = f": {busy}the same command plays what is missing"
            yield (
                f"{number_of(len(failed), 'game')} failed repeatedly: {fault}; the points of the "
                f"matches are withheld{'' if failed <= run.deadly else again}"
            )
            for match in {game.match: 0 for game in results.games if game.key in run.deadly}:
                one, two = match.one.name, match.two.name
                out = ", or take one of them out of the folder" if match.two.is_submission else ""
                yield (
                    f"{one} and {two}: their game ends the grader or its worker, and no trial "
                    "proves that a file does it; the same command does not play it again: "
                    f"`--try-again {shlex.quote(one)}` does{out}"
                )
            return
        why = f"not all games could be played; {fault or 'no reason is known'}"
    yield (
        f"{why}: {results.missing} games to go, {busy}the same command continues where it stopped"
    )

"""The command `practice`, and `grader.practice`: positions with a known answer, and no mark."""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from connect4.errors import InputError, headline
from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED
from connect4.isolation.seat import Level
from connect4.players.base import AgentName, Setup
from connect4.players.registry import parse_agent
from grader import solved
from grader.commands import DONE, STOPPED, Playing, read_rubric, required_level, say
from grader.handin import find as submissions
from grader.handin.positions import METHODS, TIMES
from grader.output import write
from grader.play import Progress, working_time
from grader.play.one_game import limits_of
from grader.rubric.model import Rubric
from grader.solved import LEAST, Answer, Practice, Solved, known_positions, report


def candidates(text: str, rubric: Rubric) -> list[tuple[str, Setup | str]]:
    """Return the agent of that name, or all submissions at that path; raises `InputError`.

    Each has its name, and its setup or why it cannot be asked.
    """
    path, allowed = Path(text.removeprefix("ai:")), rubric.submission.allowed
    if not path.exists() and path.suffix not in (".py", ".zip"):
        agent = parse_agent(text)
        if agent.kind == "human":
            raise InputError(f"{text}: only a file or an agent that needs no person can be asked")
        return [(text, Setup(agent, 1, EXTENDED, LEAST, 0, allowed=allowed))]
    file = path.name if path.suffix == ".py" else "ai.py"
    agent = AgentName(f"ai:{file}", "ai", file)
    found: list[tuple[str, Setup | str]] = []
    for item in submissions.find([path], rubric.submission):
        setup = Setup(agent, 1, EXTENDED, LEAST, 0, source=item.source, allowed=allowed)
        problem = item.problem or ("there is no ai.py" if item.source is None else None)
        found.append((item.name if path.is_dir() else text, problem or setup))
    return found


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked, and how: the same for every candidate."""

    rubric: Rubric
    level: Level
    jobs: int
    positions: Sequence[Solved]
    seconds: Seconds | None = None
    """The time of a move; None for the least at which the agent plays, `LEAST` or more."""
    say: Callable[[str], None] = lambda line: None
    """Called with what is asked to find that time, once it takes long."""

    def prepared(self, name: str, setup: Setup | str) -> Setup:
        """Return the setup with the time of a move; raises `InputError` if there is no player."""
        if isinstance(setup, str):
            raise InputError(f"{name}: {setup}")
        state = solved.largest(self.positions)
        limits, methods = limits_of(self.rubric.limits), METHODS
        with closing(working_time.Asking(setup, self.level, limits, self.say)) as asking:
            seat = asking.player(methods[0], LEAST, state.mover)
            if seat.load_failure is not None:
                raise InputError(f"{name}: cannot be loaded: {headline(seat.load_failure)}")
            seconds = self.seconds
            if seconds is None:
                times = [time for time in TIMES if time >= LEAST]
                seconds = working_time.plays_from(asking, methods, state, times)[0] or LEAST
        return replace(setup, seconds=seconds)

    def answers(
        self, setup: Setup, positions: Sequence[Solved], seconds: Seconds
    ) -> Iterator[Answer]:
        """Yield the answers of an agent until `seconds` are over."""
        limits = limits_of(self.rubric.limits)
        return solved.ask(setup, self.level, limits, positions, seconds, self.jobs)


def practice_and_say(
    text: str,
    rubric: Path | None = None,
    isolation: str = "auto",
    jobs: int | None = None,
    force_jobs: bool = False,
    time: Seconds | None = None,
    seconds: Seconds = 30.0,
    against: str | None = None,
    positions: Path | None = None,
    page: Path | None = None,
) -> int:
    """Ask one agent, or each file of a folder, and print what the answers show."""
    playing = Playing(read_rubric(rubric, None, None, isolation), isolation, jobs, force_jobs)
    found = candidates(text, playing.rubric)
    old = candidates(against, playing.rubric) if against is not None else []
    if against is not None and len(found) + len(old) != 2:
        raise InputError("--against: name one file or agent on each side")
    if page is not None and len(found) + len(old) > 1:
        raise InputError("--page shows the positions of one file: name it, without --against")
    known = known_positions(positions)
    asking = Asking(playing.rubric, playing.level(), playing.workers(), known, time, say)
    if old:
        return _compare(asking, [*found, *old], seconds)
    if len(found) > 1:
        return _class(asking, found, seconds)
    setup = asking.prepared(*found[0])
    practised, status = _practised(asking, found[0][0], setup, asking.positions, seconds)
    print("\n".join(report.lines(practised)))
    if page is not None:
        write(page, report.page(practised, os.environ.get("CONNECT4_PLAYGROUND", "")))
        say(f"the page is in {page}")
    return status


def _practised(
    asking: Asking, name: str, setup: Setup, positions: Sequence[Solved], seconds: Seconds
) -> tuple[Practice, int]:
    """Return the answers of an agent so far, and the exit status: Ctrl-C ends the asking."""
    answers: list[Answer] = []
    status = STOPPED
    with suppress(KeyboardInterrupt), Progress(len(positions), "positions") as progress:
        for answer in asking.answers(setup, positions, seconds):
            answers.append(answer)
            progress.step()
        status = DONE
    return Practice(name, setup.seconds, tuple(positions), tuple(answers)), status


def _compare(asking: Asking, pair: Sequence[tuple[str, Setup | str]], seconds: Seconds) -> int:
    """Ask two agents in the same positions, with the same time, each for half of the seconds."""
    setups = [asking.prepared(*candidate) for candidate in pair]
    most = max(setup.seconds for setup in setups)
    positions = [one for one in asking.positions if one.is_skill or one.kind == solved.REGRET]
    found, status = [], DONE
    for (name, _), setup in zip(pair, setups, strict=True):
        own = replace(setup, seconds=most)
        practised, ended = _practised(asking, name, own, positions, seconds / 2)
        positions = [answer.solved for answer in practised.answers]
        found.append(practised)
        status = max(status, ended)
    print("\n".join(report.difference(*found)))
    return status


def _class(asking: Asking, found: Sequence[tuple[str, Setup | str]], seconds: Seconds) -> int:
    """Print a line for each file, then the skills that most files lack."""
    unseen: Counter[str] = Counter()
    asked, status = 0, DONE
    for name, candidate in found:
        try:
            setup = asking.prepared(name, candidate)
        except InputError as error:
            print(error, flush=True)
            continue
        practised, status = _practised(asking, name, setup, asking.positions, seconds)
        print(report.class_line(practised), flush=True)
        if status != DONE:
            break
        if practised.plays:
            asked += 1
            unseen.update(report.title_of(*skill) for skill in practised.unseen)
    most = [f"{name} ({count})" for name, count in unseen.most_common() if 2 * count > asked]
    print(f"What most of {asked} that answer lack: {', '.join(most) or 'nothing that was asked'}")
    return status


def practice(
    agent: str | os.PathLike[str],
    *,
    seconds: Seconds | None = None,
    total: Seconds | None = 30.0,
    positions: str | os.PathLike[str] | None = None,
    rubric: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    isolation: str = "auto",
) -> Practice:
    """Ask an agent in positions whose answer is known; return its answers.

    `agent` is a file, such as `old/ai.py`, or an agent's name. `seconds` is the time limit per move
    (None: the least at which the agent plays, 0.2 or more), `total` that of all answers (None:
    every position is asked). `positions` is a file with more positions, `jobs` the number of moves
    at once. Raises `InputError` if a file or an agent does not exist or cannot be loaded.

    >>> found = practice("greedy", total=5)
    >>> found.points_lost("b").count + found.points_lost("a").count < len(found.answers)
    True
    """
    rules = read_rubric(None if rubric is None else Path(rubric), None, None, isolation)
    found = candidates(os.fspath(agent), rules)
    if len(found) != 1:
        raise InputError(f"{agent}: {len(found)} submissions there; name one of them")
    known = known_positions(None if positions is None else Path(positions))
    level, _ = required_level(isolation, rules)
    asking = Asking(rules, level, jobs, known, seconds)
    setup, limit = asking.prepared(*found[0]), math.inf if total is None else total
    answers = tuple(asking.answers(setup, asking.positions, limit))
    return Practice(found[0][0], setup.seconds, tuple(asking.positions), answers)

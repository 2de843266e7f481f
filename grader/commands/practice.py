"""The command `practice`, and `grader.practice`: positions with a known answer, and no mark."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from connect4 import config
from connect4.errors import InputError, headline
from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import Level
from connect4.players.base import AgentName, Setup
from connect4.players.registry import parse_agent
from grader.commands import DONE, STOPPED, Playing, read_rubric, required_level, say
from grader.handin import find as submissions
from grader.handin.positions import METHODS, TIMES
from grader.output import write
from grader.output.results import last_lines
from grader.play import Progress
from grader.play.one_game import limits_of
from grader.play.working_time import Asking as Probe
from grader.play.working_time import plays_from
from grader.rubric.model import Rubric
from grader.solved import POINTS, REGRET, Answer, Practice, Solved, ask, in_order, read
from grader.solved.report import class_line, difference, lines, name_of, not_seen
from grader.solved.report import page as html_of

LEAST: Final = 0.2
"""The seconds of a move, if the file plays with them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An agent that is asked, or why it cannot be."""

    name: str
    setup: Setup
    problem: str | None = None


def candidates(text: str, rubric: Rubric) -> list[Candidate]:
    """Return the agent of that name, or all submissions at that path; raises `InputError`."""
    path, allowed = Path(text), rubric.submission.allowed
    if not path.exists() and path.suffix not in (".py", ".zip"):
        agent = parse_agent(text)
        if agent.kind in ("human", "remote"):
            raise InputError(f"{text}: only a file or an agent that needs no person can be asked")
        return [Candidate(text, Setup(agent, 1, EXTENDED, LEAST, 0, allowed=allowed))]
    file = path.name if path.suffix == ".py" else "ai.py"
    agent = AgentName(f"ai:{file}", "ai", file)
    found = []
    for item in submissions.find([path], rubric.submission):
        setup = Setup(agent, 1, EXTENDED, LEAST, 0, source=item.source, allowed=allowed)
        missing = None if item.source is not None else "there is no ai.py"
        name = item.name if path.is_dir() else text
        found.append(Candidate(name, setup, item.problem or missing))
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

    @property
    def limits(self) -> Limits:
        return limits_of({"limits": asdict(self.rubric.limits)})

    def prepared(self, candidate: Candidate) -> Setup:
        """Return the setup with the time of a move; raises `InputError` if there is no player."""
        if candidate.problem is not None:
            raise InputError(f"{candidate.name}: {candidate.problem}")
        state = max((one.state for one in self.positions), key=lambda state: state.board().size)
        probe = Probe(
            candidate.setup, self.level, self.limits, lambda line: say(f"{candidate.name}: {line}")
        )
        with closing(probe):
            seat = probe.player(METHODS[0], LEAST, state.mover)
            if seat.load_failure is not None:
                text = headline(seat.load_failure)
                error = InputError(f"{candidate.name}: cannot be loaded: {text}")
                error.add_note(last_lines(seat.load_failure))
                raise error
            seconds = self.seconds
            if seconds is None:
                times = [time for time in TIMES if time >= LEAST]
                seconds = plays_from(probe, METHODS, state, times)[0] or LEAST
        return replace(candidate.setup, seconds=seconds)

    def answers(
        self, setup: Setup, positions: Sequence[Solved], seconds: Seconds
    ) -> Iterator[Answer]:
        """Yield the answers of an agent until `seconds` are over."""
        return ask(setup, self.level, self.limits, positions, seconds, self.jobs)


def asking_for(
    rubric: Rubric, level: Level, jobs: int, seconds: Seconds | None, more: Path | None = None
) -> Asking:
    """Return what is asked: the kit's positions, and those of another file.

    Raises `InputError` if runs have other points than the answers hold for.
    """
    if config.win_pts != POINTS:
        raise InputError(
            f"connect4/config.py: win_pts is {config.win_pts}; the answers of the positions hold "
            f"for {POINTS} only"
        )
    positions = [*read(), *(read(more) if more is not None else ())]
    return Asking(rubric, level, jobs, in_order(positions), seconds)


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
    asking = asking_for(playing.rubric, playing.level(), playing.workers(), time, positions)
    if old:
        return _compare(asking, found[0], old[0], seconds)
    if len(found) > 1:
        return _class(asking, found, seconds)
    setup = _prepared(asking, found[0])
    practised, status = _practised(asking, found[0].name, setup, asking.positions, seconds)
    print("\n".join(lines(practised)))
    if page is not None:
        write(page, html_of(practised))
        say(f"the page is in {page}")
    return status


def _prepared(asking: Asking, candidate: Candidate) -> Setup:
    """Return the setup of a candidate; if it cannot be loaded, say why."""
    try:
        return asking.prepared(candidate)
    except InputError as error:
        for note in getattr(error, "__notes__", ()):
            say(note)
        raise


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


def _compare(asking: Asking, new: Candidate, old: Candidate, seconds: Seconds) -> int:
    """Ask two agents in the same positions, with the same time, each for half of the seconds."""
    setups = [_prepared(asking, candidate) for candidate in (new, old)]
    most = max(setup.seconds for setup in setups)
    one, two = (replace(setup, seconds=most) for setup in setups)
    positions = [solved for solved in asking.positions if solved.kind == REGRET]
    better, status = _practised(asking, new.name, one, positions, seconds / 2)
    asked = [answer.solved for answer in better.answers]
    worse, other = _practised(asking, old.name, two, asked, seconds / 2)
    print("\n".join(difference(better, worse)))
    return max(status, other)


def _class(asking: Asking, found: Sequence[Candidate], seconds: Seconds) -> int:
    """Print a line for each file, then the skills that most files lack."""
    unseen: Counter[str] = Counter()
    asked, status = 0, DONE
    for candidate in found:
        try:
            setup = asking.prepared(candidate)
        except InputError as error:
            print(error, flush=True)
            continue
        practised, status = _practised(asking, candidate.name, setup, asking.positions, seconds)
        print(class_line(practised), flush=True)
        if status != DONE:
            break
        asked += 1
        unseen.update(f"{part.upper()} {name_of(part, kind)}" for part, kind in not_seen(practised))
    most = [f"{name} ({count})" for name, count in unseen.most_common() if 2 * count > asked]
    print(f"What most of {asked} do not see: {', '.join(most) or 'nothing that was asked'}")
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
    level, _ = required_level(isolation, rules)
    more = None if positions is None else Path(positions)
    asking = asking_for(rules, level, jobs, seconds, more)
    setup, limit = asking.prepared(found[0]), math.inf if total is None else total
    answers = tuple(asking.answers(setup, asking.positions, limit))
    return Practice(found[0].name, setup.seconds, tuple(asking.positions), answers)

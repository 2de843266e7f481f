"""Which games are played: the same boards, sides and seeds for every submission.

A game is known by a key: a hash of everything that its course depends on. What has a result under
its key is never played again; a changed submission changes the keys of its own games alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED
from connect4.players.registry import file_hash, parse_agent
from grader.rubric import AgentLimits, Board, Rubric, Stage

SIDES: Final = (1, 2)

PART_A: Final = "A"
PART_B: Final = "B"


@dataclass(frozen=True, slots=True)
class Contestant:
    """Who plays: a submission by its source's hash, or a baseline by its agent's name."""

    name: str
    agent: str
    sha256: str | None

    @property
    def is_submission(self) -> bool:
        """Return whether its source comes from a student."""
        return self.agent == "ai:"


def submitted(name: str, sha256: str) -> Contestant:
    """Return a submission as a contestant."""
    return Contestant(name, "ai:", sha256)


def baseline(agent: str) -> Contestant:
    """Return an agent of the kit; the hash of its file counts where it is one."""
    return Contestant(agent, agent, file_hash(parse_agent(agent)))


@dataclass(frozen=True, slots=True)
class Match:
    """All games of two contestants in one part of the grading or one group of a tournament."""

    part: str
    one: Contestant
    two: Contestant


@dataclass(frozen=True)
class Game:
    """One game. `side` is the player that `match.one` is: 1 moves first."""

    match: Match
    board: Board
    repeat: int
    side: int
    seed: int
    time_limit: Seconds
    limits: AgentLimits

    @property
    def players(self) -> tuple[Contestant, Contestant]:
        """Return player 1 and player 2."""
        one, two = self.match.one, self.match.two
        return (one, two) if self.side == 1 else (two, one)

    @cached_property
    def key(self) -> str:
        """Return the hash of everything that the game's course depends on."""
        one, two = ([player.name, player.agent, player.sha256] for player in self.players)
        terms = [EXTENDED.rules_version, self.board.digest, self.seed, self.time_limit]
        text = json.dumps([EXTENDED.name, *terms, one, two, repr(self.limits)])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def job(self, isolation: str, sources: dict[str, str]) -> dict[str, Any]:
        """Return all that a worker needs to play the game, as plain values."""
        return {
            "key": self.key,
            "start": self.board.start,
            "players": [
                {
                    "name": player.name,
                    "agent": player.agent,
                    "source": sources[str(player.sha256)] if player.is_submission else None,
                }
                for player in self.players
            ],
            "seed": self.seed,
            "time_limit": self.time_limit,
            "limits": asdict(self.limits),
            "isolation": isolation,
        }


def seed_of(*parts: object) -> int:
    """Return a seed of up to 18 digits that follows from `parts` alone."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % 10**18


def _games(
    match: Match, boards: Iterable[Board], repeats: int, seed: int, seconds: Seconds, rubric: Rubric
) -> Iterator[Game]:
    for board in boards:
        for repeat in range(repeats):
            pair_seed = seed_of(seed, board.name, repeat)
            for side in SIDES:
                yield Game(match, board, repeat, side, pair_seed, seconds, rubric.limits)


def grade_games(submissions: Iterable[Contestant], rubric: Rubric) -> list[Game]:
    """Return the games of parts A and B, submission by submission."""
    rules = rubric.match
    weak = baseline(rubric.part_a.opponent)
    ladder = [baseline(step.agent) for step in rubric.part_b.baselines]
    games: list[Game] = []
    for submission in submissions:
        matches = [(Match(PART_A, submission, weak), rubric.part_a.boards)]
        matches += [(Match(PART_B, submission, step), rubric.part_b.boards) for step in ladder]
        for match, boards in matches:
            games += _games(
                match, boards, rules.repeats, rules.playing_seed, rules.time_limit, rubric
            )
    return games


def group_games(part: str, group: Sequence[Contestant], stage: Stage, rubric: Rubric) -> list[Game]:
    """Return the games of one group of a tournament: everybody meets everybody."""
    seed = seed_of(rubric.match.playing_seed, stage.name)
    games: list[Game] = []
    for one, two in combinations(group, 2):
        match = Match(part, one, two)
        games += _games(match, stage.boards, stage.repeats, seed, stage.time_limit, rubric)
    return games


def timed_turns(game: Game) -> int:
    """Return about how many turns of a game are thought about for the whole time limit.

    A game fills the empty cells and may spend the pop-outs; each side has half of the turns.
    """
    empty = sum(row.count(0) for row in game.board.start["board"])
    popouts = game.board.start["popouts"]
    turns = empty + (sum(popouts) if isinstance(popouts, list) else 2 * popouts)
    thinkers = sum(thinks(player.agent) for player in game.players)
    return int(turns) * thinkers // 2


def thinks(agent: str) -> bool:
    """Return whether an agent uses the time it has; random, greedy and bounded ones do not."""
    name = parse_agent(agent) if agent != "ai:" else None
    if name is None:
        return True
    bounded = {"depth", "nodes", "iterations"} & set(name.options)
    return name.kind not in ("random", "greedy") and not bounded

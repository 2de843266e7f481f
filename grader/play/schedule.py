"""The games to be played: the same boards, sides and seeds for every submission.

A key identifies a game: a hash of everything that its course depends on. A game with a stored
result under its key is never played again. A changed submission changes the keys of its own games
only.
"""

import hashlib
import hmac
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Final, TypeAlias

from connect4.games import GAMES
from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED
from connect4.isolation.seat import Level, level_named
from connect4.players.base import split_name
from connect4.players.registry import file_hash, parse_agent
from grader.results.store import Store
from grader.rubric import Board, KitAgent
from grader.rubric.model import AgentLimits, Rubric, Stage

SIDES: Final = (1, 2)

START_SECONDS: Final = 1.0
"""The time that a game takes besides its turns: two processes start and end."""

STREAM: Final = 1
"""Increase this number when random agents make different draws from the same seed."""

AGENTS: Final[dict[str, int]] = {}
"""Kinds of the kit's agents that play differently than before; increase the number, from 2 on."""

PART_A: Final = "A"
PART_B: Final = "B"
COMPARE: Final = "compare"
"""The part that the games of `compare` belong to."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A contestant: a file, whoever handed it in, or an agent of the rubric."""

    id: str
    """What the results file names it by: the hash of the file, or the agent's name there."""
    agent: str
    sha256: str | None
    name: str = field(compare=False)
    """What people read: the authors, or the agent's name."""

    @property
    def is_submission(self) -> bool:
        """Return whether the contestant is a file that was handed in."""
        return self.agent == "ai:"

    def source(self, store: Store) -> bytes | None:
        """Return the content of a file that was handed in, None for an agent of the rubric."""
        found = store.source(str(self.sha256)) if self.is_submission else None
        assert (found is not None) == self.is_submission
        return found


def submitted(name: str, sha256: str) -> Contestant:
    """Return a file that was handed in as a contestant."""
    return Contestant(sha256, "ai:", sha256, name)


def baseline(agent: str, game: str = EXTENDED.name) -> Contestant:
    """Return an agent of the kit as a contestant; if it is a file, with the hash of the file."""
    return Contestant(agent, agent, file_hash(parse_agent(agent, game)), agent)


def opponent(agent: KitAgent) -> Contestant:
    """Return an agent of a rubric as a contestant."""
    return Contestant(agent.name, agent.agent, agent.sha256, agent.name)


def names_of(authors: Iterable[str]) -> str:
    """Return the name of a file that several have handed in: those of all of them."""
    return "; ".join(dict.fromkeys(authors))


Sources: TypeAlias = tuple[bytes | None, bytes | None]
"""The content of both players' files; None for an agent of the rubric."""


@dataclass(frozen=True, slots=True)
class Match:
    """All games of two contestants in one part of the grading or one group of a tournament."""

    part: str
    one: Contestant
    two: Contestant


@dataclass(frozen=True)
class PlannedGame:
    """One game; `side` is the player number of `match.one`, and player 1 moves first."""

    match: Match
    board: Board
    repeat: int
    side: int
    seed: int
    time_limit: Seconds
    limits: AgentLimits

    @property
    def players(self) -> tuple[Contestant, Contestant]:
        one, two = self.match.one, self.match.two
        return (one, two) if self.side == 1 else (two, one)

    @property
    def counts_points(self) -> bool:
        """Return whether the game is worth its points; else a win is 1, a draw 0 and a loss -1."""
        return GAMES[self.board.game].counts_points

    @cached_property
    def key(self) -> str:
        """Return the hash of everything that the game's course depends on."""
        rules = GAMES[self.board.game]
        terms = [rules.rules_version, self.board.digest, self.seed, self.time_limit]
        players = [_player_key(player) for player in self.players]
        versions = [STREAM, [version for _, version in players]]
        content = [own for own, _ in players]
        worth = [list(rules.points), limits_key(self.limits)]
        text = json.dumps([rules.name, *terms, *content, *worth, versions])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def submitted(self) -> list[str]:
        """Return the hashes of the game's submissions."""
        return [str(player.sha256) for player in self.players if player.is_submission]

    @property
    def title(self) -> str:
        """Return the game in words."""
        return (
            f"{self.match.part}: {self.match.two.name}, {self.board.label}, "
            f"as player {self.side}, round {self.repeat + 1}"
        )

    @property
    def nameless(self) -> str:
        """Return the game in words, without the name of a student."""
        rival = "another submission" if self.match.two.is_submission else self.match.two.name
        return f"{rival}, {self.board.label}, as player {self.side}, round {self.repeat + 1}"

    def job(self, level: Level, store: Store) -> "tuple[PlannedGame, Level, Sources]":
        """Return what a worker requires to play the game, the arguments of `play_game`."""
        one, two = self.players
        return self, level, (one.source(store), two.source(store))


@lru_cache(maxsize=1024)
def _player_key(player: Contestant) -> tuple[list[object], int]:
    """Return a player's part of a key: its content, never its path; and its agent's version."""
    if player.is_submission:
        return ["ai:", player.sha256], 0
    name = split_name(player.agent)
    content: list[object] = [name.kind, sorted(name.options.items()), player.sha256]
    return content, AGENTS.get(name.kind, 1)


def limits_key(limits: AgentLimits) -> dict[str, object]:
    """Return the limits that differ from the defaults of their fields, by name.

    The default of a new field means "as before", and no default changes. A key therefore stays the
    same as long as the game is played in the same way.
    """
    return {
        item.name: value
        for item in fields(limits)
        if (value := getattr(limits, item.name)) != item.default
    }


def limits_text(rubric: Rubric) -> str:
    """Return the limits that decide whether a source can be loaded, as a key."""
    return json.dumps(limits_key(rubric.limits))


def secret_seed(secret: int, *parts: object) -> int:
    """Return the 128-bit seed of one game; it reveals neither `secret` nor other seeds.

    `parts` include the side. The seed of an agent in one game of a pair therefore differs from the
    seed of its opponent in the other game.
    """
    text = "/".join(map(str, parts))
    digest = hmac.digest(str(secret).encode(), text.encode(), "sha256")
    return int.from_bytes(digest[:16], "big")


def seed_of(*parts: object) -> int:
    """Return a seed of up to 18 digits that depends only on `parts`."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % 10**18


def _games(
    match: Match,
    boards: Iterable[Board],
    repeats: int,
    seconds: Seconds,
    rubric: Rubric,
    *purpose: str,
) -> Iterator[PlannedGame]:
    """Yield the games of a match; `purpose` keeps the seeds of stages distinct."""
    seed = rubric.match.playing_seed
    if rubric.match.seed_for == "source":
        both = (match.one, match.two)
        seed = secret_seed(seed, "source", *(one.sha256 for one in both if one.is_submission))
    boards = list(boards)
    for repeat in range(repeats):
        for board in boards:
            for side in SIDES:
                own = secret_seed(seed, *purpose, board.name, repeat, side)
                yield PlannedGame(match, board, repeat, side, own, seconds, rubric.limits)


def grade_games(submissions: Iterable[Contestant], rubric: Rubric) -> list[PlannedGame]:
    """Return the games of parts A and B, one submission after the other."""
    rules = rubric.match
    weak = opponent(rubric.part_a.opponent)
    ladder = [opponent(step.agent) for step in rubric.part_b.baselines]
    games: list[PlannedGame] = []
    for submission in submissions:
        matches = [(Match(PART_A, submission, weak), rubric.part_a.boards)]
        matches += [(Match(PART_B, submission, step), rubric.part_b.boards) for step in ladder]
        for match, boards in matches:
            games += _games(match, boards, rules.repeats, rules.time_limit, rubric)
    return games


def group_games(
    part: str, group: Sequence[Contestant], stage: Stage, rubric: Rubric
) -> list[PlannedGame]:
    """Return the games of one group of a tournament: everybody plays everybody."""
    games: list[PlannedGame] = []
    for one, two in combinations(group, 2):
        match = Match(part, one, two)
        games += _games(match, stage.boards, stage.repeats, stage.time_limit, rubric, stage.name)
    return games


def timed_turns(game: PlannedGame) -> int:
    """Return approximately how many turns of a game use the whole time limit.

    A game fills the empty cells. A pop-out is a turn and empties one more cell. Each side has half
    of the turns.
    """
    turns = game.board.state.max_plies
    thinkers = sum(thinks(player.agent) for player in game.players)
    return turns * thinkers // 2


def worth(game: PlannedGame) -> Seconds:
    """Return the approximate seconds of a game in which everybody uses the whole time.

    Random, greedy and searches to a fixed depth take almost no time. If
    the limit is in virtual seconds, how long they take depends on the machine.
    """
    seconds = level_named(game.limits.require).wall_seconds(game.time_limit)
    return START_SECONDS + timed_turns(game) * seconds


def thinks(agent: str) -> bool:
    """Return whether an agent uses its time; random, greedy and bounded agents do not."""
    if agent == "ai:":
        return True
    name = split_name(agent)
    bounded = {"depth", "nodes", "iterations"} & set(name.options)
    return name.kind not in ("random", "greedy") and not bounded


def opening(board: Board, plies: int, seed: int) -> Board:
    """Return the board after `plies` random moves, fewer if the game would be over."""
    rng = random.Random(seed)
    state = board.state
    for _ in range(plies):
        after = state.apply(rng.choice(state.legal_actions()))
        if after.is_over():
            break
        state = after
    return Board(f"{board.name} opening {seed}", state.to_json(), game=board.game)

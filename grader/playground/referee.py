"""The referee's side of the playground: the kit, in a worker of the browser.

`assets/playground_worker.js` calls `Referee.handle`. The rules, the record and the kit's agents are
those of every game. The replies of people and of students' files come from outside, as text.
"""

import json
from collections.abc import Callable, Generator
from dataclasses import asdict, replace
from typing import Any, Final

from connect4 import record as records
from connect4.__main__ import planned
from connect4.errors import AgentError, IllegalAction, InputError
from connect4.games.base import SIDES, Ending, Game, Player, Seconds
from connect4.games.extended import EXTENDED
from connect4.isolation import protocol
from connect4.isolation.levels import Timed
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import MADE_ANEW
from connect4.players.base import AgentName, Outcome, PlayerLeftError, Reply, Setup, TakenBackError
from connect4.players.registry import parse_agent
from connect4.referee import Result, TurnBegun
from connect4.table import Table
from connect4.views.live import Feed, SentSeat, turns_to_send
from connect4.views.tree import explain, read_nodes, tree_page

SENT: Final = ("ai", "human")
"""Kinds of players whose replies come from outside this worker; the others are the kit's."""

MARGIN: Final = 0.05
"""Seconds that an answer may take from worker to worker."""


class Referee:
    """Plays one game after another; `post` receives the page's events."""

    def __init__(self, post: Callable[[str, str], object]) -> None:
        self._feed = Feed(lambda name, data: post(name, json.dumps(data, separators=(",", ":"))))
        self._seats: dict[Player, SentSeat] = {}
        self._asked: TurnBegun | None = None

    def handle(self, kind: str, text: str) -> str:
        """Return the answer to a request; both are JSON."""
        try:
            return json.dumps(getattr(self, kind)(**json.loads(text)))
        except (InputError, AgentError, IllegalAction) as error:
            return json.dumps({"wrong": str(error)})

    def plan(
        self, words: list[str], source: str, place: str = "", record: str = "", turn: int = 0
    ) -> dict[str, Any]:
        """Prepare the game of a command line; return what each student's worker loads.

        It begins with the position of a link (`place`), or, with the record of another game, with
        the position after that turn.
        """
        data = source.encode()
        (plan,) = planned(words)
        start = list(records.replay(records.loads(record)))[turn] if record else plan.start
        if place and not record:
            from grader.solved import linked_state  # late: only this needs it

            start = linked_state(place)
        self._plan = replace(plan, start=start, terms=replace(plan.terms, sources=(data, data)))
        terms = self._plan.terms
        self._seats = {player: SentSeat() for player in SIDES}
        self._table = Table(plan.game, start, plan.agents, terms, self._seats.__getitem__, SENT)
        setups = {
            player: sent(
                Setup(agent, player, plan.game, terms.seconds, terms.seed, seen.asked, data)
            )
            for player, agent, seen in zip(
                SIDES, plan.agents, self._table.record.players, strict=True
            )
            if agent.kind == "ai"
        }
        return {"setups": setups, "loading": Limits().start_seconds}

    def play(self, loaded: dict[str, str]) -> dict[str, Any]:
        """Begin the game; `loaded` is what each student's worker said."""
        for player in SIDES:
            if str(player) in loaded:
                failure = protocol.why_not_loaded(loaded[str(player)].encode())
                self._seats[player].load_failure = failure
        self._feed.begin(self._table.record)
        self._turns: Generator[TurnBegun, Reply | None, None] = turns_to_send(
            self._table, self._plan, self._feed, lambda player: True
        )
        return self._next(lambda: next(self._turns))

    def think(self) -> dict[str, Any]:
        """Let an agent of the kit move."""
        return self._next(lambda: self._turns.send(None))

    def move(self, text: str, seconds: Seconds) -> dict[str, Any]:
        """Play what a person typed."""
        assert self._asked is not None
        try:
            reply = self._feed.typed(text, self._asked, self._plan, seconds)
        except (PlayerLeftError, TakenBackError) as error:
            ended = error
            return self._next(lambda: self._turns.throw(ended))
        if reply is None:
            return {"wrong": "a hint is shown on the board"}
        return self._next(lambda: self._turns.send(reply))

    def answer(self, line: str | None, seconds: Seconds, printed: str) -> dict[str, Any]:
        """Play what a student's worker answered; None if it has not."""
        assert self._asked is not None
        seat = self._seats[self._asked.state.mover]
        seat.log = f"[turn {self._asked.number}]\n{printed}" if printed else ""
        limit = self._asked.limit
        assert limit is not None
        reply, alive = judged(line, seconds, limit, self._plan.game)
        return {**self._next(lambda: self._turns.send(reply)), "anew": not alive}

    def _next(self, resume: Callable[[], TurnBegun]) -> dict[str, Any]:
        """Return the next turn that needs a reply; nothing at the end."""
        try:
            self._asked = begun = resume()
        except StopIteration:
            self._asked = None
            self._feed.over(self._table.record)
            return {}
        request = {"state": begun.state.to_json(), "seconds": begun.limit}
        kind = self._plan.agents[begun.state.mover - 1].kind
        stopped = Result(begun.state.scores(), Ending.ABORTED, 0)
        record = records.dumps(replace(self._table.record, result=stopped))
        return {"player": begun.state.mover, "kind": kind, "request": request, "record": record}

    def stop(self, record: str) -> dict[str, Any]:
        """End a game as its record has it; the referee that played it may be gone."""
        self._feed.over(records.loads(record))
        return {}

    def tree(
        self, record: str, turn: int, source: str, answer: str | None = None
    ) -> dict[str, Any]:
        """Return the page of the search of a turn, or what to ask a student's worker for it."""
        played = records.loads(record)
        if not 1 <= turn <= len(played.turns):
            raise InputError("choose a turn first")
        state = list(records.replay(played))[turn - 1]
        agent = parse_agent(played.players[state.mover - 1].agent, played.game.name)
        limit = played.time_limit
        setup = Setup(
            *(agent, state.mover, played.game, limit, played.seed, "intelligent"),
            source.encode(),
        )
        if agent.kind != "ai":
            nodes = explain(setup, state)
        elif answer is None:
            asked = {"setup": sent(setup), "state": state.to_json()}
            return {"ask": asked, "seconds": limit}
        else:
            nodes = read_nodes(agent, played.game, *protocol.read_message(answer.encode()))
        return {"page": tree_page(played.game, state, agent.text, nodes)}

    def analyse(self, record: str, seconds: Seconds) -> dict[str, Any]:
        """Search what each move of a game cost, and show the game again with it."""
        from connect4.analysis import costs  # late: only this needs it

        played = records.loads(record)

        def tell(done: int, todo: int) -> None:
            self._feed.add("making", f"positions: {done} of {todo}")

        played.extra["analysis"] = costs.analyse(played, seconds, 0, tell).to_json()
        self._feed.begin(played)
        self._feed.over(played)
        return {}

    def check(self, source: str) -> dict[str, Any]:
        """Return what a student's worker needs to check a file: rules, and boards for moves."""
        from grader.handin.positions import METHODS, TIMES, asked_positions, line_of  # late
        from grader.rubric import model, reading

        rubric = reading.read()
        boards = [board.state for board in model.all_boards(rubric)]
        limit = rubric.match.time_limit
        games = asked_positions(boards)
        terms = EXTENDED, limit, 0
        setups = [
            sent(Setup(AgentName("ai", "ai"), 1, *terms, method, source.encode()))
            for method in METHODS
        ]
        return {
            "setups": setups,
            "lines": [line_of(f"get_{method}_move", source) for method in METHODS],
            "limit": limit,
            "request": {
                "rules": asdict(rubric.submission),
                "games": [(kind, [state.to_json() for state in states]) for kind, states in games],
                "times": [*(seconds for seconds in TIMES if seconds < limit), limit],
            },
        }

    def practice(self, source: str, address: str = "") -> dict[str, Any]:
        """Begin to ask a file positions whose answer is known; return what to ask first.

        The page of the result links its positions to `address`, that of this playground.
        """
        from grader.playground.practice import Practising  # late: only this needs the positions

        self._practising = Practising(source.encode(), address)
        return self._position()

    def position(self, loaded: str, line: str | None, seconds: Seconds) -> dict[str, Any]:
        """Take the answer in a position; return what to ask next, nothing after the last one."""
        asked = self._practising.asked
        assert asked is not None
        failure = protocol.why_not_loaded(loaded.encode())
        if failure is None:
            reply, _ = judged(line, seconds, asked.setup.seconds, EXTENDED)
        else:
            reply = Reply(Outcome.ERROR, detail=failure)
        self._practising.hear(reply, is_loaded=failure is None)
        return self._position()

    def _position(self) -> dict[str, Any]:
        asked = self._practising.asked
        if asked is None:
            return {}
        return {
            "setup": sent(asked.setup),
            "loading": Limits().start_seconds,
            "request": {"state": asked.state.to_json(), "seconds": asked.wait},
            "progress": self._practising.progress,
        }

    def practised(self) -> dict[str, Any]:
        """Return what the answers so far show."""
        return self._practising.result()


def judged(line: str | None, seconds: Seconds, limit: Seconds, game: Game) -> tuple[Reply, bool]:
    """Return the reply of what a worker answered, and whether it may be asked again.

    The line is None if it has not answered.
    """
    if line is None or seconds > limit + MARGIN:
        detail = Timed(seconds).late_text(limit, line is not None, MARGIN)
        reply = Reply(Outcome.TIMEOUT, detail=f"{detail}\n{MADE_ANEW}")
        return replace(reply, seconds=seconds, overrun=seconds - limit), False
    first, _, thought = line.encode().partition(b"\n")
    key, value = protocol.read_message(first)
    if key == protocol.FAILED:
        return Reply(Outcome.ERROR, detail=protocol.cleaned(value)), False
    reply, alive = protocol.read_answer(first, game, notes=False)
    reply = protocol.read_thought(reply, thought, game)
    return replace(reply, seconds=seconds), alive


def sent(setup: Setup) -> dict[str, Any]:
    """Return a setup with its source, as a student's worker reads it."""
    return protocol.setup_to_json(protocol.handed_over(setup))

"""The command `viva`: five positions of a student's own games, for a talk with the author.

The positions are those in which a choice can be asked about. The analysis of the game (the kit's
strongest agent) says what was best. No language model takes part.
"""

import html
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

from connect4 import record as records
from connect4.analysis.costs import Analysis, Cost, analyse
from connect4.analysis.experts import expert_for
from connect4.errors import InputError, IsolationError, headline
from connect4.games.base import Seconds, State
from connect4.players.base import AgentName, Method, Outcome, Setup, Turn
from connect4.search.trace import Flag, Node
from connect4.views.board import shape_data
from connect4.views.document import Page, card, heading
from connect4.views.tree import explain
from connect4.views.words import belief_text, thought_text
from grader.commands import DONE, say
from grader.commands.student import games_of
from grader.handin import Submission
from grader.output import check_out, write
from grader.output.pages import table
from grader.output.results import Results, read_results
from grader.output.tables import Number
from grader.play import number_of
from grader.play.schedule import PART_A, PlannedGame
from grader.results.store import Store

PARTS: Final = ("base", "report", "theme", "board", "figures", "viva")
"""The assets of the page."""

QUESTIONS: Final = 5
GAMES: Final = 4
"""The games that are analysed."""

SECONDS: Final = 0.4
"""The time of one search."""

SHOWN_MOVES: Final = 5
"""The moves in the table of a position: the best ones, and the one that was played."""


@dataclass(frozen=True)
class Played:
    """A game of the student with its analysis; `player` is the student's number."""

    number: int
    title: str
    record: records.Record
    player: int
    analysis: Analysis
    states: list[State] = field(repr=False)

    def judged(self, turn: Turn) -> Cost:
        """Return what the analysis says of a turn."""
        found = self.analysis.costs[turn.number - 1]
        assert found is not None
        return found


@dataclass(frozen=True)
class Worth:
    """The value of a legal move for its mover, with its continuation."""

    move: str
    value: float
    proven: bool
    line: str


@dataclass(frozen=True)
class Question:
    """A position to ask about, and the key: the moves by their worth, the best one first."""

    game: Played
    turn: Turn
    worths: list[Worth]

    @property
    def title(self) -> str:
        """Return why the position is worth a question."""
        if self.turn.is_lost:
            return "A lost turn"
        return "A costly move" if self.game.judged(self.turn).loss else "A move of yours"

    @property
    def asked(self) -> str:
        if self.turn.is_lost:
            return "What happened in this turn? Which line of your file caused it, and why?"
        return f"Why did your program choose {self.turn.text}? Which reply did it expect?"

    @property
    def state(self) -> State:
        """Return the position in which the student had to move."""
        return self.game.states[self.turn.number - 1]


def analysed(number: int, title: str, text: str, player: int, jobs: int) -> Played:
    """Return a game with its analysis; raises `InputError` if its record cannot be read."""
    record = records.loads(text)
    states = list(records.replay(record))
    return Played(number, title, record, player, analyse(record, SECONDS, jobs), states)


def questions(games: Sequence[Played]) -> list[Question]:
    """Return what to ask about, at most `QUESTIONS`: lost turns and the costliest moves."""
    lost, moves = [], []
    for game in games:
        own = [turn for turn in game.record.turns if turn.player == game.player]
        lost += [(game, turn) for turn in own if turn.is_lost and not turn.starved][:1]
        played = [
            turn
            for turn in own
            if turn.outcome is Outcome.PLAYED and game.analysis.costs[turn.number - 1] is not None
        ]
        played.sort(key=lambda turn: -game.judged(turn).loss)
        moves += [(game, turn) for turn in played[: math.ceil(QUESTIONS / len(games))]]
    moves.sort(key=lambda move: -move[0].judged(move[1]).loss)
    chosen = [*filter(None, chain.from_iterable(zip_longest(lost, moves)))][:QUESTIONS]
    return [
        Question(game, turn, [] if turn.is_lost else worths(game, turn))
        for game, turn in sorted(chosen, key=lambda one: (one[0].number, one[1].number))
    ]


def worths(game: Played, turn: Turn) -> list[Worth]:
    """Return the legal moves of a position by their worth for its mover, the best first.

    Estimates are compared at the depth that every search reached.
    """
    state = game.states[turn.number - 1]
    expert = expert_for(game.record.game, game.record.start)
    found = [
        (action, expected)
        for action in state.legal_actions()
        if (expected := expert.expect(state.apply(action), SECONDS)) is not None
    ]
    depth = min((item.depths[-1][0] for _, item in found if item.depths), default=0)
    write, sign = game.record.game.format_action, 1 if state.mover == 1 else -1
    listed = []
    for action, item in found:
        estimate = None if item.proven else item.at(depth)
        value = item.value if estimate is None else estimate
        line = ["pass" if move is None else write(move) for move in item.line[:SHOWN_MOVES]]
        listed.append(Worth(write(action), round(sign * value, 1), item.proven, " ".join(line)))
    return sorted(listed, key=lambda worth: -worth.value)


def branch(item: Question, source: bytes, method: Method, seconds: Seconds) -> str:
    """Return the moves that the file's own search expects, from its method `explain`; or why not.

    `explain` may search less deeply than a turn. The file runs in an isolated process.
    """
    name = AgentName("ai.py", "ai", "")
    setup = Setup(name, item.state.mover, item.game.record.game, seconds, 0, method, source)
    try:
        nodes = explain(setup, item.state)
    except (InputError, IsolationError) as error:
        return headline(str(error))
    write = item.game.record.game.format_action
    moves = ["pass" if node.move is None else write(node.move) for node in principal(nodes)]
    value = next((node.value for node in nodes if node.value is not None), None)
    worth = "" if value is None else f", worth {value:.1f}"
    other = "" if moves[:1] == [item.turn.text] else f" (in the game it played {item.turn.text})"
    return f"{' '.join(moves) or 'no move'}{worth}{other}"


def principal(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield the nodes of the line that a search took for best, without the root."""
    depth = 0
    for node in nodes[1:]:
        if node.depth <= depth:
            return
        if node.depth == depth + 1 and Flag.BEST in node.flags:
            depth = node.depth
            yield node


def viva_page(name: str, asked: Sequence[Question], branches: Callable[[Question], str]) -> str:
    """Return the page: the questions first, and on a second sheet of paper the key."""
    sheet = [_sheet(place, item) for place, item in enumerate(asked, 1)]
    key = [_key(place, item, branches(item)) for place, item in enumerate(asked, 1)]
    parts = [
        heading(f"Talk with {name}"),
        "<p>Five minutes: ask about each position, let the author open the file, and take notes. "
        "The key is on its own sheet.</p>",
        *sheet,
        '<h2 class="sheet">Key</h2>',
        "<p>Points, from the author's side. An estimate is a search of the kit's strongest agent; "
        "other moves may be as good.</p>",
        *key,
    ]
    body = "\n".join(['<main class="report viva">', *parts, "</main>"])
    data = [shape_data(item.state) for item in asked]
    return Page(f"Talk with {name}", PARTS, body, data).alone()


def _sheet(place: int, item: Question) -> str:
    where = f"Game {item.game.number} ({item.game.title}), turn {item.turn.number}"
    own = item.turn.player - 1
    scores, left = item.state.scores(), item.state.pop_outs_left
    pops = "" if left is None else f" Pop-outs left: yours {left[own]}, theirs {left[1 - own]}."
    tokens = ("dots", "rings")[own]
    text = [
        f"<h2>{place}. {item.title}</h2>",
        f"<p>{html.escape(where)}. You are player {item.turn.player} (the {tokens}), to "
        f"move; the score is {scores[own]} to {scores[1 - own]}.{pops}</p>",
        f'<figure id="position-{place}"><pre>{html.escape(item.state.to_text())}</pre></figure>',
        f"<p><strong>{html.escape(item.asked)}</strong></p>",
        '<p class="notes">Notes</p>',
    ]
    return card("\n".join(text))


def _key(place: int, item: Question, searched: str) -> str:
    turn = item.turn
    text = [f"<h3>{place}. {item.title}: game {item.game.number}, turn {turn.number}</h3>"]
    if turn.is_lost:
        said = headline(turn.detail or "")
        text.append(f"<p>Lost: {html.escape(turn.outcome.value)}. {html.escape(said)}</p>")
    else:
        text.append(f"<p>Played: {html.escape(str(turn.text))}</p>")
    shown = [
        worth
        for number, worth in enumerate(item.worths)
        if number < SHOWN_MOVES or worth.move == turn.text
    ]
    if shown:
        rows = [
            [worth.move, f"{worth.value:+g}", "proven" if worth.proven else "estimate", worth.line]
            for worth in shown
        ]
        text.append(table(("move", Number("worth"), "", "then"), rows))
    best, thought = item.worths[0] if item.worths else None, ""
    if best is not None and best.move != turn.text:
        own = next((worth.value for worth in item.worths if worth.move == turn.text), best.value)
        thought = belief_text(turn, own, best.move, best.value)
    if thought := thought or thought_text(turn):
        text.append(f"<p>In the game: {html.escape(thought)}</p>")
    text.append(f"<p>Its method explain: {html.escape(searched)}</p>")
    return card("\n".join(text))


def viva(path: Path, text: str, place: Path) -> int:
    """Write the page about one student's games."""
    for folder in place.absolute().parents:
        outputs = ("class.html", "grades.csv", "standings.html", "index.html")
        shown = next((name for name in outputs if (folder / name).is_file()), None)
        if shown is not None:
            raise InputError(
                f"-o {place}: {folder} holds {shown}, so students may see it; choose another folder"
            )
    check_out(place.parent)
    with Store(path, writing=False) as store:
        results = read_results(store)
        item = results.find(text, path)
        chosen = chosen_games(item, results, path)
        say(f"analysing {number_of(len(chosen), 'game')}, which takes a minute or two ...")
        played = []
        for number, game in chosen.items():
            if (record := store.record(game.key)) is not None:
                side = _side(game, item)
                played.append(analysed(number, game.title, record, side, os.cpu_count() or 1))
        asked = questions(played)
        if not asked:
            raise InputError(f"{path}: {item.name} played no turn that can be asked about")
        source = store.source(str(item.sha256)) or b""

    def branches(question: Question) -> str:
        game = chosen[question.game.number]
        method: Method = "expectimax" if game.match.part == PART_A else "intelligent"
        return branch(question, source, method, game.time_limit)

    write(place, viva_page(item.name, asked, branches), 0o600)
    say(f"{place}: {len(asked)} positions, then the key; only you can read it")
    return DONE


def _side(game: PlannedGame, item: Submission) -> int:
    """Return the player number of a submission in its game."""
    return game.side if game.match.one.id == item.sha256 else 3 - game.side


def chosen_games(item: Submission, results: Results, path: Path) -> dict[int, PlannedGame]:
    """Return games of a student by their numbers on the student's page.

    Half of them were lost by most, the others were the closest. Raises `InputError` if the student
    has no game with a result.
    """
    there = {
        number: game
        for number, game in enumerate(games_of(item, results, path), 1)
        if game.key in results.played and not game.board.hidden
    }

    def margin(number: int) -> int:
        game, scores = there[number], results.played[there[number].key].scores
        side = _side(game, item)
        return scores[side - 1] - scores[2 - side]

    worst = sorted(there, key=margin)[: GAMES // 2]
    close = sorted(there.keys() - set(worst), key=lambda number: (abs(margin(number)), number))
    return {number: there[number] for number in [*worst, *close[: GAMES - len(worst)]]}

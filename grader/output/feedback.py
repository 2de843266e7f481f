"""The page of a submission: marks, a drawing of the margins, lost turns, a replay of every game.

The page is one HTML file that loads nothing else. Text by a student is never used as markup.
"""

from __future__ import annotations

import hashlib
import html
import inspect
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from connect4.views import document
from connect4.views.page.page import PARTS
from grader.marks.points import Mark, MatchMark
from grader.marks.tally import full_points, margin_of
from grader.output import lost_turns as lost_turns_module
from grader.output import pages
from grader.output.drawing import margins
from grader.output.explain import explained, told_plainly, total_explained
from grader.output.lost_turns import MAX_REASONS, LostTurn
from grader.output.pages import Cell, Link, card, heading, link, minus, progress, table, whole
from grader.output.tables import (
    clipped,
    faults_text,
    finding_text,
    level_text,
    match_row,
    points_text,
    remark,
    total_text,
)
from grader.play.one_game import MADE_BY, Replay, without_folders
from grader.play.schedule import PlannedGame
from grader.results.store import PlayedGame
from grader.rubric.model import Rubric

GAMES: Final = "the games go here"

CAUSES: Final = "<!-- causes of lost turns -->"
"""The place of the causes in the upper part, which is made before they are known."""

POINTS: Final = "<h2>Where the points come from</h2>"

OPERATOR: Final = re.compile(r"(?<=[\d)]) [x-] (?=[\d(\u2212])")
SIGNS: Final = {" x ": " \u00d7 ", " - ": " \u2212 "}
"""The operators of a sum, as it is written in plain text and on a page."""

FEEDBACK: Final = (*PARTS, "positions", "report")


@cache
def code() -> str:
    """Return the hash of all sources of a page; a page made with other sources is out of date."""
    document_text = document.build("", FEEDBACK, {"games": [GAMES]})
    sources = map(inspect.getsource, (sys.modules[__name__], pages, lost_turns_module))
    return hashlib.sha256("\n".join([*sources, MADE_BY, document_text]).encode()).hexdigest()


def summary(mark: Mark, placement: float, rubric: Rubric) -> str:
    """Return the upper part of the page: points, their explanation, table and drawing."""
    parts = [heading(title_of(mark.submission.name))]
    if mark.submission.problem:
        points = f"<b>{total_text(mark, placement, rubric)}</b>"
        why = html.escape(without_folders(mark.submission.problem))
        problem = f'<p class="points">{points}</p>\n<p class="warning">{why}</p>'
        if mark.detail:
            problem += f"\n<pre>{html.escape(without_folders(mark.detail))}</pre>"
        return "\n".join([*parts, card(problem), _form(mark)])
    one, two = ("withheld" if mark.withheld(part) else f"{mark.points(part):.2f}" for part in "AB")
    total = total_text(mark, placement, rubric).replace(" %", "\u00a0%")
    box = f'<p class="points">Part A {one}, part B {two}: <b>{total}</b></p>'
    if not mark.incomplete:
        full = full_points(rubric)
        box += progress(f"{mark.total + placement:.2f} of {full:g}", mark.total + placement, full)
    if note := re.sub(r"^line ", "ai.py, line ", remark(mark)):
        box += f'\n<p class="warning">{html.escape(note)}</p>'
    sum_of_points = html.escape(total_explained(mark, placement, rubric))
    parts.append(card(f"{box}\n{CAUSES}\n{_folded(f'<p>{sum_of_points}</p>')}"))
    parts.append(POINTS)
    boxes = "\n".join(_match_card(match, rubric) for match in mark.matches)
    parts.append(f'<div class="boxes">\n{boxes}\n</div>')
    parts.append(card(_matches(mark, rubric)))
    percent = level_text(rubric.statistics).replace(" ", "\u00a0")
    parts.append("<h2>Margins</h2>")
    text = (
        "<p>Each dot is a pair of games with sides swapped on one board; the bar is the "
        f"{percent} confidence interval of the mean.</p>"
    )
    parts.append(card(f"{text}\n{margins(mark.matches, rubric)}"))
    return "\n".join([*parts, _form(mark)])


def title_of(name: str) -> str:
    """Return the title of a submission's page."""
    return f"Feedback for {name}"


MATCH_COLUMNS: Final = (
    "match",
    "board",
    "games",
    "mean margin",
    "margin %",
    "points",
    "lost turns",
)


def _matches(mark: Mark, rubric: Rubric) -> str:
    """Return the table of all matches, each with a row for each of its boards."""
    rows: list[list[Cell]] = []
    for match in mark.matches:
        for board, total in (("all", match.tally), *match.boards.items()):
            name, _, games, margin, percent, points, *_ = match_row(
                match, board, total, rubric.statistics
            )
            if board == "all" and total.complete:
                points = f"{match.points:.2f} of {match.max_points:g}"
            rows.append([name, board, games, margin, percent, points, faults_text(total.faults)])
    return table(MATCH_COLUMNS, rows)


def _match_card(match: MatchMark, rubric: Rubric) -> str:
    """Return the explanation of one match's points: in plain words, then with the formula."""
    plain, exact = (
        "<ul>" + "".join(f"<li>{_sentence(line)}</li>" for line in lines) + "</ul>"
        for lines in (told_plainly(match, rubric), explained(match, rubric))
    )
    narrow = match.bounds is not None and match.bounds[0] == match.bounds[1]
    value = f"{match.points:.2f}" if match.tally.complete and narrow else points_text(match)
    points = f"{value} of {match.max_points:g}"
    head = f"<div class='head'><h3>{html.escape(match.name)}: {html.escape(points)}</h3></div>"
    bar = progress(points, match.points, match.max_points) if match.tally.complete else ""
    return card(f"{head}\n{bar}\n{plain}\n{_folded(exact) if match.tally.complete else ''}")


def _folded(body: str) -> str:
    """Return a part that the reader opens to see how a number was computed."""
    return f"<details><summary>How this is computed</summary>\n{body}</details>"


def _sentence(text: str) -> str:
    """Return a line of an explanation with real signs; a number keeps its unit."""
    times = OPERATOR.sub(lambda found: SIGNS[found[0]], minus(text))
    return html.escape(times.replace(" %", "\u00a0%"))


def _form(mark: Mark) -> str:
    """Return the findings of `check` on the source and the report."""
    if not mark.findings:
        return ""
    items = "".join(f"<li>{html.escape(finding_text(found))}</li>" for found in mark.findings)
    told = "<p>These are the findings of <code>python3 -m grader check</code>.</p>"
    return f"<h2>Your files</h2>\n{card(f'{told}<ul>{items}</ul>')}"


def causes_text(lost: Sequence[LostTurn], worth: Mapping[str, float]) -> str:
    """Return a line for each cause of lost turns, what it affects, and a link to its block.

    `worth` has the maximum points of each match by name.
    """
    lines = []
    for place, turn in enumerate(lost[:MAX_REASONS], 1):
        count = "1 turn lost" if turn.count == 1 else f"{turn.count} turns lost"
        points = sum(worth.get(name, 0.0) for name in turn.against)
        text = f" against {' and '.join(turn.against)}" if turn.against else ""
        text += f" ({points:g} points)" if points else ""
        text += f": {clipped(turn.cause)}" + (f" ({turn.where})" if turn.where else "")
        lines.append(f"<li>{link(Link(count, '', f'lost-{place}'))}{html.escape(text)}</li>")
    return f'<ul class="causes">{"".join(lines)}</ul>' if lines else ""


def lost_turns_text(lost: Sequence[LostTurn], numbers: Mapping[str, int]) -> str:
    """Return the first reasons for lost turns; each links to its turn.

    `numbers` has the numbers of the games that can be replayed, by key.
    """
    if not lost:
        return ""
    shown = []
    for number, turn in enumerate(lost[:MAX_REASONS], 1):
        cause = turn.cause
        reason = f"<pre>{html.escape(turn.detail)}</pre>" if turn.detail.strip() != cause else ""
        if turn.game.board.hidden:
            reason = "<p>The board is hidden, so neither the reason nor the position is shown.</p>"
        title, place = html.escape(turn.title), ""
        if turn.game.key in numbers:
            place = f"{numbers[turn.game.key]}.{turn.number}"
            title = link(Link(turn.title, "", place))
        count = "1 turn" if turn.count == 1 else f"{turn.count} turns"
        first = f"<p>{'The first' if turn.count > 1 else 'It'} is {title}.</p>"
        head = f'<h3 id="lost-{number}">{count} lost: {html.escape(cause)}</h3>'
        text = f"<div>{head}\n{first}\n{reason}</div>\n{_position(turn, place)}"
        shown.append(card(text, "lost-turn"))
    more = f"<p>The first {len(shown)} of {len(lost)}.</p>" if len(lost) > len(shown) else ""
    return f"<h2>Lost turns</h2>\n{more}\n" + "\n".join(shown)


def _position(turn: LostTurn, place: str) -> str:
    """Return the position before a lost turn: as text, which the page's script draws as a board.

    `place` is the game and the turn in the page's data.
    """
    if not turn.board:
        return ""
    player = turn.game.side
    told = (
        f'Before turn {turn.number}: <span class="mark p{player}" aria-hidden="true"></span> '
        f"player {player}, this submission, is to move"
    )
    told += f"; {turn.pop_outs}." if turn.pop_outs else "."
    drawn = f' data-turn="{place}"' if place else ""
    return (
        f'<figure class="position"{drawn}><pre>{html.escape(turn.board)}</pre>'
        f"<figcaption>{told}</figcaption></figure>"
    )


GAME_HEADERS: Final = (
    *("game", "part", "opponent", "board", "side", "round", "score", "margin", "result"),
    "lost turns",
)


def games_table(
    games: Sequence[PlannedGame],
    played: Mapping[str, PlayedGame],
    shown: Collection[str],
    public: Collection[str],
) -> str:
    """Return the table of all games, in whose order `publish-game` numbers them.

    `shown` has the keys of those that can be replayed, `public` of those whose seed was public.
    For a hidden board, only the margin is shown.
    """
    rows: list[list[Cell]] = []
    for number, game in enumerate(games, 1):
        names = (game.match.part, game.match.two.name, game.board.label)
        side = "first" if game.side == 1 else "second"
        row: list[Cell] = [*names, side, game.repeat + 1]
        result = played.get(game.key)
        if result is None:
            rows.append([f"game {number}", *row, "", "", "not played", ""])
            continue
        margin = margin_of(game, result)
        own, other = result.scores[game.side - 1], result.scores[2 - game.side]
        score = "" if game.board.hidden else f"{own} to {other}"
        word = "won" if margin > 0 else "drawn" if margin == 0 else "lost"
        if game.key in public:
            word += "; its seed was public"
        why = "hidden" if game.board.hidden else "record damaged"
        replay: Cell = f"game {number}: {why}"
        if game.key in shown:
            replay = Link(f"game {number}", "", f"{number}.0", whole_row=True)
        faults = faults_text(result.faults[game.side - 1])
        rows.append([replay, *row, score, f"{margin:+d}", word, faults])
    headers: Sequence[str] = GAME_HEADERS
    if games and not games[0].counts_points:  # the result is enough
        left = [place for place, name in enumerate(headers) if name not in ("score", "margin")]
        headers = [headers[place] for place in left]
        rows = [[row[place] for place in left] for row in rows]
    return table(headers, rows)


def digest(upper: str, games: Iterable[PlannedGame], played: Mapping[str, PlayedGame]) -> str:
    """Return a hash of everything on a page, so that an unchanged page is not written again."""
    keys = [f"{number} {game.key}" for number, game in enumerate(games) if game.key in played]
    text = "\n".join([code(), upper, *keys])
    return hashlib.sha256(text.encode()).hexdigest()


def feedback_page(
    mark: Mark,
    upper: str,
    page_digest: str,
    games: Sequence[PlannedGame],
    played: Mapping[str, PlayedGame],
    replays: Mapping[str, Replay],
    lost: Sequence[LostTurn],
    public: Collection[str],
) -> str:
    """Return the whole page; `replays` has the played games by key.

    `lost` has the reasons for the submission's lost turns, `public` the keys of the games whose
    seed was public.
    """
    name = mark.submission.name
    shown = {
        number: game
        for number, game in enumerate(games, 1)
        if game.key in replays and not game.board.hidden
    }
    numbers = {game.key: number for number, game in shown.items()}
    top, points, rest = upper.partition(POINTS)
    worth = {match.name: match.max_points for match in mark.matches}
    top = top.replace(CAUSES, causes_text(lost, worth))
    parts = [top, lost_turns_text(lost, numbers), points + rest]
    if games:
        listed = games_table(games, played, numbers.keys(), public)
        parts.append(f"<h2 id='games'>Games</h2>\n{card(listed)}")
    report = "\n".join(filter(None, parts))
    comment = f"feedback {page_digest}"
    if not shown:
        return whole(title_of(name), report, comment=comment)
    data = ",".join(_labelled(*item, replays[item[1].key]) for item in shown.items())
    before = f'<section class="report" aria-labelledby="name">\n{report}\n</section>\n'
    text = document.build(title_of(name), FEEDBACK, {"games": [GAMES]}, before, comment)
    return text.replace(json.dumps(GAMES), data)


def _labelled(number: int, game: PlannedGame, replay: Replay) -> str:
    """Return the data of a game for the replay page, with number and label in the list of games."""
    side = "first" if game.side == 1 else "second"
    label = f"{game.match.part}, {game.board.label}, {side}, round {game.repeat + 1}"
    data = replay.partition(" ")[2]
    head = f'"number":{number},"label":{document.json_in_html(label)}'
    return f"{{{head},{data.removeprefix('{')}"

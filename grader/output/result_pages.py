"""The pages of results: a student's feedback, a class for its teacher, a tournament for all.

Feedback is a mark, its explanation, lost turns, and a replay of every game. A page is one HTML file
that loads nothing else. Text by a student is never used as markup.
"""

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from statistics import fmean, median
from typing import Final

from connect4.games import GAMES
from connect4.views.document import Json, Page, card, heading
from connect4.views.page import PARTS
from grader.handin import Submission, file_name, without_folders
from grader.marks import Mark, MatchMark
from grader.marks.tally import by_match, full_points, margin_digits, margin_of, tally
from grader.marks.tournament import Group, StageState
from grader.output import pages, tables
from grader.output.explain import MAX_REASONS, Reason, formula, told_plainly
from grader.output.results import Results
from grader.output.tables import Number
from grader.play import number_of
from grader.rubric.model import Rubric

FEEDBACK: Final = (*PARTS, "positions", "table", "report")


def _total(mark: Mark, rubric: Rubric) -> str:
    """Return the mark, its interval, and the points of each part, or why there are none."""
    known, total, full = mark.known(), mark.final(), full_points(rubric)
    large = "incomplete" if known is None else f"{total:.2f}"
    text = f'<p class="total"><b>{large}</b> / {full:g}</p>'
    if mark.submission.problem:
        why = "; ".join([without_folders(mark.submission.problem), *tables.changes(mark)])
        detail = html.escape(without_folders(mark.detail))
        text += f'\n<p class="warning">{html.escape(why)}</p>'
        return text + (f"\n<pre>{detail}</pre>" if detail else "")
    one, two = ("withheld" if mark.withheld(part) else f"{mark.points(part):.2f}" for part in "AB")
    more = f", {mark.placement:g} for placement" if mark.placement else ""
    parts = f"Part A {one}, part B {two}{more}."
    if known is None:
        parts += f" {total:.2f} of {full:g} so far."
    else:
        text += pages.progress(f"{total:.2f} of {full:g}", total, full)
    if known is not None and mark.bounds is not None:
        level = tables.level_text(rubric.statistics)
        parts += f" {level} interval {tables.interval_text(mark)}."
    text += pages.paragraphs([parts.replace(" %", "\u00a0%")])
    if note := re.sub(r"(^|; )line ", r"\1ai.py, line ", tables.remark(mark)):
        text += f'\n<p class="warning">{html.escape(note)}</p>'
    return text


def _match_card(match: MatchMark, rubric: Rubric) -> str:
    """Return the explanation of one match's points: in plain words, then with the formula."""
    complete = match.tally.complete
    plain = pages.listed(html.escape(pages.minus(line)) for line in told_plainly(match, rubric))
    value = f"{match.points:.2f}" if complete else "withheld"
    low, high = match.bounds or (0.0, 0.0)
    interval = f"({low:.2f} to {high:.2f})" if low != high else ""
    head = (
        f'<div class="head"><h3>{html.escape(match.name)}</h3><span><b>{value}</b> / '
        f'{match.max_points:g} <small class="muted">{interval}</small></span></div>'
    )
    if not complete:
        return card(f"{head}\n{plain}")
    bar = pages.progress(f"{value} of {match.max_points:g}", match.points, match.max_points)
    rows = [
        [board, *tables.margins(total), tables.faults_text(total.shown_faults)]
        for board, total in match.boards.items()
    ]
    boards = pages.table(("board", *tables.MARGIN_HEADERS, "lost turns"), rows)
    exact = pages.minus(
        formula(match, rubric).replace(" x ", " \u00d7 ").replace(" - ", " \u2212 ")
    )
    told = f"{pages.paragraphs([exact])}{boards}"
    folded = f"<details><summary>How this is computed</summary>\n{told}</details>"
    return card(f"{head}\n{bar}\n{plain}\n{folded}")


def _lost_turns(lost: Sequence[Reason], playable: Mapping[str, int]) -> str:
    """Return the first reasons for lost turns; each links to its turn.

    `playable` has the numbers of the games that can be replayed, by key.
    """
    if not lost:
        return ""
    shown = []
    for reason in lost[:MAX_REASONS]:
        told = f"<pre>{html.escape(reason.turn.detail)}</pre>"
        if reason.turn.detail.strip() in ("", reason.cause):
            told = ""
        title, place = html.escape(reason.title), ""
        if reason.game.key in playable:
            place = f"{playable[reason.game.key]}.{reason.turn.number}"
            title = pages.link(pages.Link(reason.title, "", place))
        where = f", in {html.escape(reason.where)}" if reason.where else ""
        first = f"<p>{'The first' if reason.count > 1 else 'It'} is {title}{where}.</p>"
        turns, cause = number_of(reason.count, "turn"), html.escape(tables.clipped(reason.cause))
        head = f"<h3>{turns} lost: {cause}</h3>"
        turn, player = reason.turn, reason.game.side
        caption = (
            f'Before turn {turn.number}: <span class="mark p{player}" aria-hidden="true"></span> '
            f"player {player}, this submission, is to move"
        )
        caption += f"; {turn.pop_outs}." if turn.pop_outs else "."
        drawn = f' data-turn="{place}"' if place else ""  # else the page's script draws no board
        text = (
            f'<div>{head}\n{first}\n{told}</div>\n<figure class="position"{drawn}><pre>'
            f"{html.escape(turn.board)}</pre><figcaption>{caption}</figcaption></figure>"
        )
        shown.append(card(text, "lost-turn"))
    found = f"<h2>Lost turns</h2>\n{shown[0]}"
    if len(lost) > 1:
        reasons = number_of(len(lost) - 1, "other reason")
        first = f" (here the first {len(shown) - 1})" if len(lost) > len(shown) else ""
        others = "\n".join(shown[1:])
        found += f"\n<details><summary>{reasons}{first}</summary>\n{others}</details>"
    return found


GAME_HEADERS: Final = (
    *("game", "part", "opponent", "board", "side", Number("round"), Number("score")),
    *(Number("margin"), "result", "lost turns"),
)


def _games(item: Submission, results: Results, replays: Mapping[str, Json]) -> str:
    """Return the table of all games of a submission; `publish-game` numbers them in this order.

    `replays` has those that can be replayed. For a hidden board, only the margin is shown.
    """
    games, public = results.games_of(item), results.public(item)
    rows: list[list[pages.Cell]] = []
    for number, game in enumerate(games, 1):
        side = "first" if game.side == 1 else "second"
        row: list[pages.Cell] = [game.match.part, game.match.two.name, game.board.label, side]
        row.append(game.repeat + 1)
        result, hidden = results.played.get(game.key), game.board.hidden
        if result is None:
            rows.append([f"game {number}", *row, "", "", "not played", ""])
            continue
        margin = margin_of(game, result)
        score = "{} to {}".format(*result.scores[:: 1 if game.side == 1 else -1])
        word = "won" if margin > 0 else "drawn" if margin == 0 else "lost"
        word += "; its seed was public" if game.key in public else ""
        replay: pages.Cell = f"game {number}: {'hidden' if hidden else 'record damaged'}"
        if game.key in replays and not hidden:
            replay = pages.Link(f"game {number}", "", f"{number}.0", whole_row=True)
        faults = "" if hidden else tables.faults_text(result.faults[game.side - 1])
        shown = ["" if hidden else score, f"{margin:+d}"]  # else the result is enough
        rows.append([replay, *row, *(shown if game.counts_points else ("", "")), word, faults])
    return pages.table(GAME_HEADERS, rows)


def feedback_page(
    mark: Mark, results: Results, lost: Sequence[Reason], replays: Mapping[str, Json]
) -> str:
    """Return the page of a submission: its mark, why turns were lost, its games.

    `lost` are the reasons for lost turns; `replays` has the games that have been played, by key.
    It opens at the first lost turn above, else at the game with the worst margin.
    """
    item, games = mark.submission, results.games_of(mark.submission)
    playable = {
        game.key: number
        for number, game in reversed([*enumerate(games, 1)])  # of two alike the first counts
        if game.key in results.played and not game.board.hidden
    }
    parts = [heading(f"Feedback for {item.name}"), card(_total(mark, results.rubric))]
    if not item.problem:
        boxes = "\n".join(_match_card(match, results.rubric) for match in mark.matches)
        parts += [_lost_turns(lost, playable), "<h2>Where the points come from</h2>"]
        parts.append(f'<div class="boxes">\n{boxes}\n</div>')
    below = (
        [f"<h2 id='games'>All games</h2>\n{card(_games(item, results, replays))}"] if games else []
    )
    if mark.findings:
        told = "<p>These are the findings of <code>python3 -m grader check</code>.</p>"
        findings = pages.listed(html.escape(tables.finding_text(found)) for found in mark.findings)
        below.append(pages.section("Your files", f"{told}{findings}"))
    if any(game.key in results.played for game in games):
        below.append(pages.section("How your games were run", pages.paragraphs(results.protection)))
    above, after = ("\n".join(filter(None, some)) for some in (parts, below))
    shown, margins = [], {}
    for number, game in enumerate(games, 1):
        if game.key in replays and not game.board.hidden:
            margins[number] = margin_of(game, results.played[game.key])
            side = "first" if game.side == 1 else "second"
            label = f"{game.match.part}, {game.board.label}, {side}, round {game.repeat + 1}"
            shown.append(({"number": number, "label": label}, replays[game.key]))
    title = f"Feedback for {item.name}"
    if not shown:
        return pages.whole(title, f"{above}\n{after}")
    before = f'<section class="report" aria-labelledby="name">\n{above}\n</section>\n'
    after = f'\n<section class="report" aria-label="More">\n{after}\n</section>'
    opens = {"opens": f"{min(margins, key=margins.__getitem__)}.0"}
    listed = ",".join(pages.with_keys(*game) for game in shown)
    data = pages.with_keys(opens, Json(f'{{"games":[{listed}]}}'))
    return Page(title, FEEDBACK, before, data, after=after).alone()


ROSTER: Final = ("section", "group")
MARK_HEADERS: Final = (
    *("submission", *ROSTER, Number("total"), Number("interval"), Number("A"), Number("B")),
    *("lost turns", "remark"),
)

CONCERNS: Final = ("at 0", "with lost turns", "not playable", "identical", "late", "undecided")


def class_page(results: Results) -> str:
    """Return the page of the marks; it contains all names, so students must not see it."""
    marks = results.marks
    totals = [total for mark in marks if (total := mark.known()) is not None]
    summary = f"{len(totals)} of {len(marks)} submissions have a mark"
    if totals:
        summary += (
            f": from {min(totals):.2f} to {max(totals):.2f} of {full_points(results.rubric):g}, "
            f"median {median(totals):.2f}, mean {fmean(totals):.2f}"
        )
    corrections = [
        (str(student), str(change))
        for mark in marks
        for student in mark.students
        for change in student.corrections
    ]
    marks = sorted(  # the highest first, and last who could not play
        marks,
        key=lambda mark: (bool(mark.submission.problem), -mark.final(), mark.submission.name),
    )
    sources = Counter(mark.submission.sha256 for mark in marks if mark.submission.source)
    concerns = (  # why the teacher may want to look at it, in the order of `CONCERNS`
        (
            mark.known() == 0,
            mark.faults.total,
            mark.submission.problem,
            sources[mark.submission.sha256] > 1,
            mark.late.days,
            mark.open,
        )
        for mark in marks
    )
    kinds = [list(compress(CONCERNS, one)) for one in concerns]
    marked = pages.table(MARK_HEADERS, _marks(marks, full_points(results.rubric)), kinds, "total")
    parts = [
        heading("The class"),
        pages.paragraphs([f"For the teacher: this page names everybody. {summary}."]),
        pages.section("Marks", pages.filters("Who needs you?", CONCERNS, kinds) + marked),
        pages.section("Corrections", pages.table(("student", "correction"), corrections)),
        pages.section("Protection", pages.paragraphs(results.protection)),
    ]
    return pages.whole("The class", "\n".join(filter(None, parts)))


def _marks(marks: Sequence[Mark], full: float) -> list[list[pages.Cell]]:
    rows: list[list[pages.Cell]] = []
    for mark in marks:
        name = mark.submission.name
        total, shown = tables.shown_points(mark)
        interval: pages.Cell = tables.interval_text(mark)
        if mark.bounds is not None:
            low, high = (min(full, max(0.0, mark.corrected(bound))) for bound in mark.bounds)
            interval = pages.Range(str(interval), low, min(full, mark.final()), high, full)
        page = pages.Link(name, f"feedback/{file_name(name)}.html", whole_row=True)
        places = ({getattr(one, kind) for one in mark.students} - {""} for kind in ROSTER)
        row: list[pages.Cell] = [
            page,
            *map(", ".join, map(sorted, places)),
            total,
            interval,
            *shown,
        ]
        told = tables.lost_text(mark, mark.shown_faults) if mark.shown_faults.total else ""
        row += [
            tables.lost_text(mark, mark.faults),
            tables.remark(mark).removeprefix(told).removeprefix("; "),  # once in a row
        ]
        rows.append(row)
    return rows


PROJECTOR: Final = (
    '<button type="button" id="projector" '
    'title="The bracket alone, for a projector; Escape ends it">Projector</button>'
)

PLACES: Final = (
    "Places go by the last stage that a submission reached, then by its place in its group "
    "there, then by its numbers in that stage. A second place so stands above every third place, "
    "whatever their margins: the groups had different opponents. Those who are equal in all of "
    "this share a place."
)


def standings_page(results: Results, out: Path) -> str:
    """Return the page of a tournament: who wins, the bracket of its stages, then the places.

    Each group's table is in its card of the bracket; each pairing links to its replays, if they are
    below `out`. A button, or `#projector` in the address, shows the bracket alone, as large as the
    window allows. The page reloads itself during play.
    """
    begun, stages = results.stages, results.rubric.tournament.stages
    finished = len(begun) == len(stages) and begun[-1].complete
    title = f"{GAMES[results.rubric.match.game].title} tournament"
    digits = margin_digits(results.rubric.match.counts_points)
    unit = "points a game" if digits == 1 else "a game (1 for a win, -1 for a loss)"
    games = [game for group in begun[-1].groups for game in group.games]
    played = f"{sum(game.key in results.played for game in games)} of {len(games)} games"
    told = pages.minus(f"{html.escape(begun[-1].stage.name)}: {played}; the numbers are {unit}")
    if finished:
        first = [placing.standing for placing in results.placings if placing.place == 1]
        names = " and ".join(html.escape(standing.contestant.name) for standing in first)
        margin = pages.minus(f"{first[0].total.mean_margin:+z.{digits}f} {unit}")
        wins = "win" if len(first) > 1 else "wins"
        told = f"\u2605 <strong>{names}</strong> {wins}, {margin}"
    parts = [heading(title, PROJECTOR), f'<p class="headline">{told}</p>']
    columns = [_stage(state, results, finished and state is begun[-1], out) for state in begun]
    for stage in stages[len(begun) :]:
        waiting = card(f"<h3>{html.escape(stage.name)}</h3>\n<p>Has not begun.</p>", "group")
        columns.append(f'<div class="stage-groups">\n{waiting}\n</div>')
    parts.append('<h2 id="bracket">Stages</h2>\n<div class="stages" tabindex="0">')
    parts += [*columns, "</div>"]
    if finished:
        rule = '<details class="rule"><summary aria-label="How places are decided">?</summary>'
        places = pages.table(
            tables.PLACE_HEADERS, tables.place_rows(results.placings, results.rubric)
        )
        parts.append(
            pages.section("Places", f"{rule}{pages.paragraphs([PLACES])}</details>\n{places}")
        )
    absent = (html.escape(f"{name}: {why}") for name, why in results.left_out.items())
    parts.append(pages.section("Not in the tournament", pages.listed(absent)))
    more = ("standings",) if finished else ("standings", "reload")
    return pages.whole(title, "\n".join(filter(None, parts)), "standings", more)


def _stage(state: StageState, results: Results, decided: bool, out: Path) -> str:
    """Return a column of the bracket: the groups, and the promoted contestants of each.

    In a stage that has decided the tournament, whoever is first is a winner.
    """
    count, kind = (1, "winner") if decided else (state.stage.promote, "promoted")
    groups = "\n".join(_group(group, count, kind, results, out) for group in state.groups)
    begun = "" if state.complete else " playing"
    return f'<div class="stage-groups{begun}">\n{groups}\n</div>'


def _group(group: Group, count: int, kind_of_first: str, results: Results, out: Path) -> str:
    """Return a group; the first `count` of its standings are of a kind of their own.

    Tied winners are all winners; who is promoted of those who are tied, the draw decides.
    """
    lines, digits = [], margin_digits(results.rubric.match.counts_points)
    for number, standing in enumerate(group.standings, 1):
        place = standing.place
        first = place if kind_of_first == "winner" else number
        kind = f' class="{kind_of_first}"' if first <= count else ""
        name = html.escape(standing.contestant.name)
        margin = pages.minus(f"{standing.total.mean_margin:+z.{digits}f}")
        lines.append(
            f'<li{kind}><span class="place">{place}</span><span class="name">{name}</span>'
            f'<span class="margin">{margin}</span></li>'
        )
    played = len(group.games) - group.missing
    games = f"{played} of {len(group.games)} games"
    head = f'<div class="head"><h3>{html.escape(group.name)}</h3><span>{games}</span></div>'
    bar = (
        pages.progress(f"{group.name}: {games}", played, len(group.games)) if group.missing else ""
    )
    rows = [tables.standing_row(item.place, item, results.rubric) for item in group.standings]
    more = f"{pages.table(tables.STANDING_HEADERS, rows)}\n{_pairings(group, results, out)}"
    folded = f"<details><summary>Table and pairings</summary>\n{more}</details>"
    return card(f"{head}\n{bar}\n<ol>{''.join(lines)}</ol>\n{folded}", "group")


def replay_place(group: Group, number: int) -> str:
    """Return the place below `--out` of the replays of a group's pairing, counted from 1."""
    return f"games/{file_name(group.name)}-{number}.html"


PAIRING_HEADERS: Final = (
    *("submission", "opponent", Number("mean margin"), Number("W-D-L"), "games"),
)


def _pairings(group: Group, results: Results, out: Path) -> str:
    """Return the pairings of a group that have games, each with a link to them."""
    rows: list[list[pages.Cell]] = []
    for number, (match, games) in enumerate(by_match(group.games).items(), 1):
        total = tally(games, results.played)
        if not total.games:
            continue
        place, count = replay_place(group, number), f"{total.games}"
        shown = pages.Link(f"{count} games", place) if (out / place).is_file() else count
        margin = f"{total.mean_margin:+z.{total.digits}f}"
        rows.append([match.one.name, match.two.name, margin, total.record(), shown])
    return pages.table(PAIRING_HEADERS, rows)

"""The page of a tournament: who wins, the bracket of its stages, the places."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Final

from connect4.games import GAMES
from grader.handin import file_name
from grader.marks.tally import by_match, margin_digits, tally
from grader.marks.tournament import Group, StageState
from grader.output import tables
from grader.output.pages import (
    Cell,
    Link,
    card,
    heading,
    listed,
    minus,
    paragraphs,
    progress,
    section,
    table,
    whole,
)
from grader.output.results import Results
from grader.output.tables import Number

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
    parts = [heading(title, PROJECTOR), f'<p class="headline">{_headline(results, finished)}</p>']
    columns = [_stage(state, results, finished and state is begun[-1], out) for state in begun]
    for stage in stages[len(begun) :]:
        waiting = card(f"<h3>{html.escape(stage.name)}</h3>\n<p>Has not begun.</p>", "group")
        columns.append(f'<div class="stage-groups">\n{waiting}\n</div>')
    parts.append('<h2 id="bracket">Stages</h2>\n<div class="stages" tabindex="0">')
    parts += [*columns, "</div>"]
    if finished:
        rule = '<details class="rule"><summary aria-label="How places are decided">?</summary>'
        places = table(tables.PLACE_HEADERS, tables.place_rows(results.placings, results.rubric))
        parts.append(section("Places", f"{rule}{paragraphs([PLACES])}</details>\n{places}"))
    absent = (html.escape(f"{name}: {why}") for name, why in results.left_out.items())
    parts.append(section("Not in the tournament", listed(absent)))
    more = ("standings",) if finished else ("standings", "reload")
    return whole(title, "\n".join(filter(None, parts)), "standings", more)


def _headline(results: Results, finished: bool) -> str:
    """Return who has won, else how far the stage is, with the unit of the numbers."""
    digits = margin_digits(results.rubric.match.counts_points)
    unit = "points a game" if digits == 1 else "a game (1 for a win, -1 for a loss)"
    if not finished:
        games = [game for group in results.stages[-1].groups for game in group.games]
        played = sum(game.key in results.played for game in games)
        stage = html.escape(results.stages[-1].stage.name)
        return minus(f"{stage}: {played} of {len(games)} games; the numbers are {unit}")
    first = [placing.standing for placing in results.placings if placing.place == 1]
    names = " and ".join(html.escape(standing.contestant.name) for standing in first)
    margin = minus(f"{first[0].total.mean_margin:+.{digits}f} {unit}")
    return f"\u2605 <strong>{names}</strong> win{'s' if len(first) == 1 else ''}, {margin}"


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
        lines.append(
            f'<li{kind}><span class="place">{place}</span><span class="name">{name}</span>'
            f'<span class="margin">{minus(f"{standing.total.mean_margin:+.{digits}f}")}</span></li>'
        )
    played = len(group.games) - group.missing
    games = f"{played} of {len(group.games)} games"
    head = f'<div class="head"><h3>{html.escape(group.name)}</h3><span>{games}</span></div>'
    bar = progress(f"{group.name}: {games}", played, len(group.games)) if group.missing else ""
    rows = [tables.standing_row(item.place, item, results.rubric) for item in group.standings]
    more = f"{table(tables.STANDING_HEADERS, rows)}\n{_pairings(group, results, out)}"
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
    rows: list[list[Cell]] = []
    for number, (match, games) in enumerate(by_match(group.games).items(), 1):
        total = tally(games, results.played)
        if not total.games:
            continue
        place, count = replay_place(group, number), f"{total.games}"
        shown = Link(f"{count} games", place) if (out / place).is_file() else count
        margin = f"{total.mean_margin:+.{total.digits}f}"
        rows.append([match.one.name, match.two.name, margin, total.record(), shown])
    return table(PAIRING_HEADERS, rows)

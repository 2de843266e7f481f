"""The page of a tournament for a projector: the bracket of its stages, then every table.

The page reloads itself during play.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from grader.marks.tally import margin_digits
from grader.marks.tournament import Group, Placing, StageState
from grader.output.pages import RELOAD, Cell, card, progress, table, whole
from grader.output.tables import STANDING_HEADERS, standing_row
from grader.rubric.model import Rubric, Stage


def standings_page(
    begun: Sequence[StageState], placings: Sequence[Placing], rubric: Rubric, notes: Sequence[str]
) -> str:
    """Return the current page; `notes` lists who is not in the tournament, with the reasons."""
    stages = rubric.tournament.stages
    finished = len(begun) == len(stages) and begun[-1].complete
    parts = ["<h1>Tournament</h1>"]
    if finished:
        parts.append(f"<h2>Places</h2>\n{card(_places(placings, rubric))}")
    waiting = [_waiting(stage) for stage in stages[len(begun) :]]
    columns = "\n".join([*(_stage(state, rubric) for state in begun), *waiting])
    parts.append(f'<h2>Stages</h2>\n<div class="stages" tabindex="0">\n{columns}\n</div>')
    for state in begun:
        for group in state.groups:
            parts.append(f"<h2>{html.escape(group.name)}</h2>\n{card(_table(group, rubric))}")
    if notes:
        items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
        parts.append(f"<h2>Not in it</h2>\n{card(f'<ul>{items}</ul>')}")
    return whole("Tournament", "\n".join(parts), "standings", "" if finished else RELOAD)


def _stage(state: StageState, rubric: Rubric) -> str:
    """Return a column of the bracket: the groups, and the promoted contestants of each."""
    digits = margin_digits(rubric.match.counts_points)
    groups = "\n".join(_group(group, state.stage.promote, digits) for group in state.groups)
    return f'<div class="stage-groups">\n{groups}\n</div>'


def _group(group: Group, promote: int, digits: int) -> str:
    lines = []
    for place, standing in enumerate(group.standings, 1):
        kind = ' class="promoted"' if place <= promote else ""
        name = html.escape(standing.contestant.name)
        lines.append(
            f'<li{kind}><span class="place">{place}</span><span class="name">{name}</span>'
            f"<span>{standing.mean_margin:+.{digits}f}</span></li>"
        )
    played = len(group.games) - group.missing
    count = f"{played} of {len(group.games)} games"
    head = f'<div class="head"><h3>{html.escape(group.name)}</h3><span>{count}</span></div>'
    bar = progress(f"{group.name}: {count}", played, max(1, len(group.games)))
    return card(f"{head}\n{bar}\n<ol>{''.join(lines)}</ol>", "group")


def _waiting(stage: Stage) -> str:
    """Return a column for a stage that has not begun."""
    text = f"<h3>{html.escape(stage.name)}</h3>\n<p>Has not begun.</p>"
    return f'<div class="stage-groups">\n{card(text, "group")}\n</div>'


def _table(group: Group, rubric: Rubric) -> str:
    rows = [standing_row(place, item, rubric) for place, item in enumerate(group.standings, 1)]
    return table(STANDING_HEADERS, rows)


def _places(placings: Sequence[Placing], rubric: Rubric) -> str:
    with_points = any(placing.points for placing in placings)
    rows: list[list[Cell]] = [
        [
            *standing_row(placing.place, placing.standing, rubric),
            placing.stage,
            *([f"{placing.points:g}"] if with_points else []),
        ]
        for placing in placings
    ]
    return table([*STANDING_HEADERS, "stage", *(["points"] if with_points else [])], rows)

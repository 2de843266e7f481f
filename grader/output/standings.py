"""The page of a tournament: the bracket of its stages, then every table.

A button, or `#projector` in the address, shows the bracket alone, as large as the window allows.
The page reloads itself during play.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final

from grader.marks.tally import margin_digits
from grader.marks.tournament import Group, Placing, StageState
from grader.output.pages import RELOAD, card, heading, minus, progress, table, whole
from grader.output.tables import STANDING_HEADERS, placing_table, standing_row
from grader.rubric.model import Rubric, Stage

PROJECTOR: Final = (
    '<button type="button" id="projector" '
    'title="The bracket alone, for a projector; Escape ends it">Projector</button>'
)


PLACES: Final = (
    "<p>Places go by the last stage that a submission reached, then by its place in its group "
    "there, then by its numbers in that stage. A second place so stands above every third place, "
    "whatever their margins: the groups had different opponents.</p>\n"
)


def standings_page(
    begun: Sequence[StageState],
    placings: Sequence[Placing],
    rubric: Rubric,
    left_out: Mapping[str, str],
) -> str:
    """Return the current page; `left_out` has who is not in the tournament, with the reasons."""
    stages = rubric.tournament.stages
    finished = len(begun) == len(stages) and begun[-1].complete
    parts = [heading("Tournament", PROJECTOR)]
    if finished:
        places = PLACES + _standings(*placing_table(placings, rubric))
        parts.append(f"<h2>Places</h2>\n{card(places)}")
    waiting = [_waiting(stage) for stage in stages[len(begun) :]]
    last = begun[-1] if finished else None
    columns = "\n".join([*(_stage(state, rubric, state is last) for state in begun), *waiting])
    parts.append(
        f'<h2 id="bracket">Stages</h2>\n<div class="stages" tabindex="0">\n{columns}\n</div>'
    )
    for state in begun:
        for group in state.groups:
            parts.append(f"<h2>{html.escape(group.name)}</h2>\n{card(_table(group, rubric))}")
    if left_out:
        items = "".join(
            f"<li>{html.escape(f'{name}: {why}')}</li>" for name, why in left_out.items()
        )
        parts.append(f"<h2>Not in the tournament</h2>\n{card(f'<ul>{items}</ul>')}")
    reload = "" if finished else RELOAD
    return whole("Tournament", "\n".join(parts), "standings", ("standings",), reload)


def _stage(state: StageState, rubric: Rubric, decided: bool) -> str:
    """Return a column of the bracket: the groups, and the promoted contestants of each.

    In a stage that has decided the tournament, the first of a group is the winner.
    """
    first = (1, "winner") if decided else (state.stage.promote, "promoted")
    digits = margin_digits(rubric.match.counts_points)
    groups = "\n".join(_group(group, *first, digits) for group in state.groups)
    begun = "" if state.complete else " playing"
    return f'<div class="stage-groups{begun}">\n{groups}\n</div>'


def _group(group: Group, count: int, kind_of_first: str, digits: int) -> str:
    """Return a group; the first `count` of its standings are of a kind of their own."""
    lines = []
    for place, standing in enumerate(group.standings, 1):
        kind = f' class="{kind_of_first}"' if place <= count else ""
        name = html.escape(standing.contestant.name)
        lines.append(
            f'<li{kind}><span class="place">{place}</span><span class="name">{name}</span>'
            f'<span class="margin">{minus(f"{standing.mean_margin:+.{digits}f}")}</span></li>'
        )
    played = len(group.games) - group.missing
    games = f"{played} of {len(group.games)} games"
    head = f'<div class="head"><h3>{html.escape(group.name)}</h3><span>{games}</span></div>'
    bar = progress(f"{group.name}: {games}", played, max(1, len(group.games)))
    bar = "" if not group.missing else bar
    return card(f"{head}\n{bar}\n<ol>{''.join(lines)}</ol>", "group")


def _waiting(stage: Stage) -> str:
    """Return a column for a stage that has not begun."""
    text = f"<h3>{html.escape(stage.name)}</h3>\n<p>Has not begun.</p>"
    return f'<div class="stage-groups">\n{card(text, "group")}\n</div>'


def _table(group: Group, rubric: Rubric) -> str:
    rows = [standing_row(place, item, rubric) for place, item in enumerate(group.standings, 1)]
    return _standings(STANDING_HEADERS, rows)


def _standings(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of standings; the games won, drawn and lost stand together."""
    at = headers.index("W")
    return table(
        [*headers[:at], "W-D-L", "lost turns", *headers[at + 4 :]],
        [[*row[:at], "\u2013".join(row[at : at + 3]), *row[at + 3 :]] for row in rows],
    )

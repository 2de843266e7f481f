"""The page of a submission: marks, margins drawn, lost turns, every game to replay.

One HTML file that fetches nothing. Nothing that a student wrote is markup in it.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tabulate import tabulate

from connect4.views import document
from connect4.views.page.page import PARTS
from grader.marks.points import Mark, MatchMark
from grader.output.tables import MATCH_HEADERS, match_rows, remark, total_text
from grader.play.replays import MADE_BY, Replay
from grader.play.schedule import PlannedGame
from grader.results.store import PlayedGame
from grader.rubric.model import Rubric

STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
table { border-collapse: collapse; font-size: .9rem; } th, td { padding: .2rem .6rem; }
th { text-align: left; border-bottom: 2px solid #888; } tr:nth-child(even) { background: #f3f5f8; }
td { font-variant-numeric: tabular-nums; } svg { max-width: 100%; height: auto; }
iframe { width: 100%; height: 60rem; border: 1px solid #bbb; }
.points { font-size: 1.3rem; } pre { overflow: auto; background: #f3f5f8; padding: .5rem; }
@media (prefers-color-scheme: dark) { body { color: #e6e9ee; background: #15181c; }
  tr:nth-child(even), pre { background: #20252b; } }
"""

WIDTH: Final = 640
ROW: Final = 28
LABEL: Final = 220
"""Pixels of the drawing of margins."""

MAX_REASONS: Final = 20

GAMES: Final = "the games go here"


@cache
def code() -> str:
    """Return what a page is made with: one that other code or another style has made is old."""
    document_text = document.build("", PARTS, {"games": [GAMES]})
    return f"{Path(__file__).read_text(encoding='utf-8')}\n{MADE_BY}\n{document_text}"


def summary(mark: Mark, placement: float, rubric: Rubric) -> str:
    """Return the upper part of the page: points, table and drawing."""
    name = html.escape(mark.submission.name)
    parts = [f"<h1>{name}</h1>"]
    if mark.submission.problem:
        parts.append(f"<p>Not graded: {html.escape(mark.submission.problem)}</p>")
        if mark.detail:
            parts.append(f"<pre>{html.escape(mark.detail)}</pre>")
        return "\n".join(parts)
    one, two = ("withheld" if mark.withheld(part) else f"{mark.points(part):.2f}" for part in "AB")
    total = total_text(mark, placement, rubric)
    parts.append(f'<p class="points">Part A {one}, part B {two}: <b>{total}</b></p>')
    if remark(mark):
        parts.append(f"<p>{html.escape(remark(mark))}</p>")
    rows = list(match_rows(mark, rubric.statistics))
    parts.append(str(tabulate(rows, MATCH_HEADERS, tablefmt="html", disable_numparse=True)))
    percent = f"{rubric.statistics.confidence:.0%}"
    parts.append(
        "<h2>Margins</h2>\n<p>Each dot is a pair of games with sides swapped on one board; the bar "
        f"is the mean with its {percent} confidence interval.</p>\n{drawing(mark.matches, rubric)}"
    )
    return "\n".join(parts)


def drawing(matches: Sequence[MatchMark], rubric: Rubric) -> str:
    """Return the margins of all pairs as an SVG drawing, a line a match."""
    reach = max([10.0, *(abs(pair) for match in matches for pair in match.tally.pairs)]) * 1.05

    def across(margin: float) -> float:
        return LABEL + (margin + reach) / (2 * reach) * (WIDTH - LABEL)

    height = ROW * (len(matches) + 1)
    middle = across(0)
    shapes = [
        f'<line x1="{middle:.1f}" y1="0" x2="{middle:.1f}" y2="{height - ROW}" stroke="#999"/>'
    ]
    for margin in (-reach, 0.0, reach):
        anchor = "start" if margin < 0 else "middle" if margin == 0 else "end"
        shapes.append(
            f'<text x="{across(margin):.1f}" y="{height - 8}" text-anchor="{anchor}" '
            f'fill="currentColor">{margin:+.0f}</text>'
        )
    for number, match in enumerate(matches):
        y = ROW * number + ROW / 2
        label = html.escape(match.name)
        shapes.append(f'<text x="0" y="{y + 5}" fill="currentColor">{label}</text>')
        interval = match.tally.interval(rubric.statistics)
        if interval.low == interval.low:  # not NaN
            low, high = across(interval.low), across(interval.high)
            shapes.append(
                f'<rect x="{low:.1f}" y="{y - 7}" width="{high - low:.1f}" height="14" '
                'fill="#4a90d9" opacity="0.35"/>'
            )
        shapes += [
            f'<circle cx="{across(pair):.1f}" cy="{y}" r="4" fill="#4a90d9"/>'
            for pair in match.tally.pairs
        ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="margins by match" font-size="13">{"".join(shapes)}</svg>'
    )


def digest(upper: str, games: Iterable[PlannedGame], played: Mapping[str, PlayedGame]) -> str:
    """Return a hash of all that a page shows, so that an unchanged one is not made again."""
    keys = [game.key for game in games if game.key in played]
    text = "\n".join([code(), upper, *keys])
    return hashlib.sha256(text.encode()).hexdigest()


def reasons(
    games: Sequence[PlannedGame], played: Mapping[str, PlayedGame], replays: Mapping[str, Replay]
) -> str:
    """Return why turns were lost: each reason once, with the game and turn where it came first."""
    first: dict[tuple[str, str], str] = {}
    counts: dict[tuple[str, str], int] = {}
    for game in games:
        result = played.get(game.key)
        if result is None or not result.faults[game.side - 1].total:
            continue
        data = json.loads(replays[game.key].partition(" ")[2])
        for number, turn in enumerate(data["turns"], 1):
            if turn[0] == game.side and turn[2] not in ("played", "pass"):
                reason = turn[2], "" if turn[-1] is None else data["details"][turn[-1]]
                first.setdefault(reason, f"{game.title}, turn {number}: {turn[2]}")
                counts[reason] = counts.get(reason, 0) + 1
    if not first:
        return ""
    shown = []
    for reason, title in list(first.items())[:MAX_REASONS]:
        others = f"<p>and {counts[reason] - 1} more like it</p>\n" if counts[reason] > 1 else ""
        text = f"<h3>{html.escape(title)}</h3>\n{others}<pre>{html.escape(reason[1])}</pre>"
        shown.append(text)
    more = f"<p>The first {len(shown)} of {len(first)}.</p>" if len(first) > len(shown) else ""
    return f"<h2>Lost turns</h2>\n{more}\n" + "\n".join(shown)


def feedback_page(
    name: str,
    upper: str,
    page_digest: str,
    games: Sequence[PlannedGame],
    played: Mapping[str, PlayedGame],
    replays: Mapping[str, Replay],
) -> str:
    """Return the whole page; `replays` has the played games by key."""
    shown = [replays[game.key].partition(" ")[2] for game in games if game.key in replays]
    replay = ""
    if shown:
        document_text = document.build(name, PARTS, {"games": [GAMES]})
        source = document_text.replace(json.dumps(GAMES), ",".join(shown))
        attribute = source.replace("&", "&amp;").replace("'", "&#x27;")
        replay = (
            "<h2>Games</h2>\n"
            f"<iframe title='replay of the games' sandbox='allow-scripts' srcdoc='{attribute}'>"
            "</iframe>"
        )
    return f"""<!DOCTYPE html>
<!-- feedback {page_digest} -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(name)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
{upper}
{reasons(games, played, replays)}
{replay}
</body>
</html>
"""


def tournament_page(title: str, text: str) -> str:
    """Return a page with the tournament's tables as they stand."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="refresh" content="10">\n<title>{html.escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{html.escape(title)}</h1>\n"
        f"<pre>{html.escape(text)}</pre>\n</body>\n</html>\n"
    )

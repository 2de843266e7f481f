"""Margins and marks as SVG drawings for pages.

Places across a drawing are percentages of its width, so that a phone shows the same text size.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import Final

from grader.marks.points import MatchMark
from grader.output.pages import minus
from grader.rubric.model import Rubric

ROW: Final = 46
"""Pixels of a match in the drawing of margins: its name, and below it its dots."""

STEPS: Final = 10
"""Bars of a histogram."""

BARS: Final = 150
"""Pixels of the highest bar of a histogram."""


def margins(matches: Sequence[MatchMark], rubric: Rubric) -> str:
    """Return the margins of all pairs as an SVG drawing, one line for each match."""
    least = 10.0 if rubric.match.counts_points else 1.0
    reach = max([least, *(abs(pair) for match in matches for pair in match.tally.pairs)]) * 1.2
    bottom = ROW * len(matches)

    def across(margin: float) -> float:
        return 50 + 47 * max(-1.0, min(1.0, margin / reach))

    shapes = []
    for margin in _ticks(reach):
        x = f"{across(margin):.2f}%"
        kind = "axis" if margin == 0 else "grid"
        text = minus(f"{margin:+g}") if margin else "0"
        shapes.append(f'<line x1="{x}" y1="0" x2="{x}" y2="{bottom}" class="{kind}"/>')
        shapes.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
    for number, match in enumerate(matches):
        y = ROW * number + 32
        shapes.append(f'<text x="0" y="{y - 16}" class="name">{html.escape(match.name)}</text>')
        interval = match.tally.interval(rubric.statistics)
        if interval.known:
            low, high = across(interval.low), across(interval.high)
            place = f'x="{low:.2f}%" y="{y - 7}" width="{high - low:.2f}%" height="14"'
            mean = f"{across(interval.mean):.2f}%"
            shapes.append(f'<rect {place} rx="3" class="interval"/>')
            shapes += [
                _beyond(across(end), y, way)
                for end, way in ((interval.low, -1), (interval.high, 1))
                if abs(end) > reach
            ]
            shapes.append(
                f'<line x1="{mean}" y1="{y - 10}" x2="{mean}" y2="{y + 10}" class="mean"/>'
            )
        shapes += [
            f'<circle cx="{across(pair):.2f}%" cy="{y}" r="4.5" class="pair"/>'
            for pair in match.tally.pairs
        ]
    return _drawing(shapes, bottom + 26, "margins by match")


def _beyond(across: float, y: float, way: int) -> str:
    """Return an arrowhead where an interval goes on beyond the drawing, left (-1) or right (1)."""
    return (
        f'<svg x="{across:.2f}%" y="{y}" overflow="visible">'
        f'<path d="M{-2 * way} -6L{4 * way} 0L{-2 * way} 6" class="beyond"/></svg>'
    )


def _ticks(reach: float) -> Iterator[float]:
    """Return round numbers from `-reach` to `reach`, at most three on each side of 0."""
    power = 10.0 ** math.floor(math.log10(reach / 3))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power * 3 >= reach)
    count = int(reach / step)
    return (step * number for number in range(-count, count + 1))


def histogram(totals: Sequence[float], full: float) -> str:
    """Return a histogram of totals as an SVG drawing, in ten equal steps up to `full`."""
    if not totals or full <= 0:
        return ""
    counts = [0] * STEPS
    for total in totals:
        counts[max(0, min(STEPS - 1, int(STEPS * total / full)))] += 1
    bottom = BARS + 20
    width = 94 / STEPS
    shapes = []
    for step, count in enumerate(counts):
        left, tall = 3 + step * width, BARS * count / max(counts)
        low, high = full * step / STEPS, full * (step + 1) / STEPS
        shapes.append(
            f'<rect x="{left + 0.3:.2f}%" y="{bottom - tall:.1f}" width="{width - 0.6:.2f}%" '
            f'height="{tall:.1f}" class="bar">'
            f"<title>{count} from {low:g} to {high:g} points</title></rect>"
            f'<text x="{left + width / 2:.2f}%" y="{bottom - tall - 5:.1f}" text-anchor="middle" '
            f">{count or ''}</text>"
        )
    shapes.append(f'<line x1="3%" y1="{bottom}" x2="97%" y2="{bottom}" class="axis"/>')
    shapes += [
        f'<text x="{3 + edge * width:.2f}%" y="{bottom + 17}" text-anchor="middle">'
        f"{full * edge / STEPS:g}</text>"
        for edge in range(0, STEPS + 1, 2)
    ]
    shapes.append(f'<text x="50%" y="{bottom + 36}" text-anchor="middle">points</text>')
    return _drawing(shapes, bottom + 44, "number of submissions by points")


def _drawing(shapes: Sequence[str], height: float, label: str) -> str:
    return (
        f'<svg class="drawing" width="100%" height="{height:g}" role="img" aria-label="{label}" '
        f'font-size="13">'
        f"{''.join(shapes)}</svg>"
    )

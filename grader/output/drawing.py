"""Margins and marks as SVG drawings for pages."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from grader.marks.points import MatchMark
from grader.rubric.model import Rubric

WIDTH: Final = 640
ROW: Final = 28
LABEL: Final = 220
"""Pixels of the drawing of margins."""

STEPS: Final = 10
"""Bars of a histogram."""


def margins(matches: Sequence[MatchMark], rubric: Rubric) -> str:
    """Return the margins of all pairs as an SVG drawing, one line for each match."""
    least = 10.0 if rubric.match.counts_points else 1.0
    reach = max([least, *(abs(pair) for match in matches for pair in match.tally.pairs)]) * 1.05

    def across(margin: float) -> float:
        return LABEL + (margin + reach) / (2 * reach) * (WIDTH - LABEL)

    height = ROW * (len(matches) + 1)
    middle = across(0)
    shapes = [
        f'<line x1="{middle:.1f}" y1="0" x2="{middle:.1f}" y2="{height - ROW}" class="axis"/>'
    ]
    for margin in (-reach, 0.0, reach):
        anchor = "start" if margin < 0 else "middle" if margin == 0 else "end"
        shapes.append(
            f'<text x="{across(margin):.1f}" y="{height - 8}" text-anchor="{anchor}" '
            f">{margin:+.0f}</text>"
        )
    for number, match in enumerate(matches):
        y = ROW * number + ROW / 2
        label = html.escape(match.name)
        shapes.append(f'<text x="0" y="{y + 5}">{label}</text>')
        interval = match.tally.interval(rubric.statistics)
        if interval.known:
            low, high = across(interval.low), across(interval.high)
            shapes.append(
                f'<rect x="{low:.1f}" y="{y - 7}" width="{high - low:.1f}" height="14" '
                'class="interval"/>'
            )
        shapes += [
            f'<circle cx="{across(pair):.1f}" cy="{y}" r="4" class="pair"/>'
            for pair in match.tally.pairs
        ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="margins by match" font-size="13">{"".join(shapes)}</svg>'
    )


def histogram(totals: Sequence[float], full: float) -> str:
    """Return a histogram of totals as an SVG drawing, in ten equal steps up to `full`."""
    if not totals or full <= 0:
        return ""
    counts = [0] * STEPS
    for total in totals:
        counts[max(0, min(STEPS - 1, int(STEPS * total / full)))] += 1
    width, height = WIDTH / STEPS, 160
    shapes = []
    for step, count in enumerate(counts):
        tall = height * count / max(counts)
        x, y = step * width, 20 + height - tall
        low, high = full * step / STEPS, full * (step + 1) / STEPS
        shapes.append(
            f'<rect x="{x + 2:.1f}" y="{y:.1f}" width="{width - 4:.1f}" height="{tall:.1f}" '
            f'class="bar"><title>{count} from {low:g} to {high:g} points</title></rect>'
            f'<text x="{x + width / 2:.1f}" y="{y - 4:.1f}" text-anchor="middle" '
            f">{count or ''}</text>"
            f'<text x="{x + 2:.1f}" y="{height + 38}">{low:g}</text>'
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {height + 44}" width="{WIDTH}" height="{height + 44}" '
        f'role="img" aria-label="number of submissions by points" font-size="13">'
        f"{''.join(shapes)}</svg>"
    )

"""Plots as SVG text: every single measurement a dot, so that nothing hides behind a mean."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

WIDTH = 860
LEFT = 190
RIGHT = 30
ROW = 34
TOP = 46
COLOURS = ("#1b6ca8", "#c2571a", "#3a7d44", "#7a4fa3", "#8a6d1f", "#a83246", "#4a4a4a")


def strips(title: str, rows: Mapping[str, Sequence[float]], unit: str, marks: Sequence[float] = (50, 95)) -> str:
    """One row of dots a name, on one axis from 0, with a tick at each percentile of `marks`."""
    shown = {name: sorted(values) for name, values in rows.items() if values}
    top = _top(max((values[-1] for values in shown.values()), default=1.0))
    height = TOP + ROW * len(shown) + 40
    parts = _frame(title, height)
    parts += _axis(top, unit, height - 34)
    for number, (name, values) in enumerate(shown.items()):
        y, colour = TOP + ROW * number + ROW // 2, COLOURS[number % len(COLOURS)]
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(name)} ({len(values)})</text>')
        for value in values:
            parts.append(f'<circle cx="{_x(value, top):.1f}" cy="{y}" r="4" fill="{colour}" fill-opacity="0.4"/>')
        for mark in marks:
            x = _x(float(np.percentile(values, mark)), top)
            parts.append(f'<line x1="{x:.1f}" y1="{y - 11}" x2="{x:.1f}" y2="{y + 11}" stroke="{colour}" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>", ""])


def curves(title: str, lines: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str) -> str:
    """One broken line a name through its points."""
    shown = {name: points for name, points in lines.items() if points}
    points = [point for line in shown.values() for point in line]
    right, top = _top(max((x for x, _ in points), default=1.0)), _top(max((y for _, y in points), default=1.0))
    height, base = 340, 300
    parts = _frame(title, height)
    parts += _axis(right, across, base)
    for step in range(5):
        value, y = top * step / 4, base - (base - TOP) * step / 4
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4:.0f}" text-anchor="end">{value:g}{f" {up}" if step == 4 else ""}</text>')
        parts.append(f'<line x1="{LEFT}" y1="{y:.0f}" x2="{WIDTH - RIGHT}" y2="{y:.0f}" stroke="#eee"/>')
    for number, (name, line) in enumerate(shown.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(_x(x, right), base - (base - TOP) * y / top) for x, y in line]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
        parts.append(f'<text x="20" y="{TOP + 18 * number + 10}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _frame(title: str, height: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="20" y="24" font-size="16">{escape(title)}</text>',
    ]


def _axis(top: float, unit: str, y: int) -> list[str]:
    parts = [f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#888"/>']
    for step in range(5):
        value, x = top * step / 4, _x(top * step / 4, top)
        label = f"{value:g}{f' {unit}' if step == 4 else ''}"
        parts.append(f'<text x="{x:.0f}" y="{y + 18}" text-anchor="middle">{label}</text>')
        parts.append(f'<line x1="{x:.0f}" y1="{TOP - 8}" x2="{x:.0f}" y2="{y}" stroke="#eee"/>')
    return parts


def _x(value: float, top: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / top


def _top(most: float) -> float:
    """A round number at or above `most` whose quarters are round too."""
    power = 10.0 ** np.floor(np.log10(max(most, 1e-6)))
    return float(next(power * step for step in (1, 2, 4, 8, 10) if power * step >= most))

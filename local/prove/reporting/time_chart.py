"""A chart of values over minutes as SVG, with linear axes from zero; independent of the measured subject."""

from collections.abc import Mapping, Sequence
from math import ceil, log10
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _INNER_WIDTH, _INNER_HEIGHT = 720, 320, 70, 40, 540, 220
_COLOURS = ("#2563a8", "#b4540a", "#3a7d44")
_STEPS = 5


def chart(title: str, unit: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Returns the chart: lines with their names at their ends; points are minute and value."""
    points = [point for line in lines.values() for point in line]
    last = max((minute for minute, _ in points), default=0.0) or 1.0
    step = _round_step(max((value for _, value in points), default=0.0) / _STEPS)

    def place(minute: float, value: float) -> tuple[float, float]:
        up = 1 - value / (step * _STEPS)
        return round(_LEFT + minute / last * _INNER_WIDTH, 1), round(_TOP + up * _INNER_HEIGHT, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
        "<style>text{font:12px sans-serif;fill:#333}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        _text(_LEFT, 20, title),
    ]
    for number in range(_STEPS + 1):
        _, y = place(0, number * step)
        parts.append(f'<path d="M{_LEFT} {y}h{_INNER_WIDTH}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{number * step:g} {unit}", "end"))
        minute = last * number / _STEPS
        parts.append(_text(place(minute, 0)[0], _TOP + _INNER_HEIGHT + 20, f"{minute:.0f} min", "middle"))
    for (name, line), colour in zip(lines.items(), _COLOURS, strict=False):
        if line:
            path = "L".join(f"{x} {y}" for x, y in (place(*point) for point in line))
            parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"/>')
            parts.append(_text(_LEFT + _INNER_WIDTH + 8, place(*line[-1])[1] + 4, name))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _round_step(least: float) -> float:
    """Returns a step of at least `least`: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** ceil(log10(least or 1) - 1)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'

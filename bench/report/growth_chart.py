"""A chart of costs by size as SVG, with logarithmic axes; independent of the measured subject."""

from dataclasses import dataclass
from math import ceil, floor, log10
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _INNER_WIDTH, _INNER_HEIGHT = 640, 360, 70, 40, 430, 260
_COLOURS = ("#2563a8", "#b4540a", "#3a7d44")


@dataclass(frozen=True, slots=True)
class Line:
    """Milliseconds by number of tasks."""

    name: str
    points: dict[int, float]


def chart(lines: list[Line]) -> str:
    """Returns the chart: lines with their names at their ends and every value beside its point."""
    sizes = sorted({size for line in lines for size in line.points})
    values = [value for line in lines for value in line.points.values()]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    left, right = log10(sizes[0]), log10(sizes[-1])

    def place(size: float, value: float) -> tuple[float, float]:
        across = (log10(size) - left) / ((right - left) or 1)
        up = (log10(value) - low) / ((high - low) or 1)
        return round(_LEFT + across * _INNER_WIDTH, 1), round(_TOP + (1 - up) * _INNER_HEIGHT, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
        "<style>text{font:12px sans-serif;fill:#333}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        _text(_LEFT, 20, "CPU of a delta cycle with 1,000 changed tasks, by the size of the job"),
    ]
    for power in range(low, high + 1):
        _, y = place(sizes[0], 10**power)
        parts.append(f'<path d="M{_LEFT} {y}h{_INNER_WIDTH}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{10**power:g} ms", anchor="end"))
    parts += [_text(place(size, 10**low)[0], _TOP + _INNER_HEIGHT + 20, f"{size:,}", "middle") for size in sizes]
    for line, colour in zip(lines, _COLOURS, strict=False):
        spots = [(*place(size, value), value) for size, value in sorted(line.points.items())]
        path = "L".join(f"{x} {y}" for x, y, _ in spots)
        parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"/>')
        for x, y, value in spots:
            parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>')
            parts.append(_text(x, y - 8, f"{value:.0f}", "middle"))
        parts.append(_text(spots[-1][0] + 14, spots[-1][1] + 4, f"{line.name} ids"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'

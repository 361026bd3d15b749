"""Measures in the format of all benchmarks: ours, a reference, and their ratio, from one run."""

import json
import platform
from typing import Any


def row(
    measure: str,
    ours: float,
    unit: str,
    *,
    other: tuple[float, str] | None = None,
    bar: float | None = None,
    least: float | None = None,
) -> dict[str, Any]:
    """Returns a measure; `bar` is the maximum of the ratio, or of ours alone, and `least` the minimum."""
    ratio = ours / other[0] if other else None
    judged = ours if ratio is None else ratio
    ok = (bar is None or judged <= bar) and (least is None or judged >= least)
    limit = bar if least is None else least
    return {
        "measure": measure,
        "ours": round(ours, 4),
        "other": round(other[0], 4) if other else None,
        "otherName": other[1] if other else None,
        "unit": unit,
        "ratio": None if ratio is None else round(ratio, 5),
        "bar": None if limit is None else round(limit, 5),
        "ok": ok,
    }


def answer(name: str, rows: list[dict[str, Any]]) -> str:
    """Returns the JSON of a benchmark."""
    machine = f"{platform.machine()} {platform.python_version()}"
    return json.dumps({"name": name, "machine": machine, "measures": rows}, indent=2) + "\n"


def table(rows: list[dict[str, Any]]) -> str:
    """Returns the rows as Markdown; a ratio below a quarter is shown as a fraction 1/n."""
    lines = ["| measure | ours | other | | ratio | bar | |", "|---|---|---|---|---|---|---|"]
    for one in rows:
        other = "" if one["other"] is None else f"{one['other']:,.4g} {one['unit']}"
        verdict = "" if one["bar"] is None else "ok" if one["ok"] else "MISSED"
        cells = (
            one["measure"], f"{one['ours']:,.4g} {one['unit']}", other, one["otherName"] or "",
            _times(one["ratio"]), limit(one), verdict,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def figure(one: dict[str, Any]) -> str:
    """Returns the figure that a row's bar judges: its ratio, or ours with its unit."""
    return _times(one["ratio"]) or f"{one['ours']:,.4g} {one['unit']}".strip()


def limit(one: dict[str, Any]) -> str:
    """Returns a row's bar, empty if it has none."""
    return _times(one["bar"])


def _times(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"1/{1 / ratio:,.4g}" if 0 < ratio < 0.25 else f"{ratio:.3g}"  # noqa: PLR2004 - a small ratio reads better so

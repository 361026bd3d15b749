"""A row of the table: a figure of the agent beside that of a judge."""

from __future__ import annotations

from typing import NamedTuple, Union

Shown = Union[bool, float, int, str, None]
_SMALL = 100


class Finding(NamedTuple):
    """One verdict; `ok` is None where there is nothing to judge, and `note` says why."""

    name: str
    agent: str
    judge: str
    bar: str
    ok: bool | None
    note: str = ""


def shown(value: Shown) -> str:
    """Returns a value as a cell: numbers with at most two places, large ones with none."""
    if value is None:
        return "none"
    if isinstance(value, (bool, str)):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= _SMALL or value == int(value) else f"{value:.2f}"


def between(  # noqa: PLR0917 - the row of a table, in its order
    name: str, agent: float | None, judge: str, low: float, high: float, unit: str
) -> Finding:
    """Judges a number by bounds; one that the agent doesn't have isn't ok."""
    bar = f"{low:g} to {high:g} {unit}"
    if agent is None:
        return Finding(name, "none", judge, bar, ok=False, note="the agent has no value")
    return Finding(name, f"{shown(agent)} {unit}", judge, bar, ok=low <= agent <= high)

"""The table of the proof, for the terminal and docs/proofs.md."""

from collections.abc import Sequence

from local.dev.checking.figures import markdown
from local.prove.agent_figures.judging import Row

_HEADER = ("agent", "of", "figure", "truth", "agent's", "error", "bar", "ok")
_OK = {True: "ok", False: "WRONG", None: "-"}
_WHAT = """
Real processes run as tasks of Batch beside real agents that sample every 10 s: one of root with exit accounting, one of
a user without rights, which sees the same tasks and not the administrator's. The use of each task is known from itself:
`getrusage`, its own counters, the kernel's `VmHWM`. psutil is the judge of the node's totals. Start and end are shown
as their distance from the truth. CPU time that an agent without exit accounting misses, and that of orphans which no
sample showed, must be within the bound that it states (`cpu_time_missed_max`). Memory and I/O of the time after the
last sample can't be known without exit accounting.
"""


def is_proved(rows: Sequence[Row]) -> bool:
    """Returns whether figures were judged and all of them are right."""
    judged = [row.is_right for row in rows if row.is_right is not None]
    return bool(judged) and all(judged)


def text(rows: Sequence[Row]) -> str:
    """Returns the table for the terminal."""
    cells = [_HEADER, *map(_cells, rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(_HEADER))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def section(rows: Sequence[Row], head: str) -> str:
    """Returns the section of docs/proofs.md; `head` names the command, its date and machine."""
    wrong = sum(row.is_right is False for row in rows)
    verdict = "As it should be." if is_proved(rows) else f"**{wrong} figures are wrong.**"
    return f"{_WHAT.strip()}\n\n{head}:\n\n{markdown(_HEADER, map(_cells, rows))}\n\n{verdict}"


def _cells(row: Row) -> tuple[str, ...]:
    return (row.agent, row.subject, row.figure, row.truth, row.found, row.error, row.bar, _OK[row.is_right])

"""Compares an agent's totals of the node with psutil's. Pure: no clock, no process."""

from collections.abc import Iterable, Iterator, Sequence

from local.prove.agent_figures.judging import IO_SHARE, Row, size_row
from local.prove.agent_figures.node_totals import Totals
from local.prove.agent_figures.spooled import Line

WINDOW = 60.0
"""Seconds over which the node's CPU is compared at least."""
POINTS, SHARE = 1.0, 0.01
SLACK = 1 << 20
"""Bytes by which counters may differ where little was transferred, as they are read at other moments."""
_BUSY = ("user", "nice", "system", "irq", "softirq", "steal", "guest", "guest_nice")
_MODES = (*_BUSY, "idle", "iowait")
_MEMORY = {"available": "available", "free": "free", "cached": "cached", "total": "memory"}
_COUNTERS = {"diskio": ("name", ("read_bytes", "write_bytes")), "net": ("interface", ("bytes_recv", "bytes_sent"))}


def judge_node(agent: str, lines: Sequence[Line], totals: Totals) -> Iterator[Row]:
    """Yields the rows of a node's totals."""
    yield from _cpu(agent, [line for line in lines if line.tags.get("cpu") == "cpu-total"], totals)
    memory = _within([line for line in lines if line.measurement == "mem"], totals)
    for field, name in _MEMORY.items():
        found = [line.numbers[field] for line in memory]
        true = [totals.at(line.time, name) for line in memory]
        yield size_row(agent, "node", f"memory, {field}, mean", _mean(true), _mean(found), share=SHARE)
    for line in [line for line in lines if line.measurement == "disk" and line.tags.get("path") == "/"][-1:]:
        space = totals.at(line.time, "used space")
        yield size_row(agent, "node", "used space of /", space, line.numbers["used"], share=SHARE)
    for measurement, (tag, fields) in _COUNTERS.items():
        yield from _counters(agent, _within([one for one in lines if one.measurement == measurement], totals),
                             tag, fields, totals)  # fmt: skip


def _cpu(agent: str, lines: Sequence[Line], totals: Totals) -> Iterator[Row]:
    """Yields the share of CPU time in use: by the times since boot, and by the shares between samples."""
    found = _within(lines, totals)
    if not found or found[-1].time - found[0].time < WINDOW:
        yield Row(agent, "node", "CPU", "", "", "", f"{WINDOW:g} s of samples", is_right=False)
        return
    first, *rest = found
    begin, end = first.time, rest[-1].time
    busy, total = (totals.at(end, name) - totals.at(begin, name) for name in ("busy", "total"))
    grown = {mode: rest[-1].numbers[f"time_{mode}"] - first.numbers[f"time_{mode}"] for mode in _MODES}
    by_times = sum(grown[mode] for mode in _BUSY) / sum(grown.values())
    starts = [begin, *(line.time for line in rest[:-1])]
    by_shares = sum(
        (line.time - start) * sum(line.numbers.get(f"usage_{mode}", 0.0) for mode in _BUSY)
        for line, start in zip(rest, starts, strict=True)
    ) / ((end - begin) * 100)
    seconds = f"over {end - begin:.0f} s"
    yield share_row(agent, f"CPU in use {seconds}, time_*", busy / total, by_times)
    yield share_row(agent, f"CPU in use {seconds}, usage_*", busy / total, by_shares)


def share_row(agent: str, figure: str, truth: float, found: float) -> Row:
    """Returns the row of a share, which must be right by percentage points and relatively."""
    error = found - truth
    is_right = abs(error) * 100 <= POINTS and abs(error) <= SHARE * truth
    shown = f"{error * 100:+.2f} points ({error / truth:+.2%})" if truth else f"{error * 100:+.2f} points"
    bar = f"{POINTS:g} point and {SHARE:.0%}"
    return Row(agent, "node", figure, f"{truth:.2%}", f"{found:.2%}", shown, bar, is_right)


def counter_row(agent: str, figure: str, truth: float, found: float) -> Row:
    """Returns the row of bytes that were transferred."""
    row = size_row(agent, "node", figure, truth, found, share=IO_SHARE)
    is_right = abs(found - truth) <= max(IO_SHARE * truth, SLACK)
    return Row(agent, "node", figure, row.truth, row.found, row.error, f"{IO_SHARE:.0%} or 1 MiB", is_right)


def _counters(agent: str, lines: Iterable[Line], tag: str, fields: Sequence[str], totals: Totals) -> Iterator[Row]:
    of: dict[str, list[Line]] = {}
    for line in lines:
        of.setdefault(line.tags[tag], []).append(line)
    for name, some in of.items():
        for field in fields:
            true = totals.at(some[-1].time, f"{name} {field}") - totals.at(some[0].time, f"{name} {field}")
            yield counter_row(agent, f"{name}, {field}", true, some[-1].numbers[field] - some[0].numbers[field])


def _within(lines: Iterable[Line], totals: Totals) -> list[Line]:
    return [line for line in lines if totals.times[0] < line.time < totals.times[-1]]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)

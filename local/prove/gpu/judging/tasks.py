"""Judges GPU use by process and by task: memory and utilization must stand with the task that used them. Pure."""

from __future__ import annotations

from typing import Iterator

from local.prove.gpu.finding import Finding, between
from local.prove.gpu.plan import BYSTANDER, FIRST, MEBIBYTES, SECOND
from local.prove.gpu.samples import Samples, Series, Window, middle, within

MEBI = 1 << 20
_PIECE = 16.0  # MiB
_SAME = 2.0  # MiB
_SETTLING = 4.5
"""Seconds of a phase that are left out: a sample of tasks has the mean of the two seconds before it."""
_BUSY, _IDLE, _HALF = 90.0, 5.0, 15.0  # percent
_SHARED = (25.0, 75.0)
_BOTH = 85.0


def judge_tasks(samples: Samples) -> list[Finding]:
    """Judges the use of each task, or says why the driver doesn't report it here."""
    if not samples.facts:
        return []
    return [*_processes(samples), *_bystander(samples)]


def _processes(samples: Samples) -> Iterator[Finding]:
    named = samples.driver_pids()
    own = {name: int(samples.raw["tasks"][name]["pid"]) for name in (FIRST, SECOND)}
    if not set(own.values()) & set(named):
        why = (
            f"the driver names only processes of another namespace ({', '.join(map(str, sorted(named)[:5]))})"
            if named
            else "the driver names no process here, as in a container without its namespace of processes"
        )
        yield Finding("processes of the tasks", "none", f"pids {sorted(own.values())}", "named", ok=None, note=why)
        return
    for name, pid in own.items():
        yield from _memory(samples, name, pid)
    yield from _utilization(samples)


def _memory(samples: Samples, name: str, pid: int) -> Iterator[Finding]:
    """Judges a task's memory by its allocations, and its sum by nvidia-smi."""
    series = _mebibytes(samples.task(name, "gpu_memory_used"))
    held = _number(middle(series, samples.window("held")))
    context = _number(middle(series, samples.window("context")))
    known = MEBIBYTES[name]
    change = None if held is None else held - (context or 0.0)
    most = known + _PIECE if context else known + 2000  # a context takes some hundred MiB itself
    yield between(f"GPU memory that task {name} allocated", change, f"{known:,} MiB", known - _PIECE, most, "MiB")
    judge = _number(middle(samples.apps(pid), samples.window("held")))
    if judge is None:
        yield Finding(
            f"GPU memory of task {name}",
            f"{held or 0:,.0f} MiB",
            "none",
            "",
            ok=None,
            note="nvidia-smi names no memory of it",
        )
    else:
        yield between(f"GPU memory of task {name}", held, f"{judge:,.0f} MiB", judge - _SAME, judge + _SAME, "MiB")
    peak = samples.task(name, "gpu_memory_peak", "batchscope_task_attempt")
    last = float(peak[-1][1]) / MEBI if peak else None
    yield between(
        f"peak of task {name} when it ended",
        last,
        f"{held or 0:,.0f} MiB",
        (held or 0) - _SAME,
        (held or 0) + 600,
        "MiB",
    )


def _utilization(samples: Samples) -> Iterator[Finding]:
    series = {name: samples.task(name, "gpu_usage") for name in (FIRST, SECOND)}
    named = [use for uses in samples.driver_pids().values() for use in uses]
    if not any(percent for _, _, percent in named):
        note = "the driver has no utilization of processes here"
        yield Finding("utilization of tasks", "none", "", "", ok=None, note=note)
        return
    share = 100 * float(samples.answer(SECOND, "busy").get("share", 0))
    for phase, name, low, high, judge in (
        ("held", FIRST, 0.0, _IDLE, "no kernel"),
        ("busy", FIRST, _BUSY, 100.0, "kernels without a pause"),
        ("busy", SECOND, 0.0, _IDLE, "no kernel"),
        ("half", FIRST, 0.0, _IDLE, "no kernel"),
        ("half", SECOND, max(share - _HALF, 0), min(share + _HALF, 100), f"kernels in {share:.0f} % of the time"),
        ("both", FIRST, *_SHARED, "kernels of two tasks by turns"),
        ("both", SECOND, *_SHARED, "kernels of two tasks by turns"),
    ):
        found = _number(middle(series[name], samples.window(phase, _SETTLING)))
        monitor = _number(middle(samples.monitored(int(samples.raw["tasks"][name]["pid"])), samples.window(phase)))
        also = "" if monitor is None else f"; nvidia-smi pmon {monitor:.0f} %"
        yield between(f"utilization of task {name}, {phase}", found, judge + also, round(low), round(high), "%")
    sums = [_number(middle(one, samples.window("both", _SETTLING))) or 0.0 for one in series.values()]
    yield between("utilization of both tasks together, both", sum(sums), "one GPU", _BOTH, 105, "%")


def _bystander(samples: Samples) -> Iterator[Finding]:
    """Judges that a task without GPU use has none, also if the driver's pids are of another namespace."""
    always = Window(0, float("inf"))
    found = [
        value for field in ("gpu_memory_used", "gpu_usage") for value in within(samples.task(BYSTANDER, field), always)
    ]
    is_known = bool(samples.task(BYSTANDER, "num_processes"))
    most = max([float(value) for value in found], default=0.0)
    yield Finding(
        "task that uses no GPU", f"{most:g}" if is_known else "no such task", "no use", "none",
        ok=is_known and not most,
    )  # fmt: skip


def _mebibytes(series: Series) -> Series:
    return [(time, float(value) / MEBI) for time, value in series]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None

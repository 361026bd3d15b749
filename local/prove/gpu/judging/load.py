"""Judges the agent's figures of the GPU by the known load of the tasks. Pure."""

from __future__ import annotations

from typing import Iterator

from local.prove.gpu.finding import Finding, between, shown
from local.prove.gpu.plan import FIRST, MEBIBYTES, SECOND
from local.prove.gpu.samples import Samples, Series, Window, middle

_PIECE = 16.0
"""MiB by which an allocation may differ: the driver hands out pieces of 2 MiB and keeps some for itself."""
_KEPT, _SLACK = 64.0, 0.01
_IDLE, _BUSY, _HALF = 5.0, 95.0, 15.0  # percent
_ENERGY = 0.1
MEBI = 1 << 20


def judge_load(samples: Samples) -> list[Finding]:
    """Judges memory, utilization and power by the known workload, as far as it ran."""
    if not samples.facts:
        errors = [
            str(one["error"]) for task in samples.raw["tasks"].values() for one in task["answers"][:1] if "error" in one
        ]
        return [Finding("workload", "", "", "it runs", ok=False, note=" ".join(errors) or "no task began")]
    return [*_memory(samples), *_utilization(samples), *_power(samples)]


def _memory(samples: Samples) -> Iterator[Finding]:
    used = samples.agent("memory_used")
    whole, freed = float(sum(MEBIBYTES.values())), float(MEBIBYTES[FIRST])
    for name, before, after, known in (
        ("memory that was allocated", "context", "held", whole),
        ("memory that was freed", "freed", "still", freed),
        ("memory that stays after the tasks", "before", "after", 0.0),
    ):
        change = _change(used, samples.window(before), samples.window(after))
        slack = _PIECE if known else _KEPT
        yield between(name, change, f"{known:,.0f} MiB", known - slack, known + slack, "MiB")
    answers = [samples.answer(name, "allocate") for name in MEBIBYTES]
    free, total = (min(one.get(name, 0) / MEBI for one in answers) for name in ("free", "total"))
    slack = _SLACK * total  # CUDA and NVML count the driver's own memory differently
    held = middle(samples.agent("memory_free"), samples.window("held"))
    yield between(
        "memory, free, by CUDA", _number(held), f"{free:,.0f} MiB", round(free - slack), round(free + slack), "MiB"
    )


def _utilization(samples: Samples) -> Iterator[Finding]:
    series = samples.agent("utilization_gpu")
    if not series:
        note = f"not offered: {samples.reason('utilization_gpu')}"
        yield Finding("utilization of known load", "none", "", "", ok=None, note=note)
        return
    share = 100 * float(samples.answer(SECOND, "busy").get("share", 0))
    for phase, low, high, judge in (
        ("held", 0.0, _IDLE, "no kernel"),
        ("busy", _BUSY, 100.0, "kernels without a pause"),
        ("idle", 0.0, _IDLE, "no kernel"),
        ("half", max(share - _HALF, 0), min(share + _HALF, 100), f"kernels in {share:.0f} % of the time"),
        ("both", _BUSY, 100.0, "kernels of both tasks"),
    ):
        found, said = (_number(middle(one, samples.window(phase))) for one in (series, samples.smi("utilization.gpu")))
        also = "" if said is None else f"; nvidia-smi {said:.0f} %"
        yield between(f"utilization of known load, {phase}", found, judge + also, round(low), round(high), "%")


def _power(samples: Samples) -> Iterator[Finding]:
    series, energy, window = samples.agent("power_draw"), samples.agent("energy_joules"), samples.window("busy")
    held, busy = (_number(middle(series, samples.window(phase))) for phase in ("held", "busy"))
    if held is not None and busy is not None:
        yield Finding("power under load", f"{busy:.0f} W", f"{held:.0f} W when idle", "more", ok=busy > held)
    inside = [(time, float(value)) for time, value in energy if window.begin <= time <= window.end]
    judged = _number(middle(samples.smi("power.draw"), window))
    if len(inside) > 1 and judged:
        rate = (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])
        low, high = round(judged * (1 - _ENERGY)), round(judged * (1 + _ENERGY))
        yield between("energy a second, busy", rate, f"{judged:.0f} W by nvidia-smi", low, high, "W")
    else:
        yield Finding("energy a second, busy", "none", shown(judged), "", ok=None, note=samples.reason("energy"))


def _change(series: Series, before: Window, after: Window) -> float | None:
    first, last = (_number(middle(series, window)) for window in (before, after))
    return None if first is None or last is None else last - first


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None

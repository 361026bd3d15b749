"""Judges the agent's figures of the GPU by those that nvidia-smi had at the same time. Pure."""

from __future__ import annotations

from typing import Iterator

from local.prove.gpu.figures import FIGURES, Figure
from local.prove.gpu.finding import Finding, Shown, shown
from local.prove.gpu.samples import Samples, Series, Value, Window, middle

_PHASES = ("held", "busy")
_ALWAYS = Window(0, float("inf"))
_YES = {"Enabled": True, "Disabled": False}
_ONE_TIME, _NEAR = 12.0, 2.5
"""Seconds between two values that count as simultaneous: of steady figures, and of those that follow the load."""
_DIFFERING = 0.2
"""Share of pairs of values that may differ, as the load changes between two samples."""


def judge_values(samples: Samples) -> list[Finding]:
    """Judges all figures; those of the phases held and busy separately where the load changes them."""
    return [finding for figure in FIGURES for finding in _judged(samples, figure)]


def judge_driver(samples: Samples) -> Finding:
    """Judges the driver's version by the kernel module's own text, or by nvidia-smi."""
    version = next((str(line["version"]) for line in samples.lines("driver") if "version" in line), "none")
    text = str(samples.raw["machine"].get("driver", ""))
    judge = middle(samples.smi("driver_version"), Window(0, float("inf")))
    known = version if version in text.split() else shown(judge)
    return Finding("driver version", version, known, "the same", ok=version == known)


def _judged(samples: Samples, figure: Figure) -> Iterator[Finding]:
    agent = samples.agent(figure.field)
    if figure.listed:
        yield _compared(samples, figure, figure.name, *pair(agent, samples.listed(figure.judges[0])))
        return
    judges = samples.smi(*figure.judges)
    if figure.rare and agent and judges:
        yield compare_pairs(figure.name, agent, judges)
        return
    if not figure.moves or not (agent or judges):
        yield _compared(samples, figure, figure.name, middle(agent, _ALWAYS), _translated(middle(judges, _ALWAYS)))
        return
    for phase in _PHASES:
        window = samples.window(phase)
        found, known = middle(agent, window), middle(judges, window)
        name = f"{figure.name}, {phase}"
        if agent and judges and (found is None or known is None):
            yield Finding(name, shown(found), shown(known), bar_of(figure), ok=False, note="no sample at that time")
        else:
            yield _compared(samples, figure, name, found, _translated(known))


def _compared(samples: Samples, figure: Figure, name: str, agent: Shown, judge: Shown) -> Finding:
    bar = bar_of(figure)
    found, known = ("none" if one is None else f"{shown(one)} {figure.unit}".strip() for one in (agent, judge))
    if agent is None:
        word = "not offered" if judge is None else "missing"
        note = f"{word}: {samples.reason(figure.field)}"
        return Finding(name, found, known, bar, ok=None if judge is None else False, note=note)
    if judge is None:
        return Finding(name, found, known, bar, ok=None, note="nvidia-smi doesn't say")
    return Finding(name, found, known, bar, ok=is_close(agent, judge, figure.absolute, figure.relative))


def bar_of(figure: Figure) -> str:
    """Returns the allowed difference in words."""
    parts = [f"{shown(figure.absolute)} {figure.unit}".strip()] if figure.absolute else []
    parts += [f"{figure.relative:.0%}"] if figure.relative else []
    return f"within {' or '.join(parts)}" if parts else "the same"


def is_close(agent: Shown, judge: Shown, absolute: float, relative: float) -> bool:
    """Returns whether two values differ by no more than the larger of both allowances; texts have none."""
    if isinstance(agent, (int, float)) and isinstance(judge, (int, float)):
        return abs(agent - judge) <= max(absolute, relative * abs(judge))
    return agent == judge


def compare_pairs(name: str, agent: Series, judge: Series) -> Finding:
    """Compares each value of the agent with the judge's nearest one."""
    near = [(time, value, *_nearest(judge, time)) for time, value in agent]
    pairs = [(value, other) for time, value, moment, other in near if abs(moment - time) <= _NEAR]
    differing = sum(value != other for value, other in pairs)
    found, known = (" or ".join(sorted({shown(one[side]) for one in pairs})) or "none" for side in (0, 1))
    ok = bool(pairs) and differing <= _DIFFERING * len(pairs)
    return Finding(
        name, found, known, f"{1 - _DIFFERING:.0%} of values the same", ok, f"{differing} of {len(pairs)} differ"
    )


def pair(agent: Series, judge: Series) -> tuple[Shown, Shown]:
    """Returns the last value of the judge, and that of the agent which is nearest in time."""
    if not judge:
        return (agent[-1][1] if agent else None), None
    time, value = judge[-1]
    if not agent:
        return None, _translated(value)
    moment, near = _nearest(agent, time)
    return near if abs(moment - time) <= _ONE_TIME else None, _translated(value)


def _nearest(series: Series, time: float) -> tuple[float, Value]:
    return min(series, key=lambda one: abs(one[0] - time))


def _translated(value: Value | None) -> Shown:
    return _YES.get(value, value) if isinstance(value, str) else value

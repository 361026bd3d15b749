"""How long runs take on other nodes: an assumption, with the sentence that states it."""

from math import inf
from typing import NamedTuple

from shared.domain.core.amounts import amount
from shared.domain.efficiency.offers import SlotOffer
from shared.domain.efficiency.texts import number_text
from shared.domain.findings.thresholds import MIN_SATURATED


class UsedCores(NamedTuple):
    """The vCPUs busy in a run over its time, in the mean of `runs` measured ones, and the most threads of most runs.

    `cores` is None where too few runs were measured, `threads` where those weren't.
    """

    cores: float | None = None
    threads: float | None = None
    runs: int = 0


class Stretch(NamedTuple):
    """How many times as long as seen a run takes, why, and other factors that are as well possible."""

    factor: float
    assumption: str
    bounds: tuple[float, ...] = ()


class _Usable(NamedTuple):
    """The vCPUs that a run can use: as expected, at least and at most."""

    expected: float
    least: float
    most: float


def stretch_of(used: UsedCores, was: SlotOffer, will: SlotOffer) -> Stretch:
    """Returns how runs stretch between two offers, where tasks share the vCPUs of a full node evenly.

    With fewer vCPUs a run takes longer in proportion to those that it used. With more it takes less only if it kept all
    that it had busy, and can use more.
    """
    before, after, cores = was.node.cores, will.node.cores, used.cores
    if cores is None:
        few = f" in enough runs, only in {used.runs:,}" if used.runs else ""
        return Stretch(1.0, f"A run takes as long as it did: its use of CPUs wasn't measured{few}.")
    if not before or not after:
        return Stretch(1.0, "A run takes as long as it did: the vCPUs of its node aren't known.")
    had, gets = before / was.tasks, after / will.tasks
    if gets > had and cores >= MIN_SATURATED * had:
        return _with_more(used, had, gets, _usable(cores, used.threads, had, before))
    factor, needed = max(cores / gets, 1.0) / max(cores / had, 1.0), cores * will.tasks
    by = f", by {amount(used.runs, 'measured run')}."
    if factor <= 1:
        text = f"A run takes as long as it did: {will.tasks} on a node keep {needed:.2g} of its {after} vCPUs busy"
        return Stretch(1.0, text + by)
    text = (
        f"{will.tasks} runs on a node need {needed:.2g} of its {after} vCPUs, so they take {factor:.2f} times as long"
    )
    return Stretch(factor, text + by)


def _usable(cores: float, threads: float | None, had: float, before: int) -> _Usable:
    """Returns what a run can use that kept all of the vCPUs busy that it had, or more where nodes weren't full.

    It has a thread, which can use a whole vCPU. One of several may be a shell's that only waits. A run with as many as
    its node has vCPUs may begin more on a larger node.
    """
    is_full = _were_full(cores, had)
    least = min(cores, had) if is_full else cores
    if threads is None:
        return _Usable(max(cores, 1.0) if is_full else least, least, inf)
    expected = max(cores, threads - 1, 1.0)
    most = inf if threads >= max(before, 2) else max(expected, threads)
    return _Usable(expected if is_full else least, least, most)


def _were_full(cores: float, had: float) -> bool:
    """Returns whether nodes were full, as runs used no more than a full node has for each."""
    return cores * MIN_SATURATED <= had


def _with_more(used: UsedCores, had: float, gets: float, usable: _Usable) -> Stretch:
    """Returns the stretch of runs that kept all of their vCPUs busy and get more of them."""
    had_in_fact = had if _were_full(used.cores or 0.0, had) else used.cores or had
    factor, slowest, fastest = (min(min(each, had_in_fact) / min(each, gets), 1.0) for each in usable)
    bounds = tuple(sorted({fastest, slowest} - {factor}))
    took = "as long as they did" if factor == 1 else f"{factor:.2f} times as long"
    text = (
        f"Runs kept {used.cores:.2g} vCPUs busy where a full node has {had:.2g} for each, by"
        f" {amount(used.runs, 'measured run')}: with {gets:.2g} they take {took}."
    )
    if not bounds:
        return Stretch(factor, text)
    ends = f"{min(factor, *bounds):.2f} to {max(factor, *bounds):.2f} times as long"
    text = f"{text} Whether they can use more isn't known, {_reason(used, had)}: the spread includes that they take"
    return Stretch(factor, f"{text} {ends}.", bounds)


def _reason(used: UsedCores, had: float) -> str:
    """Returns why it isn't known whether runs can use more vCPUs than they did."""
    if used.threads is None:
        return "as their threads weren't measured"
    if not _were_full(used.cores or 0.0, had):
        return "as nodes weren't full and runs may have had more than their share"
    return "as their one thread may also wait" if used.threads <= 1 else "as some of their threads may only wait"


def lacking_gpus(gpus: float | None, was: SlotOffer, will: SlotOffer) -> str | None:
    """Returns a sentence where runs used GPUs, and the slots of another VM size offer fewer; None elsewhere."""
    if not gpus or was.node.vm_size == will.node.vm_size or will.gpus >= was.gpus:
        return None
    offered = f"{number_text(will.gpus, 'GPU')} to a task" if will.gpus else "none"
    text = f"Runs used GPUs, and {will.node.vm_size} offers {offered}"
    return f"{text}: they may fail or take longer, which no replay shows."


def lacking_memory(peak: float | None, will: SlotOffer) -> str | None:
    """Returns a sentence where the peaks of as many tasks as fit don't fit into a node's memory; None where they do."""
    if peak is None or will.node.memory is None or peak * will.tasks <= will.node.memory:
        return None
    return (
        f"The highest peaks of {will.tasks} tasks together exceed the memory of {will.node.vm_size}: some may run out"
        " of it, which no replay shows."
    )

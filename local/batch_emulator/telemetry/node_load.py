"""The load of a node's activity: pure, and reproducible for a seed.

Each job has a character (how its tasks use cores, memory, disk and network), which each task varies. Tasks fetch their
input first, fill their memory within half a minute, and write all the time; one that will be killed for its memory
fills its node's. A start task downloads and unpacks; an idle node has almost no load.
"""

import random
from dataclasses import dataclass
from functools import lru_cache

from local.batch_emulator.telemetry.samplers import NodeSample, Work

MIB = 1 << 20
_FETCHING = 12.0  # seconds
_FILLING = 30.0
_IDLE = 0.004  # of all cores
_BASE = 0.04  # of the memory


@dataclass(frozen=True, slots=True)
class Load:
    """Busy cores, memory in use in bytes, rates in bytes per second, and the busy fraction of all GPUs."""

    user: float
    system: float
    waiting: float
    memory: float
    cached: float
    read: float
    written: float
    received: float
    sent: float
    gpu: float
    processes: int


@dataclass(frozen=True, slots=True)
class _Character:
    """A task's character: `cpu`, `memory` and `gpu` are fractions of its share; the others MiB per second."""

    cpu: float
    memory: float
    read: float
    written: float
    received: float
    sent: float
    gpu: float


def load_of(sample: NodeSample, seed: str) -> Load:
    """Returns the load of a sample, with the noise of measured values."""
    machine, origin = sample.origin.machine, sample.origin
    rng = random.Random(f"{seed}/{origin.node}/{origin.life}/{sample.number}")
    parts = [_part(work, seed, machine.cores, machine.memory) for work in sample.work]
    if sample.is_starting:
        parts.append(_STARTING)
    parts.append(Load(_IDLE * machine.cores, 0.002 * machine.cores, 0, _BASE * machine.memory, 0.02 * machine.memory,
                      0, 0.02 * MIB, 0.004 * MIB, 0.003 * MIB, 0, 0))  # fmt: skip
    return _together(parts, rng, machine.cores, machine.memory)


_STARTING = Load(0.7, 0.15, 0.1, 200 * MIB, 400 * MIB, 2 * MIB, 35 * MIB, 40 * MIB, 0.4 * MIB, 0, 6)


@lru_cache(4096)
def _character(job: str, task: str, seed: str) -> _Character:
    common, own = random.Random(f"{seed}/{job}"), random.Random(f"{seed}/{job}/{task}")
    cpu, memory, gpu = common.uniform(0.55, 0.97), common.uniform(0.2, 0.75), common.uniform(0.6, 0.98)
    flows = [common.uniform(*span) for span in ((2, 40), (0.5, 15), (10, 80), (0.1, 4))]
    read, written, received, sent = (flow * own.uniform(0.7, 1.3) for flow in flows)
    memory = min(0.9, memory * own.uniform(0.85, 1.15))
    return _Character(min(1.0, cpu * own.uniform(0.9, 1.05)), memory, read, written, received, sent, gpu)


def _part(work: Work, seed: str, cores: int, memory: int) -> Load:
    of, mine = _character(work.job, work.task, seed), work.share * cores
    fetching = max(0.0, 1 - work.seconds / _FETCHING)
    filled = min(1.0, 0.15 + work.seconds / _FILLING) * of.memory * work.share
    if work.fills_up_in:
        filled = min(1.0, work.seconds / work.fills_up_in)
    busy = of.cpu * mine * (1 - 0.6 * fetching)
    return Load(
        user=busy * 0.94,
        system=busy * 0.06 + 0.05 * fetching * mine,
        waiting=0.25 * fetching * mine,
        memory=filled * memory,
        cached=0.1 * work.share * memory,
        read=(of.read * (0.1 + fetching)) * MIB,
        written=(of.written * (0.3 + fetching)) * MIB,
        received=(of.received * fetching + 0.05) * MIB,
        sent=of.sent * (0.2 + 0.1 * fetching) * MIB,
        gpu=of.gpu * work.share * (1 - fetching),
        processes=3,
    )


def _together(parts: list[Load], rng: random.Random, cores: int, memory: int) -> Load:
    """Returns the total load, within the node's limits."""

    def total(name: str, unrest: float) -> float:
        values: list[float] = [getattr(part, name) for part in parts]
        return sum(values) * rng.uniform(1 - unrest, 1 + unrest)

    user, system, waiting = total("user", 0.05), total("system", 0.1), total("waiting", 0.2)
    fit = min(1.0, cores / (user + system + waiting))
    used = min(total("memory", 0.01), 0.99 * memory)
    return Load(
        user=user * fit,
        system=system * fit,
        waiting=waiting * fit,
        memory=used,
        cached=min(total("cached", 0.02), 0.9 * (memory - used)),
        read=total("read", 0.3),
        written=total("written", 0.3),
        received=total("received", 0.3),
        sent=total("sent", 0.3),
        gpu=min(1.0, total("gpu", 0.05)),
        processes=sum(part.processes for part in parts),
    )

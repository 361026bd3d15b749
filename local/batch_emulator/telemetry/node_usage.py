"""The resource usage of a node's tasks: pure, and reproducible for a seed.

Each job has a usage profile (cores, memory, disk and network of its tasks), which each task varies. Tasks fetch their
input first, fill their memory within half a minute, and write all the time; one that will be killed for its memory
fills its node's. A start task downloads and unpacks; an idle node has almost no load.
"""

import random
from dataclasses import dataclass
from functools import lru_cache

from local.batch_emulator.telemetry.samplers import NodeSample, RunningTask

MIB = 1 << 20
_DOWNLOAD_SECONDS = 12.0  # seconds
_FILL_SECONDS = 30.0
_IDLE_SHARE = 0.004  # of all cores
_BASE_MEMORY_SHARE = 0.04  # of the memory


@dataclass(frozen=True, slots=True)
class ResourceUsage:
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
class _UsageProfile:
    """A task's usage profile: `cpu`, `memory` and `gpu` are fractions of its share; the others MiB per second."""

    cpu: float
    memory: float
    read: float
    written: float
    received: float
    sent: float
    gpu: float


def usage_of(sample: NodeSample, seed: str) -> ResourceUsage:
    """Returns the resource usage of a sample, with the noise of measured values."""
    hardware, session = sample.session.hardware, sample.session
    rng = random.Random(f"{seed}/{session.node}/{session.life}/{sample.number}")
    parts = [task_usage(task, seed, hardware.cores, hardware.memory) for task in sample.running_tasks]
    if sample.is_starting:
        parts.append(_START_TASK_USAGE)
    parts.append(ResourceUsage(_IDLE_SHARE * hardware.cores, 0.002 * hardware.cores, 0,
                               _BASE_MEMORY_SHARE * hardware.memory, 0.02 * hardware.memory,
                               0, 0.02 * MIB, 0.004 * MIB, 0.003 * MIB, 0, 0))  # fmt: skip
    return _sum(parts, rng, hardware.cores, hardware.memory)


_START_TASK_USAGE = ResourceUsage(0.7, 0.15, 0.1, 200 * MIB, 400 * MIB, 2 * MIB, 35 * MIB, 40 * MIB, 0.4 * MIB, 0, 6)


@lru_cache(4096)
def _usage_profile(job: str, task: str, seed: str) -> _UsageProfile:
    job_rng, task_rng = random.Random(f"{seed}/{job}"), random.Random(f"{seed}/{job}/{task}")
    cpu, memory, gpu = job_rng.uniform(0.55, 0.97), job_rng.uniform(0.2, 0.75), job_rng.uniform(0.6, 0.98)
    flows = [job_rng.uniform(*span) for span in ((2, 40), (0.5, 15), (10, 80), (0.1, 4))]
    read, written, received, sent = (flow * task_rng.uniform(0.7, 1.3) for flow in flows)
    memory = min(0.9, memory * task_rng.uniform(0.85, 1.15))
    return _UsageProfile(min(1.0, cpu * task_rng.uniform(0.9, 1.05)), memory, read, written, received, sent, gpu)


def task_usage(task: RunningTask, seed: str, cores: int, memory: int) -> ResourceUsage:
    """Returns the usage of a task on a node with so many cores and bytes of memory, without noise."""
    profile, own_cores = _usage_profile(task.job, task.task, seed), task.share * cores
    downloading = max(0.0, 1 - task.seconds / _DOWNLOAD_SECONDS)
    filled = min(1.0, 0.15 + task.seconds / _FILL_SECONDS) * profile.memory * task.share
    if task.memory_full_after:
        filled = min(1.0, task.seconds / task.memory_full_after)
    busy = profile.cpu * own_cores * (1 - 0.6 * downloading)
    return ResourceUsage(
        user=busy * 0.94,
        system=busy * 0.06 + 0.05 * downloading * own_cores,
        waiting=0.25 * downloading * own_cores,
        memory=filled * memory,
        cached=0.1 * task.share * memory,
        read=(profile.read * (0.1 + downloading)) * MIB,
        written=(profile.written * (0.3 + downloading)) * MIB,
        received=(profile.received * downloading + 0.05) * MIB,
        sent=profile.sent * (0.2 + 0.1 * downloading) * MIB,
        gpu=profile.gpu * task.share * (1 - downloading),
        processes=3,
    )


def _sum(parts: list[ResourceUsage], rng: random.Random, cores: int, memory: int) -> ResourceUsage:
    """Returns the total usage, within the node's limits."""

    def total(name: str, noise: float) -> float:
        values: list[float] = [getattr(part, name) for part in parts]
        return sum(values) * rng.uniform(1 - noise, 1 + noise)

    user, system, waiting = total("user", 0.05), total("system", 0.1), total("waiting", 0.2)
    scale = min(1.0, cores / (user + system + waiting))
    used = min(total("memory", 0.01), 0.99 * memory)
    return ResourceUsage(
        user=user * scale,
        system=system * scale,
        waiting=waiting * scale,
        memory=used,
        cached=min(total("cached", 0.02), 0.9 * (memory - used)),
        read=total("read", 0.3),
        written=total("written", 0.3),
        received=total("received", 0.3),
        sent=total("sent", 0.3),
        gpu=min(1.0, total("gpu", 0.05)),
        processes=sum(part.processes for part in parts),
    )

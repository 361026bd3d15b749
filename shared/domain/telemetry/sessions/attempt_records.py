"""Records of the node agent at the end of a task's run: they become measured attempts, of bounded size.

Everything in a record is untrusted: a task on the node can write one as well. So a run must have ended by the time of
its record, which ingestion compares with its own clock.
"""

import math
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric, Value

_MEASUREMENT = "batchscope_task_attempt"
_KIND = "task_kind"  # of tasks that Batch runs for jobs and nodes
_MAX_JOB_KEY, _MAX_TASK, _MAX_SIZE = 256, 64, 64  # characters: longer than those of any job, and Batch's limit of tasks
_CLOCK_JUMP = 3_600_000  # milliseconds by which a node's clock may have been set back during a run
_MAX_WHOLE = 1 << 53
_THOUSAND = 1000
_MILLISECOND = 1_000_000  # nanoseconds


class MeasuredAttempt(NamedTuple):
    """What a task's run used; None where the agent wrote no figure.

    `start` is in seconds since 1970, `duration` and `cpu_time` in milliseconds, memory and disk I/O in bytes, `gpus` in
    thousandths of a GPU. `vm_size` is in lower case, empty where it isn't known.
    """

    job: str
    task: str
    start: int
    vm_size: str
    duration: int
    cpu_time: int | None = None
    memory_peak: int | None = None
    disk_bytes: int | None = None
    threads: int | None = None
    gpus: int | None = None
    gpu_memory_peak: int | None = None


def attempt_of(metric: Metric, whose: Identity, vm_size: str) -> MeasuredAttempt | None:
    """Returns the attempt of a record; None without job, task, start or duration, or of another kind of task.

    It is also None if the run ends after the time of its record.
    """
    is_start = whose.attempt.isascii() and whose.attempt.isdigit()
    duration = _scaled(metric.fields.get("duration"), _THOUSAND)
    is_named = 0 < len(key_of(whose.job)) <= _MAX_JOB_KEY and 0 < len(whose.task) <= _MAX_TASK
    if metric.name != _MEASUREMENT or metric.tags.get(_KIND) or not is_named or duration is None:
        return None
    start = int(whose.attempt) if is_start else 0
    if not is_start or metric.time is None or start * _THOUSAND + duration > metric.time // _MILLISECOND + _CLOCK_JUMP:
        return None
    return MeasuredAttempt(
        job=whose.job,
        task=whose.task,
        start=start,
        vm_size=vm_size.lower() if len(vm_size) <= _MAX_SIZE else "",
        duration=duration,
        cpu_time=_sum(metric, "cpu_time_user", "cpu_time_system", _THOUSAND),
        memory_peak=_scaled(metric.fields.get("memory_peak"), 1),
        disk_bytes=_sum(metric, "read_bytes", "write_bytes", 1),
        threads=_scaled(metric.fields.get("max_threads"), 1),
        gpus=_scaled(metric.fields.get("gpu_usage"), _THOUSAND / 100),
        gpu_memory_peak=_scaled(metric.fields.get("gpu_memory_peak"), 1),
    )


def _sum(metric: Metric, one: str, other: str, factor: float) -> int | None:
    parts = [_scaled(metric.fields.get(name), factor) for name in (one, other)]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _scaled(value: Value | None, factor: float) -> int | None:
    """Returns a number times a factor as a whole one; None where it is none, negative, or too large."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _MAX_WHOLE:
        return None
    scaled = value * factor
    return round(scaled) if math.isfinite(scaled) and scaled < _MAX_WHOLE else None

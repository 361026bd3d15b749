"""The agent's records at the end of tasks' runs: what each used of its node, from the samples that showed it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from local.batch_emulator.telemetry.hardware import HardwareInfo
from local.batch_emulator.telemetry.node_usage import ResourceUsage, task_usage
from local.batch_emulator.telemetry.samplers import NodeSample, RunningTask

MEASUREMENT = "batchscope_task_attempt"
_TICKS = 10_000_000  # a second
_GPU_MEMORY = 0.7  # of its share, as in the records of GPUs
type _Run = tuple[str, str, int]
"""Job, task, and start in ticks."""


@dataclass(slots=True)
class _RunUse:
    """Sums over the samples of a run."""

    share: float
    samples: int = 0
    user: float = 0.0
    system: float = 0.0
    memory: float = 0.0
    read: float = 0.0
    written: float = 0.0
    gpu: float = 0.0

    def add(self, usage: ResourceUsage) -> None:
        self.samples += 1
        self.user += usage.user
        self.system += usage.system
        self.memory = max(self.memory, usage.memory)
        self.read += usage.read
        self.written += usage.written
        self.gpu += usage.gpu


class TaskMeter:
    """The meter of tasks of one session, with samples every `period` seconds; each sample may be read only once."""

    def __init__(self, seed: str, period: float) -> None:
        self._seed = seed
        self._period = period
        self._runs: dict[_Run, _RunUse] = {}

    def read(self, sample: NodeSample) -> Iterator[tuple[str, dict[str, str], dict[str, int | float]]]:
        """Yields a record of each run that the sample doesn't show any more."""
        hardware, shown = sample.session.hardware, {_run_of(task): task for task in sample.running_tasks}
        for run in [run for run in self._runs if run not in shown]:
            yield MEASUREMENT, _tags(run), self._fields(run, self._runs.pop(run), sample.time, hardware)
        for run, task in shown.items():
            use = self._runs.setdefault(run, _RunUse(task.share))
            use.add(task_usage(task, self._seed, hardware.cores, hardware.memory))

    def _fields(self, run: _Run, use: _RunUse, end: int, hardware: HardwareInfo) -> dict[str, int | float]:
        """Returns the agent's figures: sums are the means of the samples over the duration."""
        start = run[-1] // _TICKS
        duration = max(end / _TICKS - start, 0.0)
        a_sample = duration / use.samples
        fields: dict[str, int | float] = {
            "start_time": start,
            "end_time": end / _TICKS,
            "end_uncertainty": self._period,
            "duration": duration,
            "cpu_time_user": use.user * a_sample,
            "cpu_time_system": use.system * a_sample,
            "cpu_time_missed_max": 0.0,
            "memory_peak": int(use.memory),
            "read_bytes": int(use.read * a_sample),
            "write_bytes": int(use.written * a_sample),
            "max_threads": max(1, math.ceil(use.share * hardware.cores)),
            "max_processes": 3,
        }
        if hardware.gpus:
            memory = int(_GPU_MEMORY * use.share * hardware.gpus * hardware.gpu_memory)
            fields |= {"gpu_memory_peak": memory, "gpu_usage": 100 * hardware.gpus * use.gpu / use.samples}
        return fields


def _run_of(task: RunningTask) -> _Run:
    return task.job, task.task, task.started


def _tags(run: _Run) -> dict[str, str]:
    job, task, start = run
    named = {"job_id": job, "task_id": task, "task_attempt": str(start // _TICKS)}
    return {**named, "cpu_time_from": "samples", "memory_peak_from": "samples"}

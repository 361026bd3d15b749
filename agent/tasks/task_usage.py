"""The use of one attempt of a task.

CPU time counts each process once: see cumulative_counter.py for how, and `missed` for the bound on missed time.
Memory is the sum of resident sizes, which counts pages twice that several processes share. Its peak is the largest
sum, or a process's own peak as the kernel keeps it, together with what the others certainly held in that interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Mapping, Tuple

from agent.records.record import Value
from agent.tasks.attempts import Attempt, Departure
from agent.tasks.cumulative_counter import CumulativeCounter, EndedProcess
from agent.tasks.process_details import Details
from agent.tasks.process_table import TICK, Process

_MICRO = 1e-6
Gpu = Mapping[int, Tuple[int, float]]
"""By pid, bytes of GPU memory and percent of one GPU."""


class TaskUsage:
    """Sums the use of an attempt's processes, from one sample to the next; times in microseconds, sizes in bytes."""

    def __init__(self) -> None:
        self.user = 0
        self.system = 0
        self.missed = 0
        """The bound on the CPU time that isn't counted."""
        self.memory = 0
        self.memory_peak = 0
        self.is_peak_of_kernel = False
        """Whether the peak rests on a process's own peak, which the kernel keeps, and on no sum at a sample."""
        self.is_accounted = True
        """Whether exit accounting was complete at all samples."""
        self.gpu = (0, 0.0)
        self.gpu_memory_peak = 0
        self._gpu_time = 0.0
        self._measured = 0
        self.threads = 0
        self.processes = 0
        self.files = 0
        self.max_threads = 0
        self.max_processes = 0
        self._cpu = CumulativeCounter(TICK)
        self._user = CumulativeCounter(TICK)
        self._read = CumulativeCounter()
        self._written = CumulativeCounter()
        self._has_io = False
        self._resident: dict[int, int] = {}
        self._peaks: dict[int, int] = {}
        self._rate = 0.0

    def update(self, attempt: Attempt, details: Mapping[int, Details], gpu: Gpu, elapsed: int) -> None:
        """Takes a sample; `elapsed` microseconds passed since the last one, 0 if there was none."""
        counted = self.user + self.system
        self._update_cpu(attempt)
        self._update_io(attempt, details)
        self._update_memory(attempt, details)
        self._update_counts(attempt, details, gpu)
        self._gpu_time += self.gpu[1] * elapsed
        self._measured += elapsed
        self._rate = 100.0 * (self.user + self.system - counted) / elapsed if elapsed > 0 else 0.0
        if self._cpu.is_uncertain:
            self.missed += elapsed * sum(
                one.process.threads for one in attempt.departures if one.process and not one.exit
            )

    def fields(self) -> dict[str, Value]:
        """Returns the fields of a sample."""
        found: dict[str, Value] = {
            **self.totals(),
            "cpu_usage": self._rate,
            "memory_rss": self.memory,
            "num_threads": self.threads,
            "num_processes": self.processes,
        }
        if self.files:
            found["num_fds"] = self.files
        if self.gpu_memory_peak or self.gpu[1]:
            found.update(gpu_memory_used=self.gpu[0], gpu_usage=self.gpu[1])
        return found

    @property
    def gpu_usage(self) -> float:
        """Returns the mean use of GPUs between samples, in percent of one."""
        return self._gpu_time / self._measured if self._measured else 0.0

    def totals(self) -> dict[str, Value]:
        """Returns the fields that only grow: CPU times in seconds, peak memory and I/O in bytes."""
        found: dict[str, Value] = {
            "cpu_time_user": self.user * _MICRO,
            "cpu_time_system": self.system * _MICRO,
            "cpu_time_missed_max": self.missed * _MICRO,
            "memory_peak": self.memory_peak,
        }
        if self._has_io:
            found.update(read_bytes=self._read.total, write_bytes=self._written.total)
        return found

    def _update_cpu(self, attempt: Attempt) -> None:
        """Counts CPU time; its user part is an estimate of the kernel's, so it is kept within the growth of the sum."""
        members = attempt.members.values()
        before = self.user + self.system
        total = self._cpu.update(
            {one.pid: (one.own + one.waited, one.waited) for one in members},
            _ended(attempt, _final_cpu),
            attempt.foreign,
        )
        user = self._user.update(
            {one.pid: (one.user + one.waited_user, one.waited_user) for one in members},
            _ended(attempt, _final_user),
            attempt.foreign,
        )
        self.user = min(max(user, self.user), self.user + total - before)
        self.system = total - self.user

    def _update_io(self, attempt: Attempt, details: Mapping[int, Details]) -> None:
        """Counts I/O; a process's reading holds that of the children that it waited for, inseparably.

        Readings are later than the exit accounting of the same sample. So a child that ended in between stands in its
        parent's reading before its own accounting comes: that counts only where no member waited for the child.
        """
        known = {pid: one for pid, one in details.items() if one.read is not None and one.written is not None}
        read = {pid: (one.read or 0, one.read or 0) for pid, one in known.items()}
        written = {pid: (one.written or 0, one.written or 0) for pid, one in known.items()}
        self._has_io = self._has_io or bool(known) or any(one.exit for one in attempt.departures)
        waiting = {pid for pid, one in details.items() if not one.ignores_children}
        self._read.update(read, _ended(attempt, lambda one: 0 if one.waiter in waiting else _final_read(one)))
        self._written.update(written, _ended(attempt, lambda one: 0 if one.waiter in waiting else _final_written(one)))

    def _update_memory(self, attempt: Attempt, details: Mapping[int, Details]) -> None:
        resident = {pid: process.rss for pid, process in attempt.members.items()}
        certain = {pid: min(size, self._resident.get(pid, 0)) for pid, size in resident.items()}
        floor = sum(certain.values())
        peaks = {pid: one.peak for pid, one in details.items()}
        risen = [*peaks.items(), *((one.pid, one.exit.peak) for one in attempt.departures if one.exit)]
        candidates = [peak + floor - certain.get(pid, 0) for pid, peak in risen if peak > self._peaks.get(pid, 0)]
        self.memory = sum(resident.values())
        highest = max(candidates, default=0)
        if max(highest, self.memory) > self.memory_peak:
            self.is_peak_of_kernel = highest >= self.memory
            self.memory_peak = max(highest, self.memory)
        self._resident, self._peaks = resident, peaks

    def _update_counts(self, attempt: Attempt, details: Mapping[int, Details], gpu: Gpu) -> None:
        self.processes = len(attempt.members)
        self.threads = sum(process.threads for process in attempt.members.values())
        self.files = sum(one.files for one in details.values())
        used = [gpu[pid] for pid in attempt.members if pid in gpu]
        self.gpu = (sum(size for size, _ in used), sum((share for _, share in used), 0.0))
        self.gpu_memory_peak = max(self.gpu_memory_peak, self.gpu[0])
        self.max_threads = max(self.max_threads, self.threads)
        self.max_processes = max(self.max_processes, self.processes)


def _ended(attempt: Attempt, final: Callable[[Departure], int]) -> list[EndedProcess]:
    return [EndedProcess(one.pid, one.waiter, final(one) if one.exit else 0) for one in attempt.departures]


def _waited(process: Process | None) -> tuple[int, int]:
    return (process.waited, process.waited_user) if process else (0, 0)


def _final_cpu(one: Departure) -> int:
    return one.exit.cpu + _waited(one.process)[0] if one.exit else 0


def _final_user(one: Departure) -> int:
    return one.exit.user + _waited(one.process)[1] if one.exit else 0


def _final_read(one: Departure) -> int:
    return one.exit.read if one.exit else 0


def _final_written(one: Departure) -> int:
    return one.exit.written if one.exit else 0

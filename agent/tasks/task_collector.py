"""The collector of tasks: the use of each attempt on the node, and once its total when it has ended.

Measurements: `batchscope_task` at each sample, and `batchscope_task_attempt`. `cpu_time_missed_max` bounds what the CPU
times lack; with exit accounting it is nearly always zero.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from agent.collectors.collector import UnsupportedError
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import ENDED_ATTEMPT, Record, Value
from agent.tasks.attempts import Attempt, Attempts
from agent.tasks.attribution import Attribution
from agent.tasks.batch_environment import START, TASK
from agent.tasks.ended_processes import EndedProcesses
from agent.tasks.exit_accounting import ExitAccounting
from agent.tasks.exited_processes import Exit, ExitedProcesses
from agent.tasks.identity import TaskIdentity
from agent.tasks.missed_time import OutsideTime
from agent.tasks.process_details import ProcessDetails
from agent.tasks.process_table import TICK, ProcessTable, Table, same
from agent.tasks.task_usage import Gpu, TaskUsage

MEASUREMENT, ATTEMPT = "batchscope_task", ENDED_ATTEMPT
_IDLE: dict[str, Value] = {"cpu_usage": 0.0, "memory_rss": 0, "num_threads": 0, "num_processes": 0}


def _no_gpu() -> Gpu:
    return {}


class TaskCollector:
    """Measures tasks. Raises UnsupportedError where processes can't be listed.

    `table` may be shared with other collectors. `own` returns the pids of the agent's processes, whose descendants
    belong to no task either. `gpu` returns the use of GPUs by pid. `accounting` is None where the kernel doesn't report
    ends of processes. `notes` are sentences about missing measurements.
    """

    name = "tasks"

    def __init__(
        self,
        machine: Machine,
        clock: Clock,
        *,
        table: ProcessTable | None = None,
        own: Callable[[], Collection[int]] = tuple,
        gpu: Callable[[], Gpu] = _no_gpu,
        accounting: ExitAccounting | None = None,
        interval: float = 10.0,
    ) -> None:
        self.interval = interval
        self._processes = table or ProcessTable(machine)
        first = self._processes.processes(clock.now())
        if not first:
            raise UnsupportedError("The processes of this node can't be listed in /proc.")
        self._machine = machine
        self._clock = clock
        self._gpu = gpu
        self._accounting = accounting
        self._exited = ExitedProcesses()
        self._attribution = Attribution(machine, own)
        self._attribution.update(first)  # so that the notes of the startup record are known
        self._attempts = Attempts(self._boot_time)
        self._details = ProcessDetails(machine)
        self._usage: dict[TaskIdentity, TaskUsage] = {}
        self._ended = EndedProcesses()
        self._table: Table = {}
        self._sampled: float | None = None

    @property
    def notes(self) -> list[str]:
        """Sentences about measurements that are impossible here, for the startup record; may change with samples."""
        found = []
        if self._accounting is None:
            found.append("CPU times of tasks have a bound on what is missed, as exit accounting needs root.")
        elif self._accounting.lost:
            found.append("The kernel dropped some exit accounting, as too many processes ended at once.")
        if self._attribution.unreadable:
            found.append(f"The environments of {self._attribution.unreadable} processes can't be read by this user.")
        return found

    def collect(self, now: int) -> Iterable[Record]:
        """Returns a sample of each attempt, and the records of attempts that ended since the last one."""
        table, moment = self._processes.processes(now), self._clock.monotonic()
        elapsed = 0 if self._sampled is None else int((moment - self._sampled) * 1_000_000)
        is_exact = self._take_exits(table)
        self._attempts.update(table, self._attribution.update(table), self._exited)
        outside = OutsideTime(self._table, table, self._attempts.vanished, elapsed)
        self._details.begin(table)
        gpu = self._gpu_use()
        for attempt in self._attempts.live:
            ancestors = table if attempt.is_adopted else attempt.ancestors
            missed = (
                self._attempts.unattributed(ancestors) if is_exact else outside.of(ancestors, self._attempts.members)
            )
            self._sample(attempt, gpu, elapsed, missed if elapsed else 0)
            self._usage[attempt.identity].is_accounted &= is_exact
        self._note_ended(moment)
        self._table, self._sampled = table, moment
        return list(self._records(now, elapsed))

    def task_of(self, pid: int) -> TaskIdentity | None:
        """Returns the task of a process that lives or ended in the last ten minutes, None where it has none."""
        attempt = self._attempts.attempt_of(pid)
        return attempt.identity if attempt else self._ended.task_of(pid, self._clock.monotonic())

    def start_task_processes(self) -> Iterator[tuple[int, int]]:
        """Yields the first process of each start task that still runs: its pid, and its start by today's clock in ns.

        A clock that was set moves the time of the boot with it, so that it makes no start task older. Other processes
        that a start task left behind are daemons, not the start task; an agent that begins later sees only these.
        """
        for attempt in self._attempts.live:
            if attempt.kind == START and attempt.has_launcher and same(attempt.members, attempt.first):
                yield attempt.first.pid, self._boot_time() * 1_000_000_000 + attempt.first.start * TICK * 1000

    def _take_exits(self, table: Table) -> bool:
        """Takes exit accounting; returns whether it is complete."""
        if self._accounting is None:
            return False
        records: Iterable[Exit] = self._accounting.records()
        if not self._accounting.names_processes:
            records = [one for one in records if one.pid in table or one.pid in self._table]
        self._exited.add(records)
        return self._accounting.is_exact

    def _gpu_use(self) -> Gpu:
        """Returns the use of GPUs; a driver's error costs these fields only."""
        try:
            return self._gpu()
        except (OSError, ValueError):
            return {}

    def _sample(self, attempt: Attempt, gpu: Gpu, elapsed: int, missed: int) -> None:
        usage = self._usage.setdefault(attempt.identity, TaskUsage())
        details = {pid: self._details.of(process) for pid, process in attempt.members.items()}
        usage.update(attempt, details, gpu, elapsed)
        usage.missed += missed

    def _note_ended(self, moment: float) -> None:
        for attempt in self._attempts.live:
            for departure in attempt.departures:
                self._ended.add(departure.pid, attempt.identity, moment)
        self._ended.forget(moment)

    def _records(self, now: int, elapsed: int) -> Iterator[Record]:
        for attempt in self._attempts.live:
            usage = self._usage[attempt.identity]
            if attempt.members:
                yield Record(MEASUREMENT, usage.fields(), _tags(attempt))
            else:
                del self._usage[attempt.identity]
                yield Record(MEASUREMENT, {**usage.fields(), **_IDLE}, _tags(attempt))
                yield Record(ATTEMPT, _summary(attempt, usage, now, elapsed), {**_tags(attempt), **_bases(usage)})

    def _boot_time(self) -> int:
        """Returns the second since 1970 in which the node booted, which the kernel keeps unless the clock is set."""
        _, _, found = self._machine.optional_text("/proc/stat").rpartition("\nbtime ")
        try:
            return int(found.split(None, 1)[0])
        except (ValueError, IndexError):
            return 0


def accounting_of(machine: Machine) -> tuple[ExitAccounting | None, str]:
    """Returns the node's exit accounting, else None and a sentence that says why there is none."""
    try:
        return ExitAccounting(machine), ""
    except UnsupportedError as error:
        return None, str(error)


def _tags(attempt: Attempt) -> dict[str, str]:
    """Returns the attempt's tags; tasks that Batch runs for jobs and nodes are marked by their kind."""
    tags = attempt.identity.tags()
    return tags if attempt.kind == TASK else {**tags, "task_kind": attempt.kind}


def _bases(usage: TaskUsage) -> dict[str, str]:
    """Returns tags that say where the figures of an attempt that ended come from."""
    return {
        "cpu_time_from": "exit_accounting" if usage.is_accounted else "samples",
        "memory_peak_from": "kernel" if usage.is_peak_of_kernel else "samples",
    }


def _summary(attempt: Attempt, usage: TaskUsage, now: int, elapsed: int) -> dict[str, Value]:
    """Returns the fields of an attempt that ended; times in seconds, sizes in bytes.

    `end_time` is when the end was seen, at most `end_uncertainty` after it. `gpu_usage` is a mean, in percent of one.
    """
    end = now / 1e9
    found: dict[str, Value] = {
        "start_time": attempt.start,
        "end_time": end,
        "end_uncertainty": elapsed / 1e6,
        "duration": max(end - attempt.start, 0.0),
        **usage.totals(),
        "max_threads": usage.max_threads,
        "max_processes": usage.max_processes,
    }
    if usage.gpu_memory_peak:
        found.update(gpu_memory_peak=usage.gpu_memory_peak, gpu_usage=usage.gpu_usage)
    return found

"""All collectors that work on a node, wired to each other, and why the others don't."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from agent.collectors.collector import Collector, UnsupportedError
from agent.collectors.processes import State
from agent.collectors.registry import node_collectors
from agent.devices.registry import Devices, devices
from agent.events.clock_jumps import ClockJumps
from agent.events.ecc_growth import EccCounts, EccGrowth
from agent.events.full_disks import FullDisks
from agent.events.kernel_events import KernelEvents
from agent.events.late_scheduled_events import LateScheduledEvents
from agent.events.oom_counters import OomCounters
from agent.events.reboots import Reboots
from agent.events.scheduled_events import ScheduledEvents
from agent.events.start_task_hangs import StartTaskHangs, StartTaskProcess
from agent.events.state import load_state
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.startup.imds import Imds, ImdsError
from agent.startup.imds_facts import is_spot, resource_name
from agent.tasks.exit_accounting import ExitAccounting
from agent.tasks.process_table import ProcessTable
from agent.tasks.task_collector import TaskCollector, accounting_of
from agent.tasks.task_usage import Gpu

STATE_FILE = "events.json"
_NO_SEQUENCE = -1


class Collection:
    """The collectors of a node, called every `interval` seconds; `folder` keeps the state of events, "" for none.

    `collectors` are those that work, `notes` a sentence for each that doesn't, by its name. `instance` is the document
    of the instance metadata service at the address `imds`, empty where it doesn't answer. `supervisor` is the pid of
    the agent's own parent, 0 where it has none: neither belongs to a task.
    """

    def __init__(
        self, machine: Machine, clock: Clock, *, interval: float, folder: str, imds: str, supervisor: int = 0
    ) -> None:
        self._machine = machine
        self._clock = clock
        self._own = (os.getpid(), supervisor) if supervisor else (os.getpid(),)
        self._table = ProcessTable(machine)
        self._devices = devices(machine, interval)
        self._tasks: TaskCollector | None = None
        self._kernel: KernelEvents | None = None
        self._reboots: Reboots | None = None
        self._accounting: ExitAccounting | None = None
        self._service = Imds(imds, clock)
        self.notes: dict[str, str] = {}
        self.instance = self._instance()
        node = node_collectors(machine, clock, interval=interval, states=self._states)
        self.collectors: list[Collector] = [*node.working, *self._devices.collectors]
        self.notes.update({**node.notes, **self._devices.notes})
        self._add_tasks(interval)
        self._add_events(os.path.join(folder, STATE_FILE) if folder else "")

    def spooled(self) -> None:
        """Takes notice that the spool has all records that the collectors yielded."""
        for collector in (self._kernel, self._reboots):
            if collector:
                collector.spooled()

    def close(self) -> None:
        """Ends exit accounting, and the session with the NVIDIA driver, which can't be unloaded while one is open."""
        if self._accounting:
            self._accounting.close()
        if self._devices.nvidia:
            self._devices.nvidia.close()

    def _states(self, now: int) -> Iterable[State]:
        return ((process.state, process.threads) for process in self._table.processes(now).values())

    def _instance(self) -> Mapping[str, object]:
        try:
            return self._service.instance()
        except ImdsError as error:
            self.notes["imds"] = str(error)
            return {}

    def _add(self, name: str, build: Callable[[], Collector]) -> None:
        """Adds a collector, or a note why the node lacks it."""
        try:
            self.collectors.append(build())
        except UnsupportedError as error:
            self.notes[name] = str(error)
        except (OSError, ValueError) as error:
            self.notes[name] = f"The kernel's files for it can't be read: {error}"

    def _add_tasks(self, interval: float) -> None:
        def build() -> Collector:
            self._accounting, note = accounting_of(self._machine)
            if note:
                self.notes["exit_accounting"] = note
            self._tasks = TaskCollector(
                self._machine,
                self._clock,
                table=self._table,
                own=lambda: self._own,
                gpu=lambda: _gpu_use(self._devices),
                accounting=self._accounting,
                interval=interval,
            )
            self.notes.update({"tasks": " ".join(self._tasks.notes)} if self._tasks.notes else {})
            return self._tasks

        self._add("tasks", build)

    def _add_events(self, state_file: str) -> None:
        last = load_state(state_file)
        task_of = self._tasks.task_of if self._tasks else lambda _: None

        def kernel_events() -> Collector:
            self._kernel = KernelEvents(self._machine, task_of, last)
            return self._kernel

        def kernel() -> tuple[int, int]:
            return (self._kernel.sequence, self._kernel.started) if self._kernel else (_NO_SEQUENCE, 0)

        def reboots() -> Collector:
            self._reboots = Reboots(self._machine, state_file, last, kernel)
            return self._reboots

        self._add("kernel_events", kernel_events)
        if self._kernel is None:
            self._add("oom_counters", lambda: OomCounters(self._machine))
        self._add("reboots", reboots)
        self._add("full_disks", lambda: FullDisks(self._machine, self._clock))
        self._add("clock_jumps", lambda: ClockJumps(self._clock))
        if self._tasks:
            tasks = self._tasks
            self._add("start_task_hangs", lambda: StartTaskHangs(lambda: _start_task(tasks)))
        if self._devices.nvidia:
            self._add("ecc_growth", lambda: EccGrowth(lambda: _ecc_counts(self._devices)))
        if self.instance:
            self._add("scheduled_events", lambda: self._scheduled_events(self.instance, state_file))
        else:
            late = LateScheduledEvents(
                lambda: self._scheduled_events(self._service.instance(), state_file), self._clock
            )
            self._add("scheduled_events", lambda: late)

    def _scheduled_events(self, instance: Mapping[str, object], state_file: str) -> Collector:
        return ScheduledEvents(
            self._service.scheduled_events,
            self._clock,
            is_spot=is_spot(instance),
            resource=resource_name(instance),
            path=f"{state_file}.announced" if state_file else "",
        )


def _gpu_use(found: Devices) -> Gpu:
    """Returns the use of GPUs by pid: bytes and percent; nothing without NVIDIA's driver."""
    if not found.nvidia:
        return {}
    return {pid: (use.memory or 0, use.utilization or 0.0) for pid, use in found.nvidia.processes().items()}


def _ecc_counts(found: Devices) -> EccCounts:
    """Returns the ECC counts of each GPU that has them."""
    errors = found.nvidia.errors() if found.nvidia else ()
    return {
        str(one.number): {"corrected": one.corrected, "uncorrected": one.uncorrected}
        for one in errors
        if one.corrected is not None and one.uncorrected is not None
    }


def _start_task(tasks: TaskCollector) -> Iterable[StartTaskProcess]:
    return (StartTaskProcess(pid, started) for pid, started in tasks.start_task_processes())

"""Collector of the events in the kernel's log: OOM kills and errors of GPUs."""

from __future__ import annotations

from collections.abc import Iterable

from agent.events.event import LOG_RECORD
from agent.events.kernel_log import KernelLog, KmsgFile, LogFile
from agent.events.oom_kills import TaskOf, is_cgroup_limit, oom_kill
from agent.events.state import EventState
from agent.events.xid_errors import Xid, xid_events, xid_of
from agent.machine.machine import Machine
from agent.records.record import Record

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_BILLION = 1_000_000_000
_LOOK_BACK = 60.0  # seconds before the agent's start, where no state is known
_SLACK = _BILLION  # by which the kernel's start may seem to shift before it counts as the clock's correction


class KernelEvents:
    """Reads the kernel's log every 10 s; continues behind the last session's records if the kernel is the same.

    Without a state it looks back one minute, since a task may start the agent and die of an earlier event. A record
    that two sessions read gives equal events: `started`, the nanosecond of the kernel's start, is the first session's.
    `sequence` is the number of the last record for the next session: the events up to it are in the spool.
    """

    name = "kernel_events"
    interval = 10.0

    def __init__(
        self, machine: Machine, task_of: TaskOf, state: EventState | None = None, file: LogFile | None = None
    ) -> None:
        last = state or EventState()
        source = file or KmsgFile(machine)
        self._boot_id = machine.optional_text(_BOOT_ID)[:64]
        is_same = bool(last.boot_id) and last.boot_id == self._boot_id
        self.started = last.started if is_same else 0
        uptime = _uptime(machine)
        self._machine = machine
        self._task_of = task_of
        self._is_limit = False  # the reason of the last OOM kill
        self._log = KernelLog(
            source, after=last.sequence if is_same else -1, since=0.0 if last.boot_id else uptime - _LOOK_BACK
        )
        self.sequence = self._log.last
        self._has_unspooled = False

    @property
    def lost(self) -> int:
        """How many records the kernel overwrote before they were read."""
        return self._log.lost

    def spooled(self) -> None:
        """Takes notice that the spool has all events that were yielded."""
        self.sequence, self._has_unspooled = self._log.last, False

    def collect(self, now: int) -> Iterable[Record]:
        """Yields the events since the last call, with the times of their own."""
        for found in self._events(now):
            self._has_unspooled = True
            yield found
        if not self._has_unspooled:
            self.sequence = self._log.last

    def _events(self, now: int) -> Iterable[Record]:
        started = now - int(_uptime(self._machine) * _BILLION)
        if abs(started - self.started) > _SLACK:
            self.started = started
        xids: list[tuple[Xid, str, int]] = []
        for record in self._log.poll():
            time, uid = min(self.started + int(record.time * _BILLION), now), f"{self._boot_id}-{record.sequence}"
            is_limit = is_cgroup_limit(record)
            self._is_limit = self._is_limit if is_limit is None else is_limit
            killed = oom_kill(record, self._task_of, time, is_limit=self._is_limit)
            if killed is not None:
                yield killed._replace(fields={**killed.fields, LOG_RECORD: uid})
            xid = xid_of(record)
            if xid is not None:
                xids.append((xid, uid, time))
        yield from xid_events(xids, self._task_of)


def _uptime(machine: Machine) -> float:
    """Returns seconds since the kernel's start; 0 where they aren't known."""
    try:
        return float(machine.optional_text("/proc/uptime").split()[0])
    except (ValueError, IndexError):
        return 0.0

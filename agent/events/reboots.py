"""Collector of reboots: the kernel's boot id differs from the one of the last session."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.collectors.collector import UnsupportedError
from agent.events.event import event
from agent.events.state import MAX_MOMENTS, EventState, Reboot, save_state
from agent.machine.machine import Machine
from agent.records.record import Record

KIND = "reboot"
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_BILLION = 1_000_000_000


class Reboots:
    """Reports a reboot once, at its first call, and saves the state for the next session every 60 s.

    `last` is the state of the last session, `kernel` returns the last record of the kernel's log for the next session,
    and the kernel's start. A node that was reimaged has no state, so there is no event. Without a `path` nothing is
    saved. Until the spool has the event, the state keeps the reboot, so that the next session repeats the same record.
    """

    name = "reboots"
    interval = 60.0

    def __init__(self, machine: Machine, path: str, last: EventState, kernel: Callable[[], tuple[int, int]]) -> None:
        self._boot_id = machine.optional_text(_BOOT_ID)[:64]
        if not self._boot_id:
            raise UnsupportedError("The kernel has no boot id.")
        self._path = path
        self._last: EventState | None = last
        self._unspooled = last.reboots
        self._kernel = kernel

    def spooled(self) -> None:
        """Takes notice that the spool has all events that were yielded."""
        self._unspooled = ()

    def collect(self, now: int) -> Iterable[Record]:
        """Yields the event of a reboot. Raises OSError where the state can't be saved, after the event."""
        last, self._last = self._last, None
        if last:
            if last.boot_id and last.boot_id != self._boot_id:
                self._unspooled = (*last.reboots, Reboot(now, last.saved))[-MAX_MOMENTS:]
            yield from map(_event, self._unspooled)
        if self._path:
            sequence, started = self._kernel()
            save_state(self._path, EventState(self._boot_id, sequence, now, started, self._unspooled))


def _event(reboot: Reboot) -> Record:
    """Returns the event; `down_seconds` is at most the time between the last session's last sign and this one."""
    seconds = max((reboot.noticed - reboot.last_sign) / _BILLION, 0.0)
    message = f"The node was restarted since the agent last ran, {seconds:.0f} s ago."
    return event(KIND, message, {"down_seconds": seconds}, time=reboot.noticed)

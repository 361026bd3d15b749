"""A session of the agent: it is registered, measures by its child, and takes over from the agents before it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress

from agent.machine.clock import Clock
from agent.supervision.handover import Handover, Request, send
from agent.supervision.instances import Instance, Registry
from agent.supervision.supervisor import Duty, SupervisedChild, Supervisor

MIN_UPTIME = 2.0
"""Seconds that the new child must have run before the older agents are asked to end."""
LOOK_AGAIN = 60.0
"""Seconds between two looks for older agents: one whose disk was full may have been registered late.

Each look also registers this agent where that failed or its file is gone: two that go on would count all twice.
"""


class Takeover:
    """The duty that ends the agents before this one, once the child of this session runs well.

    A version that can't run thereby leaves the older agent in place. `own` returns this agent's registration, None
    where it has none.
    """

    def __init__(self, own: Callable[[], Instance | None], registry: Registry, log: Callable[[str], None]) -> None:
        self._own = own
        self._registry = registry
        self._log = log
        self._handover = Handover()
        self._look_due = 0.0

    def step(self, now: float, child_started: float | None) -> float | None:
        """Sends the signals that are due and returns when the next ones are, or the next look for older agents."""
        wakes = []
        if child_started is not None:
            if now >= max(self._look_due, child_started + MIN_UPTIME):
                self._look(now)
            wakes.append(max(self._look_due, child_started + MIN_UPTIME))
        for request in self._handover.requests(now, self._registry.is_running):
            self._send(request)
        wake = self._handover.wake()
        return min(wakes if wake is None else [*wakes, wake], default=None)

    def _look(self, now: float) -> None:
        self._look_due = now + LOOK_AGAIN
        own = self._own()
        if own:
            self._handover.add(own, self._registry.running(), now)

    def _send(self, request: Request) -> None:
        sent = "sent" if send(request, self._registry.is_running) else "could not be sent"
        older = request.instance
        whose = f"the task {older.task}" if older.task else "the start task"
        self._log(f"{request.signal.name} {sent} to the older agent {older.pid} of {whose}.")


class Session:
    """Supervises `child` as the agent of `task`, which is empty for a start task."""

    def __init__(
        self,
        registry: Registry,
        child: SupervisedChild,
        clock: Clock,
        log: Callable[[str], None],
        *,
        task: str,
        version: str,
        pid: int,
        duties: tuple[Duty, ...] = (),
    ) -> None:
        self._registry = registry
        self._child = child
        self._clock = clock
        self._log = log
        self._duties = duties
        self._registered: Callable[[], Instance] = lambda: registry.register(task, version, pid)
        self._own: Instance | None = None
        self._has_failed = False
        self._registration()

    def run(self, wait: Callable[[float], signal.Signals | None]) -> None:
        """Measures until a signal asks to end; `wait` returns the next signal within seconds, or None."""
        takeover = Takeover(self._registration, self._registry, self._log)
        try:
            Supervisor(self._child, self._clock, wait, self._log, (takeover, *self._duties)).run()
        finally:
            if self._own:
                self._registry.remove(self._own)

    def _registration(self) -> Instance | None:
        """Returns this session's registration; while it has none it measures, but replaces no agent."""
        try:
            if self._own is None or not self._registry.renew(self._own):
                self._own = self._registered()
        except (OSError, ValueError) as error:
            self._say_failed(error)
        return self._own

    def _say_failed(self, error: Exception) -> None:
        if not self._has_failed:
            self._has_failed = True
            with suppress(Exception):
                self._log(f"The agent can't be registered, so that it replaces none before it: {error}.")

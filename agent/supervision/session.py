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


class Takeover:
    """The duty that ends the agents before `own`, once the child of this session runs well.

    A version that can't run thereby leaves the older agent in place.
    """

    def __init__(self, own: Instance, registry: Registry, log: Callable[[str], None]) -> None:
        self._own = own
        self._registry = registry
        self._log = log
        self._handover: Handover | None = None

    def step(self, now: float, child_started: float | None) -> float | None:
        """Sends the signals that are due and returns when the next ones are."""
        if self._handover is None:
            if child_started is None or now - child_started < MIN_UPTIME:
                return None if child_started is None else child_started + MIN_UPTIME
            self._handover = Handover(self._own, self._registry.running(), now)
        for request in self._handover.requests(now, self._registry.is_running):
            self._send(request)
        return self._handover.wake()

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
        self._own = self._registered(task, version, pid)

    def run(self, wait: Callable[[float], signal.Signals | None]) -> None:
        """Measures until a signal asks to end; `wait` returns the next signal within seconds, or None."""
        takeover = (Takeover(self._own, self._registry, self._log),) if self._own else ()
        try:
            Supervisor(self._child, self._clock, wait, self._log, (*takeover, *self._duties)).run()
        finally:
            if self._own:
                self._registry.remove(self._own)

    def _registered(self, task: str, version: str, pid: int) -> Instance | None:
        """Returns this session's registration; without one it measures, but replaces no agent."""
        try:
            return self._registry.register(task, version, pid)
        except (OSError, ValueError) as error:
            with suppress(Exception):
                self._log(f"The agent can't be registered, so that it replaces none before it: {error}.")
            return None

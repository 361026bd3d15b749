"""The supervisor: starts the measuring child anew when it dies, and passes requests to end on to it.

It waits for its own child only and leaves all other processes to init. Failed writes (a full disk, a missing
folder) never ends it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Protocol

from agent.machine.clock import Clock
from agent.supervision.states import REQUESTS, Action, Start, Supervision

MAX_WAIT = 60.0
"""Seconds after which it looks after its duties, even if no signal comes."""


class SupervisedChild(Protocol):
    """The child as the supervisor needs it, `child.Child` for instance."""

    def start(self) -> None: ...

    def outcome(self) -> str: ...

    def send(self, signum: signal.Signals) -> None: ...


class Duty(Protocol):
    """Something else to do beside the child, a handover for instance."""

    def step(self, now: float, child_started: float | None) -> float | None:
        """Runs due actions and returns when to be called again, None for at the next event."""
        ...


class Supervisor:
    """Supervises a child until it is asked to end. `wait` returns the next signal within seconds, or None."""

    def __init__(
        self,
        child: SupervisedChild,
        clock: Clock,
        wait: Callable[[float], signal.Signals | None],
        log: Callable[[str], None],
        duties: tuple[Duty, ...] = (),
    ) -> None:
        self._child = child
        self._clock = clock
        self._wait = wait
        self._log = log
        self._duties = duties
        self._state = Supervision(clock.monotonic())

    def run(self) -> None:
        """Returns after a request to end, when the child has ended."""
        while not self._state.is_over:
            self._apply(self._state.passed(self._clock.monotonic()))
            signum = self._wait(self._seconds_to_wait())
            self._notice_death()
            if signum in REQUESTS:
                self._log(f"Asked to end by the signal {signum.name}.")
                self._apply(self._state.asked(signum, self._clock.monotonic()))

    def _apply(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Start):
                self._start()
            else:
                self._child.send(action.signal)

    def _start(self) -> None:
        try:
            self._child.start()
        except OSError as error:
            self._log(f"The measuring process can't be started: {error}.")
            self._state.died(self._clock.monotonic())

    def _notice_death(self) -> None:
        outcome = self._child.outcome() if self._state.started is not None else ""
        if outcome:
            self._state.died(self._clock.monotonic())
            self._log(f"The measuring process {outcome}.")

    def _seconds_to_wait(self) -> float:
        now = self._clock.monotonic()
        wakes = [self._state.wake(), *(self._fulfilled(duty, now) for duty in self._duties)]
        return max(min([now + MAX_WAIT, *(wake for wake in wakes if wake is not None)]) - now, 0.0)

    def _fulfilled(self, duty: Duty, now: float) -> float | None:
        try:
            return duty.step(now, self._state.started)
        except Exception as error:  # measuring continues without it
            self._log(f"A duty of the supervisor failed: {type(error).__name__}: {error}.")
            return None

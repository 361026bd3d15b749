"""The supervisor's loop with a child and a queue of signals of the test's own."""

import signal

import pytest

from agent.supervision.supervisor import Supervisor
from tests.agent.supervision.fakes import ScriptedChild, SteppedClock


def supervised(child: ScriptedChild, until: float, request: signal.Signals = signal.SIGTERM) -> list[str]:
    log = list[str]()
    Supervisor(child, child.clock, child.wait(until, request), log.append).run()
    return log


def test_a_child_that_ends_with_success_is_started_again_unless_that_was_asked_for() -> None:
    child = ScriptedChild(SteppedClock(), lives=[60.0])
    log = supervised(child, 100.0)
    assert child.starts == [0.0, 61.0]
    assert log == [
        "The measuring process ended with the exit code 0.",
        "Asked to end by the signal SIGTERM.",
        "The measuring process ended with the exit code 0.",
    ]


def test_a_child_that_keeps_dying_is_started_every_five_minutes() -> None:
    child = ScriptedChild(SteppedClock(), lives=[1.0] * 6)
    supervised(child, 700.0)
    assert child.starts == [0.0, 2.0, 303.0, 305.0, 606.0, 608.0]


@pytest.mark.parametrize("request_", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_is_passed_through_and_waited_for(request_: signal.Signals) -> None:
    child = ScriptedChild(SteppedClock())
    supervised(child, 10.0, request_)
    assert child.signals == [(10.0, request_)]


def test_a_child_that_ignores_the_request_is_killed() -> None:
    child = ScriptedChild(SteppedClock(), obeys=False)
    supervised(child, 10.0, signal.SIGINT)
    assert child.signals == [(10.0, signal.SIGINT), (35.0, signal.SIGKILL)]


def test_a_start_that_fails_counts_as_a_death() -> None:
    child = ScriptedChild(SteppedClock(), fails=2)
    log = supervised(child, 400.0)
    assert child.starts == [301.0]
    assert log[0] == "The measuring process can't be started: [Errno 28] No space left on device."


def test_a_failing_duty_leaves_the_child_alone() -> None:
    class Failing:
        def step(self, now: float, child_started: float | None) -> float | None:
            raise OSError(28, "No space left on device", f"{now}{child_started}")

    child, log = ScriptedChild(SteppedClock()), list[str]()
    Supervisor(child, child.clock, child.wait(5.0, signal.SIGTERM), log.append, (Failing(),)).run()
    assert child.starts == [0.0]
    assert log[0].startswith("A duty of the supervisor failed: OSError: [Errno 28] No space left on device")


def test_duties_are_called_when_they_want_to_and_once_a_minute() -> None:
    calls = list[float]()

    class Wanting:
        def step(self, now: float, child_started: float | None) -> float | None:
            calls.append(now - 1000.0)
            return 1007.0 if child_started == 1000.0 and now < 1007.0 else None

    child = ScriptedChild(SteppedClock())
    Supervisor(child, child.clock, child.wait(130.0, signal.SIGTERM), lambda _: None, (Wanting(),)).run()
    assert calls == [0.0, 7.0, 67.0, 127.0, 130.0]

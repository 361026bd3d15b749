"""Who gets which signal when, and that no other process does."""

import signal
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as some

from agent.supervision.handover import Handover, Request, send
from agent.supervision.instances import Instance


def agent(pid: int, started: int, task: str = "") -> Instance:
    return Instance(pid, started, "boot", task, "0.2.0")


OWN = agent(50, 10, "sum")


def handover(own: Instance, *running: Instance) -> Handover:
    found = Handover()
    found.add(own, running, 0.0)
    return found


def signals(handover: Handover, ended: set[int], until: float = 60.0) -> list[tuple[float, int, str]]:
    """Returns the signals of each second; a process that gets KILL is gone."""
    found, now = list[tuple[float, int, str]](), 0.0
    while now <= until:
        requests = handover.requests(now, lambda one: one.pid not in ended)
        found.extend((now, request.instance.pid, request.signal.name) for request in requests)
        ended.update(request.instance.pid for request in requests if request.signal == signal.SIGKILL)
        now += 1.0
    return found


def test_an_agent_of_the_same_task_is_killed_after_ten_seconds() -> None:
    assert signals(handover(OWN, agent(20, 3, "sum")), set()) == [(0.0, 20, "SIGINT"), (10.0, 20, "SIGKILL")]


def test_an_agent_of_another_task_gets_longer_and_is_asked_to_quit_first() -> None:
    assert signals(handover(OWN, agent(20, 3, "other")), set()) == [
        (0.0, 20, "SIGINT"),
        (30.0, 20, "SIGQUIT"),
        (35.0, 20, "SIGKILL"),
    ]


def test_an_agent_that_ends_is_left_alone() -> None:
    asked, ended = handover(OWN, agent(20, 3, "sum")), set[int]()
    assert len(signals(asked, ended, 5.0)) == 1
    ended.add(20)
    assert signals(asked, ended) == []
    assert asked.wake() is None


def test_newer_agents_and_itself_are_never_signalled() -> None:
    assert signals(handover(OWN, OWN, agent(60, 11, "sum"), agent(61, 12)), set()) == []


def test_of_two_agents_that_started_at_once_the_one_with_the_higher_number_stays() -> None:
    first, second = agent(20, 5), agent(30, 5)
    assert signals(handover(second, first, second), set())[:1] == [(0.0, 20, "SIGINT")]
    assert signals(handover(first, first, second), set()) == []


def test_an_older_agent_that_is_found_later_gets_its_signals_from_then_on() -> None:
    early, late = agent(20, 3, "sum"), agent(21, 4, "sum")
    asked = handover(OWN, early)
    assert [request.signal for request in asked.requests(0.0, lambda _: True)] == [signal.SIGINT]
    asked.add(OWN, [early, late], 5.0)
    assert [request.instance for request in asked.requests(5.0, lambda _: True)] == [late]
    assert signals(asked, set()) == [(10.0, 20, "SIGKILL"), (15.0, 21, "SIGKILL")]


@given(some.lists(some.integers(1, 20), unique=True), some.lists(some.floats(0.0, 100.0), max_size=30))
def test_each_agent_gets_each_signal_once_in_order_and_with_its_distance(starts: list[int], waits: list[float]) -> None:
    others = [agent(100 + number, number, "sum" if number % 2 else "") for number in starts]
    asked, now, sent = handover(OWN, *others), 0.0, dict[int, list[tuple[float, str]]]()
    for seconds in waits:
        now += seconds
        for request in asked.requests(now, lambda _: True):
            sent.setdefault(request.instance.started, []).append((now, request.signal.name))
        asked.add(OWN, others, now)
    assert all(number < OWN.started for number in sent)
    for number, received in sent.items():
        order = ["SIGINT", "SIGKILL"] if number % 2 else ["SIGINT", "SIGQUIT", "SIGKILL"]
        gaps = [10.0] if number % 2 else [30.0, 5.0]
        assert [name for _at, name in received] == order[: len(received)]
        times = [at for at, _name in received]
        assert all(later - earlier >= gap for earlier, later, gap in zip(times, times[1:], gaps, strict=False))


def test_a_real_process_gets_the_signal_unless_it_is_another_one_by_now() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"])
    request = Request(agent(process.pid, 1), signal.SIGKILL)
    assert not send(request, lambda _: False)
    assert process.poll() is None
    assert send(request, lambda _: True)
    assert process.wait(10) == -signal.SIGKILL
    assert not send(request, lambda _: True)

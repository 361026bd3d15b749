"""Sessions: the new one runs first, then takes over from those before it."""

import signal
from pathlib import Path

from agent.machine.machine import Machine
from agent.supervision.instances import Registry
from agent.supervision.session import Session, Takeover
from tests.agent.supervision.fakes import ProcessTree, ScriptedChild, SteppedClock

OLDER, NEWER = 4_190_001, 4_190_002  # no process of this machine has such a number; signals to it fail


def registry(tree: ProcessTree, clock: SteppedClock) -> Registry:
    tree.start(OLDER)
    tree.start(NEWER)
    return Registry(str(tree.root / "agent"), Machine(str(tree.root)), clock)


def test_the_older_agent_is_asked_once_the_new_child_has_run_two_seconds(tmp_path: Path) -> None:
    clock, log = SteppedClock(), list[str]()
    agents = registry(ProcessTree(tmp_path), clock)
    agents.register("", "0.1.0", OLDER)
    newer = agents.register("sum", "0.2.0", NEWER)
    takeover = Takeover(lambda: newer, agents, log.append)
    assert takeover.step(10.0, None) is None
    assert takeover.step(11.0, 10.0) == 12.0
    assert log == []
    assert takeover.step(12.0, 10.0) == 42.0
    assert log == [f"SIGINT could not be sent to the older agent {OLDER} of the start task."]


def test_an_older_agent_that_registers_late_is_asked_by_the_newer_one_and_asks_none(tmp_path: Path) -> None:
    clock, log, other = SteppedClock(), list[str](), list[str]()
    agents = registry(ProcessTree(tmp_path), clock)
    newer = agents.register("", "0.2.0", NEWER)
    takeover = Takeover(lambda: newer, agents, log.append)
    assert takeover.step(12.0, 10.0) == 72.0
    older = agents.register("", "0.2.0", OLDER)
    Takeover(lambda: older, agents, other.append).step(12.0, 10.0)
    assert takeover.step(71.0, 10.0) == 72.0
    assert (log, other) == ([], [])
    assert takeover.step(72.0, 10.0) == 82.0
    assert log == [f"SIGINT could not be sent to the older agent {OLDER} of the start task."]


def test_a_registration_whose_file_is_gone_is_made_again_within_a_minute(tmp_path: Path) -> None:
    clock = SteppedClock()
    agents, child = registry(ProcessTree(tmp_path), clock), ScriptedChild(clock)
    session = Session(agents, child, clock, lambda _: None, task="", version="0.2.0", pid=NEWER)
    asked, found = child.wait(200.0, signal.SIGTERM), list[tuple[float, int]]()

    def wait(timeout: float) -> signal.Signals | None:
        found.append((clock.passed - 1000.0, len(agents.running())))
        if len(found) == 1:
            agents.remove(agents.running()[0])
        return asked(timeout)

    session.run(wait)
    assert found[:2] == [(0.0, 1), (2.0, 1)]
    assert agents.running() == []


def test_a_child_that_dies_at_once_leaves_the_older_agent_in_place(tmp_path: Path) -> None:
    clock, log = SteppedClock(), list[str]()
    agents = registry(ProcessTree(tmp_path), clock)
    agents.register("", "0.1.0", OLDER)
    child = ScriptedChild(clock, lives=[1.0] * 9)
    session = Session(agents, child, clock, log.append, task="", version="0.2.0", pid=NEWER)
    session.run(child.wait(900.0, signal.SIGTERM))
    assert not any("older agent" in line for line in log)


def test_a_session_is_registered_while_it_runs(tmp_path: Path) -> None:
    clock = SteppedClock()
    agents, child = registry(ProcessTree(tmp_path), clock), ScriptedChild(clock)
    session = Session(agents, child, clock, lambda _: None, task="sum", version="0.2.0", pid=NEWER)
    assert [one.pid for one in agents.running()] == [NEWER]
    session.run(child.wait(5.0, signal.SIGTERM))
    assert agents.running() == []


def test_without_a_registry_the_session_measures_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("a file where the folder should be")
    clock, log = SteppedClock(), list[str]()
    agents, child = registry(ProcessTree(tmp_path), clock), ScriptedChild(clock)
    session = Session(agents, child, clock, log.append, task="", version="0.2.0", pid=NEWER)
    session.run(child.wait(5.0, signal.SIGTERM))
    assert child.starts == [0.0]
    assert log[0].startswith("The agent can't be registered, so that it replaces none before it:")


def test_an_agent_that_could_not_be_registered_is_registered_later_and_takes_over(tmp_path: Path) -> None:
    clock, log = SteppedClock(), list[str]()
    agents, child = registry(ProcessTree(tmp_path), clock), ScriptedChild(clock)
    folder = tmp_path / "agent"
    folder.write_text("a file where the folder should be")
    session = Session(agents, child, clock, log.append, task="", version="0.2.0", pid=NEWER)
    folder.unlink()
    agents.register("", "0.1.0", OLDER)
    session.run(child.wait(90.0, signal.SIGTERM))
    assert f"SIGINT could not be sent to the older agent {OLDER} of the start task." in log
    assert [one.pid for one in agents.running()] == [OLDER]


def test_a_registration_is_tried_again_each_minute_and_its_failure_is_logged_once(tmp_path: Path) -> None:
    clock, log = SteppedClock(), list[str]()
    agents, child = registry(ProcessTree(tmp_path), clock), ScriptedChild(clock)
    folder = tmp_path / "agent"
    folder.write_text("a file where the folder should be")
    session = Session(agents, child, clock, log.append, task="", version="0.2.0", pid=NEWER)
    asked = child.wait(200.0, signal.SIGTERM)
    found = list[list[int]]()

    def wait(timeout: float) -> signal.Signals | None:
        if clock.passed > 1100.0 and not folder.is_dir():
            folder.unlink()
        found.append([one.pid for one in agents.running()])
        return asked(timeout)

    session.run(wait)
    assert found[0] == []
    assert found[-1] == [NEWER]
    assert [line for line in log if "registered" in line] == log[:1]

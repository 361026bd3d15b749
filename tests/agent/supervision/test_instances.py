"""The registry of running agents, on a tree of processes of the test's own."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from agent.machine.machine import Machine
from agent.supervision.instances import Instance, Registry
from tests.agent.supervision.fakes import BOOT, ProcessTree, SteppedClock


@pytest.fixture
def tree(tmp_path: Path) -> ProcessTree:
    return ProcessTree(tmp_path / "root")


def registry(tree: ProcessTree, clock: SteppedClock | None = None) -> Registry:
    return Registry(str(tree.root / "agent"), Machine(str(tree.root)), clock or SteppedClock())


def test_registered_agents_are_found_oldest_first(tree: ProcessTree) -> None:
    tree.start(30, 900)
    tree.start(20, 1000)
    registry(tree).register("", "0.2.0", 30)
    registry(tree).register("sum", "0.2.1", 20)
    assert registry(tree).running() == [
        Instance(30, 900, BOOT, "", "0.2.0", 1),
        Instance(20, 1000, BOOT, "sum", "0.2.1", 2),
    ]


def test_a_file_is_for_this_user_only(tree: ProcessTree) -> None:
    tree.start(30)
    registry(tree).register("", "0.2.0", 30)
    assert (tree.root / "agent/instances/30.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change", ["ended", "number reused", "zombie", "rebooted"])
def test_an_agent_that_ended_is_forgotten_with_its_file(tree: ProcessTree, change: str) -> None:
    tree.start(30)
    one = registry(tree).register("", "0.2.0", 30)
    if change == "ended":
        tree.end(30)
    elif change == "rebooted":
        tree.boot("another")
    else:
        tree.start(30, 5000 if change == "zombie" else 5001, "Z" if change == "zombie" else "S")
    assert registry(tree).running() == []
    assert not registry(tree).is_running(one)
    assert not (tree.root / "agent/instances/30.json").exists()


@pytest.mark.parametrize("pid", [1, 0, -1, True, "30", None])
def test_a_file_that_names_no_process_of_an_agent_is_ignored(tree: ProcessTree, pid: object) -> None:
    tree.start(1)
    tree.start(30)
    folder = tree.root / "agent/instances"
    folder.mkdir(parents=True)
    fields = {"pid": pid, "started": 5000, "boot": BOOT, "task": "", "version": "", "sequence": 1}
    (folder / "30.json").write_text(json.dumps(fields))
    (folder / "31.json").write_text("{")
    (folder / "32.json").write_text("[]")
    (folder / "33.json").symlink_to(folder / "30.json")
    assert registry(tree).running() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_than_the_process_is_ignored(tree: ProcessTree) -> None:
    tree.start(30)
    registry(tree).register("", "0.2.0", 30)
    os.chown(tree.root / "agent/instances/30.json", 12345, 12345)
    assert registry(tree).running() == []


def test_a_lock_that_another_holds_delays_a_start_by_two_seconds_only(tree: ProcessTree) -> None:
    tree.start(30)
    clock = SteppedClock()
    one = registry(tree, clock)
    one.register("", "0.2.0", 30)
    with (tree.root / "agent/instances/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert one.register("", "0.2.0", 30).sequence == 2
    assert 2.0 <= clock.passed - 1000.0 < 2.1


def test_a_removed_agent_is_gone(tree: ProcessTree) -> None:
    tree.start(30)
    one = registry(tree).register("", "0.2.0", 30)
    registry(tree).remove(one)
    registry(tree).remove(one)
    assert registry(tree).running() == []


def test_a_process_that_can_not_be_read_is_not_registered(tree: ProcessTree) -> None:
    with pytest.raises(ValueError, match="The process 31 doesn't run"):
        registry(tree).register("", "0.2.0", 31)

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


def names(tree: ProcessTree) -> list[str]:
    """Returns the files of the registry, without its lock."""
    return sorted(file.name for file in (tree.root / "agent/instances").iterdir() if file.name != "lock")


def test_registered_agents_are_found_oldest_first(tree: ProcessTree) -> None:
    tree.start(30, 900)
    tree.start(20, 1000)
    registry(tree).register("", "0.2.0", 30)
    registry(tree).register("sum", "0.2.1", 20)
    assert registry(tree).running() == [
        Instance(30, 900, BOOT, "", "0.2.0"),
        Instance(20, 1000, BOOT, "sum", "0.2.1"),
    ]


def test_the_older_agent_is_the_one_that_started_first_though_it_registered_last(tree: ProcessTree) -> None:
    tree.start(20, 1000)
    tree.start(30, 900)
    registry(tree).register("", "0.2.0", 20)
    registry(tree).register("", "0.2.0", 30)
    assert [one.pid for one in registry(tree).running()] == [30, 20]


def test_a_file_is_for_this_user_only(tree: ProcessTree) -> None:
    tree.start(30)
    registry(tree).register("", "0.2.0", 30)
    assert (tree.root / "agent/instances/30-7.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change", ["ended", "number reused", "zombie", "rebooted"])
def test_an_agent_that_ended_is_forgotten_and_its_file_goes_with_the_next_registration(
    tree: ProcessTree, change: str
) -> None:
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
    assert (tree.root / "agent/instances/30-7.json").exists()
    tree.start(40)
    registry(tree).register("", "0.2.0", 40)
    assert names(tree) == ["40-7.json"]


def test_agents_of_two_pid_namespaces_share_a_folder_and_leave_each_others_files_alone(tmp_path: Path) -> None:
    trees = [ProcessTree(tmp_path / str(namespace), namespace) for namespace in (7, 8)]
    clock = SteppedClock()
    one, other = (Registry(str(tmp_path / "agent"), Machine(str(tree.root)), clock) for tree in trees)
    trees[0].start(30, 900)
    trees[1].start(30, 1000)
    first, second = one.register("", "0.2.0", 30), other.register("sum", "0.2.0", 30)
    for _ in range(2):
        assert (one.running(), other.running()) == ([first], [second])
        assert one.register("", "0.2.0", 30) == first
    assert one.renew(first)
    assert other.renew(second)


def test_a_file_that_another_pid_namespace_left_goes_with_a_registration_an_hour_later(tree: ProcessTree) -> None:
    tree.start(30)
    clock = SteppedClock()
    one = registry(tree, clock)
    one.register("", "0.2.0", 30)
    ages = {"5-8.json": 3599, "6-8.json": 3601, "6-8.json.6.new": 3601, "lock": 9999}
    for name, seconds in ages.items():
        left = tree.root / "agent/instances" / name
        left.touch()
        os.utime(left, (clock.now() / 1e9 - seconds,) * 2)
    one.register("", "0.2.0", 30)
    assert names(tree) == ["30-7.json", "5-8.json"]


def test_without_a_pid_namespace_agents_are_registered_by_their_numbers(tree: ProcessTree) -> None:
    (tree.root / "proc/self/ns/pid").unlink()
    tree.start(30)
    one = registry(tree).register("", "0.2.0", 30)
    assert (registry(tree).running(), names(tree)) == ([one], ["30.json"])


def test_a_file_that_is_gone_can_not_be_renewed(tree: ProcessTree) -> None:
    tree.start(30)
    one = registry(tree).register("", "0.2.0", 30)
    file = tree.root / "agent/instances/30-7.json"
    os.utime(file, (0, 0))
    assert registry(tree).renew(one)
    assert file.stat().st_mtime > 0
    file.unlink()
    assert not registry(tree).renew(one)


@pytest.mark.parametrize("pid", [1, 0, -1, True, "30", None])
def test_a_file_that_names_no_process_of_an_agent_is_ignored(tree: ProcessTree, pid: object) -> None:
    tree.start(1)
    tree.start(30)
    folder = tree.root / "agent/instances"
    folder.mkdir(parents=True)
    fields = {"pid": pid, "started": 5000, "boot": BOOT, "task": "", "version": ""}
    (folder / "30-7.json").write_text(json.dumps(fields))
    (folder / "31-7.json").write_text("{")
    (folder / "32-7.json").write_text("[]")
    (folder / "33-7.json").symlink_to(folder / "30-7.json")
    assert registry(tree).running() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_than_the_process_is_ignored(tree: ProcessTree) -> None:
    tree.start(30)
    registry(tree).register("", "0.2.0", 30)
    os.chown(tree.root / "agent/instances/30-7.json", 12345, 12345)
    assert registry(tree).running() == []


def test_a_lock_that_another_holds_delays_a_start_by_two_seconds_only(tree: ProcessTree) -> None:
    tree.start(30)
    clock = SteppedClock()
    one = registry(tree, clock)
    one.register("", "0.2.0", 30)
    with (tree.root / "agent/instances/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert one.register("", "0.2.0", 30).pid == 30
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

"""All collectors of a node together: which work, why the others don't, and what belongs to a task."""

import os
from pathlib import Path

import pytest

from agent.collection import Collection
from agent.devices.gpu_values import GpuErrors
from agent.devices.registry import NvidiaAccess
from agent.machine.machine import MAX_SIZE, Machine
from agent.records.record import Record
from tests.agent.fake_node import TASK, SteppedClock, fake_node, process

NOWHERE = "http://127.0.0.1:9"


def collection(root: Path, clock: SteppedClock, *, supervisor: int = 0) -> Collection:
    machine = fake_node(root)
    return Collection(machine, clock, interval=10.0, folder=str(root), imds=NOWHERE, supervisor=supervisor)


def sample(found: Collection, clock: SteppedClock) -> list[Record]:
    clock.sleep(10.0)
    return [record for each in found.collectors for record in each.collect(clock.now())]


def test_each_part_of_a_node_works_or_has_a_note(tmp_path: Path) -> None:
    found = collection(tmp_path, SteppedClock())
    assert {each.name for each in found.collectors} - {"clock"} == {
        "cpu", "memory", "disks", "network", "system", "kernel", "processes", "filesystems", "tasks", "full_disks",
        "clock_jumps", "start_task_hangs", "scheduled_events",
    }  # fmt: skip
    assert set(found.notes) - {"clock"} == {
        "imds", "swap", "connections", "pressure", "cgroup", "containers", "nvidia", "amd", "nvme", "infiniband",
        "exit_accounting", "tasks", "kernel_events", "oom_counters", "reboots",
    }  # fmt: skip
    assert found.notes["nvidia"] == "The node has no NVIDIA GPU."
    assert found.notes["imds"] == "The metadata service can't be reached: ConnectionRefusedError."


def test_environments_that_cannot_be_read_have_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Machine.content

    def refused(self: Machine, path: str, limit: int = 0) -> bytes:
        if path.endswith("/environ"):
            raise PermissionError(path)
        return read(self, path, limit or MAX_SIZE)

    monkeypatch.setattr(Machine, "content", refused)
    note = collection(tmp_path, SteppedClock()).notes["tasks"]
    assert note.endswith("The environments of 2 processes can't be read by this user.")


def test_processes_of_the_agent_belong_to_no_task(tmp_path: Path) -> None:
    clock = SteppedClock()
    found = collection(tmp_path, clock)
    named = (tmp_path / "proc/70/environ").read_text()
    process(tmp_path, os.getpid(), 70, "agent", named, ticks=9000)
    process(tmp_path, os.getpid() + 1, os.getpid(), "child", named, ticks=9000)
    (task,) = [record for record in sample(found, clock) if record.measurement == "batchscope_task"]
    assert (task.tags["job_id"], task.tags["task_id"]) == ("render", "frame-7")
    assert (task.fields["num_processes"], task.fields["cpu_time_user"]) == (1, 3.0)


def test_another_agent_is_no_run_of_the_task_that_started_it(tmp_path: Path) -> None:
    clock, named = SteppedClock(), TASK.replace("frame-7", "frame-6")
    machine = fake_node(tmp_path)
    process(tmp_path, 90, 1, "batchscope", named)
    process(tmp_path, 91, 90, "child", named)
    found = Collection(machine, clock, interval=10.0, folder="", imds=NOWHERE)
    records = sample(found, clock)
    assert {record.tags["task_id"] for record in records if record.measurement == "batchscope_task"} == {"frame-7"}


def test_the_parent_of_an_agent_is_of_its_task_unless_it_supervises(tmp_path: Path) -> None:
    for supervisor, processes in ((os.getppid(), 1), (0, 2)):
        clock, root = SteppedClock(), tmp_path / str(supervisor)
        found = collection(root, clock, supervisor=supervisor)
        process(root, os.getppid(), 70, "shell", (root / "proc/70/environ").read_text(), ticks=9000)
        (task,) = [record for record in sample(found, clock) if record.measurement == "batchscope_task"]
        assert task.fields["num_processes"] == processes


def test_an_event_of_the_kernel_that_was_not_spooled_is_left_to_the_next_session(tmp_path: Path) -> None:
    clock, uptime = SteppedClock(), 5000.0
    fake_node(tmp_path)
    for path, text in (
        ("dev/kmsg", f"4,7,{int(uptime * 1e6)},-;Out of memory: Killed process 9 (a) total-vm:1kB, anon-rss:1kB\n"),
        ("proc/sys/kernel/random/boot_id", "boot-1"),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def kills(found: Collection) -> list[Record]:
        return [record for record in sample(found, clock) if record.tags.get("kind") == "oom_kill"]

    killed = collection(tmp_path, clock)
    assert len(kills(killed)) == 1
    sample(killed, clock)
    after = collection(tmp_path, clock)
    assert len(kills(after)) == 1
    after.spooled()
    sample(after, clock)
    assert kills(collection(tmp_path, clock)) == []


def test_a_reboot_that_was_not_spooled_is_left_to_the_next_session(tmp_path: Path) -> None:
    clock = SteppedClock()
    fake_node(tmp_path)
    boot_id = tmp_path / "proc/sys/kernel/random/boot_id"
    boot_id.parent.mkdir(parents=True)

    def reboots(found: Collection) -> list[Record]:
        return [record for record in sample(found, clock) if record.tags.get("kind") == "reboot"]

    boot_id.write_text("boot-0")
    assert reboots(collection(tmp_path, clock)) == []
    boot_id.write_text("boot-1")
    (killed,) = reboots(collection(tmp_path, clock))
    after = collection(tmp_path, clock)
    assert reboots(after) == [killed]
    after.spooled()
    sample(after, clock)
    assert reboots(collection(tmp_path, clock)) == []


def test_memory_errors_of_a_gpu_name_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [0]
    nvidia = NvidiaAccess(dict, lambda: (GpuErrors(3, corrected=0, uncorrected=counts[0]),), lambda: None)
    original = Collection._add_events

    def with_gpu(self: Collection, state_file: str) -> None:
        self._devices = self._devices._replace(nvidia=nvidia)
        original(self, state_file)

    monkeypatch.setattr(Collection, "_add_events", with_gpu)
    found = collection(tmp_path, SteppedClock())
    (growth,) = [each for each in found.collectors if each.name == "ecc_growth"]
    counts[0] = 2
    (event,) = growth.collect(0)
    assert event.fields["message"] == "GPU 3 counts 2 more uncorrected memory errors, 2 since its driver started."

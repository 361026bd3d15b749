"""Counts of the kernel, load, pressure, processes and the clock's state."""

import ctypes
from typing import Any

import pytest

from agent.collectors.clocks.adjtimex import KernelClock
from agent.collectors.clocks.clock_offset import ClockOffsetCollector
from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel import KernelCollector
from agent.collectors.pressure import PressureCollector
from agent.collectors.processes import ProcessesCollector
from agent.collectors.system import SystemCollector, online_cores
from tests.agent.collectors.tree import NOW, Tree, fields


def test_the_kernels_counts_come_from_two_files_and_one_may_lack(tree: Tree) -> None:
    tree.write("/proc/stat", "cpu 1 2 3 4\nintr 5 6\nctxt 34\nbtime 1795770349\nprocesses 16221\n")
    tree.write("/proc/vmstat", "nr_free_pages 1\npgmajfault 8\npswpin 2\npswpout x\noom_kill 3\n")
    records = list(KernelCollector(tree.machine).collect(NOW))
    assert fields(records, "kernel") == {"context_switches": 34, "boot_time": 1795770349, "processes_forked": 16221}
    assert fields(records, "kernel_vmstat") == {"pgmajfault": 8, "pswpin": 2, "oom_kill": 3}
    tree.remove("/proc/vmstat")
    assert [each.measurement for each in KernelCollector(tree.machine).collect(NOW)] == ["kernel"]


def test_without_both_files_there_are_no_counts(tree: Tree) -> None:
    with pytest.raises(UnsupportedError, match="Neither"):
        KernelCollector(tree.machine)


def test_load_uptime_and_cores_are_those_of_the_node(tree: Tree) -> None:
    tree.write("/proc/loadavg", "0.50 1.25 2.00 3/90 16236\n")
    tree.write("/proc/uptime", "3427.24 4255.44\n")
    tree.write("/sys/devices/system/cpu/online", "0-2,5\n")
    for cpu, core in enumerate((0, 1, 0, 1)):
        tree.write(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_id", f"{core}\n")
        tree.write(f"/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id", "0\n")
    assert fields(SystemCollector(tree.machine).collect(NOW), "system") == {
        "load1": 0.5, "load5": 1.25, "load15": 2.0, "uptime": 3427, "n_cpus": 4, "n_physical_cpus": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("text", "cores"), [("0", 1), ("0-95", 96), ("0-1,4-5", 4), ("x", 0), ("5-2", 0), ("", 0)])
def test_online_cores_are_counted_from_their_ranges(tree: Tree, text: str, cores: int) -> None:
    tree.write("/sys/devices/system/cpu/online", text)
    assert online_cores(tree.machine) == cores


def test_numbers_that_make_no_sense_cost_their_own_fields_only(tree: Tree) -> None:
    tree.write("/proc/loadavg", "nan 1.25 x")
    tree.write("/proc/uptime", "inf 1")
    assert fields(SystemCollector(tree.machine).collect(NOW), "system") == {"load5": 1.25}


def test_without_load_and_uptime_the_system_is_not_measured(tree: Tree) -> None:
    with pytest.raises(UnsupportedError, match="Neither"):
        SystemCollector(tree.machine)


SOME = "some avg10=1.50 avg60=0.25 avg300=0.00 total=110348188\n"
FULL = "full avg10=0.00 avg60=bad avg300=0.00 total=7\n"


def test_pressure_has_averages_in_percent_and_stalls_in_microseconds(tree: Tree) -> None:
    for resource in ("cpu", "memory"):
        tree.write(f"/proc/pressure/{resource}", SOME + FULL)
    records = list(PressureCollector(tree.machine).collect(NOW))
    assert [(each.tags["resource"], each.tags["type"]) for each in records] == [
        ("cpu", "some"), ("memory", "some"), ("memory", "full"),
    ]  # fmt: skip
    assert records[0].fields == {"avg10": 1.5, "avg60": 0.25, "avg300": 0.0, "total": 110348188}
    assert records[2].fields == {"avg10": 0.0, "avg300": 0.0, "total": 7}


def test_a_kernel_without_pressure_says_so(tree: Tree) -> None:
    with pytest.raises(UnsupportedError, match="pressure stall"):
        PressureCollector(tree.machine)


def test_processes_are_counted_by_state_with_their_threads(tree: Tree) -> None:
    tree.write("/proc/1/stat", "")
    collector = ProcessesCollector(tree.machine, lambda _: [("S", 1), ("D", 5), ("?", 2)])
    assert fields(collector.collect(NOW), "processes") == {
        "running": 0, "sleeping": 1, "blocked": 1, "zombies": 0, "stopped": 0, "idle": 0, "unknown": 1, "total": 3,
        "total_threads": 8,
    }  # fmt: skip


def test_states_may_come_from_a_pass_that_others_share(tree: Tree) -> None:
    tree.write("/proc/1/stat", "")
    collector = ProcessesCollector(tree.machine, lambda now: [("R", now)])
    assert fields(collector.collect(3), "processes")["total_threads"] == 3


def test_hidden_processes_are_not_counted(tree: Tree) -> None:
    tree.write("/proc/77/stat", "77 (x) S 0")
    with pytest.raises(UnsupportedError, match="hides"):
        ProcessesCollector(tree.machine, lambda _: [])


class StubLibrary:
    """A C library whose adjtimex returns `result` and fills its structure."""

    def __init__(self, result: int, status: int) -> None:
        self.result, self.status = result, status

    def adjtimex(self, reference: Any) -> int:
        found = reference._obj
        assert found.modes == 0
        found.offset, found.frequency, found.max_error, found.estimated_error = 2_000_000, 65536, 500_000, 1000
        found.status = self.status
        return self.result


@pytest.mark.parametrize(
    ("result", "status", "offset", "synchronized"),
    [(0, 0x2001, 0.002, 1), (0, 0x1, 2.0, 1), (5, 0x2000, 0.002, 0), (0, 0x2040, 0.002, 0)],
)
def test_the_clock_has_its_offset_and_bounds_in_seconds(
    result: int, status: int, offset: float, synchronized: int
) -> None:
    collector = ClockOffsetCollector(KernelClock(StubLibrary(result, status)))
    assert fields(collector.collect(NOW), "batchscope_clock") == {
        "offset_seconds": offset, "max_error_seconds": 0.5, "estimated_error_seconds": 0.001, "frequency_ppm": 1.0,
        "synchronized": synchronized,
    }  # fmt: skip


@pytest.mark.parametrize("library", [StubLibrary(-1, 0), object()])
def test_a_clock_that_cannot_be_asked_is_not_measured(library: object) -> None:
    ctypes.set_errno(1)
    with pytest.raises(UnsupportedError, match="can't be read"):
        ClockOffsetCollector(KernelClock(library))


def test_the_real_kernel_answers_in_the_layout_that_is_expected() -> None:
    state = KernelClock().state()
    assert abs(state.offset) < 1
    assert 0 <= state.max_error <= 3600
    assert abs(state.frequency) <= 500

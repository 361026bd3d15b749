"""CPU time in percent and seconds, with the kernel's own irregularities."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.collectors.collector import UnsupportedError
from agent.collectors.cpu import MAX_CORE_VALUES, MODES, CpuCollector, core_modes, shares_of, times_of
from agent.records.record import Record
from tests.agent.collectors.tree import NOW, Tree, fields

TICKS = some.lists(some.integers(0, 1 << 40), min_size=10, max_size=10)
HZ = os.sysconf("SC_CLK_TCK")


def collected(tree: Tree, *stats: str) -> list[Record]:
    """Returns the records of the last of several readings."""
    tree.write("/proc/stat", stats[0])
    collector = CpuCollector(tree.machine)
    records: list[Record] = []
    for stat in stats:
        tree.write("/proc/stat", stat)
        records = list(collector.collect(NOW))
    return records


def test_usage_is_each_modes_share_of_the_time_since_the_last_call(tree: Tree) -> None:
    records = collected(tree, "cpu 100 0 100 1000 50 0 0 10 0 0\n", "cpu 160 0 120 1010 55 0 0 15 0 0\n")
    found = fields(records, "cpu", cpu="cpu-total")
    shown = {mode: found[f"usage_{mode}"] for mode in MODES}
    assert shown == {
        "user": 60.0, "nice": 0.0, "system": 20.0, "idle": 10.0, "iowait": 5.0, "irq": 0.0, "softirq": 0.0,
        "steal": 5.0, "guest": 0.0, "guest_nice": 0.0,
    }  # fmt: skip


def test_the_total_has_times_in_seconds_at_the_first_call_already(tree: Tree) -> None:
    found = fields(collected(tree, f"cpu {3 * HZ} 0 {HZ} 0 0 0 0 0 0 0\n"), "cpu", cpu="cpu-total")
    assert found["time_user"] == 3.0
    assert found["time_system"] == 1.0
    assert "usage_user" not in found


def test_time_of_guests_is_not_part_of_user_and_nice_as_well() -> None:
    times = dict(zip(MODES, times_of("cpu0 100 50 0 0 0 0 0 0 70 20")["cpu0"], strict=True))
    assert (times["user"], times["nice"], times["guest"], times["guest_nice"]) == (30, 30, 70, 20)


def test_cores_have_no_times_and_no_modes_that_were_never_used(tree: Tree) -> None:
    first = "cpu 10 0 0 10 0 0 0 0 0 0\ncpu0 10 0 0 10 0 0 0 0 0 0\n"
    second = "cpu 20 0 0 40 0 0 0 0 0 0\ncpu0 20 0 0 40 0 0 0 0 0 0\n"
    assert fields(collected(tree, first, second), "cpu", cpu="cpu0") == {"usage_idle": 75.0, "usage_user": 25.0}


def test_a_core_that_comes_back_is_measured_from_its_second_reading(tree: Tree) -> None:
    both, one = "cpu 9 0 9 9\ncpu0 4 0 4 4\ncpu1 5 0 5 5\n", "cpu 19 0 9 9\ncpu0 14 0 4 4\n"
    again = "cpu 29 0 9 9\ncpu0 24 0 4 4\ncpu1 15 0 5 5\n"
    assert [each.tags["cpu"] for each in collected(tree, both, one)] == ["cpu-total", "cpu0"]
    assert [each.tags["cpu"] for each in collected(tree, both, one, again)] == ["cpu-total", "cpu0"]
    assert len(collected(tree, both, one, again, again.replace("15", "16").replace("24", "25"))) == 3


def test_iowait_that_goes_back_counts_as_none() -> None:
    last, now = [0, 0, 0, 100, 50, 0, 0, 0, 0, 0], [50, 0, 0, 150, 40, 0, 0, 0, 0, 0]
    assert shares_of(now, last)["iowait"] == 0.0
    assert shares_of(now, last)["user"] == 50.0


def test_a_core_whose_counts_began_anew_has_no_usage() -> None:
    assert shares_of([900, 0, 1, 5, 0, 0, 0, 0, 0, 0], [8, 0, 90, 5, 0, 0, 0, 0, 0, 0]) == {}


def test_a_clock_that_did_not_move_gives_no_usage() -> None:
    assert shares_of([5] * 10, [5] * 10) == {}


def test_a_garbled_line_costs_its_own_core_only() -> None:
    found = times_of("cpu 1 2 3 4\ncpu0 1 x 3 4\ncpu1 1 2\ncpu2 1 2 3 4\nintr 5\n")
    assert list(found) == ["cpu", "cpu2"]
    assert list(found["cpu2"]) == [1, 2, 3, 4, 0, 0, 0, 0, 0, 0]


@given(TICKS, TICKS)
def test_shares_are_percentages_that_add_up_to_a_hundred(last: list[int], grown: list[int]) -> None:
    shares = shares_of([old + more for old, more in zip(last, grown, strict=True)], last)
    assert all(0 <= share <= 100 for share in shares.values())
    assert sum(shares.values()) == pytest.approx(100, abs=0.01) if any(grown) else shares == {}


@pytest.mark.parametrize(("cores", "modes"), [(1, 10), (48, 10), (96, 5), (176, 2), (416, 1), (1000, 0)])
def test_nodes_of_many_cores_report_fewer_modes_of_each(cores: int, modes: int) -> None:
    assert len(core_modes(cores)) == modes
    assert cores * modes <= MAX_CORE_VALUES
    assert list(core_modes(cores)[:1]) == ["idle"][:modes]


def test_without_a_processor_there_is_nothing_to_measure(tree: Tree) -> None:
    tree.write("/proc/stat", "intr 5\n")
    with pytest.raises(UnsupportedError, match="names no processor"):
        CpuCollector(tree.machine)


def test_times_never_fall_where_the_kernels_do(tree: Tree) -> None:
    tree.write("/proc/stat", "cpu 100 0 100 1000 500 0 0 0 0 0\n")
    collector = CpuCollector(tree.machine)
    before = fields(collector.collect(NOW), "cpu", cpu="cpu-total")
    tree.write("/proc/stat", "cpu 200 0 100 1000 400 0 0 0 0 0\n")
    after = fields(collector.collect(NOW), "cpu", cpu="cpu-total")
    assert (before["time_iowait"], after["time_iowait"], after["time_user"]) == (5.0, 5.0, 2.0)

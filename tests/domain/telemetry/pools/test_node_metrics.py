"""A pool's metrics: nodes with other devices, cores or processes have the same ones."""

from array import array
from math import isfinite

import pytest

from shared.domain.telemetry.catalog.field_mappings import SOURCE
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.node_metrics import HIGHEST, shown_metric
from shared.domain.telemetry.pools.node_minutes import minutes_of, minutes_of_sessions
from shared.domain.telemetry.pools.node_shares import CPU_IN_USE, MEMORY_IN_USE
from shared.domain.telemetry.pools.pool_reports import UTILIZATION, MetricSelector
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups
from tests.domain.telemetry.support.nodes import BEGIN, at, rollups

MINUTE = BEGIN // 60_000_000_000
READ = (("disk.io.direction", "read"),)


def found(some: Rollups, minute: int = MINUTE) -> dict[Series, float]:
    """Returns the values of a minute: means of gauges, growth of counters."""
    return {metric: total / number for metric, total, number in minutes_of(some)[minute].metrics}


def gauge(mean: float, count: int = 4) -> dict[int, Rollup]:
    return {MINUTE: Rollup(count, mean, mean, mean * count, mean, 0)}


def test_counters_of_devices_add_up_and_virtual_ones_and_partitions_are_left_out() -> None:
    lines = [
        at(second, f"diskio,name={name} read_bytes={value}i")
        for second in (0, 10)
        for name, value in (
            ("sda", 100 * second),
            ("sda1", 90 * second),
            ("nvme0n1", 7 * second),
            ("loop3", 5 * second),
        )
    ]
    assert found(rollups(*lines)) == {Series("system.disk.io", READ): 1070}


def test_a_disk_without_its_whole_counts_by_itself() -> None:
    lines = [at(second, f"diskio,name=sda1 read_bytes={second}i") for second in (0, 10)]
    assert found(rollups(*lines)) == {Series("system.disk.io", READ): 10}


def test_traffic_is_that_of_interfaces_to_other_machines() -> None:
    lines = [
        at(second, f"net,interface={name} bytes_recv={10 * second}i")
        for second in (0, 10)
        for name in ("eth0", "eth1", "lo", "docker0", "enP1s1", "all")
    ]
    assert list(found(rollups(*lines)).values()) == [200]


def test_of_shares_the_mean_of_devices_counts_and_the_highest_is_a_metric() -> None:
    gpus = [
        at(
            0,
            f"nvidia_smi,index={gpu},uuid=GPU-{gpu},name=A100 "
            f"utilization_gpu={used}i,memory_used={used}i,power_draw={used}",
        )
        for gpu, used in enumerate((10, 30, 80))
    ]
    values = {metric: value for metric, value in found(rollups(*gpus)).items() if metric.name.startswith("hw.")}
    by_name = {(metric.name, HIGHEST in metric.attributes): value for metric, value in values.items()}
    assert by_name == {
        ("hw.gpu.utilization", False): pytest.approx(0.4),
        ("hw.gpu.utilization", True): pytest.approx(0.8),
        ("hw.gpu.memory.usage", False): 120 * 1024 * 1024,
        ("hw.power", False): 120,
    }
    assert not any(name in ("hw.id", "hw.model") for metric in values for name, _ in metric.attributes)


def test_cores_count_where_there_is_no_total_and_not_beside_one() -> None:
    idle = (("cpu.mode", "idle"),)
    cores = {
        Series("system.cpu.utilization", (("cpu.logical_number", str(core)), *idle)): gauge(share)
        for core, share in enumerate((0.2, 0.6))
    }
    total = Series("system.cpu.utilization", idle)
    assert found(cores) == {total: pytest.approx(0.4), CPU_IN_USE: pytest.approx(0.6)}
    assert found({**cores, total: gauge(0.9)}) == {total: 0.9, CPU_IN_USE: pytest.approx(0.1)}


def test_cpu_in_use_also_follows_from_cpu_time() -> None:
    lines = [
        at(second, f"cpu,type=cpu,type_instance={mode},instance={core} value={100 * second * share}i")
        for second in (0, 10)
        for core in (0, 1)
        for mode, share in (("idle", 3), ("user", 1))
    ]
    assert found(rollups(*lines))[CPU_IN_USE] == pytest.approx(0.25)


def test_memory_in_use_follows_from_bytes_and_size_unless_it_is_reported() -> None:
    used, limit = Series("system.memory.usage", (("system.memory.state", "used"),)), Series("system.memory.limit")
    assert found({used: gauge(30, 4), limit: gauge(120, 1)})[MEMORY_IN_USE] == 0.25
    assert found({used: gauge(30), limit: gauge(120), MEMORY_IN_USE: gauge(0.5)})[MEMORY_IN_USE] == 0.5


@pytest.mark.parametrize(
    "line",
    [
        "mem used=1e30,total=1e-30",
        "mem used=-5,total=1",
        "mem used_percent=1e30",
        "agg.mem used_count=1000000000i,used_min=1e30,used_max=1e30,used_mean=1e30",
        "cpu,cpu=cpu-total usage_idle=-1e9",
    ],
)
def test_a_value_that_would_make_a_pools_figures_infinite_is_left_out(line: str) -> None:
    (minute,) = minutes_of(rollups(at(0, line))).values()
    assert all(isfinite(total) for total in array("f", [total for _, total, _ in minute.metrics]))
    assert not any(metric.name.endswith(".utilization") for metric, _, _ in minute.metrics)


def test_the_highest_device_is_one_with_a_possible_share() -> None:
    lines = [at(0, f"disk,device=sd{letter},path=/{letter} used_percent={used}") for letter, used in
             (("a", 30), ("b", 1e9), ("c", 70))]  # fmt: skip
    assert found(rollups(*lines)) == {
        Series("system.filesystem.utilization", (HIGHEST, ("system.filesystem.state", "used"))): pytest.approx(0.7)
    }


def test_shares_follow_from_whole_minutes_however_these_were_divided() -> None:
    lines = [at(second, f"mem used={used},total={total}") for second, used, total in ((0, 10, 100), (30, 30, 150))]
    parts = [minutes_of(rollups(line))[MINUTE] for line in lines]
    (whole,) = minutes_of(rollups(*lines)).values()
    assert {one[0]: one[1:] for one in parts[0].merged(parts[1]).metrics} == {one[0]: one[1:] for one in whole.metrics}
    assert found(rollups(*lines))[MEMORY_IN_USE] == 20 / 125


def test_processes_and_containers_are_one_metric_each() -> None:
    some = {
        Series("process.memory.usage", (("process.executable.name", "sh"), ("process.pid", str(pid)))): gauge(pid)
        for pid in (1, 2, 3)
    }
    assert found(some) == {Series("process.memory.usage"): 6}


def test_gauges_of_tasks_have_their_mean_and_counters_their_sum() -> None:
    memory, created = Series("batchscope.task.memory.usage"), Series("system.process.created")
    sessions = {number: {memory: gauge(used), created: gauge(used, 1)} for number, used in ((1, 100), (2, 300))}
    whose = {number: Identity("p", "n", "job", f"task-{number}") for number in sessions}
    (one,) = minutes_of_sessions(sessions, whose)[MINUTE].values()
    assert {metric: total / number for metric, total, number in one.metrics} == {memory: 200, created: 400}


def test_a_name_that_no_column_can_have_is_left_out() -> None:
    assert minutes_of({Series(name): gauge(1) for name in ("a__b", "a b", ".a", "a" * 200)}) == {}


def test_the_unit_of_a_counter_is_that_of_its_growth_per_second() -> None:
    names = ("system.network.io", "system.disk.io_time", "system.memory.usage")
    assert [shown_metric(Series(name)).unit for name in names] == ["By/s", "1", "By"]


def test_custom_metrics_have_their_names_and_the_mean_over_their_tags() -> None:
    lines = [at(0, f"training,run={run} loss={loss}") for run, loss in (("a", 1), ("b", 3))]
    (metric,) = found(rollups(*lines))
    assert shown_metric(metric) == ("custom.training.loss", (), "")
    assert list(found(rollups(*lines)).values()) == [2]


@pytest.mark.parametrize("selector", UTILIZATION, ids=lambda selector: selector.name)
def test_an_agents_own_sums_are_no_part_of_a_pools_utilization(selector: MetricSelector) -> None:
    shown = {name: value for name, value in selector.attributes.items() if value}
    assert selector.has(Series(selector.name, tuple(sorted(shown.items()))))
    assert not selector.has(Series(selector.name, tuple(sorted((shown | dict((SOURCE,))).items()))))

"""All collectors of a node: what works, notes of what lacks, the app's names, and a real machine."""

from pathlib import Path

import pytest

from agent.collectors.registry import node_collectors
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import Record
from agent.tasks.process_table import ProcessTable
from shared.domain.telemetry.catalog.catalog import plugins
from tests.agent.collectors.tree import NOW, SteppedClock, Tree

ALL = {
    "cpu", "memory", "swap", "disks", "network", "connections", "system", "kernel", "pressure", "cgroup", "processes",
    "clock", "filesystems", "containers",
}  # fmt: skip
OURS = {"batchscope_filesystem", "batchscope_clock", "batchscope_cgroup", "nstat"}


def test_a_node_that_has_nothing_gets_a_sentence_for_each_collector(tree: Tree) -> None:
    working, notes = node_collectors(tree.machine, SteppedClock(), states=_states)
    assert {each.name for each in working} | set(notes) == ALL
    assert set(notes) >= ALL - {"clock"}
    assert all(note and note[0].isupper() for note in notes.values())


def test_slow_collectors_are_called_once_a_minute_or_as_rarely_as_the_others() -> None:
    machine = Machine()
    for interval, slow in ((10.0, 60.0), (120.0, 120.0)):
        working = node_collectors(machine, Clock(), states=_states, interval=interval).working
        found = {each.name: each.interval for each in working}
        assert (found["cpu"], found.get("filesystems", slow)) == (interval, slow)


def test_the_app_knows_every_measurement_that_is_not_the_agents_own() -> None:
    records = _of_this_machine()
    assert {each.measurement for each in records} <= {*plugins(), *OURS}
    assert len({each.measurement for each in records} & set(plugins())) >= 6
    for record in records:
        plugin = plugins().get(record.measurement)
        assert plugin is None or set(plugin.fields) & set(record.fields)


def test_memory_and_cpu_of_this_machine_agree_with_the_kernel_read_another_way() -> None:
    first, before = _of_this_machine(), _jiffies()
    total = next(each for each in first if each.measurement == "cpu" and each.tags["cpu"] == "cpu-total")
    times = {name: value for name, value in total.fields.items() if name.startswith("time_")}
    assert sum(float(value) for value in times.values()) == pytest.approx(before / 100, rel=0.01)
    memory = next(each for each in first if each.measurement == "mem")
    parts = sum(int(memory.fields[name]) for name in ("used", "free", "cached", "buffered"))
    assert parts == memory.fields["total"]


def _states(now: int) -> list[tuple[str, int]]:
    return [(process.state, process.threads) for process in ProcessTable(Machine()).processes(now).values()]


def _jiffies() -> int:
    return sum(map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))


def _of_this_machine() -> list[Record]:
    working, _ = node_collectors(Machine(), Clock(), states=_states)
    return [record for each in working for record in each.collect(NOW)]

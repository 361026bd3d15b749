"""All lines of a fake node, read by the app's own decoder and mapping: no reject, and the facts and series expected."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent import VERSION
from agent.collection import Collection
from agent.records.line_protocol import text_of
from agent.startup.session import SessionFacts, startup_records
from shared.domain.telemetry.catalog.field_mappings import mapping_of
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.startup_records import identity_of_record, identity_of_tags, is_once, shown
from shared.domain.telemetry.sessions.node_facts import Disk, NodeFacts
from tests.agent.fake_node import BEGIN, GIB, HOSTILE, SECRETS, SteppedClock, fake_node

ENVIRONMENT = {"AZ_BATCH_POOL_ID": "p", "AZ_BATCH_NODE_ID": "tvm_1", "AZ_BATCH_AUTHENTICATION_TOKEN": "hunter2"}
INSTANCE = {"compute": {"vmSize": "Standard_D2s_v5", "location": "westeurope", "customData": "hunter2"}}
EXPECTED = {
    ("system.cpu.utilization", "user"): 0.25, ("system.cpu.utilization", "idle"): 0.75,
    ("system.cpu.time", "user"): 2.0, ("system.cpu.time", "idle"): 13.0,
    ("system.memory.limit",): 8_192_000, ("system.memory.linux.available",): 5_120_000,
    ("system.memory.usage", "free"): 4_096_000, ("system.memory.usage", "buffers"): 512_000,
    ("system.memory.usage", "cached"): 1_536_000, ("system.memory.usage", "used"): 2_048_000,
    ("system.memory.utilization", "used"): 0.25,
    ("system.disk.io", "read", "sda"): 4096, ("system.disk.io", "write", "sda"): 8192,
    ("system.disk.operations", "read", "sda"): 10, ("system.disk.operation_time", "write", "sda"): 0.03,
    ("system.disk.io_time", "sda"): 0.04, ("system.disk.weighted_io_time", "sda"): 0.05,
    ("system.network.io", "eth0", "receive"): 1000, ("system.network.io", "eth0", "transmit"): 2000,
    ("system.network.packet.count", "eth0", "transmit"): 20, ("system.network.packet.dropped", "eth0", "receive"): 1,
    ("system.cpu.load_average.1m",): 0.5, ("system.uptime",): 5000, ("system.cpu.logical.count",): 2,
    ("system.process.created",): 40, ("system.process.count", "sleeping"): 2, ("batchscope.thread.count",): 6,
    ("system.filesystem.limit", "sda1", "rw", "/mnt/a b\u00e9", "ext4"): 100 * GIB,
    ("system.filesystem.usage", "sda1", "rw", "/mnt/a b\u00e9", "free", "ext4"): GIB,
}  # fmt: skip


@pytest.fixture
def lines(tmp_path: Path) -> str:
    machine, clock = fake_node(tmp_path), SteppedClock()
    found = Collection(machine, clock, interval=10.0, folder=str(tmp_path), imds="http://127.0.0.1:9")
    facts = SessionFacts("s", [each.name for each in found.collectors], found.notes, ENVIRONMENT, "x86_64", INSTANCE)
    text = text_of(startup_records(machine, facts, clock.now()), clock.now())
    for ticks in (100, 200):
        (tmp_path / "proc/stat").write_text(
            f"cpu {ticks} 0 100 {700 + 3 * ticks} 0\ncpu0 1 0 1 1 0\nbtime 1794995000\nprocesses 40\n"
        )
        clock.sleep(10.0)
        text += text_of([record for each in found.collectors for record in each.collect(clock.now())], clock.now())
    return text


def decoded(lines: str) -> list[Metric]:
    """Returns the app's records, all of which it accepts."""
    steps = list(Decoder().steps(lines.encode(), 0, is_last=True))
    assert [step.rejected for step in steps if step.bad] == []
    found = [metric for step in steps for metric in step.metrics]
    assert len(found) == lines.count("\n")
    return found


def test_the_facts_and_the_identity_of_the_node_are_those_of_its_files(lines: str) -> None:
    facts, identity = NodeFacts(), Identity()
    for metric in map(shown, filter(is_once, decoded(lines))):
        facts = facts.with_record(metric)
        named = identity_of_record(metric)
        identity = Identity(pool=named.pool or identity.pool, node=named.node or identity.node)
    assert identity == Identity(pool="p", node="tvm_1")
    assert facts == NodeFacts(
        cpu_model="AMD EPYC", cpu_count=2, vm_size="Standard_D2s_v5", region="westeurope",
        booted_at=datetime.fromtimestamp(BEGIN // 10**9 - 5000, UTC), disks=(Disk("sda", GIB),),
        agent_version=VERSION, agent_began_at=datetime.fromtimestamp(BEGIN // 10**9, UTC),
    )  # fmt: skip


def test_the_series_have_the_values_and_units_of_the_kernels_files(lines: str) -> None:
    series: dict[tuple[str, ...], float] = {}
    for metric in decoded(lines):
        values = list(metric.fields.values())
        for column in () if is_once(metric) else mapping_of(metric).columns:
            key = column.series.name, *(value for _, value in column.series.attributes)
            series[key] = float(values[column.place]) * column.rule.factor + column.rule.offset
    assert {key: series.get(key) for key in EXPECTED} == pytest.approx(EXPECTED)


def test_the_app_knows_every_measurement_and_a_task_by_its_tags(lines: str) -> None:
    assert {mapping_of(metric).unknown for metric in decoded(lines)} == {""}
    metrics = [metric for metric in decoded(lines) if not is_once(metric)]
    task = [metric for metric in metrics if metric.name == "batchscope_task"][-1]
    assert identity_of_tags(task.tags) == Identity(job="render", task="frame-7", attempt="1794995010")
    assert (task.fields["cpu_time_user"], task.fields["memory_peak"], task.fields["read_bytes"]) == (3.0, 409_600, 512)


def test_no_secret_and_no_command_line_leaves_the_node(lines: str) -> None:
    assert [word for word in (*SECRETS, HOSTILE) if word in lines] == []

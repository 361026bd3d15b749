"""A node with very many short tasks: its own figures are kept, and those of the tasks that the agent sends apart."""

from datetime import timedelta

import pytest

from agent.upload.gzip_units import MAX_TASKS, gzip_member, units_of
from shared.domain.blobs.blobs import telemetry_ingest_partition
from shared.domain.core.stamps import to_milliseconds
from shared.services.blobs.ingestion_stores import IngestionStores
from tests.ingestion.rig import NOON, Mortal
from tests.ingestion.telemetry.telemetry_rig import TelemetryRig, blob_of

TASKS = 60
RUNNING = 256


def flush(tasks: int = TASKS, running: int = 0) -> bytes:
    """Returns what an agent measured in two minutes, in which tasks ran one after another beside others that run on."""
    lines = []
    for number in range(tasks):
        at = to_milliseconds(NOON + number * timedelta(seconds=2)) * 1_000_000
        lines.append(f"mem used={number}i {at}\n")
        long = [f"batchscope_task,job_id=j,task_id=long{task},task_attempt=1" for task in range(running)]
        lines += [f"{tags} cpu_time={number}.5 {at}\n" for tags in long]
        tags = f"job_id=j,task_id=short{number},task_attempt={at // 10**9}"
        lines.append(f"batchscope_task,{tags} cpu_time=0.5 {at}\n")
        lines.append(f"batchscope_task_attempt,{tags} cpu_time=1.5,duration=1.5 {at + 10**9}\n")
    return "".join(lines).encode()


async def tasks_of(rig: TelemetryRig, name: str) -> set[str]:
    """Returns the tasks that a blob has sessions of."""
    stores, account = IngestionStores.of(rig.tables), rig.accounts[0].key
    entry = await stores.entries.load(telemetry_ingest_partition(account), name)
    assert entry
    return {whose.task for whose in (await stores.telemetry.load_sessions(entry.rows(account))).values()} - {""}


@pytest.mark.parametrize("running", [0, 15, RUNNING - 1])
async def test_every_short_task_counts_in_the_units_of_the_agent(rig: TelemetryRig, running: int) -> None:
    units = list(units_of(flush(running=running), "s", 0))
    assert len(units) >= TASKS / MAX_TASKS
    for unit in units:
        await rig.append(unit.content, name=blob_of("n1"))
    await (await rig.host()).run()
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert (found.left_out.refused, found.left_out.of_too_many_tasks) == (0, 0)
    assert len(await tasks_of(rig, blob_of("n1"))) == TASKS + running
    assert sum((await rig.sums("n1", name="system.memory.usage"))["system.memory.usage"]) == sum(range(TASKS))


async def test_a_unit_with_more_tasks_than_a_transaction_holds_keeps_its_nodes_figures(rig: TelemetryRig) -> None:
    await rig.append(gzip_member(flush(), "s.0"), name=blob_of("n1"))
    await rig.append(gzip_member(flush(1), "s.1"), name=blob_of("n1"))
    await (await rig.host()).run()
    found = await rig.queries.of_node("demo", "pool", "n1")
    tasks = await tasks_of(rig, blob_of("n1"))
    assert found.left_out.refused == 0
    assert {f"short{number}" for number in range(10)} == tasks
    assert found.left_out.of_too_many_tasks == 2 * (TASKS - len(tasks))
    assert sum((await rig.sums("n1", name="system.memory.usage"))["system.memory.usage"]) == sum(range(TASKS))


async def test_the_index_of_a_blob_of_many_nodes_takes_few_requests(rig: TelemetryRig) -> None:
    at = to_milliseconds(NOON) * 1_000_000
    lines = "".join(f"mem,pool_id=pool,node_id=n{node} used={node}i {at}\n" for node in range(200))
    await rig.append(lines.encode(), name=blob_of("n1"))
    host = await rig.host()
    mortal = Mortal(host.tables)
    await host.run()
    assert await rig.sums("n199") == {"system.memory.usage": [199]}
    assert len(mortal.methods) < 60

"""Queries for a node's telemetry: of this node and account alone, for the selected series, in steps of any length."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.domain.blobs.blobs import UNREAD_TELEMETRY
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.errors import HistoryRangeError, NotFoundError
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.stores.telemetry.node_index import IndexPlace
from tests.ingestion.rig import ACCOUNT, NOON
from tests.ingestion.telemetry.telemetry_rig import HOUR, MINUTE, SECOND, TelemetryRig, blob_of, used

MEMORY = "system.memory.usage"


async def test_blobs_of_a_node_are_asked_for_side_by_side(rig: TelemetryRig, apart: None) -> None:
    for number in range(6):
        await rig.append(used(3), name=blob_of("n1", number))
    await (await rig.host()).run()
    send, under_way, most = rig.tables._transport.send, 0, 0

    async def counted(request: Any, **options: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await send(request, **options)
        finally:
            under_way -= 1

    rig.tables._transport.send = counted  # type: ignore[method-assign]
    assert await rig.sums("n1") == {MEMORY: [18]}
    assert most >= 5


async def test_the_index_says_where_to_look_and_the_blob_whose_it_is(rig: TelemetryRig) -> None:
    await rig.append(used(3), name=blob_of("n1"))
    await (await rig.host()).run()
    stores = IngestionStores.of(rig.tables)
    (held,) = await stores.node_index.load("demo", "N1", 0, 99_999)
    await stores.node_index.save(held.rows, [IndexPlace("n2", held.session, held.day)])
    died = held.rows._replace(incarnation="of-a-host-that-died")
    await stores.node_index.save(died, [IndexPlace("n1", 0, held.day)])
    assert await rig.sums("n1") == {MEMORY: [3]}
    for pool, node in (("pool", "n2"), ("other", "n1")):
        with pytest.raises(NotFoundError):
            await rig.queries.of_node("demo", pool, node)


async def test_a_task_is_found_by_its_blobs_name_regardless_of_its_node(rig: TelemetryRig) -> None:
    rig.pattern = "**/{job}/{task}/{attempt}/vm_perf_metrics.*"
    lines = [f"mem{tags} used=1i {to_milliseconds(NOON) * 1_000_000}\n".encode()
             for tags in (",host=vm000001", ",node_id=n1", ",host=vm000002,pool_id=other", "")]  # fmt: skip
    await rig.append(*lines, name="flow/job/Task/1/vm_perf_metrics.0.json")
    await rig.append(*lines, name="flow/job/another/1/vm_perf_metrics.0.json")
    await (await rig.host()).run()
    hour = to_milliseconds(NOON) // 3_600_000

    async def found(job: str, task: str, pool: str = "pool") -> set[tuple[str, str]]:
        partitions = await rig.queries.sessions.find_of_task("demo", job, task, pool, (hour, hour))
        return {(one.whose.task, one.whose.node) for sessions in partitions.values() for one in sessions}

    assert await found("JOB", "task") == {("Task", "vm000001"), ("Task", "")}
    assert await found("job", "task", "other") == {("Task", "vm000001"), ("Task", "vm000002"), ("Task", "")}
    assert await found("other", "task") == set()


async def test_a_task_named_after_the_first_samples_is_found(rig: TelemetryRig) -> None:
    once = b'exec.env,vm_monitor_collection=once,host=h key="AZ_BATCH_%s_ID",value="x" %d\n'
    stamp = to_milliseconds(NOON) * 1_000_000
    name = blob_of("n1").replace("/nodes/n1", "/nodes")
    rig.pattern = "accounts/{account}/pools/{pool}/nodes/**/*"
    await rig.append(b"mem,vm_monitor_collection=once,host=h used=1i %d\n" % stamp, name=name)
    await (await rig.host()).run()
    await rig.append(once % (b"JOB", stamp), once % (b"TASK", stamp), name=name)
    await (await rig.host()).run()
    hour = to_milliseconds(NOON) // 3_600_000
    assert len(await rig.queries.sessions.find_of_task("demo", "x", "x", "pool", (hour, hour))) == 1


async def test_blobs_belong_to_the_account_they_name(rig: TelemetryRig) -> None:
    other = replace(ACCOUNT, id="other", key="other", name="other")
    rig.accounts = [ACCOUNT, other]
    for account in ("demo", "OTHER", "unwatched"):
        await rig.append(used(1), name=blob_of("n1", account=account))
    await rig.append(used(1), name="flow/n1.json")
    host = await rig.host()
    await host.run()
    assert (await rig.sums("n1"), await rig.sums("n1", account="other")) == ({MEMORY: [1]}, {MEMORY: [1]})
    with pytest.raises(NotFoundError):
        await rig.queries.of_node("demo", "none", "n1")


async def test_answers_keep_to_the_query(rig: TelemetryRig) -> None:
    lines = [used(number, NOON + number * MINUTE) for number in range(-10, 50)]
    await rig.append(*lines, name=blob_of("n1"))
    await (await rig.host()).run()

    async def sums(**asked: object) -> list[float]:
        found = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(**asked))  # type: ignore[arg-type]
        return [one.sum for minutes in found.rollups.values() for _, one in sorted(minutes.items())]

    assert await sums(since=NOON, until=NOON + 3 * MINUTE) == [0, 1, 2]
    assert await sums(since=NOON, until=NOON + 6 * MINUTE, step=3 * MINUTE) == [3, 12]
    assert await sums(since=NOON, until=NOON) == []
    assert await sums(name="system.memory.usage", step=HOUR) == [sum(range(50))]
    assert await sums(name="system.network") == []
    assert await sums(attributes="system.memory.state=used", step=HOUR) == [sum(range(50))]
    assert await sums(attributes="system.memory.state=", step=HOUR) == []
    for asked in (
        {"name": "system.mem"},
        {"attributes": "used"},
        {"step": SECOND},
        {"since": NOON, "until": NOON - SECOND},
    ):
        with pytest.raises(HistoryRangeError):
            await sums(**asked)


@pytest.mark.parametrize("minutes", [1, 7, 30, 45, 90])
async def test_steps_of_any_length_hold_the_minutes_that_lie_in_them(rig: TelemetryRig, minutes: int) -> None:
    values = {NOON + number * MINUTE: number * number for number in range(-400, 0)}
    await rig.append(*(used(value, at) for at, value in values.items()), name=blob_of("n1"))
    await (await rig.host()).run()
    since, until, step = NOON - 361 * MINUTE, NOON - 11 * MINUTE, minutes * MINUTE
    found = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since, until, step))
    ((_, steps),) = found.rollups.items()
    wanted: dict[int, list[int]] = {}
    for at, value in values.items():
        if since <= at < until:
            wanted.setdefault(int(at.timestamp() // 60) // minutes * minutes, []).append(value)
    assert {at: (one.count, one.sum, one.min, one.last) for at, one in steps.items()} == {
        at: (len(some), sum(some), min(some), some[-1]) for at, some in wanted.items()
    }


async def test_a_node_has_the_facts_of_its_latest_start(rig: TelemetryRig) -> None:
    for number, (size, booted) in enumerate((("d4", 5), ("d8", 9), ("d2", 7))):
        once, at = "vm_monitor_collection=once", to_milliseconds(NOON) * 1_000_000
        machine = f'imds_metadata,{once} vm_size="{size}",vm_location="westus3" {at}\n'
        boot = f'linux_boot,{once} iso_boot_timestamp="{NOON + booted * MINUTE:%Y-%m-%dT%H:%M:%S.25Z}" {at}\n'
        await rig.append(f"{machine}{boot}".encode(), used(1, NOON + booted * MINUTE), name=blob_of("n1", number))
    await (await rig.host()).run()
    facts = (await rig.queries.of_node("demo", "pool", "n1")).facts
    assert (facts.vm_size, facts.region) == ("d8", "westus3")
    assert facts.booted_at == NOON + 9 * MINUTE + timedelta(milliseconds=250)


async def test_blobs_of_an_ambiguous_account_are_reported_and_not_read(
    rig: TelemetryRig, caplog: pytest.LogCaptureFixture
) -> None:
    other = replace(ACCOUNT, id="other", name="other", key="other")
    rig.accounts = [ACCOUNT, other]
    await rig.append(used(5), name="nobody/n1.json")
    await rig.append(used(5), name=blob_of("n1", account="stranger"))
    await rig.append(used(5), name=blob_of("n1", account="other"))
    host = await rig.host()
    await host.run()
    await host.run()
    unread = await rig.entries.load_sweep(UNREAD_TELEMETRY)
    assert unread is not None
    assert (unread.blobs, unread.behind_blobs) == (1, 0)
    (problem,) = unread.problems
    assert problem.startswith("nobody/n1.json isn't read: TELEMETRY_PATH finds no {account} in it")
    assert [record.message for record in caplog.records if "aren't read" in record.message] == [
        f"Blobs that aren't read: 1. {problem}"
    ]
    assert await rig.sums("n1", account="other") == {MEMORY: [5]}
    rig.accounts = [ACCOUNT]
    await (await rig.host()).run()
    cleared = await rig.entries.load_sweep(UNREAD_TELEMETRY)
    assert cleared is not None
    assert (cleared.blobs, cleared.problems) == (0, ())


async def test_the_total_cpu_is_shown_where_agents_report_cores_only(rig: TelemetryRig) -> None:
    """Telegraf reports cores alone with `totalcpu = false`; collectd reports the time that each core spent."""
    at = [to_milliseconds(NOON + number * 10 * SECOND) * 1_000_000 for number in range(7)]
    telegraf = [
        f"cpu,cpu=cpu{core} usage_idle={idle},usage_user={100 - idle} {at[0]}\n" for core, idle in ((0, 90), (1, 40))
    ]
    collectd = [
        f"cpu,instance={core},type=cpu,type_instance={mode} value={rate * number}i {time}\n"
        for number, time in enumerate(at)
        for core, modes in ((0, {"idle": 900, "user": 100}), (1, {"idle": 400, "user": 600}))
        for mode, rate in modes.items()
    ]
    for node, lines in (("n1", telegraf), ("n2", collectd)):
        await rig.append("".join(lines).encode(), name=blob_of(node))
    await (await rig.host()).run()
    for node in ("n1", "n2"):
        asked = SeriesQuery(
            since=NOON - HOUR, name="system.cpu.utilization,system.memory", attributes="cpu.logical_number="
        )
        lines_of = (await rig.queries.of_node("demo", "pool", node, asked)).lines
        means = {line.attributes: [one.sum / one.count for _, one in line.points] for line in lines_of}
        shares: dict[Any, float] = {(("cpu.mode", "idle"),): 0.65, (("cpu.mode", "user"),): 0.35}
        assert means.keys() == shares.keys()
        assert all(value == pytest.approx(shares[mode]) for mode, values in means.items() for value in values)
        cores = await rig.queries.of_node(
            "demo", "pool", node, replace(asked, attributes="cpu.mode=idle;cpu.logical_number=1")
        )
        assert [next(one.sum / one.count for _, one in line.points) for line in cores.lines] == [pytest.approx(0.4)]

"""Pages of events: each event on one page, the latest first, for any filter; and sweeps that fail."""

import logging
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.domain.events import event_marks
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter, Position
from shared.errors import BlobError, NotFoundError
from shared.services.accounts.registry import Registry
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.events import event_queries
from shared.services.events.event_queries import EventQueries
from shared.services.ingestion import Ingestion
from shared.stores import events
from shared.stores.accounts.monitoring import MonitoringStore
from tests.ingestion.rig import ACCOUNT, NOON, RESOURCE, Rig, record

SECOND = timedelta(seconds=1)


def queries(rig: Rig, retention: timedelta = timedelta(days=36_500)) -> EventQueries:
    registry = Registry({"demo": ACCOUNT}, MonitoringStore(rig.tables), rig.clock, timedelta(minutes=1))
    return EventQueries(registry, IngestionStores.of(rig.tables), container="logs", retention=retention)


async def listed(rig: Rig, wanted: EventFilter, most: int) -> tuple[list[tuple[str, datetime]], int]:
    """Returns tasks and times of all pages, and the number of pages."""
    found, after, pages = list[tuple[str, datetime]](), None, 0
    while pages == 0 or after:
        page = await queries(rig).events("demo", wanted, after=after, most=most)
        assert len(page.events) <= most
        found += [(str(event.task), event.at) for event in page.events]
        after = Position.parse(page.more.text) if page.more else None
        pages += 1
        assert pages < 100
    return found, pages


@pytest.mark.parametrize("most", [1, 3, 7, 1000])
async def test_each_event_is_on_one_page_the_latest_first(rig: Rig, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queries, "_MAX_LOOKED_AT", 4)
    times = [NOON + at * SECOND for at in (0, 0, 0, 1, 59, 60, 61, 61, 180, 3600)]
    await rig.append(*(record(f"t{number}", at) for number, at in enumerate(times)))
    await (await rig.host()).run()
    found, _ = await listed(rig, EventFilter(), most)
    assert sorted(found) == sorted((f"t{number}", at) for number, at in enumerate(times))
    assert [at for _, at in found] == sorted(times, reverse=True)
    rare, pages = await listed(rig, EventFilter(tasks=frozenset({"T0"})), most)
    assert rare == [("t0", NOON)]
    assert pages > 1
    part, _ = await listed(rig, EventFilter(since=times[4], until=times[6]), most)
    assert part == [("t5", times[5]), ("t4", times[4])]


async def test_expired_events_are_hidden_before_they_are_deleted(rig: Rig) -> None:
    rig.clock.time = NOON + timedelta(days=1)
    await rig.append(record("old", NOON - timedelta(days=3)), record("new"))
    await (await rig.host()).run()
    page = await queries(rig, timedelta(days=2)).events("demo", EventFilter(), after=None, most=10)
    assert [event.task for event in page.events] == ["new"]


async def test_a_kind_is_found_behind_any_number_of_others_and_only_within_the_times(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_queries, "_MAX_LOOKED_AT", 1)
    monkeypatch.setattr(event_marks, "_MAX_PASSED", 2)
    rare = record("t", NOON, operationName="PoolMadeUpEvent")
    await rig.append(rare, *(record(f"t{minute}", NOON + minute * 60 * SECOND) for minute in range(1, 20)))
    await (await rig.host()).run()
    asked = queries(rig)
    assert await asked.has_kind("demo", "poolmadeupevent", EventFilter())
    assert await asked.has_kind("demo", "PoolMadeUpEvent", EventFilter(jobs=frozenset({"none"}), until=NOON + SECOND))
    assert not await asked.has_kind("demo", "PoolMadeUpEvent", EventFilter(since=NOON + SECOND))
    assert not await asked.has_kind("demo", "xx", EventFilter())


async def test_an_account_that_is_not_watched_has_no_events(rig: Rig) -> None:
    with pytest.raises(NotFoundError):
        await queries(rig).events("other", EventFilter(), after=None, most=10)
    (report,) = await queries(rig).all_ingestion(["demo"])
    assert (report.sweep, report.totals.units) == (None, 0)


@pytest.mark.parametrize("error", [BlobError("It is gone."), RuntimeError("a defect")])
async def test_a_sweep_that_fails_ends_no_tick(rig: Rig, error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    host = await rig.host()

    async def failing(budget: timedelta) -> None:
        raise error

    host.sweep.run = failing  # type: ignore[method-assign]
    ingestion = Ingestion({"logs": host.sweep}, budget=SECOND)
    await ingestion.sweep()
    assert "The sweep over logs" in caplog.text
    await ingestion.announced("elsewhere/blob")


def of_job(name: str, task: str, at: datetime) -> bytes:
    place = {"poolId": f"pool-{name}", "nodeId": f"node-{name}"}
    return record(task, at, properties={"jobId": name, "id": task, "nodeInfo": place, "note": task * 40})


@pytest.mark.parametrize("most", [2, 1000])
async def test_a_filter_finds_the_same_with_marks_as_event_by_event(
    rig: Rig, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_queries, "_MAX_LOOKED_AT", 5)
    monkeypatch.setattr(events, "_MARKS_AT_ONCE", 3)
    monkeypatch.setattr(event_marks, "_MAX_ROWS", 2)
    logged = [(f"t{at}", NOON + at * 20 * SECOND, "ab"[at % 7 == 0 or at > 20]) for at in range(27)]
    for half in (logged[::2], logged[1::2]):  # so that minutes have two rows
        await rig.append(*(of_job(job, task, at) for task, at, job in half))
        await (await rig.host()).run()
    for filters in (
        EventFilter(jobs=frozenset({"B"})),
        EventFilter(nodes=frozenset({"node-a"}), kinds=frozenset({"taskstartevent"})),
        EventFilter(pools=frozenset({"none"})),
    ):
        wanted = sorted(
            ((task, at) for task, at, job in logged if filters.wants(event_of(job))), key=lambda one: one[1]
        )
        assert (await listed(rig, filters, most))[0] == wanted[::-1], filters


async def test_rows_without_the_job_are_passed_over(rig: Rig) -> None:
    minutes = 60
    some = [
        of_job("large", f"t{at}-{number}", NOON + at * 60 * SECOND) for at in range(minutes) for number in range(40)
    ]
    await rig.append(*some, of_job("rare", "found", NOON + 30 * 60 * SECOND))
    await (await rig.host()).run()
    read: list[int] = []
    send = rig.tables._transport.send

    async def counted(request: Any, **options: Any) -> Any:
        answer = await send(request, **options)
        await answer.load_body()
        read.append(len(answer.body()))
        return answer

    rig.tables._transport.send = counted  # type: ignore[method-assign]
    assert [task for task, _ in (await listed(rig, EventFilter(jobs=frozenset({"rare"})), 10))[0]] == ["found"]
    with_marks, calls = sum(read), len(read)
    read.clear()
    assert [task for task, _ in (await listed(rig, EventFilter(tasks=frozenset({"found"})), 10))[0]] == ["found"]
    assert calls == 2
    assert with_marks < sum(read) / 5, (with_marks, sum(read))


def event_of(job: str) -> BatchEvent:
    return BatchEvent(NOON, "TaskStartEvent", job, "t", f"pool-{job}", f"node-{job}", {}, b"")


async def test_an_internal_retry_is_named_even_if_its_earlier_start_is_on_another_page(rig: Rig) -> None:
    def start(version: int, node: str) -> dict[str, Any]:
        place = {"poolId": "pool", "nodeId": node}
        execution = {"retryCount": 0}
        return {"jobId": "job", "id": "t", "nodeInfo": place, "systemTaskVersion": version, "executionInfo": execution}

    await rig.append(record("t", properties=start(1, "n1")), record("t", NOON + 90 * SECOND, properties=start(2, "n2")))
    await rig.append(*(record(f"o{number}", NOON + 80 * SECOND) for number in range(5)))
    await (await rig.host()).run()
    asked = queries(rig)
    for wanted in (EventFilter(), EventFilter(jobs=frozenset({"JOB"})), EventFilter(nodes=frozenset({"n2"}))):
        page = await asked.events_with_retries("demo", wanted, after=None, most=1)
        assert page.internal_retries == {event.id for event in page.events} != set()
    first = await asked.events_with_retries("demo", EventFilter(), after=None, most=1)
    behind = await asked.events_with_retries("demo", EventFilter(), after=first.more, most=10)
    assert (len(behind.events), behind.internal_retries) == (6, set())


async def test_a_list_names_internal_retries_though_another_one_emptied_the_cache_meanwhile(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await rig.append(*(record(name, NOON + number * SECOND) for number, name in enumerate(("a", "b", "c"))))
    await (await rig.host()).run()
    monkeypatch.setattr(event_queries, "_MAX_REMEMBERED", 0)
    asked = queries(rig)
    search, lists = asked._with_those_before, [EventFilter(tasks=frozenset({"a"})), EventFilter()]

    async def while_another_one_lists(*of: Any) -> Any:
        if lists:
            await asked.events_with_retries("demo", lists.pop(0), after=None, most=10)
        return await search(*of)

    await asked.events_with_retries("demo", EventFilter(tasks=frozenset({"c"})), after=None, most=10)
    monkeypatch.setattr(asked, "_with_those_before", while_another_one_lists)
    page = await asked.events_with_retries("demo", EventFilter(), after=None, most=10)
    assert (len(page.events), page.internal_retries) == (3, set())


async def test_a_record_of_another_account_is_refused_and_counted(rig: Rig) -> None:
    """Such records come from logs that were copied together, or from a writer without rights to that account."""
    other = RESOURCE.replace("/DEMO", "/OTHER")
    await rig.append(record("a"), record("b", resourceId=other), record("c", resourceId=f"{RESOURCE.lower()}/"))
    await (await rig.host()).run()
    assert await rig.tasks() == ["a", "c"]
    assert [reject.refusal.reason for reject in await rig.refused()] == [
        "Its resourceId names another account than the log that it stands in."
    ]
    head = (await rig.store.load_head("demo")).totals
    assert (head.units, head.stored, head.refused) == (3, 2, 1)

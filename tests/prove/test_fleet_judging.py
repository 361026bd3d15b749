"""The judge of the fleet: it reports each deviation."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.prove.fleet.__main__ import _until_countable
from local.prove.fleet.findings import Findings, HostsFindings, IdleFindings
from local.prove.fleet.fleet_jobs import Fleet
from local.prove.fleet.freshness import Freshness
from local.prove.fleet.hosts import table_operations
from local.prove.fleet.shown_changes import Changes

NOW = datetime(2026, 11, 22, 7, tzinfo=UTC)


def quiet(**changed: Any) -> IdleFindings:
    fields = {
        "accounts": 2,
        "jobs": 50,
        "rounds": 4,
        "requests": 200,
        "tables": Counter({"jobs read": 16, "tasks read": 20}),
    }
    return IdleFindings(**{**fields, **changed})


def watched(checked: float = 60, **changed: Any) -> HostsFindings:
    freshness = Freshness()
    at = (NOW - timedelta(seconds=checked)).isoformat()
    freshness.take("demo", [{"id": "Render", "verdict": {"checkedAt": at, "asOf": at, "level": "exact"}}], NOW)
    fields = {"hosts": 2, "freshness": freshness, "waits": [30.0, 90.0], "waiting": [99.0], "share": 0.051}
    return HostsFindings(**{**fields, "requests": Counter({"host-1": 7}), "load": 1.0, **changed})


def test_a_fleet_as_it_should_be_has_no_problem_and_says_so() -> None:
    found = Findings(100.0, quiet(), [watched()])
    assert found.problems() == []
    text = "\n".join(found.lines())
    assert "| 2 | 3 (5.10%) | 90 s | 90 s | 90 s | 60 s | 60 s | 60 s | 60 s | 60 s | 60 s | host-1: 7 | 1.0 |" in text
    assert "With 2 hosts: no change took 120 s to show, and every job was asked about within that." in text
    assert "1.000 requests to Batch a job and round, 0 operations" in text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"requests": 210}, "1.050 requests a round"),
        ({"requests": 100}, "0.500 requests a round"),
        ({"rounds": 1, "requests": 50, "tables": Counter({"jobs read": 1})}, "only 1 rounds of 2 accounts"),
        ({"tables": Counter({"jobs read": 17})}, "read 17 times in 4 rounds"),
        ({"tables": Counter({"tasks read": 21})}, "tasks were read 21 times"),
        *(
            ({"tables": Counter({name: 1})}, f"{name} 1")
            for name in ("tasks written", "transactions", "jobhistory written", "jobs written")
        ),
    ],
)
def test_work_for_unchanged_jobs_is_a_problem(changed: dict[str, Any], said: str) -> None:
    (problem,) = Findings(quiet=quiet(**changed), watched=[watched()]).problems()
    assert said in problem


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"share": 0.049}, "only 4.90% of the jobs changed"),
        ({"checked": 120}, "wasn't asked about for 120 s"),
        ({"waits": [30.0, 120.0]}, "1 changes didn't show for up to 120 s"),
        ({"waiting": [121.0]}, "1 changes didn't show for up to 121 s"),
        ({"waits": []}, "nothing was seen"),
    ],
)
def test_late_or_too_few_changes_are_a_problem(changed: dict[str, Any], said: str) -> None:
    found = Findings(quiet=quiet(), watched=[watched(**changed)])
    (problem,) = found.problems()
    assert said in problem
    assert f"**NOT as it should be**: {problem}" in "\n".join(found.lines())


def test_nothing_counted_or_watched_proves_nothing() -> None:
    assert Findings().problems() == ["nothing was counted while nothing changed", "nothing was watched"]


def test_a_change_is_shown_once_all_tasks_of_its_job_are() -> None:
    changes = Changes(10)
    changes.add("demo", "Render", 100.0)
    changes.add("demo", "Render", 130.0)
    changes.take("other", [{"id": "Render", "taskCounts": {"total": 12}}], 135.0)
    changes.take("demo", [{"id": "Render", "taskCounts": {"total": 10}}], 140.0)
    changes.take("demo", [{"id": "Render", "taskCounts": {"total": 11}}], 150.0)
    changes.take("demo", [{"id": "Render", "taskCounts": None}], 155.0)
    assert [change.waited(190.0) for change in changes.made] == [50.0, 60.0]
    assert [change.total for change in changes.waiting(59.0, 190.0)] == [12]
    assert changes.since(130.0) == [changes.made[1]]
    changes.take("demo", [{"id": "Render", "taskCounts": {"total": 12}}], 200.0)
    assert changes.waiting(0.0, 300.0) == []


def test_operations_are_counted_by_table_and_kind(tmp_path: Path) -> None:
    log = tmp_path / "azurite.log"
    requests = (
        "GET /devstoreaccount1/fleetjobs()?$filter=x",
        "PUT /devstoreaccount1/fleetjobs(PartitionKey='a',RowKey='b')",
        "PUT /devstoreaccount1/fleetjobhistory(PartitionKey='a',RowKey='b')",
        "POST /devstoreaccount1/fleettasks",
        "POST /devstoreaccount1/$batch",
        "GET /devstoreaccount1/fleet-batchscope-jobs/messages?numofmessages=1",
    )
    log.write_text("".join(f'127.0.0.1 - - [x] "{request} HTTP/1.1" 200 -\n' for request in requests))
    one_each = ("jobs read", "jobs written", "jobhistory written", "tasks written", "transactions")
    assert table_operations(log) == Counter(one_each)


@pytest.mark.parametrize(
    ("at", "begins"),
    [("07:10:20", "07:10:57"), ("07:13:58", "07:14:57"), ("07:14:00", "07:18:57"), ("07:17:57", "07:18:57")],
)
def test_nothing_is_counted_while_housekeeping_goes_on(at: str, begins: str) -> None:
    now, then = (datetime.fromisoformat(f"2026-11-22T{clock}+00:00") for clock in (at, begins))
    assert now + timedelta(seconds=_until_countable(now)) == then


def test_slow_answers_take_nothing_from_the_rate_and_no_job_comes_again_before_the_others() -> None:
    async def go() -> tuple[list[tuple[str, str]], int]:
        """Returns the recorded requests, and the most concurrent additions."""
        emulator = Emulator({"one": DEVELOPMENT_KEY, "two": DEVELOPMENT_KEY})
        server = Server(emulator)
        address = f"http://127.0.0.1:{await server.start()}"
        fleet = Fleet(address, dict.fromkeys(("one", "two"), DEVELOPMENT_KEY), jobs=10, nodes=0)
        await fleet.fill(1)
        emulator.settings.latencySeconds = 0.5
        noted, most = list[tuple[str, str]](), 0
        going = asyncio.create_task(fleet.keep_going(20, lambda account, job: noted.append((account, job))))
        async with asyncio.timeout(60):
            while len(noted) < 40 or not fleet.added:
                await asyncio.sleep(0.01)
                most = max(most, len(noted) - fleet.added)
        going.cancel()
        await asyncio.wait([going])
        await fleet.close()
        await server.stop()
        return noted, most

    noted, most = asyncio.run(go())
    assert len(set(noted[:20])) == len(set(noted[20:40])) == 20
    assert most > 2

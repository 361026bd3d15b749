"""Job schedules as the service sends them: published shapes, invalid data, pages, and fields never stored."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web

from shared.domain.schedules.schedules import Recurrence, ScheduleFacts
from shared.errors import BatchAnswerError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_pool_rows import Page, page_of
from shared.stores.batch.batch_rows import NONSENSE
from shared.stores.batch.batch_schedule_rows import schedule_of, specifications_of
from shared.stores.batch.batch_schedules import BatchSchedules
from tests.stores.batch.test_failing_batch import CASES, Service, account, service

__all__ = ["account", "service"]
AT = "2026-11-21T12:00:00.1234567Z"
MOMENT = datetime(2026, 11, 21, 12, 0, 0, 123_000, UTC)
SCHEDULE = {
    "id": "Nightly", "creationTime": AT, "lastModified": AT, "state": "active", "stateTransitionTime": AT,
}  # fmt: skip


def body(*rows: Any, link: str | None = None) -> bytes:
    return json.dumps({"value": rows} | ({"odata.nextLink": link} if link else {})).encode()


def schedules_of(body: bytes) -> tuple[Page[ScheduleFacts], str | None]:
    return page_of(body, "job schedule", schedule_of)


def test_a_schedule_is_read_with_all_its_properties() -> None:
    row = SCHEDULE | {
        "displayName": "Report, sig=abcdefgh", "previousState": "disabled", "previousStateTransitionTime": AT,
        "schedule": {"doNotRunUntil": AT, "startWindow": "PT1M", "recurrenceInterval": "PT1H"},
        "executionInfo": {"nextRunTime": AT, "recentJob": {"id": "Nightly:job-12", "url": "x"}, "endTime": AT},
        "stats": {"url": "x"},
    }  # fmt: skip
    facts = schedule_of(json.dumps(row).encode())
    assert facts.recurrence == Recurrence(MOMENT, None, "PT1M", "PT1H")
    assert (facts.next_run_time, facts.end_time, facts.previous_state_transition_time) == (MOMENT,) * 3
    assert (facts.recent_job, facts.jobs_made, facts.display_name) == ("Nightly:job-12", 12, "Report, sig=[redacted]")
    assert (facts.is_counting, facts.is_untouched) == (True, False)


def test_a_schedule_that_was_never_set_to_run_has_neither_rules_nor_runs() -> None:
    ((facts,), _), link = schedules_of(body(SCHEDULE, link="http://x/y"))
    assert (facts.recurrence, facts.recent_job, facts.jobs_made) == (Recurrence(), None, 0)
    assert (facts.is_counting, facts.is_untouched, link) == (False, True, "http://x/y")


@pytest.mark.parametrize(
    "wrong",
    [{"state": 1}, {"creationTime": "x"}, {"schedule": []}, {"executionInfo": 1}, {"schedule": {"doNotRunUntil": "x"}}],
)
def test_a_schedule_that_makes_no_sense_spoils_no_other(wrong: dict[str, Any]) -> None:
    page, _ = schedules_of(body(SCHEDULE | wrong | {"id": "Odd"}, SCHEDULE))
    assert [facts.id for facts in page.things] == ["Nightly"]
    assert list(page.nonsense) == ["Odd"]
    with pytest.raises(NONSENSE):
        schedule_of(json.dumps(SCHEDULE | wrong).encode())


def test_schedules_without_ids_are_refused() -> None:
    with pytest.raises(NONSENSE):
        schedules_of(body(SCHEDULE | {"id": None}))


def test_specifications_are_kept_without_secrets_and_one_that_makes_no_sense_spoils_no_other() -> None:
    task = {
        "id": "manager",
        "commandLine": "login --password hunter2",
        "resourceFiles": [{"httpUrl": "https://a/b?sig=hunter2", "filePath": "x"}],
        "environmentSettings": [{"name": "MODE", "value": "hunter2"}],
        "userIdentity": {"username": "me", "password": "hunter2"},
        "containerSettings": {"imageName": "i", "registry": {"username": "u", "password": "hunter2"}},
        "applicationPackageReferences": [{"applicationId": "a"}],
    }
    pool = {"vmSize": "s", "mountConfiguration": [{"azureFileShareConfiguration": {"accountKey": "hunter2"}}]}
    sent = {
        "priority": 3,
        "jobManagerTask": task,
        "jobPreparationTask": {"commandLine": "x --token hunter2hunter2"},
        "commonEnvironmentSettings": [{"name": "KEY", "value": "hunter2"}],
        "metadata": [{"name": "owner", "value": "hunter2"}],
        "poolInfo": {"autoPoolSpecification": {"poolLifetimeOption": "job", "pool": pool}},
    }
    (entries, nonsense), _ = specifications_of(
        body({**SCHEDULE, "jobSpecification": sent}, {**SCHEDULE, "id": "Odd", "jobSpecification": {"priority": []}})
    )
    (key, modified, good), (odd, _, bad) = entries
    assert nonsense == {}
    assert (key, modified, odd) == ("nightly", MOMENT, "odd")
    assert not isinstance(good, str)
    specification, omitted = good
    assert "hunter2" not in repr(specification)
    assert specification.job_manager_task
    assert specification.job_manager_task.command_line == "login --password [redacted]"
    assert omitted == ("poolInfo.autoPoolSpecification.pool.mountConfiguration",)
    assert bad == "Its job specification makes no sense: ValidationError."


@pytest.mark.parametrize("read", ["list", "one", "specifications"])
@pytest.mark.parametrize("case", sorted(CASES.keys() - {"hanging", "trickling"}))
async def test_every_way_to_fail_has_its_error_message(
    service: Service, account: BatchAccount, case: str, read: str
) -> None:
    service.answer, kind, words = CASES[case]
    source = BatchSchedules(account)
    reads: dict[str, Callable[[], Any]] = {
        "list": source.fetch_schedules,
        "one": lambda: source.fetch_schedule("Nightly"),
        "specifications": lambda: source.fetch_specifications(modified_since=MOMENT),
    }
    with pytest.raises(kind, match=words):
        await reads[read]()


async def test_lists_go_on_over_short_and_empty_pages_and_ask_for_no_more_than_is_kept(
    service: Service, account: BatchAccount
) -> None:
    asked: list[str] = []
    own = account.account.endpoint

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(str(request.rel_url))
        pages = [body(link=f"{own}/second"), body(SCHEDULE, link=f"{own}/third"), body(SCHEDULE | {"id": "B"})]
        return web.Response(body=pages[(len(asked) - 1) % 3])

    service.answer = answer
    source = BatchSchedules(account)
    assert [facts.id for facts in (await source.fetch_schedules()).resources] == ["Nightly", "B"]
    assert set(await source.fetch_specifications(modified_since=MOMENT)) == {("nightly", MOMENT), ("b", MOMENT)}
    assert source.calls == 6
    whole, specifications = (parse_qs(urlsplit(asked[place]).query) for place in (0, 3))
    assert "jobSpecification" not in whole["$select"][0]
    assert "$filter" not in whole
    assert specifications["$filter"] == ["lastModified ge DateTime'2026-11-21T12:00:00.123Z'"]
    assert specifications["$select"] == ["id,lastModified,jobSpecification"]


async def test_a_schedule_created_while_the_list_was_read_is_left_to_the_next_list(
    service: Service, account: BatchAccount
) -> None:
    first, second = "Sat, 21 Nov 2026 12:00:00 GMT", "Sat, 21 Nov 2026 12:00:02 GMT"
    link = f"{account.account.endpoint}/second"

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.rel_url.path != "/second":
            return web.Response(body=body(SCHEDULE, link=link), headers={"Date": first})
        young = SCHEDULE | {"id": "Young", "creationTime": "2026-11-21T12:00:01.5Z"}
        return web.Response(body=body(young), headers={"Date": second})

    service.answer = answer
    found = await BatchSchedules(account).fetch_schedules()
    assert [facts.id for facts in found.resources] == [SCHEDULE["id"]]
    assert found.date == MOMENT.replace(microsecond=0)


async def test_a_list_of_schedules_without_a_date_is_refused(service: Service, account: BatchAccount) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body(SCHEDULE), headers={"Date": "some day"})

    service.answer = answer
    with pytest.raises(BatchAnswerError, match="bears no date"):
        await BatchSchedules(account).fetch_schedules()

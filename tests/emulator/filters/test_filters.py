"""`$filter` and `$select`: documented expressions work, and any other is refused by name."""

import pytest

from tests.emulator.support.driver import Driver


async def _finished(driver: Driver) -> None:
    await driver.add_pool()
    await driver.add_job()
    await driver.add_tasks("job", "sleep 5", "sleep 5; exit 1", "sleep 5; exit 2", "sleep 100000")
    await driver.advance(120)


async def _ids(driver: Driver, condition: str, path: str = "/jobs/job/tasks") -> list[str]:
    return sorted(row["id"] for row in await driver.rows(path, _filter=condition))


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("state eq 'completed'", "012"),
        ("state ne 'completed'", "3"),
        ("executionInfo/result eq 'failure'", "12"),
        ("executionInfo/exitCode ge 1 and executionInfo/exitCode lt 2", "1"),
        ("id eq 'T001' or id gt 't002'", "13"),
        ("startswith(id, 'T00')", "0123"),
        ("(id eq 't000' or id eq 't003') and state eq 'running'", "3"),
        ("id eq 't000' or id eq 't003' and state eq 'running'", "03"),
        ("stateTransitionTime ge DateTime'2026-01-05T08:00:01Z'", "0123"),
        ("stateTransitionTime ge datetime'2026-01-06'", ""),
        ("creationTime eq DateTime'2026-01-05T08:00:00.0000000Z'", "0123"),
        ("executionInfo/endTime le DateTime'2030-01-01T00:00:00Z'", "012"),
        ("lastModifiedTime gt DateTime'2026-01-05T08:00:00Z'", ""),
        ("id eq 'it''s'", ""),
    ],
)
async def test_tasks_are_filtered_as_documented(stepped: Driver, condition: str, wanted: str) -> None:
    await _finished(stepped)
    assert await _ids(stepped, condition) == [f"t00{digit}" for digit in wanted]


@pytest.mark.parametrize(
    "condition",
    [
        "state eq 'deleted'",
        "state gt 'active'",
        "nodeInfo/poolId eq 'x'",
        "not (id eq 'x')",
        "id eq 5",
        "executionInfo/exitCode eq '5'",
        "stateTransitionTime ge '2026-01-05T08:00:00Z'",
        "stateTransitionTime ge DateTime'yesterday'",
        "id eq 'x' and",
        "(id eq 'x'",
        "id eq 'x')",
        "id eq",
        "startswith(state, 'a')",
        "contains(id, 'a')",
        "id has 'x'",
        "id eq 'x' xor id eq 'y'",
        "§",
    ],
)
async def test_any_other_filter_is_refused_with_its_reason(stepped: Driver, condition: str) -> None:
    await stepped.add_job()
    answer = await stepped.call("GET", "/jobs/job/tasks", _filter=condition)
    assert (answer.status, answer.code) == (400, "InvalidQueryParameterValue")
    assert answer.values["QueryParameterName"] == "$filter"
    assert answer.values["QueryParameterValue"] == condition
    assert answer.values["Reason"]


async def test_jobs_pools_and_nodes_have_filters_of_their_own(stepped: Driver) -> None:
    await stepped.add_pool("alpha")
    await stepped.add_pool("beta", startTask={"commandLine": "sleep 1; exit 4"})
    await stepped.add_job("one", "alpha")
    await stepped.add_job("two", "beta")
    await stepped.advance(300)
    assert await _ids(stepped, "executionInfo/poolId eq 'ALPHA'", "/jobs") == ["one"]
    assert await _ids(stepped, "state eq 'active' and id ge 'p'", "/jobs") == ["two"]
    assert await _ids(stepped, "allocationState eq 'steady' and startswith(id,'be')", "/pools") == ["beta"]
    assert await _ids(stepped, "enableAutoScale eq true", "/pools") == []
    assert await _ids(stepped, "vmSize eq 'Standard_D2s_v5'", "/pools") == ["alpha", "beta"]
    assert len(await _ids(stepped, "startTaskInfo/exitCode eq 4", "/pools/beta/nodes")) == 2
    assert await _ids(stepped, "startTaskInfo/exitCode eq 4", "/pools/alpha/nodes") == []
    assert len(await _ids(stepped, "state eq 'starttaskfailed'", "/pools/beta/nodes")) == 2
    counts = await stepped.rows("/nodecounts", _filter="poolId eq 'beta'")
    assert [(row["poolId"], row["dedicated"]["startTaskFailed"]) for row in counts] == [("beta", 2)]
    assert (await stepped.call("GET", "/pools/beta/nodes", _filter="id eq 'x'")).status == 400


async def test_select_limits_properties(stepped: Driver) -> None:
    await _finished(stepped)
    rows = await stepped.rows("/jobs/job/tasks", _select="id,state")
    assert {tuple(row) for row in rows} == {("id", "state")}
    one = (await stepped.call("GET", "/jobs/job/tasks/t001", _select="executionInfo")).body
    assert set(one) == {"odata.metadata", "executionInfo"}


@pytest.mark.parametrize("names", ["id,nothing", "executionInfo/exitCode", "ID"])
async def test_select_refuses_unknown_properties(stepped: Driver, names: str) -> None:
    await stepped.add_job()
    answer = await stepped.call("GET", "/jobs/job/tasks", _select=names)
    assert (answer.status, answer.code) == (400, "InvalidQueryParameterValue")

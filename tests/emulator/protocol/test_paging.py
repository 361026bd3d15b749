"""Pages and their links, in common and uncommon cases."""

import pytest

from tests.emulator.support.driver import Driver


async def _ids(driver: Driver, **query: object) -> list[str]:
    return [row["id"] for row in await driver.rows("/jobs/job/tasks", **query)]


async def _twelve(driver: Driver) -> list[str]:
    await driver.add_job()
    await driver.add_tasks("job", *["sleep 1"] * 12)
    return [f"t{number:03}" for number in range(12)]


async def test_pages_are_as_large_as_asked_and_links_keep_the_query_and_the_host(stepped: Driver) -> None:
    wanted = await _twelve(stepped)
    pages = await stepped.pages("/jobs/job/tasks", maxresults=5, _select="id", _filter="state eq 'active'")
    assert [len(page.body["value"]) for page in pages] == [5, 5, 2]
    assert [row["id"] for page in pages for row in page.body["value"]] == wanted
    link = pages[0].body["odata.nextLink"]
    assert link.startswith(f"{stepped.url}/jobs/job/tasks?")
    assert "$skiptoken=" in link
    assert all(set(row) == {"id"} for row in pages[2].body["value"])


async def test_a_full_last_page_has_no_link(stepped: Driver) -> None:
    await _twelve(stepped)
    pages = await stepped.pages("/jobs/job/tasks", maxresults=6)
    assert [len(page.body["value"]) for page in pages] == [6, 6]


@pytest.mark.parametrize("text", ["0", "1001", "-1", "x", ""])
async def test_maxresults_is_from_1_to_1000(stepped: Driver, text: str) -> None:
    answer = await stepped.call("GET", "/jobs", maxresults=text)
    assert answer.status == 400
    assert answer.values["QueryParameterName"] == "maxresults"


@pytest.mark.parametrize("text", ["0", "11", "1000"])
async def test_maxresults_of_node_counts_is_from_1_to_10(stepped: Driver, text: str) -> None:
    answer = await stepped.call("GET", "/nodecounts", maxresults=text)
    assert answer.status == 400
    assert answer.values["MaximumAllowed"] == "10"


async def test_node_counts_come_ten_pools_at_a_time(stepped: Driver) -> None:
    for number in range(12):
        await stepped.add_pool(f"pool-{number:02}")
    pages = await stepped.pages("/nodecounts")
    assert [len(page.body["value"]) for page in pages] == [10, 2]
    assert [row["poolId"] for row in pages[1].body["value"]] == ["pool-10", "pool-11"]


async def test_links_stay_good_while_tasks_come_and_go(stepped: Driver) -> None:
    wanted = await _twelve(stepped)
    first = await stepped.call("GET", "/jobs/job/tasks", maxresults=4)
    for gone in ("t001", "t003", "t004"):
        await stepped.call("DELETE", f"/jobs/job/tasks/{gone}")
    await stepped.call("POST", "/jobs/job/tasks", {"id": "t003x", "commandLine": "true"})
    second = await stepped.follow("GET", first.body["odata.nextLink"])
    assert [row["id"] for row in second.body["value"]] == ["t003x", "t005", "t006", "t007"]
    assert wanted[4] == "t004"


async def test_links_of_a_filtered_list_stay_good_while_rows_begin_and_cease_to_match(stepped: Driver) -> None:
    await _twelve(stepped)
    first = await stepped.call("GET", "/jobs/job/tasks", maxresults=3, _filter="state eq 'active'")
    for ended in ("t002", "t004"):
        await stepped.call("POST", f"/jobs/job/tasks/{ended}/terminate")
    second = await stepped.follow("GET", first.body["odata.nextLink"])
    assert [row["id"] for row in second.body["value"]] == ["t003", "t005", "t006"]
    await stepped.call("POST", "/jobs/job/tasks/t004/reactivate")
    await stepped.call("DELETE", "/jobs/job/tasks/t006")
    third = await stepped.follow("GET", second.body["odata.nextLink"])
    assert [row["id"] for row in third.body["value"]] == ["t007", "t008", "t009"]


@pytest.mark.parametrize("path", ["/jobs", "/pools", "/jobschedules"])
async def test_links_of_every_list_stay_good_while_its_rows_come_and_go(stepped: Driver, path: str) -> None:
    bodies: dict[str, dict[str, object]] = {
        "/jobs": {"poolInfo": {"poolId": "none"}},
        "/pools": {"vmSize": "standard_d2s_v5"},
        "/jobschedules": {"schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "none"}}},
    }
    for name in "abcdef":
        assert (await stepped.call("POST", path, {"id": name, **bodies[path]})).status == 201
    first = await stepped.call("GET", path, maxresults=2, _select="id")
    for gone in "bc":
        await stepped.call("DELETE", f"{path}/{gone}")
    await stepped.advance(60)
    await stepped.call("POST", path, {"id": "dd", **bodies[path]})
    second = await stepped.follow("GET", first.body["odata.nextLink"])
    third = await stepped.follow("GET", second.body["odata.nextLink"])
    found = [[row["id"] for row in each.body["value"]] for each in (first, second, third)]
    assert found == [["a", "b"], ["d", "dd"], ["e", "f"]]


async def test_short_and_empty_pages_still_have_links(stepped: Driver) -> None:
    wanted = await _twelve(stepped)
    await stepped.control("POST", "settings", {"pageSize": 3, "emptyPageEvery": 2})
    pages = await stepped.pages("/jobs/job/tasks", _filter="state eq 'active'")
    assert [len(page.body["value"]) for page in pages] == [3, 0, 3, 0, 3, 0, 3]
    assert [row["id"] for page in pages for row in page.body["value"]] == wanted


async def test_a_list_may_be_unordered_and_is_still_whole(stepped: Driver) -> None:
    wanted = await _twelve(stepped)
    await stepped.control("POST", "settings", {"unorderedLists": True, "pageSize": 5})
    found = await _ids(stepped)
    assert found != wanted
    assert sorted(found) == wanted


@pytest.mark.parametrize(
    ("collation", "wanted"),
    [("ordinal", ["a-b", "a1", "aB", "ac", "a_d"]), ("linguistic", ["a1", "a-b", "aB", "ac", "a_d"])],
)
async def test_ids_are_ordered_and_compared_by_the_collation_chosen(
    stepped: Driver, collation: str, wanted: list[str]
) -> None:
    await stepped.control("POST", "settings", {"idCollation": collation, "pageSize": 2})
    await stepped.add_job()
    for name in ("ac", "aB", "a_d", "a-b", "a1"):
        await stepped.call("POST", "/jobs/job/tasks", {"id": name, "commandLine": "true"})
    ordered = sorted(wanted, key=str.lower) if collation == "ordinal" else wanted
    assert await _ids(stepped) == ordered
    assert await _ids(stepped, _filter="id ge 'AB'") == ordered[ordered.index("aB") :]


async def test_a_reversed_order_pages_too(stepped: Driver) -> None:
    wanted = await _twelve(stepped)
    await stepped.control("POST", "settings", {"idCollation": "reversed", "pageSize": 5})
    assert await _ids(stepped) == wanted[::-1]


async def test_a_list_ends_in_the_order_in_which_it_began(stepped: Driver) -> None:
    wanted = await _twelve(stepped)
    for knobs in ({"idCollation": "reversed"}, {"unorderedLists": True}):
        await stepped.control("POST", "settings", {"idCollation": "ordinal", "unorderedLists": False})
        first = await stepped.call("GET", "/jobs/job/tasks", maxresults=5)
        await stepped.control("POST", "settings", knobs)
        second = await stepped.follow("GET", first.body["odata.nextLink"])
        assert [row["id"] for page in (first, second) for row in page.body["value"]] == wanted[:10]


async def test_a_delta_is_paged_in_list_order_and_leaves_nothing_out(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"nodeClockSkewSeconds": 20.0})
    await stepped.add_pool(nodes=4, taskSlotsPerNode=4)
    await stepped.add_job()
    await stepped.add_tasks("job", *[f"sleep {number}" for number in range(300)])
    for _ in range(8):
        await stepped.advance(37)
        everything = await stepped.rows("/jobs/job/tasks", _select="id,stateTransitionTime")
        bound = sorted(row["stateTransitionTime"] for row in everything)[-40]
        delta = await stepped.rows("/jobs/job/tasks", _filter=f"stateTransitionTime ge DateTime'{bound}'", maxresults=7)
        assert [row["id"] for row in delta] == [row["id"] for row in everything if row["stateTransitionTime"] >= bound]


async def test_a_made_up_skip_token_is_refused(stepped: Driver) -> None:
    for token in ("x", "e30", "%00"):
        answer = await stepped.call("GET", "/jobs", _skiptoken=token)
        assert (answer.status, answer.code) == (400, "InvalidQueryParameterValue")

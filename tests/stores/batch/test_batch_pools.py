"""Pools and nodes as the service sends them: recorded shapes, invalid data, pages, and fields that are never stored."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web
from msgspec.json import encode

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import NodeCounts, NodeError, RecentTask, StartRun
from shared.domain.pools.machine_settings import DataDisk, Image, Machine, MachineSettings
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_settings import AutoScale, Problem
from shared.errors import BatchAnswerError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_node_rows import counts_of, known_nodes_of, nodes_of
from shared.stores.batch.batch_pool_rows import Page, page_of, pool_of
from shared.stores.batch.batch_pools import BatchPools, NodeListCache
from shared.stores.batch.batch_rows import NONSENSE
from tests.stores.batch.test_failing_batch import CASES, Service, account, service

__all__ = ["account", "service"]
AT = "2026-11-21T12:00:00.1234567Z"
MOMENT = datetime(2026, 11, 21, 12, 0, 0, 123_000, UTC)
POOL = {
    "id": "Pool-1", "creationTime": AT, "state": "active", "stateTransitionTime": AT, "vmSize": "standard_d1_v2",
}  # fmt: skip
NODE = {"id": "tvm-1", "state": "idle", "stateTransitionTime": AT}


def body(*rows: Any, link: str | None = None) -> bytes:
    return json.dumps({"value": rows} | ({"odata.nextLink": link} if link else {})).encode()


def pools_of(body: bytes) -> tuple[Page[PoolFacts], str | None]:
    return page_of(body, "pool", pool_of)


async def counted(source: BatchPools) -> list[dict[str, NodeCounts]]:
    return [counts async for counts in source.node_counts()]


def test_a_pool_is_read_with_all_its_properties() -> None:
    row = POOL | {
        "allocationState": "steady", "allocationStateTransitionTime": AT, "currentDedicatedNodes": 3,
        "currentLowPriorityNodes": 1, "targetDedicatedNodes": 4, "targetLowPriorityNodes": 0, "taskSlotsPerNode": 2,
        "resizeErrors": [{"code": "AllocationTimedOut", "message": "Late, AccountKey=abc.", "values": []}],
        "enableAutoScale": True, "autoScaleFormula": "x", "autoScaleEvaluationInterval": "PT5M",
        "autoScaleRun": {"timestamp": AT, "results": "y", "error": {"code": "z", "values": []}},
    }  # fmt: skip
    facts = pool_of(json.dumps(row).encode())
    assert (facts.dedicated, facts.spot, facts.slots_per_node, facts.nodes) == (Size(3, 4), Size(1, 0), 2, 4)
    assert facts.resize_errors == (Problem("AllocationTimedOut", "Late, AccountKey=[redacted]"),)
    assert facts.auto_scale == AutoScale("x", "PT5M", MOMENT, "y", Problem("z", ""))
    assert (facts.creation_time, facts.allocation_state_transition_time) == (MOMENT, MOMENT)


def test_a_pool_with_few_properties_has_defaults() -> None:
    ((facts,), _), link = pools_of(body(POOL, link="http://x/y"))
    assert (facts.dedicated, facts.slots_per_node, facts.auto_scale, facts.resize_errors) == (Size(0), 1, None, ())
    assert link == "http://x/y"


def test_a_formula_is_ignored_while_autoscaling_is_off() -> None:
    ((facts,), _), _ = pools_of(body(POOL | {"enableAutoScale": False, "autoScaleFormula": "old"}))
    assert facts.auto_scale is None


def test_settings_of_an_unexpected_type_are_left_out_and_named_and_the_pool_stays_readable() -> None:
    row = POOL | {
        "displayName": 5, "startTask": "run", "enableAutoScale": "perhaps", "autoScaleFormula": "x", "identity": "me",
        "virtualMachineConfiguration": {
            "nodeAgentSKUId": "agent", "osDisk": "large", "imageReference": {"publisher": ["p"], "offer": "o"},
            "dataDisks": [{"lun": "first", "diskSizeGB": 5}, {"lun": 1}],
        },
        "metadata": ["a"], "networkConfiguration": None,
    }  # fmt: skip
    facts = pool_of(json.dumps(row).encode())
    assert facts.settings_left_out == (
        "displayName", "enableAutoScale", "startTask", "virtualMachineConfiguration.imageReference.publisher",
        "virtualMachineConfiguration.osDisk", "virtualMachineConfiguration.dataDisks.lun", "identity", "metadata",
    )  # fmt: skip
    assert (facts.display_name, facts.start_task, facts.auto_scale) == (None, None, AutoScale("x"))
    assert facts.settings == MachineSettings(
        virtual_machine_configuration=Machine(
            node_agent_sku_id="agent", image_reference=Image(offer="o"),
            data_disks=[DataDisk(disk_size_gb=5), DataDisk(lun=1)],
        )
    )  # fmt: skip
    assert pool_of(json.dumps(POOL | {"enableAutoScale": "no"}).encode()).auto_scale is None


@pytest.mark.parametrize(("sent", "left_out"), [
    ({"commandLine": "run", "environmentSettings": "A=b"}, ("startTask.environmentSettings",)),
    ({"commandLine": "run", "environmentSettings": [{"name": "A", "value": 5}]},
     ("startTask.environmentSettings.value",)),
    ({"commandLine": "run", "environmentSettings": [{"value": "b"}]}, ("startTask.environmentSettings",)),
    ({"commandLine": "run", "resourceFiles": "all"}, ("startTask.resourceFiles",)),
    ({"commandLine": ["run"]}, ("startTask",)),
])  # fmt: skip
def test_of_a_start_task_the_readable_part_is_kept(sent: dict[str, Any], left_out: tuple[str, ...]) -> None:
    facts = pool_of(json.dumps(POOL | {"startTask": sent}).encode())
    assert facts.settings_left_out == left_out
    assert (facts.start_task and facts.start_task.command_line) == (None if left_out == ("startTask",) else "run")


def test_numbers_of_an_unexpected_type_make_a_pool_unreadable_as_their_absence_means_zero() -> None:
    for name in ("taskSlotsPerNode", "currentDedicatedNodes", "targetLowPriorityNodes", "resizeErrors"):
        (good, nonsense), _ = pools_of(body(POOL | {name: "many", "startTask": "run"}))
        assert (good, list(nonsense)) == ([], ["Pool-1"])


def test_a_start_task_is_kept_without_its_secrets() -> None:
    task = {
        "commandLine": "run --token abcdefgh",
        "resourceFiles": [{"httpUrl": "https://a/b?sig=hunter2"}],
        "environmentSettings": [
            {"name": "API_KEY", "value": "hunter2"},
            {"name": "EMPTY"},
            {"name": "MODE", "value": "hunter2"},
            {"name": "A=password=hunter2", "value": "x"},
        ],
        "waitForSuccess": False,
        "maxTaskRetryCount": 2,
    }
    ((facts,), _), _ = pools_of(body(POOL | {"startTask": task}))
    assert facts.start_task
    assert facts.start_task.command_line == "run --token [redacted]"
    assert facts.start_task.environment == (
        ("API_KEY", "[redacted]"), ("EMPTY", ""), ("MODE", "[redacted]"), ("A=password=[redacted]", "[redacted]"),
    )  # fmt: skip
    assert (facts.start_task.waits_for_success, facts.start_task.retries) == (False, 2)
    assert "hunter2" not in repr(facts)


def with_secrets(secret: str) -> dict[str, Any]:
    """Returns a pool with a secret in each setting that may have one."""
    files = [{"httpUrl": f"https://a/b.zip?sig={secret}", "filePath": "b.zip"}, {"autoStorageContainerName": "in"}]
    registry = {"username": "u", "password": secret, "registryServer": "https://r"}
    return POOL | {
        "enableAutoScale": True,
        "autoScaleFormula": f"$password = '{secret}';",
        "metadata": [{"name": "team", "value": "a"}, {"name": "apiKey", "value": secret}],
        "applicationPackageReferences": [{"applicationId": "blender", "version": "4.2"}],
        "startTask": {
            "commandLine": f"run --token {secret}",
            "environmentSettings": [{"name": "MODE", "value": secret}, {"name": "EMPTY", "value": ""}],
            "resourceFiles": files,
            "containerSettings": {
                "imageName": "r/tool:1",
                "containerRunOptions": f"-e A={secret}",
                "registry": registry,
            },
            "userIdentity": {"username": "u", "password": secret},
        },
    }


def test_of_a_hidden_value_only_a_short_digest_is_kept_by_which_its_change_is_seen() -> None:
    first, again, other, elsewhere = (
        pool_of(json.dumps(row).encode())
        for row in (
            with_secrets("hunter2-hunter2"), with_secrets("hunter2-hunter2"), with_secrets("correct-horse"),
            with_secrets("hunter2-hunter2") | {"id": "another"},
        )
    )  # fmt: skip
    assert (first, "hunter2" in repr(first), "hunter2" in encode(first).decode()) == (again, False, False)
    assert replace(first, hidden=None) == replace(other, hidden=None)
    assert first.hidden
    assert other.hidden
    assert sorted(first.hidden) == [
        "autoScaleFormula", "metadata", "startTask.commandLine", "startTask.containerSettings.containerRunOptions",
        "startTask.containerSettings.registry.password", "startTask.environmentSettings.MODE",
        "startTask.resourceFiles", "startTask.userIdentity.password",
    ]  # fmt: skip
    assert all(first.hidden[name] != other.hidden[name] for name in first.hidden)
    assert first.hidden == elsewhere.hidden
    assert all(0 <= digest < 4096 for digest in first.hidden.values())


def test_files_container_and_packages_of_a_pool_are_kept_without_secrets() -> None:
    facts = pool_of(json.dumps(with_secrets("hunter2-hunter2")).encode())
    assert facts.settings
    assert facts.start_task
    assert json.loads(encode(facts.settings))["applicationPackageReferences"] == [
        {"applicationId": "blender", "version": "4.2"}
    ]
    assert json.loads(encode(facts.start_task.settings)) == {
        "resourceFiles": [
            {"httpUrl": "https://a/b.zip?[redacted]", "filePath": "b.zip"}, {"autoStorageContainerName": "in"},
        ],
        "containerSettings": {
            "imageName": "r/tool:1", "containerRunOptions": "-e A=[redacted]",
            "registry": {"username": "u", "password": "[redacted]", "registryServer": "https://r"},
        },
        "userIdentity": {"username": "u", "password": "[redacted]"},
    }  # fmt: skip


def test_the_settings_of_machines_are_kept_without_what_may_hold_secrets() -> None:
    containers: dict[str, Any] = {
        "type": "dockerCompatible",
        "containerImageNames": ["registry.example/tool:1"],
    }
    machine: dict[str, Any] = {
        "imageReference": {"publisher": "canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"},
        "nodeAgentSKUId": "batch.node.ubuntu 24.04",
        "osDisk": {"ephemeralOSDiskSettings": {"placement": "cachedisk"}, "diskSizeGB": 64},
        "containerConfiguration": containers,
        "securityProfile": {"securityType": "trustedLaunch", "proxyAgentSettings": {"imds": {"mode": "Audit"}}},
        "hardwareProfile": {"vmSizeProperties": {"vCPUsAvailable": 2, "vCPUsPerCore": 1}},
        "nodePlacementConfiguration": {"policy": "Zonal"},
        "placement": {"zonePlacementPolicy": "Auto"},
        "resiliencyPolicy": {
            "zoneAllocationPolicy": {
                "maxZoneCount": 2,
                "maxInstancePercentPerZonePolicy": {"enabled": True, "value": 60},
            }
        },
    }
    sizes: dict[str, Any] = {"vmSizes": [{"name": "standard_d1_v2", "rank": 0}], "allocationStrategy": "prioritized"}
    secret = {
        "containerConfiguration": containers | {"containerRegistries": [{"username": "u", "password": "hunter2"}]},
        "extensions": [{"name": "e", "settings": {"key": "hunter2"}}],
    }
    row = POOL | {
        "virtualMachineConfiguration": machine | secret,
        "vmSkuProfile": sizes | {"colour": "hunter2"},
        "taskSchedulingPolicy": {"nodeFillType": "pack", "jobDefaultOrder": "creationtime"},
        "networkConfiguration": {
            "subnetId": "/subnets/s",
            "publicIPAddressConfiguration": {"provision": "batchmanaged"},
        },
        "identity": {"type": "UserAssigned", "userAssignedIdentities": [{"resourceId": "/i", "clientId": "hunter2"}]},
        "upgradePolicy": {"mode": "rolling", "colour": "hunter2"},
        "enableInterNodeCommunication": False,
    }
    ((facts,), _), _ = pools_of(body(row))
    assert facts.settings
    assert json.loads(encode(facts.settings)) == {
        "virtualMachineConfiguration": machine,
        "vmSkuProfile": sizes,
        "taskSchedulingPolicy": row["taskSchedulingPolicy"],
        "networkConfiguration": row["networkConfiguration"],
        "identity": {"type": "UserAssigned", "userAssignedIdentities": [{"resourceId": "/i"}]},
        "upgradePolicy": {"mode": "rolling"},
        "enableInterNodeCommunication": False,
    }


def test_a_node_is_read_with_all_its_properties() -> None:
    row = NODE | {
        "isDedicated": False, "schedulingState": "disabled", "lastBootTime": AT, "allocationTime": AT,
        "runningTasksCount": 1, "runningTaskSlotsCount": 2, "totalTasksRun": 3, "totalTasksSucceeded": 2,
        "vmSize": "standard_d1_v2",
        "startTaskInfo": {
            "state": "completed", "startTime": AT, "endTime": AT, "exitCode": 7, "result": "failure", "retryCount": 1,
            "failureInfo": {"category": "usererror", "code": "FailureExitCode", "message": "sig=abc"},
        },
        "errors": [{"code": "DiskFull", "message": "pwd=abc", "errorDetails": []}],
        "recentTasks": [{"taskUrl": "u", "jobId": "j", "taskId": "t", "taskState": "running", "executionInfo": {}}],
    }  # fmt: skip
    (node,), _ = nodes_of(body(row), 5)
    at = to_milliseconds(MOMENT)
    assert node[1:12] == ("idle", False, at, at, at, "disabled", 1, 2, 3, 2, "standard_d1_v2")
    assert node.start == StartRun(
        "completed", "failure", 7, at, at, 1, "usererror", "FailureExitCode", "sig=[redacted]"
    )
    assert node.errors == (NodeError("DiskFull", "pwd=[redacted]"),)
    assert (node.recent, node.recent_at) == ((RecentTask("j", "t", "running"),), 5)


@pytest.mark.parametrize(("info", "version"), [
    ({"version": "1.12.3", "lastUpdateTime": AT}, "1.12.3"), (None, ""), ({}, ""), ({"version": None}, ""),
    ({"version": 1}, ""), ("1.12.3", ""), ([], ""), ({"version": "1" * 99}, "1" * 50),
])  # fmt: skip
def test_the_version_of_a_nodes_agent_is_read_and_another_form_of_it_spoils_nothing(info: Any, version: str) -> None:
    row = body(NODE | {"nodeAgentInfo": info})
    assert [node.agent for node in nodes_of(row, 0)[0]] == [version]
    assert [node.agent for _, node in known_nodes_of(row, {})[0]] == [version]


def test_counts_are_those_of_states_in_the_words_of_node_lists() -> None:
    zero = {"creating": 0, "idle": 0, "total": 0}
    counts, _ = counts_of(
        body({"poolId": "Pool", "dedicated": {**zero, "startTaskFailed": 2, "total": 2}, "lowPriority": {"idle": 1}})
    )
    assert counts == {"Pool": (("idle", False, 1), ("starttaskfailed", True, 2))}
    assert counts_of(body({"poolId": "Pool"}))[0] == {"Pool": ()}


@pytest.mark.parametrize(
    ("parse", "row"),
    [
        (pools_of, {}), (pools_of, POOL | {"id": None}), (pools_of, "Pool-1"), (counts_of, {"poolId": 7}),
        (counts_of, {"poolId": "p", "dedicated": {"idle": "x"}}),
    ],
)  # fmt: skip
def test_rows_that_make_no_sense_are_refused(parse: Callable[[bytes], Any], row: Any) -> None:
    with pytest.raises(NONSENSE):
        parse(body(row))


@pytest.mark.parametrize(
    "wrong",
    [
        {"vmSize": None}, {"creationTime": "soon"}, {"currentDedicatedNodes": "many"}, {"resizeErrors": {}},
        {"enableAutoScale": True, "autoScaleRun": {"timestamp": "just now"}},
    ],
)  # fmt: skip
async def test_a_pool_that_makes_no_sense_spoils_no_other(
    service: Service, account: BatchAccount, wrong: dict[str, Any]
) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body(POOL | wrong | {"id": "Odd"}, POOL))

    service.answer = answer
    found = await BatchPools(account).fetch_pools()
    assert [facts.id for facts in found.resources] == ["Pool-1"]
    assert list(found.nonsense) == ["odd"]
    assert found.nonsense["odd"].startswith("Batch's data of the pool 'Odd' makes no sense: ")
    with pytest.raises(NONSENSE):
        pool_of(json.dumps(POOL | wrong).encode())


@pytest.mark.parametrize(
    "wrong", [{"id": None}, {"state": 1}, {"stateTransitionTime": "x"}, {"errors": {}}, {"recentTasks": [1]}]
)
def test_nodes_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(NONSENSE):
        nodes_of(body(NODE | wrong), 0)
    with pytest.raises(NONSENSE):
        known_nodes_of(body(NODE | wrong), {})


async def test_an_unchanged_node_is_not_parsed_again_and_any_other_is(service: Service, account: BatchAccount) -> None:
    rows: dict[str, dict[str, Any]] = {"tvm-1": NODE, "tvm-2": NODE | {"id": "tvm-2"}}

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body(*rows.values()))

    service.answer = answer
    source = BatchPools(account)
    first = await source.fetch_nodes("pool")
    rows["tvm-2"] |= {"runningTasksCount": 4}
    second = await source.fetch_nodes("pool")
    assert second.nodes == tuple(nodes_of(body(*rows.values()), 0)[0])
    assert [new is old for new, old in zip(second.nodes, first.nodes, strict=True)] == [True, False]
    other = await source.fetch_nodes("other")
    assert other.nodes == second.nodes
    assert other.nodes[0] is not second.nodes[0]
    recent = await source.fetch_nodes("pool", recent_as_of=MOMENT)
    assert {node.recent_at for node in recent.nodes} == {to_milliseconds(MOMENT)}
    assert (await source.fetch_nodes("pool")).nodes == second.nodes


async def test_remembered_nodes_are_forgotten_with_their_pool(service: Service, account: BatchAccount) -> None:
    rows = [NODE]

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body(*rows))

    service.answer = answer
    source = BatchPools(account)
    first = (await source.fetch_nodes("Pool")).nodes[0]
    rows[:] = [POOL | {"id": "Pool"}]
    await source.fetch_pools()
    rows[:] = [NODE]
    assert (await source.fetch_nodes("Pool")).nodes[0] is first
    rows[:] = [POOL | {"id": "Another"}]
    await source.fetch_pools()
    rows[:] = [NODE]
    assert (await source.fetch_nodes("Pool")).nodes[0] is not first


async def test_remembered_nodes_have_one_bound_for_all_accounts(service: Service, account: BatchAccount) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body(NODE, NODE | {"id": "tvm-2"}))

    service.answer = answer
    remembered = NodeListCache(most=3)
    sources = [BatchPools(account, remembered), BatchPools(account, remembered)]
    firsts = [(await source.fetch_nodes(name)).nodes for source, name in zip(sources, ("a", "b"), strict=True)]
    again = [(await source.fetch_nodes(name)).nodes for source, name in zip(sources, ("a", "b"), strict=True)]
    assert [new[0] is old[0] for new, old in zip(again, firsts, strict=True)] == [True, False]


def test_taken_nodes_and_those_of_deleted_pools_make_room() -> None:
    nodes = {bytes([number]): node for number, node in enumerate(nodes_of(body(NODE, NODE), 0)[0])}
    remembered = NodeListCache(most=2)
    remembered.keep("one", "a", nodes)
    remembered.keep("two", "a", nodes)
    assert remembered.take("two", "a") == {}
    remembered.forget_others("two", ())
    assert remembered.take("one", "a") == nodes
    remembered.keep("two", "a", nodes)
    remembered.forget_others("two", {"b"})
    remembered.keep("one", "a", nodes)
    assert remembered.take("one", "a") == nodes


@pytest.mark.parametrize("read", ["pools", "pool", "nodes", "counts"])
@pytest.mark.parametrize("case", sorted(CASES.keys() - {"hanging", "trickling"}))
async def test_every_way_to_fail_has_its_error_message(
    service: Service, account: BatchAccount, case: str, read: str
) -> None:
    service.answer, kind, words = CASES[case]
    source = BatchPools(account)
    reads: dict[str, Callable[[], Any]] = {
        "pools": source.fetch_pools,
        "pool": lambda: source.fetch_pool("pool"),
        "nodes": lambda: source.fetch_nodes("pool"),
        "counts": lambda: counted(source),
    }
    with pytest.raises(kind, match=words):
        await reads[read]()


async def test_what_a_later_version_has_is_requested_in_that_version_only(
    service: Service, account: BatchAccount
) -> None:
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(str(request.rel_url))
        return web.Response(body=body())

    service.answer = answer
    expected = {"2025-06-01": False, "2026-10-01": True}
    for version in expected:
        account.pool_version = version
        source = BatchPools(account)
        await source.fetch_pools()
        await source.fetch_nodes("pool")
        await counted(source)
    queries = [parse_qs(urlsplit(url).query) for url in asked]
    assert [query["api-version"] for query in queries] == [[version] for version in expected for _ in range(3)]
    assert ["vmSkuProfile" in query["$select"][0].split(",") for query in queries[::3]] == list(expected.values())


async def test_lists_go_on_over_short_and_empty_pages_and_ids_are_escaped(
    service: Service, account: BatchAccount
) -> None:
    asked: list[str] = []
    own = account.account.endpoint

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(str(request.rel_url))
        pages = [body(link=f"{own}/second"), body(NODE, link=f"{own}/third"), body(NODE | {"id": "tvm-2"})]
        return web.Response(body=pages[len(asked) - 1])

    service.answer = answer
    found = await BatchPools(account).fetch_nodes("a/b?c", changed_since=MOMENT)
    assert ([node.id for node in found.nodes], found.pages) == (["tvm-1", "tvm-2"], 3)
    assert urlsplit(asked[0]).path == "/pools/a%2Fb%3Fc/nodes"
    query = parse_qs(urlsplit(asked[0]).query)
    assert query["$filter"] == ["stateTransitionTime ge DateTime'2026-11-21T12:00:00.123Z'"]
    assert "recentTasks" not in query["$select"][0]
    assert asked[1:] == ["/second", "/third"]


async def test_node_counts_are_followed_over_pages_of_the_services_own_length(
    service: Service, account: BatchAccount
) -> None:
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(str(request.rel_url))
        counted = {"poolId": f"Pool-{len(asked)}", "dedicated": {"idle": len(asked)}}
        link = {"link": f"{account.account.endpoint}/second"} if len(asked) == 1 else {}
        return web.Response(body=body(counted, **link))

    service.answer = answer
    found = await counted(BatchPools(account))
    assert found == [{"pool-1": (("idle", True, 1),)}, {"pool-2": (("idle", True, 2),)}]
    assert "maxresults" not in asked[0]
    assert asked[1:] == ["/second"]


async def test_a_next_link_to_another_host_is_not_followed(service: Service, account: BatchAccount) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body(POOL, link="http://127.0.0.1:9/elsewhere"))

    service.answer = answer
    with pytest.raises(BatchAnswerError, match="another host"):
        await BatchPools(account).fetch_pools()
    assert service.requests == 1


async def test_a_pool_created_while_the_list_was_read_is_left_to_the_next_list(
    service: Service, account: BatchAccount
) -> None:
    first, second = "Sat, 21 Nov 2026 12:00:00 GMT", "Sat, 21 Nov 2026 12:00:02 GMT"
    link = f"{account.account.endpoint}/second"

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.rel_url.path != "/second":
            return web.Response(body=body(POOL, link=link), headers={"Date": first})
        young = POOL | {"id": "Young", "creationTime": "2026-11-21T12:00:01.5Z"}
        return web.Response(body=body(young), headers={"Date": second})

    service.answer = answer
    found = await BatchPools(account).fetch_pools()
    assert [facts.id for facts in found.resources] == [POOL["id"]]
    assert found.date == MOMENT.replace(microsecond=0)


async def test_a_list_of_pools_without_a_date_is_refused(service: Service, account: BatchAccount) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body(POOL), headers={"Date": "some day"})

    service.answer = answer
    with pytest.raises(BatchAnswerError, match="bears no date"):
        await BatchPools(account).fetch_pools()


async def test_requests_are_counted(service: Service, account: BatchAccount) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body())

    service.answer = answer
    source = BatchPools(account)
    await source.fetch_pools()
    await counted(source)
    assert (source.calls, account.calls) == (2, 2)

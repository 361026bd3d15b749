"""Quotas of cores and jobs end resizes and refuse jobs as the service does, and the management plane names them."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from tests.emulator.conftest import Running
from tests.emulator.support.staging import add_job, add_pool

_ID = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/any/providers/Microsoft.Batch/batchAccounts"
_VERSION = "?api-version=2024-07-01"


async def _set(emulator: Running, **settings: Any) -> None:
    status, found = await emulator.control("POST", "settings", settings)
    assert status == 200, found


@pytest.mark.parametrize(
    ("settings", "kind", "code"),
    [
        ({"dedicatedCoreQuota": 11}, "dedicated", "AccountCoreQuotaReached"),
        ({"spotCoreQuota": 11}, "spot", "AccountLowPriorityCoreQuotaReached"),
        (
            {"familyCoreQuotas": "STANDARDDSV5Family=11 standardEv3Family=1"},
            "dedicated",
            "AccountVMSeriesCoreQuotaReached",
        ),
    ],
)
async def test_a_resize_beyond_a_quota_of_cores_gets_the_nodes_that_fit(
    emulator: Running, settings: dict[str, Any], kind: str, code: str
) -> None:
    await _set(emulator, **settings)
    spot = kind == "spot"
    await add_pool(emulator.batch, nodes=0 if spot else 5, spot=5 if spot else 0, size="standard_d4s_v5")
    await add_pool(emulator.batch, "other", nodes=5 if spot else 0, spot=0 if spot else 5, size="standard_d4s_v5")
    await emulator.advance(120)
    pool, other = await emulator.batch.get_pool("pool"), await emulator.batch.get_pool("other")
    assert [error.code for error in pool.resize_errors or ()] == [code]
    assert (pool.current_dedicated_nodes or 0) + (pool.current_low_priority_nodes or 0) == 2
    assert (other.current_dedicated_nodes or 0) + (other.current_low_priority_nodes or 0) == 5


async def test_jobs_and_schedules_beyond_their_quota_are_refused_until_one_completes(emulator: Running) -> None:
    await _set(emulator, jobQuota=2)
    await add_job(emulator.batch, "one")
    await add_job(emulator.batch, "two")
    with pytest.raises(HttpResponseError) as refusal:
        await add_job(emulator.batch, "three")
    assert refusal.value.error
    assert (refusal.value.status_code, refusal.value.error.code) == (409, "ActiveJobAndScheduleQuotaReached")
    reason: Any = {"terminateReason": "done"}
    await emulator.batch.begin_terminate_job("one", reason)
    await emulator.advance(60)
    await add_job(emulator.batch, "three")


async def test_the_management_plane_has_the_accounts_quotas(emulator: Running) -> None:
    await _set(emulator, dedicatedCoreQuota=40, poolQuota=7, familyCoreQuotas="standardDSv5Family=16")
    await _set(emulator, accountTags="team=render stage=test")
    status, found, _ = await emulator.get(f"{_ID}/demo{_VERSION}")
    assert (status, found["name"], found["type"]) == (200, "demo", "Microsoft.Batch/batchAccounts")
    assert found["tags"] == {"team": "render", "stage": "test"}
    assert found["properties"] == {
        "accountEndpoint": emulator.url.removeprefix("http://"),
        "provisioningState": "Succeeded",
        "poolAllocationMode": "BatchService",
        "dedicatedCoreQuota": 40,
        "lowPriorityCoreQuota": 1_000_000,
        "dedicatedCoreQuotaPerVMFamily": [{"name": "standardDSv5Family", "coreQuota": 16}],
        "dedicatedCoreQuotaPerVMFamilyEnforced": True,
        "poolQuota": 7,
        "activeJobAndJobScheduleQuota": 1_000_000,
    }


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{_ID}/demo", 400),
        (f"{_ID}/demo?api-version=latest", 400),
        (f"{_ID}/other{_VERSION}", 404),
        (f"/subscriptions/1/demo{_VERSION}", 404),
    ],
)
async def test_other_requests_to_the_management_plane_are_errors(emulator: Running, path: str, status: int) -> None:
    found, body, _ = await emulator.get(path)
    assert (found, set(body["error"])) == (status, {"code", "message"})


async def test_faults_apply_to_the_management_plane(emulator: Running) -> None:
    fault = {"method": "GET", "path": "/subscriptions/*", "status": 403, "count": 1}
    await emulator.control("POST", "faults", fault)
    assert (await emulator.get(f"{_ID}/demo{_VERSION}"))[0] == 403
    assert (await emulator.get(f"{_ID}/demo{_VERSION}"))[0] == 200

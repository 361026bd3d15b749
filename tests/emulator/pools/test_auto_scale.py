"""Autoscaling of pools over HTTP: enabling, evaluating, and pools that follow their formulas."""

from typing import Any

import pytest

from tests.emulator.support.driver import Answer, Driver

_POOL = "/pools/pool"
_PENDING = """
    startingNumberOfVMs = 1;
    maxNumberofVMs = 5;
    pendingTaskSamplePercent = $PendingTasks.GetSamplePercent(180 * TimeInterval_Second);
    pendingTaskSamples = pendingTaskSamplePercent < 70 ? startingNumberOfVMs
        : avg($PendingTasks.GetSample(180 * TimeInterval_Second));
    $TargetDedicatedNodes = min(maxNumberofVMs, pendingTaskSamples);
    $NodeDeallocationOption = taskcompletion;
"""


async def _enable(driver: Driver, formula: str | None, interval: str | None = "PT5M") -> Answer:
    body = {"autoScaleFormula": formula, "autoScaleEvaluationInterval": interval}
    sent = {name: value for name, value in body.items() if value is not None}
    return await driver.call("POST", f"{_POOL}/enableautoscale", sent)


async def _evaluate(driver: Driver, formula: str) -> Any:
    answer = await driver.call("POST", f"{_POOL}/evaluateautoscale", {"autoScaleFormula": formula})
    assert answer.status == 200, answer.body
    return answer.body


async def _value(driver: Driver, expression: str) -> str:
    run = await _evaluate(driver, f"x = {expression}")
    assert "error" not in run, run
    return str(run["results"].rpartition(";x=")[2])


async def _pool(driver: Driver) -> Any:
    return (await driver.call("GET", _POOL)).body


async def _steady(driver: Driver, nodes: int = 0, **spec: Any) -> None:
    await driver.add_pool(nodes=nodes, **spec)
    await driver.advance(90)


async def test_enabling_sets_the_formulas_targets_at_once_and_nodes_follow(stepped: Driver) -> None:
    await _steady(stepped, nodes=1)
    before = await _pool(stepped)
    assert (await _enable(stepped, "$TargetDedicatedNodes=2")).status == 200
    pool = await _pool(stepped)
    assert (pool["enableAutoScale"], pool["autoScaleFormula"]) == (True, "$TargetDedicatedNodes=2")
    assert (pool["targetDedicatedNodes"], pool["autoScaleEvaluationInterval"]) == (2, "PT5M")
    assert pool["allocationState"] == "resizing"
    assert pool["eTag"] != before["eTag"]
    results = "$TargetDedicatedNodes=2;$TargetLowPriorityNodes=0;$NodeDeallocationOption=requeue"
    assert pool["autoScaleRun"] == {"timestamp": pool["lastModified"], "results": results}
    await stepped.advance(60)
    pool = await _pool(stepped)
    assert (pool["currentDedicatedNodes"], pool["allocationState"]) == (2, "steady")


async def test_a_pool_grows_with_its_tasks_and_shrinks_after_them(stepped: Driver) -> None:
    await stepped.call(
        "POST",
        "/pools",
        {
            "id": "pool",
            "vmSize": "s",
            "enableAutoScale": True,
            "autoScaleFormula": _PENDING,
            "autoScaleEvaluationInterval": "PT5M",
        },
    )
    pool = await _pool(stepped)
    assert (pool["targetDedicatedNodes"], pool["allocationState"]) == (1, "resizing")
    await stepped.add_job()
    await stepped.add_tasks("job", *["sleep 600"] * 20)
    sizes = []
    for _ in range(12):
        await stepped.advance(300)
        sizes.append((await _pool(stepped))["currentDedicatedNodes"])
    assert sizes[0] == 1
    assert max(sizes) == 5
    assert sizes[-1] == 0
    assert (await stepped.truth_jobs())["job"]["succeeded"] == 20


async def test_a_formula_is_evaluated_at_its_interval_and_not_before(stepped: Driver) -> None:
    await _steady(stepped)
    await _enable(stepped, "$TargetDedicatedNodes = time().minute", "PT10M")
    first = await _pool(stepped)
    await stepped.advance(599)
    assert (await _pool(stepped))["autoScaleRun"] == first["autoScaleRun"]
    await stepped.advance(2)
    assert (await _pool(stepped))["targetDedicatedNodes"] == 11
    await _enable(stepped, None, "PT5M")
    await stepped.advance(90)
    assert (await _enable(stepped, None, "PT5M")).status == 200
    assert (await _pool(stepped))["targetDedicatedNodes"] == 13
    await stepped.advance(301)
    assert (await _pool(stepped))["targetDedicatedNodes"] == 18


async def test_without_an_interval_it_is_a_quarter_of_an_hour(stepped: Driver) -> None:
    await _steady(stepped)
    await _enable(stepped, "$TargetDedicatedNodes=0", None)
    assert (await _pool(stepped))["autoScaleEvaluationInterval"] == "PT15M"


async def test_disabling_leaves_the_size_and_lets_users_resize_again(stepped: Driver) -> None:
    await _steady(stepped)
    await _enable(stepped, "$TargetDedicatedNodes = 1")
    await stepped.advance(60)
    refused = await stepped.call("POST", f"{_POOL}/resize", {"targetDedicatedNodes": 3})
    assert (refused.status, refused.code) == (409, "OperationNotValidOnPool")
    assert (await stepped.call("POST", f"{_POOL}/disableautoscale")).status == 200
    pool = await _pool(stepped)
    assert (pool["enableAutoScale"], pool["targetDedicatedNodes"], pool["currentDedicatedNodes"]) == (False, 1, 1)
    assert not {"autoScaleFormula", "autoScaleEvaluationInterval", "autoScaleRun"} & pool.keys()
    assert (await stepped.call("POST", f"{_POOL}/resize", {"targetDedicatedNodes": 3})).status == 202
    await stepped.advance(600)
    assert (await _pool(stepped))["currentDedicatedNodes"] == 3


async def test_evaluating_changes_nothing_and_shows_all_variables(stepped: Driver) -> None:
    await _steady(stepped)
    await _enable(stepped, "$TargetDedicatedNodes=2")
    run = await _evaluate(stepped, "n = 3; $TargetDedicatedNodes = n")
    assert run["odata.metadata"].endswith("$metadata#autoscalerun")
    assert run["results"] == "$TargetDedicatedNodes=3;$TargetLowPriorityNodes=0;$NodeDeallocationOption=requeue;n=3"
    assert "error" not in run
    wrong = await _evaluate(stepped, "$something_useless")
    assert wrong["error"]["code"] == "AutoScalingFormulaEvaluationError"
    assert wrong["error"]["values"][0]["name"] == "Message"
    assert wrong["results"] == "$TargetDedicatedNodes=2;$TargetLowPriorityNodes=0;$NodeDeallocationOption=requeue"
    assert (await _pool(stepped))["targetDedicatedNodes"] == 2


async def test_a_failed_run_is_reported_and_changes_nothing(stepped: Driver) -> None:
    await _steady(stepped, nodes=1)
    formula = "$TargetDedicatedNodes = avg($RunningTasks.GetSample(10 * TimeInterval_Minute, 70))"
    assert (await _enable(stepped, formula)).status == 200
    pool = await _pool(stepped)
    assert pool["targetDedicatedNodes"] == 1
    assert pool["autoScaleRun"]["error"] == {
        "code": "InsufficientSampleData",
        "message": "Autoscale evaluation failed due to insufficient sample data",
        "values": [
            {
                "name": "Message",
                "value": "Line 1, Col 43: Insufficient data from data set: $RunningTasks wanted 70%, received 5%",
            }
        ],
    }
    await stepped.advance(601)
    pool = await _pool(stepped)
    assert "error" not in pool["autoScaleRun"]
    assert pool["targetDedicatedNodes"] == 0


async def test_samples_are_taken_every_thirty_seconds(stepped: Driver) -> None:
    await _steady(stepped)
    await _enable(stepped, "$TargetDedicatedNodes=0")
    begun = (await _pool(stepped))["lastModified"]
    await stepped.advance(315)
    wanted = {
        "$ActiveTasks.Count()": "11",
        "$ActiveTasks.GetSamplePeriod()": "00:00:30",
        f'$ActiveTasks.HistoryBeginTime() == time("{begun}")': "1",
        "len($ActiveTasks.GetSample(3))": "3",
        "len($ActiveTasks.GetSample(100))": "11",
        "len($ActiveTasks.GetSample(2 * TimeInterval_Minute))": "4",
        "len($ActiveTasks.GetSample(1 * TimeInterval_Minute, 3 * TimeInterval_Minute))": "4",
        "len($ActiveTasks.GetSample(time() + -3 * TimeInterval_Minute, time()))": "6",
        "$ActiveTasks.GetSamplePercent(5 * TimeInterval_Minute)": "100",
        "$ActiveTasks.GetSamplePercent(11 * TimeInterval_Minute)": "50",
    }
    assert {expression: await _value(stepped, expression) for expression in wanted} == wanted
    for wrong in ("GetSample()", "GetSample(0 * TimeInterval_Day)", "Nothing()", "GetSamplePercent(5)", "value"):
        run = await _evaluate(stepped, f"x = $ActiveTasks.{wrong}")
        assert run["error"]["code"] == "AutoScalingFormulaEvaluationError", wrong


async def test_variables_agree_with_lists(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2, targetLowPriorityNodes=1, taskSlotsPerNode=3)
    await stepped.advance(90)
    await stepped.add_job(usesTaskDependencies=True)
    await stepped.add_tasks("job", "sleep 1", "sleep 1; exit 1", *["sleep 100000"] * 12)
    waiting = {"id": "waits", "commandLine": "true", "dependsOn": {"taskIds": ["t013"]}}
    await stepped.call("POST", "/jobs/job/tasks", waiting)
    await stepped.advance(60)
    assert (await _enable(stepped, "$TargetLowPriorityNodes = 1")).status == 200
    wanted = {
        "$ActiveTasks": "3",
        "$RunningTasks": "9",
        "$PendingTasks": "12",
        "$SucceededTasks": "1",
        "$FailedTasks": "1",
        "$CurrentDedicatedNodes": "2",
        "$CurrentLowPriorityNodes": "1",
        "$PreemptedNodeCount": "0",
        "$UsableNodeCount": "3",
        "$SampleNodeCount": "3",
        "$TaskSlotsPerNode": "3",
        "$CurrentDedicatedNodes * 1.5": "3",
        "max($RunningTasks.GetSample(1))": "9",
    }
    assert {expression: await _value(stepped, expression) for expression in wanted} == wanted


async def test_enabling_again_must_wait_half_a_minute_and_for_resizes(stepped: Driver) -> None:
    await _steady(stepped)
    await _enable(stepped, "$TargetDedicatedNodes=0")
    early = await _enable(stepped, "$TargetDedicatedNodes=1")
    assert (early.status, early.code) == (503, "TooManyEnableAutoScaleRequests")
    await stepped.advance(30)
    assert (await _enable(stepped, "$TargetDedicatedNodes=1")).status == 200
    during = await _enable(stepped, "$TargetDedicatedNodes=2")
    assert (during.status, during.code) == (409, "PoolBeingResized")


@pytest.mark.parametrize(
    ("formula", "interval", "status", "code"),
    [
        (None, None, 400, "MissingRequiredProperty"),
        (None, "PT5M", 400, "MissingRequiredProperty"),
        ("", "PT5M", 400, "MissingRequiredProperty"),
        ("x = ", "PT5M", 400, "AutoScalingFormulaSyntaxError"),
        ("x = 1" + " " * 8192, "PT5M", 400, "AutoScaleFormulaTooLong"),
        ("x = 1", "PT4M59S", 400, "InvalidPropertyValue"),
        ("x = 1", "P7DT1S", 400, "InvalidPropertyValue"),
        ("x = 1", "often", 400, "InvalidPropertyValue"),
        ("x = avg($CPUPercent.GetSample(5))", "PT5M", 501, "NotImplemented"),
    ],
)
async def test_invalid_autoscaling_is_refused(
    stepped: Driver, formula: str | None, interval: str | None, status: int, code: str
) -> None:
    await _steady(stepped)
    answer = await _enable(stepped, formula, interval)
    assert (answer.status, answer.code) == (status, code)
    assert (await _pool(stepped))["enableAutoScale"] is False


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"enableAutoScale": True}, "MissingRequiredProperty"),
        ({"enableAutoScale": True, "autoScaleFormula": "x=1", "targetDedicatedNodes": 1}, "InvalidPropertyValue"),
        ({"enableAutoScale": False, "autoScaleFormula": "x=1"}, "InvalidPropertyValue"),
        ({"autoScaleEvaluationInterval": "PT5M"}, "InvalidPropertyValue"),
        ({"enableAutoScale": True, "autoScaleFormula": "x=("}, "AutoScalingFormulaSyntaxError"),
        ({"enableAutoScale": "yes", "autoScaleFormula": "x=1"}, "InvalidPropertyValue"),
        ({"enableAutoScale": True, "autoScaleFormula": 5}, "InvalidPropertyValue"),
    ],
)
async def test_a_new_pool_has_either_targets_or_a_formula(stepped: Driver, spec: dict[str, Any], code: str) -> None:
    answer = await stepped.call("POST", "/pools", {"id": "p", "vmSize": "s", **spec})
    assert (answer.status, answer.code) == (400, code)


async def test_only_pools_with_autoscaling_evaluate(stepped: Driver) -> None:
    await _steady(stepped)
    answer = await stepped.call("POST", f"{_POOL}/evaluateautoscale", {"autoScaleFormula": "x=1"})
    assert (answer.status, answer.code) == (409, "OperationNotValidOnPool")
    await _enable(stepped, "x=1")
    answer = await stepped.call("POST", f"{_POOL}/evaluateautoscale", {"autoScaleFormula": "x=("})
    assert (answer.status, answer.code) == (400, "AutoScalingFormulaSyntaxError")
    assert "Line 1, Col 4" in answer.values["Message"]


async def test_a_jobs_own_pool_may_have_a_formula(stepped: Driver) -> None:
    pool = {"vmSize": "s", "enableAutoScale": True, "autoScaleFormula": "$TargetDedicatedNodes = 1"}
    auto = {"poolLifetimeOption": "job", "pool": pool}
    body = {"id": "job", "poolInfo": {"autoPoolSpecification": auto}}
    assert (await stepped.call("POST", "/jobs", body)).status == 201
    await stepped.advance(90)
    found = (await stepped.rows("/pools", _filter="enableAutoScale eq true"))[0]
    assert (found["currentDedicatedNodes"], found["enableAutoScale"]) == (1, True)


async def test_a_pool_that_is_deleted_scales_no_more(stepped: Driver) -> None:
    await _steady(stepped)
    await _enable(stepped, "$TargetDedicatedNodes = time().minute")
    await stepped.call("DELETE", _POOL)
    await stepped.advance(3600)
    assert (await stepped.call("GET", _POOL)).status == 404

"""Accounts stored in a directory: the store is complete after every step, and a restart restores it."""

from pathlib import Path

from tests.emulator.keeping.keeping import POOL as _POOL
from tests.emulator.keeping.keeping import Kept, everything
from tests.emulator.keeping.keeping import busy as _busy

_NODES = {"vmSize": "standard_d2s_v5", "targetDedicatedNodes": 1}
_AUTO = {"autoPoolSpecification": {"poolLifetimeOption": "jobschedule", "pool": _NODES}}


def _must_be_whole(kept: Kept, context: object) -> None:
    """Asserts that the store is complete and a restart restores it, except plans whose subject was deleted."""
    kept.flush()
    stored = kept.stored()
    assert stored == everything(kept.emulator), context
    kept.restart()
    assert everything(kept.emulator) == kept.stored(), context
    assert {row[2] for row in stored ^ kept.stored()} <= {"happening"}, context


def test_schedules_go_on_with_their_next_job(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    for name, line, last in (
        ("hourly", "sleep 9", "2026-01-05T20:00:00Z"),
        ("long", "sleep 7000", "2026-01-05T08:50:00Z"),
    ):
        manager = {"id": "m", "commandLine": line}
        body = {
            "id": name,
            "schedule": {"recurrenceInterval": "PT1H", "doNotRunAfter": last},
            "jobSpecification": {"poolInfo": _AUTO, "jobManagerTask": manager},
        }
        assert kept.call("POST", "/jobschedules", body)[0] == 201
    for step in range(174):
        kept.advance(100)
        _must_be_whole(kept, step)
    made = [row["id"] for row in kept.rows("/jobs")]
    assert made == [*(f"hourly:job-{number}" for number in range(1, 6)), "long:job-1"]
    assert {row["id"]: row["state"] for row in kept.rows("/jobschedules")} == {"hourly": "active", "long": "completed"}


def test_every_operation_on_pools_nodes_jobs_and_schedules_is_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept, line="sleep 200", nodes=3)
    kept.flush()
    schedule = {
        "id": "s",
        "schedule": {"doNotRunUntil": "2027-01-01T00:00:00Z"},
        "jobSpecification": {"poolInfo": {"poolId": "pool"}},
    }
    node, other, third = (f"/pools/pool/nodes/{row['id']}" for row in kept.rows("/pools/pool/nodes"))
    meta = [{"name": "a", "value": "b"}]
    shaped = {"id": "shaped", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 1}
    for method, path, sent in (
        ("PATCH", "/jobs/job", {"priority": 7}),
        ("DELETE", "/jobs/job/tasks/t0/files/stdout.txt", None),
        ("DELETE", f"{node}/files/workitems/job?recursive=true", None),
        ("PUT", "/jobs/job/tasks/t7", {"constraints": {"maxTaskRetryCount": 4}}),
        ("POST", "/pools/pool/removenodes", {"nodeList": [third[18:]], "nodeDeallocationOption": "taskcompletion"}),
        ("POST", f"{other}/reboot", {"nodeRebootOption": "taskcompletion"}),
        ("POST", "/pools", {**shaped, "startTask": {"commandLine": "sleep 40"}}),
        (
            "POST",
            "/pools",
            {**shaped, "id": "eager", "startTask": {"commandLine": "sleep 40", "waitForSuccess": False}},
        ),
        ("POST", "/pools", {"id": "empty", "vmSize": "standard_d2s_v5"}),
        ("PATCH", "/pools/pool", {"metadata": meta}),
        ("POST", "/pools/pool/updateproperties", {"metadata": [], "applicationPackageReferences": [], "startTask": {}}),
        ("POST", f"{node}/users", {"name": "me", "password": "x"}),
        ("POST", f"{node}/users", {"name": "you", "password": "x"}),
        ("DELETE", f"{node}/users/me", None),
        ("POST", f"{node}/disablescheduling", {}),
        ("POST", f"{node}/enablescheduling", {}),
        ("POST", f"{other}/deallocate", {}),
        ("POST", "/jobschedules", schedule),
        ("PATCH", "/jobschedules/s", {"metadata": meta}),
        ("POST", "/jobschedules/s/disable", None),
        ("POST", "/jobschedules/s/enable", None),
        ("DELETE", "/jobschedules/s", None),
        ("POST", "/pools/empty/enableautoscale", {"autoScaleFormula": "$TargetDedicatedNodes = 2"}),
        ("POST", "/pools/empty/evaluateautoscale", {"autoScaleFormula": "$TargetDedicatedNodes = 0"}),
        ("POST", "/pools/empty/enableautoscale", {"autoScaleEvaluationInterval": "PT5M"}),
        ("POST", "/pools/empty/disableautoscale", None),
        ("POST", "/jobs/job/disable", {"disableTasks": "requeue"}),
        ("POST", "/jobs/job/enable", None),
        ("POST", "/pools/pool/resize", {"targetDedicatedNodes": 5}),
        ("POST", "/pools/pool/stopresize", None),
        ("POST", "/jobs/job/terminate", {}),
        ("DELETE", "/pools/pool", None),
        ("DELETE", "/pools/shaped", None),
        ("DELETE", "/pools/eager", None),
        ("DELETE", "/pools/empty", None),
        ("DELETE", "/jobs/job", None),
    ):
        status, code = kept.call(method, path, sent)
        assert status < 300, (path, code)
        _must_be_whole(kept, path)
        for seconds in (1,) if path.endswith("/resize") else (1, 9, 50):
            kept.advance(seconds)
            _must_be_whole(kept, path)
    assert {row[2] for row in kept.stored()} == {"account", "lease"}


def test_autoscaling_goes_on_after_a_restart_at_its_own_time(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    formula = "$TargetDedicatedNodes = $SampleNodeCount.Count() > 1 ? 2 : 1"
    scaled = {"enableAutoScale": True, "autoScaleFormula": formula, "autoScaleEvaluationInterval": "PT10M"}
    assert kept.call("POST", "/pools", {"id": "pool", "vmSize": "standard_d2s_v5", **scaled})[0] == 201
    kept.advance(400)
    kept.flush()
    before = kept.rows("/pools")
    assert "$TargetDedicatedNodes=1" in before[0]["autoScaleRun"]["results"]
    kept.restart()
    assert kept.rows("/pools") == before
    kept.advance(190)
    assert kept.rows("/pools") == before
    kept.advance(60)
    (pool,) = kept.rows("/pools")
    assert pool["autoScaleRun"]["timestamp"].startswith("2026-01-05T08:10:00")
    assert pool["currentDedicatedNodes"] == 2
    _must_be_whole(kept, "autoscale")


def test_preparation_and_release_are_kept_step_by_step(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    assert kept.call("POST", "/pools", {**_POOL, "targetDedicatedNodes": 1})[0] == 201
    sides = {"jobPreparationTask": {"commandLine": "sleep 5"}, "jobReleaseTask": {"commandLine": "sleep 5"}}
    assert kept.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}, **sides})[0] == 201
    kept.advance(60)
    (node,) = (row["id"] for row in kept.rows("/pools/pool/nodes"))
    for number, (method, path) in enumerate((("GET", "/pools"), ("POST", f"/pools/pool/nodes/{node}/reimage"))):
        assert kept.call(method, path)[0] in (200, 202)
        for place in range(2):
            added = {"id": f"t{number}{place}", "commandLine": "sleep 1"}
            assert kept.call("POST", "/jobs/job/tasks", added)[0] == 201
            for _ in range(8):
                kept.advance(0.2)
                _must_be_whole(kept, number)
        for _ in range(60):
            kept.advance(1)
            _must_be_whole(kept, number)
    assert {row["state"] for row in kept.rows("/jobs/job/tasks")} == {"completed"}
    assert kept.call("POST", "/jobs/job/terminate", {})[0] == 202
    for _ in range(20):
        kept.advance(0.7)
        _must_be_whole(kept, "terminate")
    (status,) = kept.rows("/jobs/job/jobpreparationandreleasetaskstatus")
    assert status["jobReleaseTaskExecutionInfo"]["exitCode"] == 0
    assert kept.rows("/jobs")[0]["state"] == "completed"


def test_preparation_on_a_removed_node_is_still_listed(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    assert kept.call("POST", "/pools", _POOL)[0] == 201
    line = {"commandLine": "sleep 5"}
    body = {"id": "job", "poolInfo": {"poolId": "pool"}, "jobPreparationTask": line, "jobReleaseTask": line}
    assert kept.call("POST", "/jobs", body)[0] == 201
    for number in range(3):
        assert kept.call("POST", "/jobs/job/tasks", {"id": f"t{number}", "commandLine": "sleep 1"})[0] == 201
    for _ in range(60):
        kept.advance(1)
        _must_be_whole(kept, "preparation")
    before = kept.rows("/jobs/job/jobpreparationandreleasetaskstatus")
    assert before
    assert kept.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 0})[0] == 202
    kept.advance(60)
    kept.flush()
    kept.restart()
    _must_be_whole(kept, "resize")
    assert kept.call("POST", "/jobs/job/terminate", {})[0] == 202
    kept.advance(60)
    assert kept.rows("/jobs/job/jobpreparationandreleasetaskstatus") == before


def test_a_run_on_several_nodes_is_kept_and_ends_on_all_of_them(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    nodes = {"targetDedicatedNodes": 3, "taskSlotsPerNode": 1, "enableInterNodeCommunication": True}
    assert kept.call("POST", "/pools", {**_POOL, **nodes})[0] == 201
    job = {"id": "job", "poolInfo": {"poolId": "pool"}, "jobPreparationTask": {"commandLine": "sleep 20"}}
    assert kept.call("POST", "/jobs", job)[0] == 201
    settings = {"numberOfInstances": 3, "coordinationCommandLine": "sleep 5"}
    task = {"id": "wide", "commandLine": "sleep 60", "multiInstanceSettings": settings}
    assert kept.call("POST", "/jobs/job/tasks", task)[0] == 201
    seen = set()
    for step in range(30):
        kept.advance(5)
        _must_be_whole(kept, step)
        seen.add(tuple(sorted(row["state"] for row in kept.rows("/pools/pool/nodes"))))
        assert len(kept.rows("/jobs/job/tasks/wide/subtasksinfo")) in {0, 2}
    assert {("idle",) * 3, ("running",) * 3} <= seen
    assert [row["state"] for row in kept.rows("/jobs/job/tasks/wide/subtasksinfo")] == ["completed"] * 2

"""Accounts that are kept in a directory: what a later run finds there, and what is said where it can't be."""

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from local.batch_emulator.auth import DEVELOPMENT_KEY
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.keeper import Keeper
from local.batch_emulator.rows import FORMAT
from local.batch_emulator.store import Store, StoreError
from tests.emulator.keeping import Kept, everything, rows_of

_POOL = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 2, "taskSlotsPerNode": 2}
_NODES = {"vmSize": "standard_d2s_v5", "targetDedicatedNodes": 1}
_AUTO = {"autoPoolSpecification": {"poolLifetimeOption": "jobschedule", "pool": _NODES}}


def _busy(kept: Kept, tasks: int = 8, line: str = "sleep 60", nodes: int = 2) -> None:
    assert kept.call("POST", "/pools", {**_POOL, "targetDedicatedNodes": nodes})[0] == 201
    assert kept.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}})[0] == 201
    rows = [{"id": f"t{number}", "commandLine": line} for number in range(tasks)]
    assert kept.call("POST", "/jobs/job/addtaskcollection", {"value": rows})[0] == 200
    kept.advance(60)


def _lists(kept: Kept) -> list[Any]:
    return [kept.rows(path) for path in ("/jobs", "/pools", "/pools/pool/nodes", "/jobs/job/tasks", "/jobschedules")]


def test_lists_are_the_same_after_a_restart_with_their_etags(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept)
    states = {row["state"] for row in kept.rows("/jobs/job/tasks")}
    assert states == {"running", "active"}
    before = _lists(kept)
    kept.flush()
    kept.restart()
    assert _lists(kept) == before


def test_what_was_not_flushed_is_lost_as_a_whole(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept)
    kept.flush()
    before = _lists(kept)
    kept.call("DELETE", "/jobs/job/tasks/t7")
    kept.advance(500)
    kept.restart()
    assert _lists(kept) == before


def test_running_tasks_end_after_a_restart_and_waiting_ones_follow(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept, line="sleep 60; exit 3")
    kept.flush()
    kept.restart()
    kept.advance(400)
    rows = kept.rows("/jobs/job/tasks")
    assert {row["executionInfo"].get("exitCode") for row in rows} == {3}
    assert kept.call("GET", "/jobs/job/taskcounts")[1]["taskCounts"]["failed"] == 8
    assert {row["runningTaskSlotsCount"] for row in kept.rows("/pools/pool/nodes")} == {0}


def test_what_was_due_meanwhile_happens_at_the_start_with_stamps_of_the_start(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept, tasks=4)
    kept.flush()
    kept.restart()
    outage = 3600
    kept.emulator.clock.move_to(kept.emulator.clock.now + outage * 10_000_000)
    start = kept.emulator.truth()["time"]
    assert not kept.rows("/jobs/job/tasks", filter="state eq 'completed'")
    kept.emulator.agenda.run_due()
    rows = kept.rows("/jobs/job/tasks", filter=f"stateTransitionTime ge DateTime'{start}'")
    assert [row["state"] for row in rows] == ["completed"] * 4


def test_a_pause_goes_on_through_an_outage_and_ends_with_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    emulator = Emulator({"demo": DEVELOPMENT_KEY})
    keeper = Keeper(emulator, store)
    keeper.load(lambda _: None)
    emulator.pause()
    emulator.clock._paused_at = emulator.clock.now - 100 * 10_000_000
    batch = keeper.take()
    assert batch
    store.write(batch)
    assert keeper.take() is None
    store.close()
    later = Emulator({"demo": DEVELOPMENT_KEY})
    Keeper(later, Store(tmp_path)).load(lambda _: None)
    assert not later.clock.paused
    assert 100 <= (later.clock.now - later.clock.simulated) / 10_000_000 < 105


def test_names_of_nodes_do_not_repeat_after_a_restart(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept)
    kept.flush()
    kept.restart()
    assert kept.call("POST", "/pools", {**_POOL, "id": "second"})[0] == 201
    kept.advance(60)
    names = [row["id"] for pool in ("pool", "second") for row in kept.rows(f"/pools/{pool}/nodes")]
    assert len(set(names)) == 4


def _must_be_whole(kept: Kept, what: object) -> None:
    """All there is stands in the store, and a restart finds it, but for plans whose subject is gone."""
    kept.flush()
    stored = kept.stored()
    assert stored == everything(kept.emulator), what
    kept.restart()
    assert everything(kept.emulator) == kept.stored(), what
    assert {row[2] for row in stored ^ kept.stored()} <= {"happening"}, what


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


def test_of_the_turns_that_a_schedule_missed_only_the_last_makes_a_job(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    specification = {"poolInfo": {"poolId": "none"}, "jobManagerTask": {"id": "m", "commandLine": "sleep 9"}}
    body = {"id": "hourly", "schedule": {"recurrenceInterval": "PT1H"}, "jobSpecification": specification}
    assert kept.call("POST", "/jobschedules", body)[0] == 201
    kept.advance(60)
    assert kept.call("POST", "/jobs/hourly:job-1/terminate", {})[0] == 202
    kept.advance(60)
    kept.flush()
    kept.restart()
    kept.emulator.clock.move_to(kept.emulator.clock.now + 5 * 3600 * 10_000_000)
    while kept.emulator.agenda.run_due():
        continue
    assert [row["id"] for row in kept.rows("/jobs")] == ["hourly:job-1", "hourly:job-2"]
    (schedule,) = kept.rows("/jobschedules")
    assert schedule["executionInfo"]["nextRunTime"].startswith("2026-01-05T14:00:00")


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


def test_samples_of_autoscaling_begin_anew_with_a_restart(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    scaled = {"enableAutoScale": True, "autoScaleFormula": "$TargetDedicatedNodes = 0"}
    assert kept.call("POST", "/pools", {"id": "pool", "vmSize": "standard_d2s_v5", **scaled})[0] == 201
    kept.advance(300)
    counted = {"autoScaleFormula": "$TargetDedicatedNodes = $ActiveTasks.Count()"}
    assert "=11;" in kept.call("POST", "/pools/pool/evaluateautoscale", counted)[1]["results"]
    kept.flush()
    kept.restart()
    assert "=0;" in kept.call("POST", "/pools/pool/evaluateautoscale", counted)[1]["results"]
    kept.advance(60)
    assert "=2;" in kept.call("POST", "/pools/pool/evaluateautoscale", counted)[1]["results"]


def test_files_that_users_deleted_stay_away_after_a_restart(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept, tasks=2)
    assert kept.call("DELETE", "/jobs/job/tasks/t0/files/stdout.txt")[0] == 200
    kept.flush()
    kept.restart()
    assert [row["name"] for row in kept.rows("/jobs/job/tasks/t0/files")] == ["stderr.txt", "wd"]
    assert len(kept.rows("/jobs/job/tasks/t1/files")) == 3


def test_a_start_task_that_is_taken_from_its_pool_while_it_runs_still_ends(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    start = {"startTask": {"commandLine": "sleep 100", "waitForSuccess": True}}
    assert kept.call("POST", "/pools", {**_POOL, **start})[0] == 201
    kept.advance(60)
    assert {row["state"] for row in kept.rows("/pools/pool/nodes")} == {"waitingforstarttask"}
    sent: dict[str, Any] = {"metadata": [], "applicationPackageReferences": []}
    assert kept.call("POST", "/pools/pool/updateproperties", sent)[0] == 204
    node = kept.rows("/pools/pool/nodes")[0]["id"]
    assert kept.call("GET", f"/pools/pool/nodes/{node}/files/startup/stdout.txt")[0] == 200
    kept.advance(120)
    assert {row["state"] for row in kept.rows("/pools/pool/nodes")} == {"idle"}


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


def test_preparation_on_a_node_that_has_left_is_still_told(tmp_path: Path) -> None:
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


def test_a_dependency_stays_satisfied_though_its_task_was_deleted(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    assert kept.call("POST", "/pools", _POOL)[0] == 201
    assert kept.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}, "usesTaskDependencies": True})
    assert kept.call("POST", "/jobs/job/tasks", {"id": "1", "commandLine": "sleep 1"})[0] == 201
    kept.advance(100)
    assert kept.call("DELETE", "/jobs/job/tasks/1")[0] == 200
    later = {"id": "later", "commandLine": "sleep 1", "dependsOn": {"taskIds": ["1"]}}
    never = {"id": "never", "commandLine": "sleep 1", "dependsOn": {"taskIdRanges": [{"start": 1, "end": 2}]}}
    assert kept.call("POST", "/jobs/job/tasks", never)[0] == 201
    kept.flush()
    kept.restart()
    assert kept.call("POST", "/jobs/job/tasks", later)[0] == 201
    kept.advance(100)
    assert {row["id"]: row["state"] for row in kept.rows("/jobs/job/tasks")} == {
        "later": "completed",
        "never": "active",
    }


def test_a_reset_leaves_nothing_behind_and_its_epoch_is_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept)
    kept.flush()
    kept.emulator.reset()
    kept.flush()
    kept.restart()
    assert kept.emulator.epoch == 1
    assert {row[2] for row in kept.stored()} == {"account"}
    _busy(kept)


def test_accounts_that_are_not_served_stay_as_they_are(tmp_path: Path) -> None:
    for names, jobs in ((["a", "b"], {"a": 0, "b": 0}), (["b"], {"b": 1}), (["a", "b", "c"], {"a": 1, "b": 2, "c": 0})):
        store = Store(tmp_path)
        emulator = Emulator(dict.fromkeys(names, DEVELOPMENT_KEY))
        keeper = Keeper(emulator, store)
        keeper.load(lambda _: None)
        assert {name: len(each.account.jobs) for name, each in emulator.simulations.items()} == jobs
        for simulation in emulator.simulations.values():
            name = f"job{len(simulation.account.jobs)}"
            simulation.jobs.begin(name, {"id": name, "poolInfo": {"poolId": "none"}})
        batch = keeper.take()
        assert batch
        store.write(batch)
        store.close()


def test_a_deleted_job_with_many_tasks_is_cleared_away_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.batch_emulator.store._SWEPT", 3)
    kept = Kept(tmp_path)
    _busy(kept)
    kept.flush()
    kept.call("DELETE", "/jobs/job")
    kept.advance(60)
    kept.flush()
    assert len([row for row in kept.stored() if row[2] == "task"]) == 5
    kept.restart()
    while not kept.store.is_tidy:
        kept.flush()
    assert {row[2] for row in kept.stored()} & {"task", "job"} == set()


def test_a_torn_end_is_dropped_and_what_came_before_is_whole(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "first")
    moments = [kept.stored()]
    _busy(kept)
    for number in range(12):
        assert kept.call("POST", "/jobs/job/tasks", {"id": f"n{number}", "commandLine": "sleep 15"})[0] == 201
        kept.advance(20)
        kept.flush()
        moments.append(kept.stored())
    copy = tmp_path / "copy"
    log = (tmp_path / "first" / "emulator.sqlite3-wal").read_bytes()
    seen = set()
    for end in range(len(log), 20_000, -1777):
        copy.mkdir()
        shutil.copy(tmp_path / "first" / "emulator.sqlite3", copy)
        (copy / "emulator.sqlite3-wal").write_bytes(log[:end])
        store = Store(copy)
        seen.add(moments.index(rows_of(store)))
        store.close()
        later = Kept(copy)
        later.flush()
        assert later.stored() == everything(later.emulator)
        later.store.close()
        shutil.rmtree(copy)
    assert len(seen) > 5


def test_one_directory_serves_one_emulator_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError, match=r"^Another emulator keeps its accounts in .*; stop it first\.$"):
        Store(tmp_path)
    store.close()
    Store(tmp_path).close()


def test_another_format_and_a_foreign_file_are_told_apart(tmp_path: Path) -> None:
    Store(tmp_path).close()
    file = tmp_path / "emulator.sqlite3"
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match=f"has format 99, and this emulator reads format {FORMAT}"):
        Store(tmp_path)
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA application_id = 1")
    database.close()
    with pytest.raises(StoreError, match="is not an emulator's"):
        Store(tmp_path)
    file.write_bytes(b"something else" * 1000)
    with pytest.raises(StoreError, match=r"can't be read: file is not a database\.$"):
        Store(tmp_path)


def test_a_place_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"^Accounts can't be kept in .*file: File exists\.$"):
        Store(tmp_path / "file")

"""Accounts stored in a directory, as a later run finds them."""

from pathlib import Path
from typing import Any

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.persistence.store import Store
from local.batch_emulator.persistence_service import PersistenceService
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.emulator.keeping.keeping import POOL as _POOL
from tests.emulator.keeping.keeping import Kept
from tests.emulator.keeping.keeping import busy as _busy


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


def test_unflushed_changes_are_lost_as_a_whole(tmp_path: Path) -> None:
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


def test_events_due_during_an_outage_happen_at_the_start_and_bear_its_time(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    _busy(kept, tasks=4)
    kept.flush()
    kept.restart()
    outage = 3600
    kept.emulator.clock.move_to(kept.emulator.clock.now + outage * 10_000_000)
    start = kept.emulator.truth()["time"]
    assert not kept.rows("/jobs/job/tasks", filter="state eq 'completed'")
    kept.emulator.event_queue.run_due()
    rows = kept.rows("/jobs/job/tasks", filter=f"stateTransitionTime ge DateTime'{start}'")
    assert [row["state"] for row in rows] == ["completed"] * 4


def test_a_pause_goes_on_through_an_outage_and_ends_with_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    emulator = Emulator({"demo": DEVELOPMENT_KEY})
    persistence = PersistenceService(emulator, store)
    persistence.load(lambda _: None)
    emulator.pause()
    emulator.clock._paused_at = emulator.clock.now - 100 * 10_000_000
    batch = persistence.drain()
    assert batch
    store.write(batch)
    assert persistence.drain() is None
    store.close()
    later = Emulator({"demo": DEVELOPMENT_KEY})
    PersistenceService(later, Store(tmp_path)).load(lambda _: None)
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
    while kept.emulator.event_queue.run_due():
        continue
    assert [row["id"] for row in kept.rows("/jobs")] == ["hourly:job-1", "hourly:job-2"]
    (schedule,) = kept.rows("/jobschedules")
    assert schedule["executionInfo"]["nextRunTime"].startswith("2026-01-05T14:00:00")


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
        persistence = PersistenceService(emulator, store)
        persistence.load(lambda _: None)
        assert {name: len(each.account.jobs) for name, each in emulator.simulations.items()} == jobs
        for simulation in emulator.simulations.values():
            name = f"job{len(simulation.account.jobs)}"
            simulation.jobs.begin(name, {"id": name, "poolInfo": {"poolId": "none"}})
        batch = persistence.drain()
        assert batch
        store.write(batch)
        store.close()

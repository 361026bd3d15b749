"""For any sequence of requests, the documented state machines hold, counts equal lists, and deltas are complete.

The model knows only past requests and lists, and shares nothing with the emulator's own states.
"""

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.emulator.support.direct import Direct

_JOBS = st.sampled_from(["one", "one", "one", "two"])
_IDS = [f"t{number}" for number in range(6)]
_LINES = st.sampled_from(["sleep 1", "sleep 40", "sleep 5; exit 3", "sleep 400"])
_AFTER = {
    "active": {"preparing", "running", "completed"},
    "preparing": {"active", "running", "completed"},
    "running": {"active", "preparing", "completed"},
    "completed": {"active", "preparing", "running"},
}
_JOB_AFTER = {
    "active": {"disabling", "disabled", "enabling", "terminating", "completed", "deleting"},
    "disabling": {"disabled", "enabling", "active", "terminating", "completed", "deleting"},
    "disabled": {"enabling", "active", "terminating", "completed", "deleting"},
    "enabling": {"active", "disabling", "disabled", "terminating", "completed", "deleting"},
    "terminating": {"completed", "deleting"},
    "completed": {"deleting"},
    "deleting": set(),
}


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[tuple[str, str], dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.made: dict[str, set[str]] = {}
        self.doomed: set[str] = set()
        self.is_autoscaled = False
        self.erased: dict[tuple[str, str], str] = {}
        self.since = "2026-01-05T08:00:00Z"

    @initialize(seed=st.integers(0, 1000), nodes=st.integers(1, 3), spot=st.integers(0, 2))
    def begin(self, seed: int, nodes: int, spot: int) -> None:
        self.direct = Direct(seed)
        pool = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": nodes, "taskSlotsPerNode": 2}
        assert self.direct.call("POST", "/pools", {**pool, "targetLowPriorityNodes": spot})[0] == 201
        self.add_job(job="one", ends=False, depends=True)
        self.direct.advance(100)

    @rule(job=_JOBS, ends=st.booleans(), depends=st.booleans())
    def add_job(self, job: str, *, ends: bool, depends: bool) -> None:
        body: dict[str, Any] = {"id": job, "poolInfo": {"poolId": "pool"}, "usesTaskDependencies": depends}
        status, code = self.direct.call(
            "POST", "/jobs", {**body, "onAllTasksComplete": "terminatejob"} if ends else body
        )
        assert (status, code) == ((409, "JobExists") if job in self.made else (201, None))
        self.made.setdefault(job, set())

    @rule(job=_JOBS, lines=st.lists(_LINES, min_size=1, max_size=4), retries=st.integers(0, 1), chained=st.booleans())
    def add_tasks(self, job: str, lines: list[str], retries: int, *, chained: bool) -> None:
        """Adds tasks with the first free ids; chained ones depend on the previous one."""
        free = [name for name in _IDS if name not in self.made.get(job, ())]
        for place, (name, line) in enumerate(zip(free, lines, strict=False)):
            body: dict[str, Any] = {"id": name, "commandLine": line, "constraints": {"maxTaskRetryCount": retries}}
            if chained and place:
                body["dependsOn"] = {"taskIds": [free[place - 1]]}
            status, _ = self.direct.call("POST", f"/jobs/{job}/tasks", body)
            assert status in ({201, 400, 409} if job in self.made else {404})
            if status == 201:
                self.made[job].add(name)

    @rule(which=st.integers(0, 9), verb=st.sampled_from(["terminate", "reactivate", "reactivate", "delete"]))
    def change_task(self, which: int, verb: str) -> None:
        """Changes a listed task that the verb may suit."""
        wanted = {"terminate": {"active", "running"}, "reactivate": {"completed"}}.get(verb, {"running", "completed"})
        fitting = sorted(key for key, task in self.tasks.items() if task["state"] in wanted)
        if not fitting:
            return
        job, task = fitting[which % len(fitting)]
        path = f"/jobs/{job}/tasks/{task}"
        status, code = self.direct.call(*(("DELETE", path) if verb == "delete" else ("POST", f"{path}/{verb}")))
        assert status in ({200} if verb == "delete" else {204, 409}), code
        if verb == "delete":
            self.made[job].discard(task)
            del self.tasks[job, task]

    @rule(
        job=_JOBS, verb=st.sampled_from(["terminate", "enable", "disable:requeue", "disable:wait", "disable:terminate"])
    )
    def change_job(self, job: str, verb: str) -> None:
        name, _, option = verb.partition(":")
        status, _ = self.direct.call("POST", f"/jobs/{job}/{name}", {"disableTasks": option} if option else {})
        assert status in ({202, 409} if job in self.made else {404})

    @rule(job=_JOBS, really=st.integers(0, 4))
    def delete_job(self, job: str, really: int) -> None:
        if really:
            return
        status, _ = self.direct.call("DELETE", f"/jobs/{job}")
        assert status in ({202, 409} if job in self.made else {404})
        if status == 202:
            self.doomed.add(job)
            self.direct.advance(10)

    @precondition(lambda self: hasattr(self, "direct"))
    @rule(dedicated=st.integers(0, 3))
    def resize(self, dedicated: int) -> None:
        status, _ = self.direct.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": dedicated})
        assert status in ({409} if self.is_autoscaled else {202, 409})

    @rule(formula=st.sampled_from(["$PendingTasks", "2 - $FailedTasks", "nothing"]))
    def scale_by(self, formula: str) -> None:
        body = {"autoScaleFormula": f"$TargetDedicatedNodes = min(3, {formula})", "autoScaleEvaluationInterval": "PT5M"}
        status, _ = self.direct.call("POST", "/pools/pool/enableautoscale", body)
        assert status in ({200, 409, 503} if self.is_autoscaled else {200, 409})
        self.is_autoscaled |= status == 200

    @rule()
    def scale_no_more(self) -> None:
        assert self.direct.call("POST", "/pools/pool/disableautoscale")[0] == 200
        self.is_autoscaled = False

    @rule(formula=st.sampled_from(["$TargetDedicatedNodes = 9", "$TargetDedicatedNodes = nothing"]))
    def look_at_scaling(self, formula: str) -> None:
        status, found = self.direct.call("POST", "/pools/pool/evaluateautoscale", {"autoScaleFormula": formula})
        assert status == (200 if self.is_autoscaled else 409)
        assert status == 409 or ("error" in found) is ("nothing" in formula)

    @rule(which=st.integers(0, 9))
    def delete_file(self, which: int) -> None:
        fitting = sorted(key for key, task in self.tasks.items() if task["state"] in ("running", "completed"))
        if fitting:
            job, task = key = fitting[which % len(fitting)]
            status, code = self.direct.call("DELETE", f"/jobs/{job}/tasks/{task}/files/stdout.txt")
            assert status in ({404, 409} if self._is_erased(*key) else {200, 409}), code
            if status == 200:
                self.erased[key] = self.tasks[key]["executionInfo"]["startTime"]

    @rule(verb=st.sampled_from(["reboot", "reimage", "disablescheduling", "enablescheduling"]))
    def change_node(self, verb: str) -> None:
        for node in self.direct.rows("/pools/pool/nodes")[:1]:
            status, _ = self.direct.call("POST", f"/pools/pool/nodes/{node['id']}/{verb}", {})
            assert status in (200, 202, 409)

    @rule(seconds=st.sampled_from([0.3, 2.0, 15.0, 120.0, 900.0]))
    def wait(self, seconds: float) -> None:
        self.direct.advance(seconds)

    @invariant()
    def lists_counts_and_deltas_agree(self) -> None:
        if not hasattr(self, "direct"):
            return
        self._forget_deleted()
        found = self.direct.rows("/jobs")
        assert {row["id"] for row in found} == set(self.made)
        for row in found:
            self._check_job(row)
        self._check_nodes()
        self._check_pool()
        self.since = self.direct.emulator.truth()["time"]

    def _check_job(self, row: dict[str, Any]) -> None:
        name, before = row["id"], self.jobs.get(row["id"])
        if before and before["state"] != row["state"]:
            assert row["state"] in _JOB_AFTER[before["state"]]
        self.jobs[name] = row
        listed = self.direct.rows(f"/jobs/{name}/tasks")
        assert {task["id"] for task in listed} == self.made[name]
        self._check_counts(name, listed)
        changed = {task["id"] for task in listed if self._has_changed(name, task)}
        moment = f"stateTransitionTime ge DateTime'{self.since}'"
        delta = {task["id"] for task in self.direct.rows(f"/jobs/{name}/tasks", filter=moment)}
        assert changed <= delta
        assert delta == {task["id"] for task in listed if _later(task["stateTransitionTime"], self.since)}
        self.tasks |= {(name, task["id"]): task for task in listed}
        for task in listed:
            if task is listed[0] or (name, task["id"]) in self.erased:
                self._check_files(name, task)

    def _check_files(self, job: str, task: dict[str, Any]) -> None:
        """Checks that a completed task on an existing node has its output, and one that hasn't begun has none."""
        status, found = self.direct.call("GET", f"/jobs/{job}/tasks/{task['id']}/files")
        if status == 200:
            assert task["state"] in ("running", "completed")
            there = ["stderr.txt", "wd"] if self._is_erased(job, task["id"]) else ["stderr.txt", "stdout.txt", "wd"]
            assert [row["name"] for row in found["value"]] == there
        else:
            assert status == 409

    def _is_erased(self, job: str, task: str) -> bool:
        """Returns whether a task's output was deleted since it last began."""
        execution = self.tasks[job, task]["executionInfo"] if (job, task) in self.tasks else {}
        return (job, task) in self.erased and self.erased[job, task] == execution.get("startTime")

    def _check_counts(self, name: str, listed: list[dict[str, Any]]) -> None:
        states = Counter(task["state"] for task in listed)
        ends = Counter(task["executionInfo"].get("result") for task in listed)
        _, counts = self.direct.call("GET", f"/jobs/{name}/taskcounts")
        shown = counts["taskCounts"]
        assert shown["active"] == states["active"]
        assert shown["running"] == states["running"] + states["preparing"]
        assert (shown["completed"], shown["succeeded"], shown["failed"]) == (
            states["completed"],
            ends["success"],
            ends["failure"],
        )

    def _has_changed(self, name: str, task: dict[str, Any]) -> bool:
        before = self.tasks.get((name, task["id"]))
        if before is None:
            return True
        if before["state"] != task["state"]:
            assert task["state"] in _AFTER[before["state"]]
            assert before["stateTransitionTime"] != task["stateTransitionTime"]
        assert before["eTag"] == task["eTag"]
        return bool(before["stateTransitionTime"] != task["stateTransitionTime"])

    def _check_nodes(self) -> None:
        nodes = self.direct.rows("/pools/pool/nodes")
        for node in nodes:
            assert 0 <= node["runningTaskSlotsCount"] <= 2
            assert not (node["runningTasksCount"] and node["state"] != "running"), node["state"]
        (counts,) = self.direct.rows("/nodecounts")
        assert counts["dedicated"]["total"] + counts["lowPriority"]["total"] == len(nodes)

    def _check_pool(self) -> None:
        _, pool = self.direct.call("GET", "/pools/pool")
        assert pool["enableAutoScale"] is self.is_autoscaled
        assert ("autoScaleRun" in pool) is self.is_autoscaled
        if self.is_autoscaled and "error" not in pool["autoScaleRun"]:
            run = dict(each.split("=") for each in pool["autoScaleRun"]["results"].split(";"))
            assert int(run["$TargetDedicatedNodes"]) == pool["targetDedicatedNodes"] <= 3

    def _forget_deleted(self) -> None:
        there = {row["id"] for row in self.direct.rows("/jobs")}
        for name in self.doomed - there:
            self.doomed.discard(name)
            del self.made[name]
            self.jobs.pop(name, None)
            self.tasks = {key: task for key, task in self.tasks.items() if key[0] != name}


def _later(stamp: str, bound: str) -> bool:
    return _padded(stamp) >= _padded(bound)


def _padded(stamp: str) -> str:
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return f"{whole}.{fraction.ljust(7, '0')}"


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=settings().max_examples * 3 // 2, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)

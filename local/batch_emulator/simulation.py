"""What happens by itself: pools grow nodes, nodes take tasks and run them, spot nodes are preempted, jobs end.

Its work grows with what happens, not with what there is. State changes move stateTransitionTime and nothing else;
those that a node reports bear the node's own clock, and may become visible late.
"""

import random
import uuid
from bisect import insort
from collections import Counter
from functools import partial

from local.batch_emulator.agenda import Agenda
from local.batch_emulator.clock import Clock
from local.batch_emulator.commands import outcome_of
from local.batch_emulator.entities import Account, Job, Json, Node, Pool, Run, Task
from local.batch_emulator.settings import Knobs
from local.batch_emulator.stamps import SECOND, node_stamp, stamp
from local.batch_emulator.wire import hide_task

_PREPARING_SECONDS = (0.2, 1.5)
_BOOT_SECONDS = (20, 40)
_START_TASK_SECONDS = (5, 10)


class Simulation:
    def __init__(self, account: Account, clock: Clock, agenda: Agenda, knobs: Knobs, seed: int) -> None:
        self._account = account
        self._clock = clock
        self._agenda = agenda
        self._knobs = knobs
        self._chance = random.Random(f"{seed}/{account.name}")

    # Pools

    def resize(self, pool: Pool) -> None:
        """Brings a pool to its targets, after a while; nodes that are too many leave."""
        self._set_allocation(pool, "resizing")
        self._agenda.after(self._chance.uniform(2, 5), partial(self._allocate, pool))

    def _allocate(self, pool: Pool) -> None:
        if self._account.pools.get(pool.id.lower()) is not pool or pool.state == "deleting":
            return
        for dedicated, name in ((True, "targetDedicatedNodes"), (False, "targetLowPriorityNodes")):
            nodes = [node for node in pool.nodes.values() if node.dedicated == dedicated]
            wanted = int(pool.spec.get(name) or 0)
            for node in nodes[wanted:]:
                self._lose(node)
            for _ in range(wanted - len(nodes)):
                self._add_node(pool, dedicated=dedicated)
        self._set_allocation(pool, "steady")

    def _add_node(self, pool: Pool, *, dedicated: bool) -> None:
        pool.serial += 1
        digits = uuid.UUID(int=self._chance.getrandbits(128)).hex
        kind = "d" if dedicated else "p"
        skew = int(self._chance.uniform(-1, 1) * self._knobs.nodeClockSkewSeconds * SECOND)
        node = Node(f"tvmps_{digits}{digits}_{kind}", pool, dedicated, skew, self._clock.now)
        pool.nodes[node.id.lower()] = node
        self._boot(node)

    def _boot(self, node: Node) -> None:
        self._set_node(node, "creating")
        token = node.token
        boot = self._chance.uniform(*_BOOT_SECONDS)
        self._agenda.after(boot / 2, partial(self._node_step, node, token, "starting"))
        self._agenda.after(boot, partial(self._booted, node, token))
        if not node.dedicated and self._knobs.preemptionSeconds > 0:
            wait = boot + self._chance.expovariate(1 / self._knobs.preemptionSeconds)
            self._agenda.after(wait, partial(self._preempt, node, token))

    def _node_step(self, node: Node, token: int, state: str) -> None:
        if node.token == token:
            self._set_node(node, state)

    def _booted(self, node: Node, token: int) -> None:
        if node.token != token:
            return
        node.booted = self._clock.now
        start_task = node.pool.spec.get("startTask")
        if not start_task:
            self._ready(node)
            return
        self._set_node(node, "waitingforstarttask")
        node.start_task = {"state": "running", "startTime": stamp(self._clock.now), "retryCount": 0}
        seconds = self._chance.uniform(*_START_TASK_SECONDS)
        self._agenda.after(seconds, partial(self._start_task_done, node, token, start_task))

    def _start_task_done(self, node: Node, token: int, start_task: Json) -> None:
        if node.token != token or node.start_task is None:
            return
        exit_code = outcome_of(str(start_task.get("commandLine") or ""), self._chance).exit_code
        result = "success" if exit_code == 0 else "failure"
        node.start_task |= {
            "state": "completed", "endTime": stamp(self._clock.now), "exitCode": exit_code, "result": result
        }  # fmt: skip
        if exit_code:
            node.start_task["failureInfo"] = _exit_failure(exit_code)
            self._set_node(node, "starttaskfailed")
        else:
            self._ready(node)

    def _ready(self, node: Node) -> None:
        self._set_node(node, "idle")
        self.schedule(node.pool)

    def _preempt(self, node: Node, token: int) -> None:
        if node.token != token:
            return
        self._requeue_all(node)
        node.token += 1
        self._set_node(node, "preempted")
        self._agenda.after(self._chance.uniform(30, 60), partial(self._return, node, node.token))
        self.schedule(node.pool)

    def _return(self, node: Node, token: int) -> None:
        if node.token == token:
            self._boot(node)

    def _lose(self, node: Node) -> None:
        self._requeue_all(node)
        node.token += 1
        node.pool.nodes.pop(node.id.lower(), None)

    def _requeue_all(self, node: Node) -> None:
        for (job_key, key), task in list(node.tasks.items()):
            job = self._account.jobs[job_key]
            task.requeues += 1
            self._release(job, key, task)
            self.set_task(job, key, task, "active")
            job.waiting.appendleft(key)

    def delete_pool(self, pool: Pool) -> None:
        pool.state, pool.state_at = "deleting", self._clock.now
        for node in list(pool.nodes.values()):
            self._lose(node)
        self._agenda.after(3, partial(self._pool_gone, pool))

    def _pool_gone(self, pool: Pool) -> None:
        if self._account.pools.get(pool.id.lower()) is pool:
            del self._account.pools[pool.id.lower()]

    # Tasks

    def schedule(self, pool: Pool) -> None:
        """Gives waiting tasks to free slots, by the jobs' priority and age, spreading over the nodes."""
        nodes = sorted((node for node in pool.nodes.values() if node.free > 0), key=lambda node: -node.free)
        jobs = sorted(
            (job for job in self._account.jobs.values() if self._may_run(job, pool)),
            key=lambda job: (-job.priority, job.created),
        )
        for job in jobs:
            while job.waiting and nodes:
                key = job.waiting[0]
                task = job.tasks.get(key)
                if task is None or task.state != "active":
                    job.waiting.popleft()
                    continue
                node = max(nodes, key=lambda each: each.free)
                if node.free < task.slots:
                    break
                job.waiting.popleft()
                self._assign(job, key, task, node)
                if node.free <= 0:
                    nodes.remove(node)

    def _may_run(self, job: Job, pool: Pool) -> bool:
        return job.state == "active" and bool(job.waiting) and job.pool_id.lower() == pool.id.lower()

    def _assign(self, job: Job, key: str, task: Task, node: Node) -> None:
        task.node = node
        node.tasks[job.id.lower(), key] = task
        if node.state == "idle":
            self._set_node(node, "running")
        task.where = {
            "affinityId": f"TVM:{node.id}", "poolId": node.pool.id, "nodeId": node.id,
            "taskRootDirectory": f"workitems/{job.id}/job-1/{task.id}",
        }  # fmt: skip
        task.run = Run()
        self.set_task(job, key, task, "preparing")
        self._agenda.after(self._chance.uniform(*_PREPARING_SECONDS), partial(self._start, job, key, task, task.token))

    def _start(self, job: Job, key: str, task: Task, token: int) -> None:
        if task.token != token or task.node is None:
            return
        missing = next((file for file in task.spec.get("resourceFiles") or () if "missing" in str(file)), None)
        if missing is not None:
            task.run.failure = {
                "category": "usererror", "code": "ResourceContainerOrBlobNotFound",
                "message": "One of the specified Azure Blob(s) is not found.",
                "details": [{"name": "BlobSource", "value": str(missing.get("httpUrl"))}],
            }  # fmt: skip
            self._complete(job, key, task, failed=True)
            return
        outcome = outcome_of(str(task.spec.get("commandLine") or ""), self._chance)
        self.set_task(job, key, task, "running", node=task.node)
        task.run.start = task.state_at
        self._agenda.after(outcome.seconds, partial(self._finish, job, key, task, task.token, outcome.exit_code))

    def _finish(self, job: Job, key: str, task: Task, token: int, exit_code: int) -> None:
        if task.token != token or task.node is None:
            return
        retries = int((task.spec.get("constraints") or {}).get("maxTaskRetryCount") or 0)
        if exit_code and (retries < 0 or task.retries < retries):
            task.retries += 1
            self._release(job, key, task)
            self.set_task(job, key, task, "active")
            job.waiting.appendleft(key)
            self.schedule_for(job)
            return
        task.run.exit_code = exit_code
        if exit_code:
            task.run.failure = _exit_failure(exit_code)
        self._complete(job, key, task, failed=exit_code != 0)

    def _complete(self, job: Job, key: str, task: Task, *, failed: bool) -> None:
        node = task.node
        self._release(job, key, task)
        task.run.result = "failure" if failed else "success"
        self.set_task(job, key, task, "completed", node=node)
        task.run.end = task.state_at
        if task.run.start is not None and task.run.end < task.run.start:
            task.run.end = task.run.start
        self.schedule_for(job)
        self.end_if_done(job)

    def end_task(self, job: Job, key: str, task: Task) -> None:
        """Terminates a task as a person may: it completes as a failure."""
        if task.state == "completed":
            return
        task.run.failure = {
            "category": "usererror", "code": "TaskEnded", "message": "Task Was Ended by User Request",
        }  # fmt: skip
        self._release(job, key, task)
        task.run.result = "failure"
        self.set_task(job, key, task, "completed")
        task.run.end = task.state_at
        self.schedule_for(job)

    def drop_task(self, job: Job, key: str, task: Task) -> None:
        """Takes a deleted task off its node and out of the counts."""
        _tally(job, task, -1)
        if task.shown is not None:
            job.late -= 1
        self._release(job, key, task)
        self.schedule_for(job)

    def _release(self, job: Job, key: str, task: Task) -> None:
        task.token += 1
        node, task.node = task.node, None
        if node is not None:
            node.tasks.pop((job.id.lower(), key), None)
            if not node.tasks and node.state == "running":
                self._set_node(node, "idle")

    def schedule_for(self, job: Job) -> None:
        pool = self._account.pools.get(job.pool_id.lower())
        if pool is not None:
            self.schedule(pool)

    def set_task(self, job: Job, key: str, task: Task, state: str, *, node: Node | None = None) -> None:
        """Changes a task's state; with `node` it is the node that tells of it, in its own time and perhaps late."""
        if node is not None and self._knobs.lateReportSeconds > 0:
            self._hide(job, task)
        _tally(job, task, -1)
        task.previous, task.previous_at = task.state, task.state_at
        task.state = state
        task.state_at = node_stamp(self._clock.now + node.skew) if node else self._clock.now
        if state == "active":
            task.run, task.where = Run(), None
        _tally(job, task, 1)
        insort(job.changes, (task.state_at, key))
        if len(job.changes) > 4 * len(job.tasks) + 1000:
            job.changes = sorted((each.state_at, name) for name, each in job.tasks.items())

    def _hide(self, job: Job, task: Task) -> None:
        if task.shown is None:
            job.late += 1
        hide_task(task, job.id)
        until = self._clock.now + int(self._knobs.lateReportSeconds * SECOND)
        task.shown_until = until
        self._agenda.after_exactly(self._knobs.lateReportSeconds, partial(self._reveal, job, task, until))

    def _reveal(self, job: Job, task: Task, until: int) -> None:
        if task.shown_until == until and task.shown is not None:
            task.shown = None
            job.late -= 1

    # Jobs

    def add_tasks(self, job: Job, tasks: dict[str, Task]) -> None:
        for key, task in tasks.items():
            task.state_at = task.created
            _tally(job, task, 1)
            job.tasks[key] = task
            job.waiting.append(key)
            insort(job.changes, (task.state_at, key))
        job.order = None
        self.schedule_for(job)

    def set_job(self, job: Job, state: str) -> None:
        job.previous, job.previous_at = job.state, job.state_at
        job.state, job.state_at = state, self._clock.now

    def end_if_done(self, job: Job) -> None:
        wanted = job.spec.get("onAllTasksComplete") == "terminatejob" and job.state == "active"
        if wanted and job.tasks and job.tally["completed"] == len(job.tasks):
            self.terminate(job, "AllTasksCompleted")

    def terminate(self, job: Job, reason: str) -> None:
        self.set_job(job, "terminating")
        job.reason = reason
        for key, task in list(job.tasks.items()):
            self.end_task(job, key, task)
        self._agenda.after(2, partial(self._terminated, job))

    def _terminated(self, job: Job) -> None:
        if job.state == "terminating":
            self.set_job(job, "completed")
            job.ended = self._clock.now

    def disable(self, job: Job, what: str) -> None:
        self.set_job(job, "disabling")
        for key, task in list(job.tasks.items()):
            if task.node is None:
                continue
            if what == "terminate":
                self.end_task(job, key, task)
            elif what == "requeue":
                task.requeues += 1
                self._release(job, key, task)
                self.set_task(job, key, task, "active")
                job.waiting.appendleft(key)
        self._agenda.after(1, partial(self._settle, job, "disabling", "disabled"))

    def enable(self, job: Job) -> None:
        self.set_job(job, "enabling")
        self._agenda.after(1, partial(self._settle, job, "enabling", "active"))

    def _settle(self, job: Job, before: str, after: str) -> None:
        if job.state == before:
            self.set_job(job, after)
            self.schedule_for(job)

    def delete(self, job: Job) -> None:
        self.set_job(job, "deleting")
        for key, task in list(job.tasks.items()):
            if task.node is not None:
                self._release(job, key, task)
        self.schedule_for(job)
        self._agenda.after(2, partial(self._deleted, job))

    def _deleted(self, job: Job) -> None:
        if self._account.jobs.get(job.id.lower()) is job:
            del self._account.jobs[job.id.lower()]

    def _set_allocation(self, pool: Pool, state: str) -> None:
        pool.allocation, pool.allocation_at = state, self._clock.now

    def _set_node(self, node: Node, state: str) -> None:
        node.state, node.state_at = state, self._clock.now


def task_counts(job: Job) -> Counter[str]:
    """Tasks by what lists show now: state, `succeeded` and `failed`."""
    if not job.late:
        return job.tally
    found: Counter[str] = Counter()
    for task in job.tasks.values():
        shown = task.shown
        state = shown["state"] if shown else task.state
        found.update(_kinds(state, shown["executionInfo"].get("result") if shown else task.run.result))
    return found


def _tally(job: Job, task: Task, sign: int) -> None:
    for kind in _kinds(task.state, task.run.result):
        job.tally[kind] += sign
        job.slot_tally[kind] += sign * task.slots


def _kinds(state: str, result: str | None) -> tuple[str, ...]:
    if state != "completed":
        return (state,)
    return (state, "succeeded" if result == "success" else "failed")


def _exit_failure(exit_code: int) -> Json:
    return {
        "category": "usererror",
        "code": "FailureExitCode",
        "message": "The task exited with an exit code representing a failure",
        "details": [{"name": "Message", "value": f"The task process exited with code {exit_code}"}],
    }

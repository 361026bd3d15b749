"""The resource log of one account: records of events of pools and tasks, as diagnostic settings export them.

Shapes follow the pages "Azure Batch analytics". Records are created only if they are written to storage, so an unused
log costs one check of a flag. Some records are repeated within minutes with another time, as the service does with 2.7
to 4 % of them.
"""

import random
from collections import Counter, deque
from typing import Any

from local.batch_emulator.core.clock import Clock
from local.batch_emulator.core.stamps import full_stamp, stamp, ticks
from local.batch_emulator.entities import Failure, Job, Json, Node, Pool, Run, StartTask, Task

_REPEAT_SHARE = 0.033
_REPEAT_DELAY = (1.0, 120.0)  # seconds
_MAX_RECORDS = 200_000
_TARGETS = ("Dedicated", "LowPriority")


class EventLog:
    """The log. `recorded` counts records by kind without repeats, `repeated` repeats, `lost` records dropped unread."""

    def __init__(self, account: str, clock: Clock, seed: str) -> None:
        self.resource = (
            "/SUBSCRIPTIONS/00000000-0000-0000-0000-000000000000/RESOURCEGROUPS/EMULATOR"
            f"/PROVIDERS/MICROSOFT.BATCH/BATCHACCOUNTS/{account.upper()}"
        )
        self.is_enabled = False
        self.recorded: Counter[str] = Counter()
        self.repeated = self.lost = 0
        self._clock = clock
        self._rng = random.Random(f"{seed}/{account}/log")
        self._records: deque[Json] = deque()
        self._repeats: deque[tuple[int, Json]] = deque()

    def drain(self) -> list[Json]:
        """Returns the records since the last call, and repeats that are due."""
        drained, now = list(self._records), self._clock.now
        self._records.clear()
        waiting = list(self._repeats)
        self._repeats = deque(entry for entry in waiting if entry[0] > now)
        drained += [{**record, "time": full_stamp(due)} for due, record in waiting if due <= now]
        self.repeated += len(waiting) - len(self._repeats)
        return drained

    def put_back(self, records: list[Json]) -> None:
        """Returns unwritten records to the queue; if it overflows, the oldest are lost."""
        self._records.extendleft(reversed(records))
        while len(self._records) > _MAX_RECORDS:
            self._records.popleft()
            self.lost += 1

    def pool(self, kind: str, pool: Pool, details: Json | None = None) -> None:
        if self.is_enabled:
            self._record(kind, {"id": pool.id, **(details or {})})

    def pool_created(self, pool: Pool) -> None:
        if not self.is_enabled:
            return
        spec = pool.spec
        self._record(
            "PoolCreateEvent",
            {
                "id": pool.id,
                "displayName": str(spec.get("displayName") or ""),
                "vmSize": str(spec["vmSize"]),
                "imageType": "VirtualMachineConfiguration",
                "virtualMachineConfiguration": spec.get("virtualMachineConfiguration") or {},
                "networkConfiguration": {"subnetId": " "},
                "resizeTimeout": "900000",
                **_targets(pool),
                "taskSlotsPerNode": pool.slots_per_node,
                "vmFillType": "Spread",
                "enableAutoScale": pool.is_autoscaled,
                "enableInterNodeCommunication": pool.is_interconnected,
                "isAutoPool": False,
            },
        )

    def resize(self, kind: str, pool: Pool, option: str, *, since: int | None = None) -> None:
        """Logs a resize that begins, or one that ended and began at `since`."""
        if not self.is_enabled:
            return
        properties: Json = {"id": pool.id, "nodeDeallocationOption": option or "Invalid"}
        for name in _TARGETS:
            properties[f"current{name}Nodes"] = pool.node_count(dedicated=name == "Dedicated")
        properties |= {**_targets(pool), "enableAutoScale": pool.is_autoscaled, "isAutoPool": False}
        if since is not None:
            error = pool.errors[0] if pool.errors else None
            properties |= {"startTime": stamp(since), "endTime": stamp(self._clock.now)}
            properties["resultCode"] = error["code"] if error else "Success"
            properties["resultMessage"] = error["message"] if error else "The operation succeeded"
        self._record(kind, properties)

    def task_started(self, run: Run) -> None:
        if self.is_enabled:
            info = {"retryCount": run.task.retries, "scheduledTime": stamp(run.started)}
            self._record("TaskStartEvent", {**_task(run.job, run.task, run.node), "executionInfo": info})

    def task_ended(self, job: Job, task: Task) -> None:
        """Logs one record, and a second one for a failure."""
        if not self.is_enabled:
            return
        properties = {**_task(job, task, None), "executionInfo": _execution(task, task.failure)}
        self._record("TaskCompleteEvent", properties)
        if task.failure:
            self._record("TaskFailEvent", properties)

    def task_requeued(self, run: Run) -> None:
        if self.is_enabled:
            properties = {**_task(run.job, run.task, run.node), "executionInfo": _execution(run.task, None)}
            self._record("TaskRequeueEvent", properties)

    def task_not_scheduled(self, run: Run) -> None:
        if self.is_enabled:
            message = "Task cannot run because the job preparation task failed on node"
            error = {"category": "UserError", "code": "JobPreparationTaskFailed", "message": message}
            self._record("TaskScheduleFailEvent", {**_task(run.job, run.task, run.node), "schedulingError": error})

    def special_task_ended(self, job: Job, name: str, kind: str, node: Node, run: StartTask) -> None:
        if not self.is_enabled:
            return
        info: Json = {"startTime": stamp(run.started), "exitCode": run.exit_code, "result": run.result}
        if run.ended is not None:
            info["endTime"] = stamp(run.ended)
        info["schedulingError"] = _error(run.failure)
        node_info = {"poolId": node.pool.id, "nodeId": node.id}
        properties = {"jobId": job.id, "taskName": name, "taskType": kind, "nodeInfo": node_info, "executionInfo": info}
        self._record("SpecialTaskEvent", properties)

    def _record(self, kind: str, properties: Json) -> None:
        self.recorded[kind] += 1
        record = {
            "Tenant": "0" * 32,
            "time": full_stamp(self._clock.now),
            "resourceId": self.resource,
            "category": "ServiceLog",
            "operationName": kind,
            "operationVersion": "2017-06-01",
            "properties": properties,
        }
        self._records.append(record)
        if self._rng.random() < _REPEAT_SHARE:
            self._repeats.append((self._clock.now + ticks(self._rng.uniform(*_REPEAT_DELAY)), record))
        if len(self._records) > _MAX_RECORDS:
            self._records.popleft()
            self.lost += 1


def hour_of(record: Json) -> str:
    """Returns the time part of a blob's path."""
    time = record["time"]
    return f"y={time[:4]}/m={time[5:7]}/d={time[8:10]}/h={time[11:13]}/m=00"


def _targets(pool: Pool) -> Json:
    return {f"target{name}Nodes": int(pool.spec.get(f"target{name}Nodes") or 0) for name in _TARGETS}


def _task(job: Job, task: Task, node: Node | None) -> Json:
    node_info = (
        {"poolId": node.pool.id, "nodeId": node.id} if node else {"poolId": task.pool_id, "nodeId": task.node_id}
    )
    return {
        "jobId": job.id,
        "id": task.id,
        "taskType": "User",
        "systemTaskVersion": task.retries + task.requeues,
        "requiredSlots": task.slots,
        "nodeInfo": {name: value or " " for name, value in node_info.items()},
        "multiInstanceSettings": {"numberOfInstances": task.instances or 1},
        "constraints": {"maxTaskRetryCount": task.max_retries},
    }


def _execution(task: Task, failure: Failure | None) -> Json:
    times: dict[str, Any] = {"startTime": task.started, "endTime": task.ended}
    return {
        **{name: stamp(moment) for name, moment in times.items() if moment is not None},
        "exitCode": task.exit_code,
        "retryCount": task.retries,
        "requeueCount": task.requeues,
        "result": "Failure" if failure else "Success",
        "schedulingError": _error(failure),
    }


def _error(failure: Failure | None) -> Json:
    if failure is None:
        return {"category": "", "code": "", "message": "", "details": []}
    details = [{"name": name, "value": value} for name, value in failure.details]
    category = {"usererror": "UserError", "servererror": "ServerError"}.get(failure.category, failure.category)
    return {"category": category, "code": failure.code, "message": failure.message, "details": details}

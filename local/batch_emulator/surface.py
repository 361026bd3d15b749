"""Every operation of the data plane: those that are done, and those that answer 501 with their name."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from local.batch_emulator import jobs, pools, tasks
from local.batch_emulator.faults import unsupported
from local.batch_emulator.requests import Request, Response

type Handler = Callable[[Request], Response]

_COMMON = {"api-version", "timeout"}
_LIST = {"maxresults", "$filter", "$select", "$expand", "$skiptoken"}
_ONE = {"$select", "$expand"}


@dataclass(frozen=True, slots=True)
class Operation:
    """`query` are the parameters it takes beside the common ones; `handler` None means 501."""

    method: str
    template: str
    name: str
    query: frozenset[str]
    handler: Handler | None

    def run(self, request: Request) -> Response:
        if self.handler is None:
            raise unsupported(f"the operation '{self.name}'")
        return self.handler(request)

    @property
    def accepted(self) -> frozenset[str]:
        return self.query | _COMMON


def _table(done: Mapping[str, tuple[Handler, set[str]]], rows: str) -> tuple[Operation, ...]:
    found = []
    for row in rows.strip().splitlines():
        method, template, name = row.split()
        handler, query = done.get(name, (None, _LIST | {"force", "recursive", "starttime", "endtime"}))
        found.append(Operation(method, template, name, frozenset(query), handler))
    return tuple(found)


_DONE: Mapping[str, tuple[Handler, set[str]]] = {
    "create_job": (jobs.create_job, set()),
    "list_jobs": (jobs.list_jobs, _LIST),
    "get_job": (jobs.get_job, _ONE),
    "update_job": (jobs.update_job, set()),
    "delete_job": (jobs.delete_job, {"force"}),
    "terminate_job": (jobs.terminate_job, {"force"}),
    "disable_job": (jobs.disable_job, set()),
    "enable_job": (jobs.enable_job, set()),
    "get_job_task_counts": (jobs.get_job_task_counts, set()),
    "create_task": (tasks.create_task, set()),
    "create_task_collection": (tasks.add_task_collection, set()),
    "list_tasks": (tasks.list_tasks, _LIST),
    "get_task": (tasks.get_task, _ONE),
    "delete_task": (tasks.delete_task, set()),
    "terminate_task": (tasks.terminate_task, set()),
    "reactivate_task": (tasks.reactivate_task, set()),
    "create_pool": (pools.create_pool, set()),
    "list_pools": (pools.list_pools, _LIST),
    "get_pool": (pools.get_pool, _ONE),
    "delete_pool": (pools.delete_pool, set()),
    "resize_pool": (pools.resize_pool, set()),
    "list_nodes": (pools.list_nodes, _LIST - {"$expand"}),
    "get_node": (pools.get_node, {"$select"}),
    "list_pool_node_counts": (pools.list_pool_node_counts, {"maxresults", "$filter", "$skiptoken"}),
}
_ROWS = """
GET /applications list_applications
GET /applications/{applicationId} get_application
GET /poolusagemetrics list_pool_usage_metrics
POST /pools create_pool
GET /pools list_pools
DELETE /pools/{poolId} delete_pool
HEAD /pools/{poolId} pool_exists
GET /pools/{poolId} get_pool
PATCH /pools/{poolId} update_pool
POST /pools/{poolId}/disableautoscale disable_pool_auto_scale
POST /pools/{poolId}/enableautoscale enable_pool_auto_scale
POST /pools/{poolId}/evaluateautoscale evaluate_pool_auto_scale
POST /pools/{poolId}/resize resize_pool
POST /pools/{poolId}/stopresize stop_pool_resize
POST /pools/{poolId}/updateproperties replace_pool_properties
POST /pools/{poolId}/removenodes remove_nodes
GET /supportedimages list_supported_images
GET /nodecounts list_pool_node_counts
DELETE /jobs/{jobId} delete_job
GET /jobs/{jobId} get_job
PATCH /jobs/{jobId} update_job
PUT /jobs/{jobId} replace_job
POST /jobs/{jobId}/disable disable_job
POST /jobs/{jobId}/enable enable_job
POST /jobs/{jobId}/terminate terminate_job
POST /jobs create_job
GET /jobs list_jobs
GET /jobschedules/{jobScheduleId}/jobs list_jobs_from_schedule
GET /jobs/{jobId}/jobpreparationandreleasetaskstatus list_job_preparation_and_release_task_status
GET /jobs/{jobId}/taskcounts get_job_task_counts
HEAD /jobschedules/{jobScheduleId} job_schedule_exists
DELETE /jobschedules/{jobScheduleId} delete_job_schedule
GET /jobschedules/{jobScheduleId} get_job_schedule
PATCH /jobschedules/{jobScheduleId} update_job_schedule
PUT /jobschedules/{jobScheduleId} replace_job_schedule
POST /jobschedules/{jobScheduleId}/disable disable_job_schedule
POST /jobschedules/{jobScheduleId}/enable enable_job_schedule
POST /jobschedules/{jobScheduleId}/terminate terminate_job_schedule
POST /jobschedules create_job_schedule
GET /jobschedules list_job_schedules
POST /jobs/{jobId}/tasks create_task
GET /jobs/{jobId}/tasks list_tasks
POST /jobs/{jobId}/addtaskcollection create_task_collection
DELETE /jobs/{jobId}/tasks/{taskId} delete_task
GET /jobs/{jobId}/tasks/{taskId} get_task
PUT /jobs/{jobId}/tasks/{taskId} replace_task
GET /jobs/{jobId}/tasks/{taskId}/subtasksinfo list_subtasks
POST /jobs/{jobId}/tasks/{taskId}/terminate terminate_task
POST /jobs/{jobId}/tasks/{taskId}/reactivate reactivate_task
DELETE /jobs/{jobId}/tasks/{taskId}/files/{filePath} delete_task_file
GET /jobs/{jobId}/tasks/{taskId}/files/{filePath} download_task_file
HEAD /jobs/{jobId}/tasks/{taskId}/files/{filePath} get_task_file_properties
GET /jobs/{jobId}/tasks/{taskId}/files list_task_files
POST /pools/{poolId}/nodes/{nodeId}/users create_node_user
DELETE /pools/{poolId}/nodes/{nodeId}/users/{userName} delete_node_user
PUT /pools/{poolId}/nodes/{nodeId}/users/{userName} replace_node_user
GET /pools/{poolId}/nodes/{nodeId} get_node
POST /pools/{poolId}/nodes/{nodeId}/reboot reboot_node
POST /pools/{poolId}/nodes/{nodeId}/start start_node
POST /pools/{poolId}/nodes/{nodeId}/reimage reimage_node
POST /pools/{poolId}/nodes/{nodeId}/deallocate deallocate_node
POST /pools/{poolId}/nodes/{nodeId}/disablescheduling disable_node_scheduling
POST /pools/{poolId}/nodes/{nodeId}/enablescheduling enable_node_scheduling
GET /pools/{poolId}/nodes/{nodeId}/remoteloginsettings get_node_remote_login_settings
POST /pools/{poolId}/nodes/{nodeId}/uploadbatchservicelogs upload_node_logs
GET /pools/{poolId}/nodes list_nodes
GET /pools/{poolId}/nodes/{nodeId}/extensions/{extensionName} get_node_extension
GET /pools/{poolId}/nodes/{nodeId}/extensions list_node_extensions
DELETE /pools/{poolId}/nodes/{nodeId}/files/{filePath} delete_node_file
GET /pools/{poolId}/nodes/{nodeId}/files/{filePath} download_node_file
HEAD /pools/{poolId}/nodes/{nodeId}/files/{filePath} get_node_file_properties
GET /pools/{poolId}/nodes/{nodeId}/files list_node_files
"""
OPERATIONS = _table(_DONE, _ROWS)


def find_operation(method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
    """The operation that a request names, with its path parameters."""
    for operation, pattern in _PATTERNS:
        if operation.method == method and (found := pattern.fullmatch(path)):
            return operation, {**found.groupdict(), "*": path}
    return None


_PATTERNS = [
    (operation, re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", operation.template))) for operation in OPERATIONS
]

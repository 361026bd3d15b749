"""The status of job preparation and release tasks as JSON. Shapes follow the published examples."""

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Job, Json, PreparationStatus, StartTask
from local.batch_emulator.protocol.job_rules import special_task_id
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.wire.tasks import failure_json, root_directory


def preparation_renderers(url: str, job: Job) -> Renderers:
    preparation, release = special_task_id(job, "jobPreparationTask"), special_task_id(job, "jobReleaseTask")
    return {
        "poolId": lambda status: status.pool_id,
        "nodeId": lambda status: status.id,
        "nodeUrl": lambda status: _node_url(url, status),
        "jobPreparationTaskExecutionInfo": lambda status: {
            **_info(url, job, status, preparation, status.preparation),
            "retryCount": status.preparation.retries,
        },
        "jobReleaseTaskExecutionInfo": lambda status: (
            _info(url, job, status, release, status.release) if status.release else None
        ),
    }


def _info(url: str, job: Job, status: PreparationStatus, name: str, run: StartTask) -> Json:
    root = root_directory(job.id, name)
    info: Json = {"state": run.state, "startTime": stamp(run.started)}
    if run.ended is not None:
        info |= {"endTime": stamp(run.ended), "exitCode": run.exit_code, "result": run.result}
    if run.failure:
        info["failureInfo"] = failure_json(run.failure)
    return info | {"taskRootDirectory": root, "taskRootDirectoryUrl": f"{_node_url(url, status)}/files/{root}"}


def _node_url(url: str, status: PreparationStatus) -> str:
    return f"{url}/pools/{status.pool_id}/nodes/{status.id}"

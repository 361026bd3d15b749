"""The status of job preparation and release tasks as JSON. Shapes follow the published examples."""

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Job, Json, PreparationStatus, StartTask
from local.batch_emulator.protocol.job_rules import special_task_id
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.wire.tasks import failure_json, root_directory


def preparation_renderers(url: str, job: Job) -> Renderers:
    preparation, release = special_task_id(job, "jobPreparationTask"), special_task_id(job, "jobReleaseTask")
    return {
        "poolId": lambda side: side.pool_id,
        "nodeId": lambda side: side.id,
        "nodeUrl": lambda side: _node_url(url, side),
        "jobPreparationTaskExecutionInfo": lambda side: {
            **_info(url, job, side, preparation, side.preparation),
            "retryCount": side.preparation.retries,
        },
        "jobReleaseTaskExecutionInfo": lambda side: (
            _info(url, job, side, release, side.release) if side.release else None
        ),
    }


def _info(url: str, job: Job, side: PreparationStatus, name: str, run: StartTask) -> Json:
    root = root_directory(job.id, name)
    info: Json = {"state": run.state, "startTime": stamp(run.started)}
    if run.ended is not None:
        info |= {"endTime": stamp(run.ended), "exitCode": run.exit_code, "result": run.result}
    if run.failure:
        info["failureInfo"] = failure_json(run.failure)
    return info | {"taskRootDirectory": root, "taskRootDirectoryUrl": f"{_node_url(url, side)}/files/{root}"}


def _node_url(url: str, side: PreparationStatus) -> str:
    return f"{url}/pools/{side.pool_id}/nodes/{side.id}"

"""A tour of the emulator by Airflow's AzureBatchOperator: ADDRESS ACCOUNT KEY.

The operator runs as in an Airflow worker, with its connection in an environment variable. This module imports nothing
of this repository, since that environment contains only Airflow.
"""

import asyncio
import json
import os
import sys
import tempfile
from importlib import import_module
from typing import Any

_WHAT = {
    "batch_pool_vm_size": "standard_d2s_v5",
    "vm_publisher": "canonical",
    "vm_offer": "ubuntu-24_04-lts",
    "vm_sku": "server",
    "vm_version": "latest",
    "vm_node_agent_sku_id": "batch.node.ubuntu 24.04",
    "timeout": 5,
}


def main() -> None:
    address, account, key = sys.argv[1:]
    connection = {"conn_type": "azure_batch", "login": account, "password": key, "extra": {"account_url": address}}
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"AIRFLOW_HOME": home, "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR"}
        os.environ |= {"AIRFLOW_CONN_AZURE_BATCH_DEFAULT": json.dumps(connection)}
        hooks: Any = import_module("airflow.providers.microsoft.azure.hooks.batch")
        operators: Any = import_module("airflow.providers.microsoft.azure.operators.batch")
        hook = hooks.AzureBatchHook()
        for step in (_connection, _success, _failure, _autoscale, _deferred):
            step(hook, operators)
            print(f"ok {step.__name__.strip('_')}", flush=True)


def _connection(hook: Any, _: Any) -> None:
    assert hook.test_connection() == (True, "Successfully connected to Azure Batch.")


def _success(hook: Any, operators: Any) -> None:
    """The operator creates a pool, a job and a task, waits for the task and deletes the job."""
    batch = import_module("azure.batch.models")
    more = {
        "target_dedicated_nodes": 1,
        "batch_start_task": batch.BatchStartTask(command_line="echo ready", wait_for_success=True),
        "batch_job_preparation_task": batch.BatchJobPreparationTask(command_line="echo prepared"),
        "batch_job_release_task": batch.BatchJobReleaseTask(command_line="echo released"),
        "batch_max_retries": 2,
    }
    _operator(operators, "good", "/bin/sh -c 'echo hello'", **more).execute({})
    (task,) = hook.connection.list_tasks("good")
    assert (task.state, task.execution_info.exit_code) == ("completed", 0), task
    _operator(operators, "good", "true", task="again", should_delete_job=True, **more).execute({})


def _failure(_: Any, operators: Any) -> None:
    operator = _operator(operators, "bad", "/bin/sh -c 'exit 3'", target_dedicated_nodes=1)
    assert "The failed task are" in str(_raised(RuntimeError, operator))


def _autoscale(hook: Any, operators: Any) -> None:
    formula = "$TargetDedicatedNodes = 1;"
    operator = _operator(operators, "scaled", "true", enable_auto_scale=True, auto_scale_formula=formula)
    operator.execute({})
    assert hook.connection.get_pool("scaled").enable_auto_scale


def _deferred(_: Any, operators: Any) -> None:
    """The operator defers to its trigger, as deferrable operators do, and resumes with the trigger's event."""
    operator = _operator(operators, "later", "sleep 60", target_dedicated_nodes=1, deferrable=True, poll_interval=1)
    deferral: Any = _raised(import_module("airflow.sdk.exceptions").TaskDeferred, operator)
    event = asyncio.run(_first(deferral.trigger))
    assert event.payload["status"] == "success", event
    operator.execute_complete({}, event.payload)


def _raised(kind: type[BaseException], operator: Any) -> BaseException:
    try:
        operator.execute({})
    except kind as raised:
        return raised
    raise AssertionError(f"the operator raised no {kind.__name__}")


async def _first(trigger: Any) -> Any:
    async for event in trigger.run():
        return event
    raise AssertionError("the trigger ended without an event")


def _operator(operators: Any, name: str, command_line: str, *, task: str = "task", **more: Any) -> Any:
    names = {"batch_pool_id": name, "batch_job_id": name, "batch_task_id": task}
    return operators.AzureBatchOperator(task_id=name, batch_task_command_line=command_line, **names, **_WHAT, **more)


if __name__ == "__main__":
    main()

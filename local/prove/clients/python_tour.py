"""A tour of the emulator by azure-batch 4.1.3 to 14.2.0, in a separate environment: ADDRESS ACCOUNT KEY.

This module imports nothing of this repository, since that environment contains only the client. A client's models
define the names of its time, and answers may contain only these.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from importlib import import_module
from typing import Any

_PATIENCE_SECONDS = 60.0
_MANY = 250


def main() -> None:
    address, account, key = sys.argv[1:]
    batch: Any = import_module("azure.batch")
    models: Any = import_module("azure.batch.models")
    credentials = import_module("azure.batch.batch_auth").SharedKeyCredentials(account, key)
    client = batch.BatchServiceClient(credentials, address)
    for step in (_pools, _jobs, _tasks, _lists, _shapes, _schedules, _refusals, _files, _scaling, _deletes):
        step(client, models)
        print(f"ok {step.__name__.strip('_')}", flush=True)


def _pools(client: Any, models: Any) -> None:
    image = models.ImageReference(publisher="canonical", offer="ubuntu-24_04-lts", sku="server")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 24.04")
    pool = models.PoolAddParameter(
        id="pool", vm_size="standard_d2s_v5", virtual_machine_configuration=machine, target_dedicated_nodes=2
    )
    slots = "task_slots_per_node" if hasattr(pool, "task_slots_per_node") else "max_tasks_per_node"
    setattr(pool, slots, 2)
    client.pool.add(pool)
    _wait(lambda: _word(client.pool.get("pool").allocation_state) == "steady")
    assert getattr(client.pool.get("pool"), slots) == 2
    nodes = list(client.compute_node.list("pool"))
    assert len(nodes) == 2, nodes
    assert client.pool.exists("pool")
    client.pool.patch("pool", models.PoolPatchParameter(metadata=[models.MetadataItem(name="a", value="b")]))
    assert client.pool.get("pool").metadata[0].value == "b"
    account = client.account
    has_images = hasattr(account, "list_supported_images")
    assert list(account.list_supported_images() if has_images else account.list_node_agent_skus())
    (counts,) = client.account.list_pool_node_counts()
    assert counts.dedicated.total == 2, counts


def _jobs(client: Any, models: Any) -> None:
    client.job.add(models.JobAddParameter(id="job", pool_info=models.PoolInformation(pool_id="pool"), priority=5))
    client.job.patch("job", models.JobPatchParameter(priority=7))
    job = client.job.get("job")
    assert (job.priority, _word(job.state), job.execution_info.pool_id) == (7, "active", "pool")
    client.job.disable("job", disable_tasks="requeue")
    _wait(lambda: _word(client.job.get("job").state) == "disabled")
    client.job.enable("job")
    _wait(lambda: _word(client.job.get("job").state) == "active")


def _tasks(client: Any, models: Any) -> None:
    tasks = [models.TaskAddParameter(id=f"t{number:03}", command_line="sleep 1") for number in range(_MANY)]
    for start in range(0, _MANY, 100):
        added = client.task.add_collection("job", tasks[start : start + 100])
        assert {_word(row.status).lower() for row in added.value} == {"success"}
    client.task.add("job", models.TaskAddParameter(id="bad", command_line="echo hello; sleep 1; exit 3"))
    _wait(lambda: _word(client.task.get("job", "bad").state) == "completed")
    assert client.task.get("job", "bad").execution_info.failure_info.code == "FailureExitCode"
    client.task.reactivate("job", "bad")
    address = "blob_source" if "blob_source" in models.ResourceFile._attribute_map else "http_url"
    file = models.ResourceFile(file_path="y", **{address: "https://example.org/y"})
    client.task.add("job", models.TaskAddParameter(id="long", command_line="sleep 100000", resource_files=[file]))
    (shown,) = client.task.get("job", "long").resource_files
    assert getattr(shown, address) == "https://example.org/y", shown
    client.task.terminate("job", "long")
    counts = client.job.get_task_counts("job")
    counts = getattr(counts, "task_counts", counts)
    assert counts.active + counts.running + counts.completed == _MANY + 2, counts


def _lists(client: Any, models: Any) -> None:
    options = models.TaskListOptions(max_results=40, select="id,state")
    assert len(list(client.task.list("job", options))) == _MANY + 2
    options = models.TaskListOptions(filter="startswith(id,'t00') and state ne 'preparing'", max_results=3)
    assert {task.id[:3] for task in client.task.list("job", options)} <= {"t00"}
    assert [job.id for job in client.job.list(models.JobListOptions(filter="state eq 'active'"))] == ["job"]
    assert list(client.application.list()) == []


def _shapes(client: Any, models: Any) -> None:
    """Answers have only properties in the client's models, and all that these require."""
    node = next(iter(client.compute_node.list("pool"))).id
    counts = getattr(models, "TaskCountsResult", None) or models.TaskCounts
    asked: tuple[tuple[Any, Callable[[], Any]], ...] = (
        (models.CloudPool, lambda: client.pool.get("pool", raw=True)),
        (models.ComputeNode, lambda: client.compute_node.get("pool", node, raw=True)),
        (models.CloudJob, lambda: client.job.get("job", raw=True)),
        (models.CloudTask, lambda: client.task.get("job", "bad", raw=True)),
        (models.CloudTask, lambda: client.task.get("job", "long", raw=True)),
        (counts, lambda: client.job.get_task_counts("job", raw=True)),
    )
    for model, act in asked:
        faults = list(_strange(models, model, act().response.json()))
        assert not faults, faults


def _strange(models: Any, model: Any, body: Mapping[str, Any]) -> Iterator[str]:
    known = {each["key"]: each["type"].strip("[]{}") for each in model._attribute_map.values()}
    for name, rules in model._validation.items():
        if rules.get("required") and model._attribute_map[name]["key"] not in body:
            yield f"{model.__name__} lacks {name}"
    for name, value in body.items():
        inner = getattr(models, known.get(name, ""), None)
        if name not in known and not name.startswith("odata"):
            yield f"{model.__name__} has {name}"
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict) and hasattr(inner, "_attribute_map"):
                yield from _strange(models, inner, each)


def _schedules(client: Any, models: Any) -> None:
    specification = models.JobSpecification(pool_info=models.PoolInformation(pool_id="pool"))
    schedule = models.Schedule(recurrence_interval=timedelta(days=1))
    client.job_schedule.add(
        models.JobScheduleAddParameter(id="daily", schedule=schedule, job_specification=specification)
    )
    _wait(lambda: [job.id for job in client.job.list_from_job_schedule("daily")] == ["daily:job-1"])
    client.job_schedule.disable("daily")
    client.job_schedule.enable("daily")
    client.job_schedule.delete("daily")
    _wait(lambda: not client.job_schedule.exists("daily"))


def _refusals(client: Any, models: Any) -> None:
    for wanted, act in (
        ("JobNotFound", lambda: client.job.get("nothing")),
        ("TaskExists", lambda: client.task.add("job", models.TaskAddParameter(id="t000", command_line="x"))),
        ("InvalidQueryParameterValue", lambda: list(client.job.list(models.JobListOptions(filter="priority eq 1")))),
        ("ConditionNotMet", lambda: client.job.delete("job", models.JobDeleteOptions(if_match="0x1"))),
    ):
        assert _code(models, act) == wanted, wanted


def _files(client: Any, models: Any) -> None:
    _wait(lambda: _word(client.task.get("job", "bad").state) == "completed")
    assert [file.name for file in client.file.list_from_task("job", "bad")] == ["stderr.txt", "stdout.txt", "wd"]
    assert b"".join(client.file.get_from_task("job", "bad", "stdout.txt")) == b"hello\n"
    part = models.FileGetFromTaskOptions(ocp_range="bytes=1-3")
    assert b"".join(client.file.get_from_task("job", "bad", "stdout.txt", part)) == b"ell"
    found = client.file.get_properties_from_task("job", "bad", "stdout.txt", raw=True)
    assert found.headers["Content-Length"] == len("hello\n"), found.headers
    node = client.task.get("job", "bad").node_info
    names = {file.name for file in client.file.list_from_compute_node("pool", node.node_id, recursive=True)}
    assert f"{node.task_root_directory}/stdout.txt" in names
    client.file.delete_from_task("job", "bad", "stdout.txt")
    assert _code(models, lambda: list(client.file.get_from_task("job", "bad", "stdout.txt"))) == "FileNotFound"


def _scaling(client: Any, _: Any) -> None:
    formula = "$TargetDedicatedNodes = 1 + min(0, $FailedTasks)"
    interval = timedelta(minutes=5)
    client.pool.enable_auto_scale("pool", auto_scale_formula=formula, auto_scale_evaluation_interval=interval)
    assert client.pool.get("pool").auto_scale_run.results.startswith("$TargetDedicatedNodes=1;")
    _wait(lambda: len(list(client.compute_node.list("pool"))) == 1)
    assert client.pool.evaluate_auto_scale(
        "pool", auto_scale_formula="n = 2; $TargetDedicatedNodes = n"
    ).results.endswith(";n=2")
    failed = client.pool.evaluate_auto_scale("pool", auto_scale_formula="$something_useless")
    assert failed.error.code == "AutoScalingFormulaEvaluationError", failed
    client.pool.disable_auto_scale("pool")


def _deletes(client: Any, _: Any) -> None:
    client.task.delete("job", "t001")
    client.job.terminate("job")
    _wait(lambda: _word(client.job.get("job").state) == "completed")
    client.job.delete("job")
    client.pool.delete("pool")
    _wait(lambda: not list(client.job.list()) and not client.pool.exists("pool"))


def _word(value: Any) -> str:
    """Returns a value as text; enumerations of azure-batch 4 aren't strings."""
    return str(getattr(value, "value", value))


def _code(models: Any, act: Callable[[], object]) -> str:
    try:
        act()
    except models.BatchErrorException as error:
        return str(error.error.code)
    return "no error"


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.2)


if __name__ == "__main__":
    main()

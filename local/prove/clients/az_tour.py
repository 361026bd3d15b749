"""A tour of the emulator by the Azure CLI, `az batch`: ADDRESS ACCOUNT KEY AZ, where AZ is the program.

The CLI sends numbers as the strings of its command line, and is configured only by environment variables. The tour
omits `node scheduling disable --node-disable-scheduling-option`: version 2.91 sends an object for it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PATIENCE_SECONDS = 60.0
_IMAGE = ("--image", "canonical:ubuntu-24_04-lts:server", "--node-agent-sku-id", "batch.node.ubuntu 24.04")


class Az:
    """Runs `az batch` and reads its JSON; `folder` holds its configuration and files."""

    def __init__(self, program: str, folder: Path, **variables: str) -> None:
        self._program = program
        self._environment = {**os.environ, **variables, "AZURE_CONFIG_DIR": str(folder / "configuration")}
        self.folder = folder

    def __call__(self, command: str, *arguments: str) -> Any:
        """Runs a command. Raises RuntimeError with the CLI's message."""
        done = self._run(command, *arguments)
        if done.returncode:
            raise RuntimeError(f"az batch {command}: {done.stderr.strip()}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def refused(self, command: str, *arguments: str) -> str:
        """Returns the CLI's message for a failing command; empty if it succeeds."""
        done = self._run(command, *arguments)
        return done.stderr if done.returncode else ""

    def _run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        whole = [self._program, "batch", *command.split(), *arguments, "--output", "json"]
        return subprocess.run(whole, env=self._environment, capture_output=True, text=True, check=False)


def main() -> None:
    address, account, key, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        az = Az(
            program,
            Path(folder),
            AZURE_BATCH_ACCOUNT=account,
            AZURE_BATCH_ACCESS_KEY=key,
            AZURE_BATCH_ENDPOINT=address,
            AZURE_CORE_COLLECT_TELEMETRY="no",
            AZURE_CORE_NO_COLOR="yes",
        )
        for step in (_pools, _jobs, _tasks, _files, _containers, _schedules, _nodes, _scaling, _refusals, _deletes):
            step(az)
            print(f"ok {step.__name__.strip('_')}", flush=True)


def _pools(az: Az) -> None:
    dedicated = ("--target-dedicated-nodes", "2", "--target-low-priority-nodes", "0")
    az("pool create", "--id", "pool", "--vm-size", "standard_d2s_v5", *dedicated, "--task-slots-per-node", "4", *_IMAGE)
    _wait(lambda: az("pool show", "--pool-id", "pool")["allocationState"] == "steady")
    pool = az("pool show", "--pool-id", "pool")
    assert (pool["targetDedicatedNodes"], pool["taskSlotsPerNode"]) == (2, 4), pool
    az("pool set", "--pool-id", "pool", "--metadata", "a=b")
    az("pool resize", "--pool-id", "pool", "--target-dedicated-nodes", "3", "--resize-timeout", "PT10M")
    _wait(lambda: az("pool show", "--pool-id", "pool")["currentDedicatedNodes"] == 3)
    assert [row["id"] for row in az("pool list", "--filter", "state eq 'active'")] == ["pool"]
    assert [row["dedicated"]["total"] for row in az("pool node-counts list")] == [3]
    assert az("pool supported-images list")


def _jobs(az: Az) -> None:
    az("job create", "--id", "job", "--pool-id", "pool", "--priority", "5", "--job-max-task-retry-count", "2")
    az("job set", "--job-id", "job", "--priority", "-7", "--max-parallel-tasks", "6")
    job = az("job show", "--job-id", "job")
    assert (job["priority"], job["constraints"]["maxTaskRetryCount"]) == (-7, 2), job
    az("job disable", "--job-id", "job", "--disable-tasks", "requeue")
    _wait(lambda: az("job show", "--job-id", "job")["state"] == "disabled")
    az("job enable", "--job-id", "job")
    assert [row["id"] for row in az("job list")] == ["job"]


def _tasks(az: Az) -> None:
    az("task create", "--job-id", "job", "--task-id", "good", "--command-line", "/bin/sh -c 'echo hello'")
    az("task create", "--job-id", "job", "--task-id", "bad", "--command-line", "/bin/sh -c 'exit 3'")
    many = [{"id": f"t{number:03}", "commandLine": "true", "requiredSlots": "2"} for number in range(150)]
    az("task create", "--job-id", "job", "--json-file", _file(az, many))
    _wait(lambda: az("job task-counts show", "--job-id", "job")["taskCounts"]["completed"] == len(many) + 2)
    found = az("task list", "--job-id", "job", "--filter", "executionInfo/result eq 'failure'")
    assert [(task["id"], task["executionInfo"]["exitCode"]) for task in found] == [("bad", 3)], found
    assert len(az("task list", "--job-id", "job")) == len(many) + 2
    az("job set", "--job-id", "job", "--job-max-task-retry-count", "0")
    az("task create", "--job-id", "job", "--task-id", "long", "--command-line", "sleep 100000")
    az("task reset", "--job-id", "job", "--task-id", "long", "--max-task-retry-count", "1")
    assert az("task show", "--job-id", "job", "--task-id", "long")["constraints"]["maxTaskRetryCount"] == 1
    az("task stop", "--job-id", "job", "--task-id", "long")
    az("task reactivate", "--job-id", "job", "--task-id", "bad")


def _files(az: Az) -> None:
    here = ("--job-id", "job", "--task-id", "good")
    assert [file["name"] for file in az("task file list", *here)] == ["stderr.txt", "stdout.txt", "wd"]
    there = az.folder / "stdout.txt"
    az("task file download", *here, "--file-path", "stdout.txt", "--destination", str(there))
    assert there.read_text() == "hello\n"
    az("task file delete", *here, "--file-path", "stdout.txt", "--yes")
    assert len(az("task file list", *here)) == 2


def _containers(az: Az) -> None:
    task = {"id": "image", "commandLine": "", "containerSettings": {"imageName": "registry.example/tool:1"}}
    az("task create", "--job-id", "job", "--json-file", _file(az, task))
    where = ("--job-id", "job", "--task-id", "image")
    _wait(lambda: az("task show", *where)["state"] == "completed")
    assert az("task show", *where)["executionInfo"]["exitCode"] == 0


def _schedules(az: Az) -> None:
    rules = ("--recurrence-interval", "P1D", "--start-window", "PT1H", "--pool-id", "pool", "--priority", "3")
    az("job-schedule create", "--id", "daily", *rules)
    _wait(lambda: [row["id"] for row in az("job list", "--job-schedule-id", "daily")] == ["daily:job-1"])
    az("job-schedule disable", "--job-schedule-id", "daily")
    az("job-schedule enable", "--job-schedule-id", "daily")
    assert az("job-schedule show", "--job-schedule-id", "daily")["jobSpecification"]["priority"] == 3
    az("job-schedule delete", "--job-schedule-id", "daily", "--yes")
    _wait(lambda: not az("job-schedule list"))


def _nodes(az: Az) -> None:
    nodes = az("node list", "--pool-id", "pool")
    here = ("--pool-id", "pool", "--node-id", nodes[0]["id"])
    az("node scheduling disable", *here)
    assert az("node show", *here)["schedulingState"] == "disabled"
    az("node scheduling enable", *here)
    az("node user create", *here, "--name", "someone", "--password", "Some.word.1", "--is-admin")
    az("node user delete", *here, "--user-name", "someone", "--yes")
    assert az("node file list", *here)
    az("node reboot", *here, "--node-reboot-option", "terminate")
    az("node delete", "--pool-id", "pool", "--node-list", nodes[1]["id"])
    _wait(lambda: len(az("node list", "--pool-id", "pool")) == 2)


def _scaling(az: Az) -> None:
    _wait(lambda: az("pool show", "--pool-id", "pool")["allocationState"] == "steady")
    here = ("--pool-id", "pool", "--auto-scale-formula")
    az("pool autoscale enable", *here, "$TargetDedicatedNodes = 1", "--auto-scale-evaluation-interval", "PT5M")
    assert az("pool autoscale evaluate", *here, "n = 2; $TargetDedicatedNodes = n")["results"].endswith(";n=2")
    az("pool autoscale disable", "--pool-id", "pool")


def _refusals(az: Az) -> None:
    for wanted, said in (
        ("JobNotFound", az.refused("job show", "--job-id", "nothing")),
        ("InvalidPropertyValue", az.refused("job set", "--job-id", "job", "--priority", "1001")),
        ("TaskExists", az.refused("task create", "--job-id", "job", "--task-id", "good", "--command-line", "true")),
        ("InvalidQueryParameterValue", az.refused("job list", "--filter", "priority eq 1")),
        ("ConditionNotMet", az.refused("job delete", "--job-id", "job", "--if-match", "0x1", "--yes")),
    ):
        assert wanted in said or _sentence(wanted) in said, (wanted, said)


def _sentence(code: str) -> str:
    """Returns an error's message, which the CLI shows instead of its code."""
    return {
        "JobNotFound": "The specified job does not exist.",
        "InvalidPropertyValue": "The value of a property in the request's body is invalid.",
        "TaskExists": "The specified task already exists.",
        "InvalidQueryParameterValue": "The value of a query parameter in the request's address is invalid.",
        "ConditionNotMet": "The condition specified using HTTP conditional header(s) is not met.",
    }[code]


def _deletes(az: Az) -> None:
    az("task delete", "--job-id", "job", "--task-id", "t001", "--yes")
    az("job stop", "--job-id", "job")
    _wait(lambda: az("job show", "--job-id", "job")["state"] == "completed")
    az("job delete", "--job-id", "job", "--yes")
    az("pool delete", "--pool-id", "pool", "--yes")
    _wait(lambda: not az("pool list") and not az("job list"))


def _file(az: Az, content: object) -> str:
    path = az.folder / "content.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.2)


if __name__ == "__main__":
    main()

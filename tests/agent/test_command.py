"""The agent as nodes start it, against real storage."""

import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from azure.storage.blob import BlobServiceClient, ContainerClient, ContainerSasPermissions, generate_container_sas
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric

from local.azurite import StorageAddresses
from local.dev.packaging.agent_file import write_agent
from shared.domain.telemetry.decode.decoding import Decoder
from tests.domain.telemetry.decode.otlp_messages import as_json, message, number

ROOT = Path(__file__).resolve().parents[2]
NODE = ("--account=demo", "--pool=render", "--node=tvmps_1", "--imds=http://127.0.0.1:9")
PATIENCE = 20.0


@pytest.fixture
def container(azurite: StorageAddresses) -> Iterator[ContainerClient]:
    with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        yield service.create_container(f"t{uuid4().hex}")


def address_of(container: ContainerClient) -> str:
    """Returns a container's address with a signature that may create, append and read, not list or delete."""
    sas = generate_container_sas(
        str(container.account_name),
        container.container_name,
        account_key=container.credential.account_key,
        permission=ContainerSasPermissions(read=True, add=True, create=True, write=True),
        expiry=datetime.now(UTC) + timedelta(hours=1),
    )
    return f"{container.url}?{sas}"


def lines_of(container: ContainerClient) -> list[str]:
    """Returns the lines of all blobs."""
    text = b""
    for name in sorted(container.list_blob_names()):
        stored = container.download_blob(name).readall()
        while stored:
            member = zlib.decompressobj(31)
            text += member.decompress(stored)
            stored = member.unused_data
    return text.decode().splitlines()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def has_sessions(container: ContainerClient, count: int) -> bool:
    return measurements(lines_of(container)).count("linux_boot") == count


def has_ended(folder: Path) -> bool:
    return "The agent ends." in (folder / "agent.log").read_text()


def measurements(lines: list[str]) -> list[str]:
    return [line.partition(" ")[0].partition(",")[0] for line in lines]


def started(
    address: str, folder: Path, command: str, *, stdin: int = subprocess.PIPE, task: str = ""
) -> "subprocess.Popen[str]":
    variables = {"AZ_BATCH_JOB_ID": "job", "AZ_BATCH_TASK_ID": task} if task else {}
    return subprocess.Popen(
        [sys.executable, "-m", "agent", command, f"--folder={folder}", "--interval=1", "--flush=5", *NODE],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "BATCHSCOPE_STORAGE": address, **variables},
        stdin=stdin,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_run_begins_with_whose_it_is_and_ends_with_its_last_samples(
    container: ContainerClient, tmp_path: Path
) -> None:
    agent = started(address_of(container), tmp_path / "agent", "run")
    until(lambda: "cpu" in measurements(lines_of(container)))
    before = len(lines_of(container))
    time.sleep(1.1)
    agent.send_signal(signal.SIGTERM)
    _, complaints = agent.communicate(timeout=PATIENCE)
    assert (agent.returncode, complaints) == (0, "")
    lines = lines_of(container)
    assert lines[0].startswith("batchscope_agent,vm_monitor_collection=once contract=1i,")
    assert len(lines) > before
    of_the_node = [name for name in measurements(lines) if not name.startswith("batchscope_task")]
    assert of_the_node[-1] == "batchscope_agent"  # a machine with many tasks has units with their lines after it
    (name,) = container.list_blob_names()
    assert name.startswith("accounts/demo/pools/render/nodes/tvmps_1/agent/")


def test_a_run_in_the_foreground_needs_no_standard_input(container: ContainerClient, tmp_path: Path) -> None:
    agent = started(address_of(container), tmp_path / "agent", "run", stdin=subprocess.DEVNULL)
    until(lambda: "cpu" in measurements(lines_of(container)))
    agent.terminate()
    _, complaints = agent.communicate(timeout=PATIENCE)
    assert (agent.returncode, complaints) == (0, "")


def test_lines_on_standard_input_are_sent_with_the_node_they_come_from(
    container: ContainerClient, tmp_path: Path
) -> None:
    agent = started(address_of(container), tmp_path / "agent", "append")
    _, complaints = agent.communicate("loss,run=a value=0.5 1795000000000000000\nhalf a line", timeout=PATIENCE)
    assert (agent.returncode, complaints) == (0, "")
    lines = lines_of(container)
    assert lines[0].startswith("batchscope_agent,")
    assert "loss,run=a value=0.5 1795000000000000000" in lines
    assert not any("half a line" in line for line in lines)


def test_messages_of_a_collector_on_standard_input_come_to_the_app_whole(
    container: ContainerClient, tmp_path: Path
) -> None:
    at = time.time_ns()
    gauges = [Gauge(data_points=[number(value, at, place=f"{value:0300}")]) for value in range(1000)]
    metrics = [Metric(name=f"training.loss.{place}", gauge=gauge) for place, gauge in enumerate(gauges)]
    agent = started(address_of(container), tmp_path / "agent", "append")
    _, complaints = agent.communicate(as_json(message(*metrics)).decode(), timeout=PATIENCE)
    assert (agent.returncode, complaints) == (0, "")
    text = "\n".join(lines_of(container)).encode()
    steps = list(Decoder().steps(text, 0, is_last=True))
    assert not any(step.rejected for step in steps)
    found = {metric.name for step in steps for metric in step.metrics}
    assert {metric.name for metric in metrics} <= found


def test_nothing_of_the_agent_is_about_to_be_removed_from_python() -> None:
    """Warnings of Python 3.13 name what 3.14 lacks."""
    code = (
        "import pkgutil, agent\n"
        "for one in pkgutil.walk_packages(agent.__path__, 'agent.'):\n"
        "    one.name.endswith('__main__') or __import__(one.name)"
    )
    for arguments in (["-c", code], ["-m", "agent", "once", *NODE]):
        done = subprocess.run([sys.executable, "-W", "error", *arguments], cwd=ROOT, capture_output=True, check=False)
        assert (done.returncode, done.stderr.decode()) == (0, "")


def test_an_agent_in_the_background_outlives_its_start_and_ends_when_asked(
    container: ContainerClient, tmp_path: Path
) -> None:
    address, folder = address_of(container), tmp_path / "agent"

    def run(command: str) -> int:
        agent = started(address, folder, command)
        agent.communicate(timeout=PATIENCE)
        return agent.returncode

    assert run("status") == 1
    assert run("start") == 0
    try:
        until(lambda: run("status") == 0)
        until(lambda: "cpu" in measurements(lines_of(container)))
    finally:
        assert run("stop") == 0
        until(lambda: run("status") == 1)
    assert "sig=" not in (folder / "agent.log").read_text()
    assert measurements(lines_of(container)[-1:]) == ["batchscope_agent"]


def test_an_agent_that_a_task_started_is_no_run_of_it_for_the_next_agent(
    container: ContainerClient, tmp_path: Path
) -> None:
    address, folder = address_of(container), tmp_path / "agent"
    try:
        for count, task in enumerate(("first", "second"), start=1):
            assert started(address, folder, "start", task=task).wait(PATIENCE) == 0
            until(partial(has_sessions, container, count))
        until(partial(has_ended, folder))
        before = measurements(lines_of(container)).count("mem")
        until(lambda: measurements(lines_of(container)).count("mem") > before + 6)  # a flush is of five samples
    finally:
        assert started(address, folder, "stop").wait(PATIENCE) == 0
        until(lambda: (folder / "agent.log").read_text().count("The agent ends.") == 2)
    ended = [line for line in lines_of(container) if line.startswith("batchscope_task_attempt,")]
    assert not any("task_id=first" in line for line in ended)


def test_agents_that_are_not_registered_with_each_other_are_no_runs_of_tasks(
    container: ContainerClient, tmp_path: Path
) -> None:
    address, folders = address_of(container), {name: tmp_path / name for name in ("first", "second")}
    try:
        for count, (task, folder) in enumerate(folders.items(), start=1):
            assert started(address, folder, "start", task=task).wait(PATIENCE) == 0
            until(partial(has_sessions, container, count))
        before = measurements(lines_of(container)).count("mem")
        until(lambda: measurements(lines_of(container)).count("mem") > before + 12)  # a flush is of five samples
    finally:
        for folder in folders.values():
            assert started(address, folder, "stop").wait(PATIENCE) == 0
            until(partial(has_ended, folder))
    tasks = [line for line in lines_of(container) if line.startswith("batchscope_task")]
    assert not any("task_id=first" in line for line in tasks)


@pytest.mark.parametrize("wrong", [["--storage=https://[x/c"], ["--pool=a/b"], ["--unknown"]])
def test_a_start_that_can_not_be_fails_no_task_and_says_why(wrong: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent", "start", *NODE, "--storage=http://127.0.0.1:9/c", *wrong],
        cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert "batchscope-agent: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("command", "code"), [("start", 0), ("run", 2)])
def test_a_python_that_can_not_run_the_agent_fails_no_task(tmp_path: Path, command: str, code: int) -> None:
    (tmp_path / "ssl.py").write_text("raise ImportError('no ssl here')")
    write_agent(ROOT, tmp_path / "agent.pyz")
    done = subprocess.run(
        [sys.executable, tmp_path / "agent.pyz", command],
        env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        code,
        "batchscope-agent: This Python can't run the agent: no ssl here\n",
    )


@pytest.mark.parametrize(("command", "code"), [("status", 1), ("stop", 0)])
def test_agents_are_found_without_the_settings_of_a_run(tmp_path: Path, command: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent", command, f"--folder={tmp_path}/agent"],
        cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, "")

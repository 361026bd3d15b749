"""The course of the proof of GPUs, with real processes, on stand-ins for a driver's libraries and for nvidia-smi."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from local.dev.system.checkout import HERE
from local.prove.gpu.child import Child
from local.prove.gpu.plan import BYSTANDER, FIRST, Phase
from local.prove.gpu.report import findings_of
from local.prove.gpu.run import run
from local.prove.gpu.stub import build
from tests.prove.gpu.fake_driver import CUDA, SMI

SHORT = (
    Phase("before", 0.5),
    Phase("begin", 0, {FIRST: ("begin",)}),
    Phase("allocate", 0, {FIRST: ("allocate", 3000)}),
    Phase("held", 2.5),
    Phase("busy", 1, {FIRST: ("busy", 1, 0.5)}),
    Phase("free", 0, {FIRST: ("free",)}),
    Phase("exit", 0, {FIRST: ("exit",)}),
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both libraries and of nvidia-smi."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler (cc or gcc) builds the stub of NVML here")
    folder = tmp_path_factory.mktemp("driver")
    build(folder)
    (folder / "cuda.c").write_text(CUDA)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "libcuda.so.1", folder / "cuda.c"], check=True)
    (folder / "nvidia-smi").write_text(SMI)
    (folder / "nvidia-smi").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def raw(driver: Path) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_LIBRARY_PATH", str(driver))
        found: dict[str, Any] = json.loads(
            json.dumps(run(SHORT, str(driver / "nvidia-smi"), workload=True, library=driver))
        )
    return found


def test_a_task_does_what_it_is_told_and_says_when(raw: dict[str, Any]) -> None:
    answers = {one["command"]: one for one in raw["tasks"][FIRST]["answers"]}
    assert list(answers) == ["begin", "allocate", "busy", "free", "exit"]
    assert not [one for one in answers.values() if "error" in one]
    assert answers["begin"]["uuid"] == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert answers["begin"]["ptx"] == "7.0 sm_70"
    assert answers["free"]["free"] - answers["allocate"]["free"] == 3000 << 20
    assert 0.35 < answers["busy"]["share"] < 0.65
    assert all(one["begin"] <= one["end"] for one in answers.values())
    assert [phase["name"] for phase in raw["phases"]] == [phase.name for phase in SHORT]


def test_the_agent_sees_gpus_and_tasks_meanwhile(raw: dict[str, Any]) -> None:
    assert {"notes", "driver", "nvidia", "tasks", "processes", "answers", "sizes"} <= {
        line["kind"] for line in raw["agent"]
    }
    assert not [line for line in raw["agent"] if "error" in line]
    tasks = [tags for line in raw["agent"] if line["kind"] == "tasks" for _, tags, _ in line["records"]]
    assert {tags["task_id"] for tags in tasks} >= {FIRST, BYSTANDER}
    assert {when["when"] for when in raw["agent"] if when["kind"] == "sizes"} == {"imported", "collectors", "end"}


def test_nvidia_smi_is_asked_without_the_fields_that_it_lacks(raw: dict[str, Any]) -> None:
    smi = raw["smi"]
    assert "fan.speed" not in smi["fields"]
    assert smi["gpus"][-1]["memory.used"] == "100"
    assert smi["apps"][-1]["rows"] == [{"gpu_uuid": "GPU-0", "pid": "1000", "used_memory": "101"}]
    assert smi["processes"][-1]["rows"][-1]["sm"] == "97"
    verdicts = {finding.name: finding for finding in findings_of(raw)}
    assert verdicts["PCIe replays"].ok is True
    assert verdicts["NVLink, transmitted"].ok is True


def test_a_task_that_ended_answers_at_once(tmp_path: Path) -> None:
    child = Child(FIRST, tmp_path / "log")
    child.end()
    begin = time.monotonic()
    for _ in range(2):
        child.send(("begin",))
        child.receive(begin + 60)
    assert [one["error"] for one in child.answers] == ["no answer"] * 2
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("python", [sys.executable, *map(str, Path.home().glob(".pyenv/versions/3.8.*/bin/python"))])
def test_the_proof_needs_the_standard_library_alone(python: str) -> None:
    names = "local.prove.gpu.__main__, local.prove.gpu.observer, local.prove.gpu.task"
    subprocess.run([python, "-S", "-s", "-B", "-c", f"import {names}"], cwd=HERE.root, check=True)


def test_a_machine_without_a_driver_is_told_in_one_sentence() -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a driver of NVIDIA")
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "local.prove.gpu"]
    done = subprocess.run(command, cwd=HERE.root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("The node has ")
    assert done.stdout.count("\n") == 1

"""Runs agent, judge and tasks side by side, and returns everything that each of them noted, without judging it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, Mapping, Sequence

from local.prove.gpu.child import ROOT, Child
from local.prove.gpu.machine_facts import machine_facts
from local.prove.gpu.plan import BYSTANDER, FIRST, SECOND, Phase
from local.prove.gpu.smi import Raw, Smi

_PATIENCE = 45.0
"""Seconds beyond a command's own that a task may take: a first context takes some."""
_AGENT = "agent.jsonl"


def run(plan: Sequence[Phase], smi: str | None, *, workload: bool, library: Path | None = None) -> Raw:
    """Returns everything noted in a run of `plan`; `library` is the folder of a stub of NVML."""
    found: Raw = {
        "began": time.time(),
        "machine": machine_facts(),
        "workload": workload,
        "stub": library is not None,
        "phases": [],
    }
    judge = Smi(smi) if smi else None
    with tempfile.TemporaryDirectory(prefix="gpu-proof-") as folder:
        logs = Path(folder)
        observer = _observer(logs, library)
        _await_observer(observer, logs / _AGENT)
        names = (FIRST, SECOND, BYSTANDER) if workload else (BYSTANDER,)
        tasks = {name: Child(name, logs / name) for name in names}
        try:
            if judge:
                judge.start()
            found["phases"] = _phases(plan, tasks, logs / _AGENT, judge)
            if judge:
                judge.stop()
        except Exception:
            found["fault"] = traceback.format_exc()
        finally:
            for task in tasks.values():
                task.end()
            _end(observer)
        found["tasks"] = {name: {"pid": task.pid, "answers": task.answers} for name, task in tasks.items()}
        found["agent"] = _lines(logs / _AGENT)
        found["logs"] = {name: (logs / name).read_text(errors="replace")[-4000:] for name in ("agent", *tasks)}
    found["smi"] = judge.found if judge else None
    return found


def _phases(plan: Sequence[Phase], tasks: Mapping[str, Child], agent: Path, judge: Smi | None) -> list[Raw]:
    """Lets the plan pass, or its first phase only where neither agent nor judge has found a GPU by then."""
    found = [_passed(plan[0], tasks)]
    has_gpu = any(line["kind"] in ("nvidia", "driver") for line in _lines(agent))
    if has_gpu or (judge and judge.found["gpus"]):
        found += [_passed(phase, tasks) for phase in plan[1:]]
    return found


def _await_observer(observer: subprocess.Popen[bytes], agent: Path) -> None:
    """Waits until the observer knows its collectors: a driver that no one uses takes seconds to start."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and observer.poll() is None:
        if any(line["kind"] == "notes" for line in _lines(agent)):
            return
        time.sleep(0.2)


def _observer(logs: Path, library: Path | None) -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    if library:
        environment["LD_LIBRARY_PATH"] = str(library)
    command = [sys.executable, "-m", "local.prove.gpu.observer", str(logs / _AGENT)]
    with (logs / "agent").open("wb") as errors:
        return subprocess.Popen(
            [*command, "--stub"] if library else command,
            cwd=str(ROOT), env=environment, start_new_session=True, stderr=errors,
        )  # fmt: skip


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


def _passed(phase: Phase, tasks: Mapping[str, Child]) -> dict[str, Any]:
    """Lets a phase pass; returns its name and times in seconds since 1970."""
    began, begin = time.time(), time.monotonic()
    concerned = {tasks[name]: command for name, command in phase.commands.items() if name in tasks}
    for task, command in concerned.items():
        task.send(command)
    for task in concerned:
        task.receive(begin + phase.seconds + _PATIENCE)
    time.sleep(max(begin + phase.seconds - time.monotonic(), 0))
    return {"name": phase.name, "begin": began, "end": time.time()}


def _lines(path: Path) -> list[Raw]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

"""A run of the proof of GPUs as it should be, second by second: tests plant faults in it."""

from collections.abc import Callable, Iterator
from typing import Any

from local.prove.gpu.plan import BYSTANDER, FIRST, JOB, MEBIBYTES, PLAN, SECOND

PIDS = {FIRST: 101, SECOND: 102, BYSTANDER: 103}
UUID, MEBI = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", 1 << 20
CONTEXT, RESERVED, TOTAL = 520, 600, 143_771
_LENGTH = {"begin": 4.0, "allocate": 0.4, "free": 0.2, "exit": 0.5}
_BUSY = {"busy": {FIRST: 100.0}, "half": {SECOND: 50.0}, "both": {FIRST: 51.0, SECOND: 48.0}}
_ALIVE = [phase.name for phase in PLAN][2:-2]
_HELD = _ALIVE[2:]
Fields = dict[str, Any]


class Moment:
    """The true state of the GPU at a time of a phase."""

    def __init__(self, phase: str) -> None:
        has_context, holds = phase in _ALIVE, phase in _HELD
        first = holds and phase != "freed"
        self.memory = {
            FIRST: has_context * CONTEXT + first * MEBIBYTES[FIRST],
            SECOND: has_context * CONTEXT + holds * MEBIBYTES[SECOND],
        }
        self.used = 4 + sum(self.memory.values())
        self.percent = _BUSY.get(phase, {})
        self.utilization = min(round(sum(self.percent.values()) + 0.5), 100) if self.percent else 0
        self.power = 120.0 + 4 * self.utilization
        self.has_context = has_context


def timeline() -> list[Fields]:
    phases, now = [], 1000.0
    for phase in PLAN:
        end = now + (phase.seconds or _LENGTH[phase.name])
        phases.append({"name": phase.name, "begin": now, "end": end})
        now = end
    return phases


def good_run(change: Callable[[str, Fields], object] = lambda *_: None) -> Fields:
    """Returns the raw values of a run; `change` may alter the fields of each record of the agent."""
    phases = timeline()
    return {
        "began": 1000.0, "workload": True, "stub": False, "phases": phases,
        "machine": {
            "driver": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1  x", "version": "version 0, commit a",
            "kernel": "Linux", "python": "3.8",
        },
        "tasks": {name: {"pid": PIDS[name], "answers": list(_answers(name, phases))} for name in PIDS},
        "agent": list(_agent(phases, change)),
        "smi": _smi(phases),
    }  # fmt: skip


def _answers(name: str, phases: list[Fields]) -> Iterator[Fields]:
    facts: dict[str, Fields] = {
        "begin": {"uuid": UUID, "name": "NVIDIA H200"},
        "allocate": {
            "free": (name == FIRST) * 5_000 * MEBI + (TOTAL - RESERVED - Moment("held").used) * MEBI,
            "total": TOTAL * MEBI,
        },
        "busy": {"share": 0.5 if name == SECOND else 1.0},
    }
    for phase, times in zip(PLAN, phases, strict=True):
        if name in phase.commands:
            command = str(phase.commands[name][0])
            yield {"command": command, "begin": times["begin"], "end": times["end"], **facts.get(command, {})}


def _seconds(phases: list[Fields], step: int) -> Iterator[tuple[float, Moment]]:
    """Yields times with the state then."""
    for second in range(1000, int(phases[-1]["end"]) + 1, step):
        name = next(phase["name"] for phase in phases if second <= phase["end"])
        yield float(second), Moment(name)


def _agent(phases: list[Fields], change: Callable[[str, Fields], object]) -> Iterator[Fields]:
    def line(kind: str, time: float, **values: Any) -> Fields:
        return {"kind": kind, "time": time, "begin": time, "ms": 2.0, "cpu_ms": 1.0, **values}

    def changed(measurement: str, tags: Fields, fields: Fields) -> list[Any]:
        change(measurement, fields)
        return [measurement, tags, fields]

    yield line("notes", 999.0, notes={})
    yield line("driver", 999.0, version="580.1")
    for when in ("imported", "end"):
        yield line("sizes", 999.0, when=when, VmRSS=20_000, VmHWM=24_000, libraries={})
    yield line("answers", 1000.0, answers=[[0, "FanSpeed", "NOT_SUPPORTED", 0.001], [0, "MemoryInfo", "x=1", 0.002]])
    energy = 0.0
    tags = {"index": "0", "uuid": UUID, "name": "NVIDIA H200", "pstate": "P0", "compute_mode": "Default"}
    for time, now in _seconds(phases, 1):
        energy += now.power
        gpu = {
            "memory_total": TOTAL, "memory_used": now.used, "memory_reserved": RESERVED,
            "memory_free": TOTAL - RESERVED - now.used, "utilization_gpu": now.utilization, "power_draw": now.power,
            "temperature_gpu": 40,
        }  # fmt: skip
        own = {"energy_joules": energy}
        rare = {"power_limit": 700.0, "pcie_link_gen_current": 5 if now.utilization else 1} if time % 6 == 0 else {}
        found = [changed("nvidia_smi", tags, {**gpu, **rare}), changed("batchscope_gpu", {"index": "0"}, own)]
        yield line("nvidia", time, records=found)
    for time, now in _seconds(phases, 2):
        pids = {
            str(PIDS[name]): [size * MEBI, now.percent.get(name)]
            for name, size in now.memory.items()
            if now.has_context
        }
        yield line("processes", time, pids=pids)
        yield line("tasks", time, records=[changed(*one) for one in _tasks(now)])
    last = [
        changed("batchscope_task_attempt", _task(name), {"gpu_memory_peak": Moment("busy").memory[name] * MEBI})
        for name in MEBIBYTES
    ]
    yield line("tasks", time, records=last)


def _task(name: str) -> Fields:
    return {"job_id": JOB, "task_id": name, "task_attempt": "1000"}


def _tasks(now: Moment) -> Iterator[tuple[str, Fields, Fields]]:
    yield "batchscope_task", _task(BYSTANDER), {"num_processes": 1}
    for name, size in now.memory.items():
        if now.has_context:
            yield "batchscope_task", _task(name), {
                "num_processes": 1, "gpu_memory_used": size * MEBI, "gpu_usage": now.percent.get(name, 0.0)
            }  # fmt: skip


def _smi(phases: list[Fields]) -> Fields:
    gpus = [
        {
            "time": time + 0.4, "uuid": UUID, "name": "NVIDIA H200", "memory.total": str(TOTAL),
            "memory.used": str(now.used), "memory.reserved": str(RESERVED),
            "memory.free": str(TOTAL - RESERVED - now.used), "utilization.gpu": str(now.utilization),
            "power.draw": f"{now.power:.2f}", "enforced.power.limit": "700.00", "temperature.gpu": "41", "pstate": "P0",
            "fan.speed": "[N/A]", "pcie.link.gen.current": "5" if now.utilization else "1", "compute_mode": "Default",
        }
        for time, now in _seconds(phases, 2)
    ]  # fmt: skip
    apps = [
        {
            "time": time + 0.5,
            "rows": [
                {"gpu_uuid": UUID, "pid": str(PIDS[name]), "used_memory": str(size)}
                for name, size in now.memory.items()
                if now.has_context
            ],
        }
        for time, now in _seconds(phases, 2)
    ]
    return {"gpus": gpus, "apps": apps, "processes": [], "listings": [], "nvlink": [None, None]}

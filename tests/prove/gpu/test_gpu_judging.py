"""The judge of the proof of GPUs: a run as it should be holds, and each planted fault is noticed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from local.prove.gpu import __main__ as gpu
from local.prove.gpu.judging.nvlink import transmitted
from local.prove.gpu.plan import BYSTANDER, FIRST, SECOND
from local.prove.gpu.report import findings_of, is_proved, section
from local.prove.gpu.smi import rows, table
from tests.prove.gpu.gpu_runs import MEBI, Fields, good_run


def failed(raw: Fields) -> set[str]:
    return {finding.name for finding in findings_of(raw) if finding.ok is False}


def verdict(raw: Fields, name: str) -> bool | None:
    return next(finding.ok for finding in findings_of(raw) if finding.name == name)


def test_a_run_as_it_should_be_holds() -> None:
    raw = good_run()
    assert failed(raw) == set()
    assert is_proved(findings_of(raw))
    judged = [finding.name for finding in findings_of(raw) if finding.ok]
    assert len(judged) > 40
    assert {"utilization of task second, half", "peak of task first when it ended"} <= set(judged)


def scaled(field: str, factor: float) -> Callable[[str, Fields], object]:
    def change(_: str, fields: Fields) -> None:
        if field in fields:
            fields[field] *= factor

    return change


@pytest.mark.parametrize(
    ("field", "factor", "names"),
    [
        ("memory_used", MEBI, {"memory, used, held", "memory that was allocated", "memory that was freed"}),
        ("memory_used", 1.01, {"memory, used, held", "memory that was allocated"}),
        ("utilization_gpu", 0.5, {"utilization, busy", "utilization of known load, busy"}),
        ("power_draw", 1000, {"power, held", "power, busy"}),
        ("power_limit", 1000, {"power limit"}),
        ("temperature_gpu", 1.8, {"temperature, held", "temperature, busy"}),
        ("energy_joules", 0.001, {"energy a second, busy"}),
        ("pcie_link_gen_current", 2, {"PCIe generation"}),
        ("gpu_memory_used", 0.5, {"GPU memory that task first allocated", "GPU memory of task second"}),
        ("gpu_memory_peak", 0.5, {"peak of task first when it ended"}),
        ("gpu_usage", 0.5, {"utilization of task first, busy", "utilization of both tasks together, both"}),
    ],
)
def test_a_figure_of_another_size_is_noticed(field: str, factor: float, names: set[str]) -> None:
    assert names <= failed(good_run(scaled(field, factor)))


def test_use_that_stands_with_the_other_task_is_noticed() -> None:
    raw = good_run()
    for line in raw["agent"]:
        for _, tags, _ in line.get("records", ()):
            tags["task_id"] = {FIRST: SECOND, SECOND: FIRST}.get(tags.get("task_id", ""), tags.get("task_id", ""))
    assert {"GPU memory that task first allocated", "utilization of task first, busy"} <= failed(raw)


def test_use_of_a_task_that_uses_no_gpu_is_noticed() -> None:
    raw = good_run()
    for line in raw["agent"]:
        for _, tags, fields in line.get("records", ()):
            if tags.get("task_id") == BYSTANDER:
                fields["gpu_memory_used"] = MEBI
    assert failed(raw) == {"task that uses no GPU"}


def test_a_figure_that_only_nvidia_smi_has_is_noticed() -> None:
    assert failed(good_run(lambda _, fields: fields.pop("power_limit", None))) == {"power limit"}


def test_a_figure_that_neither_has_is_not_judged_and_says_why() -> None:
    fan = next(finding for finding in findings_of(good_run()) if finding.name == "fan")
    assert (fan.ok, fan.note) == (None, "not offered: FanSpeed: NOT_SUPPORTED")


def test_a_phase_without_samples_does_not_hold() -> None:
    raw = good_run()
    busy = next(phase for phase in raw["phases"] if phase["name"] == "busy")
    raw["smi"]["gpus"] = [one for one in raw["smi"]["gpus"] if not busy["begin"] <= one["time"] <= busy["end"]]
    assert {"memory, used, busy", "power, busy"} <= failed(raw)


@pytest.mark.parametrize("pids", [{}, {"7001": [3_520 * MEBI, 90]}])
def test_processes_of_another_namespace_are_not_judged(pids: Fields) -> None:
    raw = good_run()
    for line in raw["agent"]:
        if line["kind"] == "processes":
            line["pids"] = pids
    assert verdict(raw, "processes of the tasks") is None
    assert failed(raw) == set()


def test_a_workload_that_does_not_run_does_not_hold() -> None:
    raw = good_run()
    for task in raw["tasks"].values():
        task["answers"] = [{"command": "begin", "error": "cuInit answered CUDA_ERROR_NO_DEVICE (100)."}]
    found = next(finding for finding in findings_of(raw) if finding.name == "workload")
    assert found.ok is False
    assert "CUDA_ERROR_NO_DEVICE" in found.note


def test_costs_beyond_the_budget_do_not_hold() -> None:
    raw = good_run()
    for line in raw["agent"]:
        line["cpu_ms"] = 60.0
        if line["kind"] == "sizes":
            line["VmHWM"] = 41_000
    assert failed(raw) == {"CPU time of both at 10 s", "memory of the agent itself"}


def test_an_error_of_the_agent_does_not_hold() -> None:
    raw = good_run()
    raw["agent"].append({"kind": "tasks", "time": 1.0, "begin": 1.0, "ms": 1.0, "cpu_ms": 1.0, "error": "OSError: x"})
    assert failed(raw) == {"errors of the agent"}


def test_the_section_is_written_from_an_earlier_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[str, str] = {}
    monkeypatch.setattr(gpu, "write_section", written.__setitem__)
    (tmp_path / "gpu.json").write_text(json.dumps(good_run()))
    assert gpu.main(["--write", str(tmp_path / "gpu.json"), "--commit", "abc1234"]) == 0
    assert (
        "`dev.py prove gpu` on 1970-01-01, version 0, commit abc1234, NVIDIA H200, Linux, Python 3.8:" in written["gpu"]
    )
    assert "| power limit | 700 W | 700 W | within 0.02 W | ok |" in written["gpu"]
    assert "| FanSpeed | 1.00 | 1.00 | NOT_SUPPORTED |" in written["gpu"]
    assert section(good_run(), []).count("\n| ") == 3 + 1


def test_a_machine_without_a_gpu_is_no_failure() -> None:
    raw = good_run()
    raw["agent"] = [{"kind": "notes", "time": 1.0, "notes": {"nvidia": "The node has no NVIDIA GPU."}}]
    assert gpu.missing_driver({**raw, "smi": None}) == "The node has no NVIDIA GPU."
    assert not gpu.missing_driver(raw)  # nvidia-smi has one: the agent is at fault


def test_answers_of_nvidia_smi_are_read_by_their_columns() -> None:
    assert rows("GPU-0, 7, [N/A]\n\nNo devices were found\n", 3) == [["GPU-0", "7", "[N/A]"]]
    monitor = "# gpu    pid   type  sm  mem\n# Idx      #    C/G   %    %\n    0   4321     C  98    -\n"
    assert table(monitor) == [{"gpu": "0", "pid": "4321", "type": "C", "sm": "98", "mem": "-"}]


def test_links_are_added_up_for_one_gpu() -> None:
    text = (
        "GPU 0: NVIDIA A (UUID: GPU-a)\n\t Link 0: Data Tx: 5 KiB\n\t Link 0: Data Rx: 9 KiB\n"
        "\t Link 1: Data Tx: 6 KiB\n"
        "GPU 1: NVIDIA A (UUID: GPU-b)\n\t Link 0: Data Tx: 70 KiB\n"
    )
    assert (transmitted(text, "GPU-a"), transmitted(text, "GPU-b"), transmitted(text, "GPU-c")) == (11, 70, None)

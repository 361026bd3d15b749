"""Details of a process, from its own files."""

from pathlib import Path

import pytest

from agent.machine.machine import Machine
from agent.tasks.process_details import MAX_FILES, Details, ProcessDetails
from agent.tasks.process_table import Process


@pytest.mark.parametrize("name", ["x", "VmHWM:999999999", "SigIgn:ffffffff", ") R 1 ("])
def test_a_process_cannot_claim_details_by_its_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "proc/7"
    folder.mkdir(parents=True)
    (folder / "status").write_text(f"Name:\t{name}\nVmHWM:\t    2048 kB\nSigIgn:\t0000000000000000\n")
    process = Process(7, 1, 1, 7, "S", 1, 0, 0, 0, 1, 100, 5)
    assert ProcessDetails(Machine(str(tmp_path))).of(process) == Details(peak=2 << 20)


def test_open_files_are_counted_up_to_a_bound(tmp_path: Path) -> None:
    folder = tmp_path / "proc/7/fd"
    folder.mkdir(parents=True)
    for number in range(MAX_FILES + 5):
        (folder / str(number)).touch()
    process = Process(7, 1, 1, 7, "S", 1, 0, 0, 0, 1, 100, 5)
    assert ProcessDetails(Machine(str(tmp_path))).of(process).files == MAX_FILES

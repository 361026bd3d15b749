"""The benchmark of the node agent: other programs measure the tree of the large node in the machine's place."""

import subprocess
from pathlib import Path

from bench.parts.beside_collectd import covering
from bench.parts.large_node import PROCESSES, LargeNode


def answered(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_covered_program_finds_the_large_node_where_mounts_are_permitted(tmp_path: Path) -> None:
    LargeNode(tmp_path).advance(1)
    covered = covering(tmp_path)
    expected = (tmp_path if covered else Path("/")) / "proc/loadavg"
    numbers = len(answered(*covered, "sh", "-c", "ls -d /proc/[0-9]*").split())
    assert answered(*covered, "cut", "-c", "1-4", "/proc/loadavg").strip() == expected.read_text()[:4]
    assert (numbers == PROCESSES) == bool(covered)


def test_each_process_of_the_large_node_has_the_fields_of_a_kernel(tmp_path: Path) -> None:
    LargeNode(tmp_path).advance(1)
    fields = (tmp_path / "proc/7/stat").read_text(encoding="ascii").split()
    assert len(fields) == len(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()) + 2

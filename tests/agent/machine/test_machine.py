"""The only door to the kernel's files, on this machine and on files of the test's own."""

import os
from pathlib import Path

import pytest

from agent.machine.machine import Machine


def test_settings_of_the_running_kernel_are_read() -> None:
    machine = Machine()
    assert machine.text("/proc/sys/kernel/osrelease") == f"{os.uname().release}\n"
    assert len(machine.optional_text("/proc/sys/kernel/random/boot_id")) == 36


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, 0), (5, 5), (65_536, 65_536), (100_000, 100_000), (1 << 20, 200_000)]
)
def test_a_large_file_is_read_up_to_the_limit(tmp_path: Path, limit: int, expected: int) -> None:
    content = bytes(range(250)) * 800
    (tmp_path / "large").write_bytes(content)
    assert Machine(str(tmp_path)).content("/large", limit) == content[:expected]

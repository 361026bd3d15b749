"""The table of processes, read from trees of files."""

from functools import partial
from pathlib import Path

import pytest

from agent.machine.machine import Machine
from agent.tasks.process_table import PAGE, TICK, Process, ProcessTable, process_of
from tests.agent.tasks.kernel_model import INIT, LAUNCHER, Kernel, ModelTable

STAT = "42 (a) ) b (x) S 7 42 40 0 -1 4194304 90 0 10 0 3 4 5 6 20 0 9 0 1234 3133440 381 18446744073709551615 1 1"


def write(root: Path, pid: int, content: str) -> None:
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(content)


def test_a_name_with_spaces_and_brackets_moves_no_field() -> None:
    assert process_of(STAT.encode()) == Process(
        42, 1234, 7, 40, "S", 3 * TICK, 4 * TICK, 5 * TICK, 6 * TICK, 9, 381 * PAGE, 100
    )


def test_one_garbled_file_costs_its_own_process_only(tmp_path: Path) -> None:
    write(tmp_path, 42, STAT)
    write(tmp_path, 43, "43 (x")
    write(tmp_path, 44, "")
    write(tmp_path, 45, STAT.replace("1234", "later"))
    (tmp_path / "proc" / "46").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("")
    assert list(ProcessTable(Machine(str(tmp_path))).processes(0)) == [42]


def test_the_table_is_shared_for_a_second(tmp_path: Path) -> None:
    write(tmp_path, 42, STAT)
    table = ProcessTable(Machine(str(tmp_path)))
    first = table.processes(5_000_000_000)
    assert table.processes(5_900_000_000) is first
    assert table.processes(6_000_000_000) is not first
    assert table.processes(1) is not first


def test_without_proc_the_table_is_empty(tmp_path: Path) -> None:
    assert ProcessTable(Machine(str(tmp_path))).processes(0) == {}


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_a_child_that_was_read_before_its_parent_waited_for_it_is_left_out(is_waited_for: bool) -> None:  # noqa: FBT001
    kernel = Kernel(max_pid=10)
    kernel.last_pid = 8
    parent = kernel.fork(LAUNCHER, "a")
    kernel.last_pid = 4
    child, other = kernel.fork(parent), kernel.fork(parent)
    kernel.work(child, 9)
    table = ModelTable(kernel)
    if is_waited_for:
        table.events = [(5, partial(kernel.reap, child))]
    found = table.processes(0)
    assert sum(one.own + one.waited for one in found.values()) == 9 * TICK
    assert list(found) == [INIT, LAUNCHER, *([] if is_waited_for else [child]), other, parent]

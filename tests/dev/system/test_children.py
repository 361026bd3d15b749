"""Programs that belong together: one may be killed on purpose and restarted."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.dev.system.checkout import HERE
from local.dev.system.children import Children, Program
from local.dev.system.console import Failure
from tests.dev.miniature import eventually, is_alive


def _program(folder: Path, name: str) -> Program:
    code = "import time; print('ready at here', flush=True); time.sleep(60)"
    return Program(
        name=name,
        command=(sys.executable, "-c", code),
        log=folder / f"{name}.log",
        cwd=folder,
        environment={},
        announces=(r"ready at (?P<place>\w+)",),
    )


def test_a_program_killed_on_purpose_is_not_missed_and_can_be_started_again(tmp_path: Path) -> None:
    with Children() as children:
        for name in ("one", "two"):
            children.start(_program(tmp_path, name))
        before = children.pids
        children.kill("one")
        children.check()
        assert not is_alive(before["one"])
        assert children.pids == {"two": before["two"]}
        assert children.start(_program(tmp_path, "one")) == {"place": "here"}
        assert children.pids["one"] != before["one"]
        after = children.pids
    assert not any(map(is_alive, after.values()))


def test_only_running_programs_can_be_killed(tmp_path: Path) -> None:
    with Children() as children, pytest.raises(Failure, match="No one is running"):
        children.kill("one")


OWNER = """
import sys, time
from local.dev.system.children import Children

ended, forgotten = map(int, sys.argv[1:3])
children = Children()
children.end_if_killed(ended)
children.end_if_killed(forgotten)
children.forget(forgotten)
children.delete_if_killed(sys.argv[3])
print("ready", flush=True)
if sys.argv[4:] == ["stop"]:
    children.stop()
else:
    time.sleep(60)
"""
"""Names two process groups that it didn't start, and forgets one of them."""


@pytest.fixture
def groups() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two programs that lead a process group each."""
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    started = [subprocess.Popen(command, start_new_session=True) for _ in range(2)]
    yield started
    for one in started:
        one.kill()
        one.wait()


def _owner(groups: list[subprocess.Popen[bytes]], file: Path, *arguments: str) -> subprocess.Popen[str]:
    given = (*(str(one.pid) for one in groups), str(file), *arguments)
    owner = subprocess.Popen((sys.executable, "-c", OWNER, *given), cwd=HERE.root, stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    assert owner.stdout.readline() == "ready\n"
    return owner


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX process groups")
def test_a_named_group_ends_with_a_killed_process_and_a_forgotten_one_goes_on(
    tmp_path: Path, groups: list[subprocess.Popen[bytes]]
) -> None:
    named, forgotten = groups
    note = tmp_path / "note"
    note.touch()
    with _owner(groups, note) as owner:
        os.kill(owner.pid, signal.SIGKILL)
    assert named.wait(10) == -signal.SIGTERM
    assert eventually(lambda: not note.exists(), seconds=10)
    assert is_alive(forgotten.pid)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX process groups")
def test_a_group_that_is_still_named_ends_when_the_children_are_stopped(
    tmp_path: Path, groups: list[subprocess.Popen[bytes]]
) -> None:
    named, forgotten = groups
    with _owner(groups, tmp_path / "note", "stop") as owner:
        assert owner.wait(10) == 0
    assert named.wait(10) == -signal.SIGTERM
    assert is_alive(forgotten.pid)

"""Programs that belong together: one may be killed on purpose and restarted."""

import sys
from pathlib import Path

import pytest

from local.dev.system.children import Children, Program
from local.dev.system.console import Failure
from tests.dev.miniature import is_alive


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

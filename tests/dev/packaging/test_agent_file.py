"""The node agent's one file."""

import shutil
import subprocess
import sys
import zipfile
from itertools import compress
from pathlib import Path

import pytest

from local.dev.packaging.agent_file import SHEBANG, write_agent
from local.dev.system.checkout import HERE
from local.dev.system.console import Failure

OTHERS = [shutil.which(f"python3.{minor}") for minor in (8, 9, 10, 11, 12, 14)]


def pythons() -> list[str]:
    """Returns the Pythons of this machine, without stand-ins that only name versions to install."""
    others = [python for python in OTHERS if python]
    works = [subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0 for python in others]
    return [sys.executable, *compress(others, works)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = tmp_path_factory.mktemp("dist") / "batchscope-agent.pyz"
    write_agent(HERE.root, archive)
    return archive


def test_every_python_of_this_machine_measures_with_it_alone(built: Path, tmp_path: Path) -> None:
    node = ("--account=a", "--pool=p", "--node=n", "--imds=http://127.0.0.1:9", "--storage=http://127.0.0.1:9/x")
    for number, python in enumerate(pythons()):
        (folder := tmp_path / str(number)).mkdir()
        command = [python, "-I", "-S", "-W", "error", str(built), "once", f"--folder={folder}", *node]
        done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), python
        names = {line.partition(" ")[0].partition(",")[0] for line in done.stdout.splitlines()}
        assert {"batchscope_agent", "cpu", "mem", "disk", "processes"} <= names, python


def test_two_builds_of_the_same_files_are_the_same_to_the_byte(built: Path, tmp_path: Path) -> None:
    again = tmp_path / "elsewhere" / "agent.pyz"
    write_agent(HERE.root, again)
    assert again.read_bytes() == built.read_bytes()
    assert built.read_bytes().startswith(SHEBANG)


def test_it_holds_the_agent_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
    assert names[0] == "__main__.py"
    assert all(name.startswith("agent/") and name.endswith(".py") for name in names[1:])


def test_a_start_without_settings_fails_no_start_task(built: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(built), "start", "--folder", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True, env={})
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "nowhere to send telemetry" in done.stderr


def test_a_checkout_without_the_agent_is_named(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="The folder agent is missing"):
        write_agent(tmp_path, tmp_path / "agent.pyz")

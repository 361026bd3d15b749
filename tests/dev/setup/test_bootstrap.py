"""dev.py under Pythons that can't run the project."""

import os
import subprocess
from pathlib import Path

import pytest

from local.dev.system.checkout import HERE

VERSIONS = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
DEV = str(HERE.root / "dev.py")


@pytest.fixture(params=["3.6", "3.8", "3.12"])
def old_python(request: pytest.FixtureRequest) -> str:
    found = sorted(VERSIONS.glob(f"{request.param}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {request.param} under pyenv to start dev.py with")
    return str(found[-1])


def test_an_old_python_finds_a_fitting_one_and_goes_on(old_python: str) -> None:
    done = subprocess.run([old_python, DEV, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage: dev.py" in done.stdout


def test_without_python_3_13_an_install_command_is_shown(old_python: str, tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path), "HOME": str(tmp_path), "PYENV_ROOT": str(tmp_path)}
    done = subprocess.run([old_python, DEV, "up"], env=nowhere, capture_output=True, text=True, check=False)
    if "Batchscope needs" not in done.stderr:
        pytest.skip("a Python 3.13 stands in one of the system's own folders")
    assert done.returncode == 1
    assert done.stderr.startswith("Batchscope needs Python 3.13. This is Python 3.")
    assert "uv python install 3.13" in done.stderr
    assert "Traceback" not in done.stderr

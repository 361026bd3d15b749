"""No test installs anything: installers fail, whether a test or its script starts them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from local.dev.system.checkout import HERE

_INSTALLING = """
import subprocess, pytest

@pytest.mark.parametrize("installer", ["apt-get", "sudo", "pip", "npm"])
def test_that_installs(installer):
    subprocess.run(["sh", "-c", installer + " install cowsay || true"], check=True)

def test_that_installs_nothing():
    pass
"""


def test_a_test_that_starts_an_installer_fails(tmp_path: Path) -> None:
    shutil.copy(HERE.root / "tests/conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(_INSTALLING)
    options = ("-q", "-c", os.devnull, "--rootdir", str(tmp_path), "-o", f"pythonpath={HERE.root}")
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.root)
    assert "4 failed, 1 passed" in done.stdout, done.stdout
    assert "this one started: apt-get install cowsay" in done.stdout
    assert "No test installs anything: sudo install cowsay" in done.stdout


def test_pip_finds_no_packages(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(tmp_path), "colorama"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_npm_has_no_network() -> None:
    assert os.environ["NPM_CONFIG_OFFLINE"] == "true"

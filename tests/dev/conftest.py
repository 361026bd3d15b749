"""The miniature checkout as a fixture."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.dev.system.checkout import HERE
from tests.dev.miniature import Miniature

SHARED_PARTS = (".venv", "local/node")
COPIED_PARTS = (
    "agent/__init__.py",
    "dev.py",
    "local/__init__.py",
    "local/azurite.py",
    "local/dev",
    "requirements-dev.txt",
    "tests/dev/fakes",
)
FAKED_PARTS = ("batch_emulator", "functions_host", "machine_node", "workload")


@pytest.fixture
def miniature(tmp_path: Path) -> Iterator[Miniature]:
    for name in COPIED_PARTS:
        copy = shutil.copytree if (HERE.root / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(HERE.root / name, tmp_path / name)
    for name in SHARED_PARTS:
        (tmp_path / name).symlink_to(HERE.root / name)
    for name in FAKED_PARTS:
        (tmp_path / f"local/{name}.py").write_text(f"import tests.dev.fakes.{name}\n")
    small = Miniature(tmp_path)
    yield small
    for started in small.running:
        if started.poll() is None:
            started.send_signal(signal.SIGTERM)
            started.wait(10)

"""The API as clients use it: the examples of docs/api.md."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from local.prove.stack.api import Stack
from tests.e2e.live.stack import RunningStack

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
]

_OTHER_ANSWERS = ("/metrics", "format=csv", "/cost/focus", "/stdout.txt", "-X DELETE")
"""Parts of examples whose answers aren't JSON."""


@pytest.fixture(scope="module")
def watched(stack: RunningStack) -> RunningStack:
    """Returns the stack once the app knows a job of the demo that is never deleted."""
    found = Stack(stack.api, stack.emulator, stack.account.name)
    deadline = time.monotonic() + 60
    while "wind-tunnel" not in found.jobs():
        assert time.monotonic() < deadline, "the demo wasn't seen within a minute"
        time.sleep(0.5)
    return stack


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_examples_of_the_documentation_work(watched: RunningStack, command: str, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    environment = {**os.environ, "API": watched.api}
    done = subprocess.run(
        ["bash", "-c", command], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr == ""
    if not any(part in command for part in _OTHER_ANSWERS):
        assert json.loads(done.stdout)

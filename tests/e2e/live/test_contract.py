"""The API as clients use it: the examples of docs/api.md, and requests that Schemathesis generates from OpenAPI."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.azurite import StorageAddresses
from local.prove.counts import Stack
from tests.e2e.live.stack import RunningStack, running_stack

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
]
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.fixture(scope="module")
def watched(stack: RunningStack) -> RunningStack:
    """Returns the stack once the app knows a job of the demo that is never deleted."""
    found = Stack(stack.api, stack.emulator, stack.account.name)
    deadline = time.monotonic() + 60
    while "wind-tunnel" not in found.jobs():
        assert time.monotonic() < deadline, "the demo wasn't seen within a minute"
        time.sleep(0.5)
    return stack


@pytest.fixture
def own(azurite: StorageAddresses, tmp_path: Path) -> Iterator[RunningStack]:
    """Yields a separate stack: generated requests may switch accounts off, and many are rate limited."""
    with running_stack(azurite, tmp_path, scenario="quiet", speed=20) as running:
        yield running


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_examples_of_the_documentation_work(watched: RunningStack, command: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    environment = {**os.environ, "API": watched.api}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr == ""
    if "/metrics" not in command and "format=csv" not in command:
        assert json.loads(done.stdout)


def test_no_request_made_up_from_the_document_breaks_the_contract(own: RunningStack, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    options = ["--checks", CHECKS, "--max-examples", "15", "--seed", "1", "--no-color"]
    done = subprocess.run(
        [program, "run", f"{own.api}/openapi.json", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert re.search(r"(\d+) generated, \1 passed", done.stdout), done.stdout[-5000:]

"""Requests that Schemathesis generates from the app's OpenAPI document, against a stack of their own."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.azurite import StorageAddresses
from tests.e2e.live.stack import RunningStack, running_stack
from tests.profiles import NIGHTLY

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
EXAMPLES, SECONDS = (50, 600) if NIGHTLY else (6, 180)
"""The made-up requests for each operation and phase, and how long these may take."""


@pytest.fixture(scope="module")
def own(azurite: StorageAddresses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """Yields a separate stack: generated requests may switch accounts off, and many are rate limited."""
    with running_stack(azurite, tmp_path_factory.mktemp("own"), scenario="quiet", speed=20) as running:
        yield running


@pytest.mark.parametrize("chosen", [
    "--include-path-regex=/pools", "--include-path-regex=/jobs", "--exclude-path-regex=/(pools|jobs)",
])  # fmt: skip
def test_no_request_made_up_from_the_document_breaks_the_contract(
    own: RunningStack, tmp_path: Path, chosen: str
) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    options = ["--checks", CHECKS, "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color", chosen]
    done = subprocess.run(
        [program, "run", f"{own.api}/openapi.json", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert re.search(r"(\d+) generated, \1 passed", done.stdout), done.stdout[-5000:]

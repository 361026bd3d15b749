import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functions_host.running_host import SAMPLE, RunningHost, StartHost


@pytest.fixture
def environment(azurite: Any) -> dict[str, str]:
    """Returns settings with storage and unique names in it."""
    name = f"sample-{uuid.uuid4().hex[:12]}"
    return {
        "AzureWebJobsStorage": azurite.connection_string,
        "AzureFunctionsWebHost__hostid": name,
        "SAMPLE_QUEUE": name,
        "SAMPLE_BLOBS": f"{name}-blobs",
    }


@pytest.fixture
def start_host(tmp_path: Path, environment: dict[str, str]) -> Iterator[StartHost]:
    started: list[RunningHost] = []

    def start(*arguments: str, app: Path = SAMPLE, ready: bool = True, **settings: str) -> RunningHost:
        folder = tmp_path / f"host{len(started)}"
        record = {"SAMPLE_RECORD": str(folder / "records")}
        host = RunningHost.start(folder, app, {**environment, **record, **settings}, "--port", "0", *arguments)
        started.append(host)
        return host.wait_ready() if ready else host

    yield start
    for host in started:
        if host.child.poll() is None:
            host.child.kill()
            host.child.wait()
        print(host.log)  # shown where the test failed

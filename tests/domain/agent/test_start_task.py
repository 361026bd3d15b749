"""The start task with the agent: it does exactly what the pool's own did, and its forms say the same."""

import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shared.domain.agent.agent_file import NAME, agent_file
from shared.domain.agent.start_task import IDENTITY, OWN_COMMAND, STORAGE, StartTaskOffer, command_of, offer_of
from shared.domain.agent.start_task_forms import az_form, bicep_form
from shared.domain.pools.pool_settings import StartTask
from tests.infra.bicep.files import File
from tests.infra.bicep.resources import SUBSCRIPTION, Scope

STORE, FILE = "https://store.blob.core.windows.net/telemetry", f"https://store.blob.core.windows.net/agent/{NAME}"
OWN = (
    "/bin/sh own.sh",
    "/bin/sh own.sh first 'second one'",
    """/bin/sh -c 'for word in a b; do echo "$word"; done; exit 3'""",
    '''/bin/sh -c "for word in a b; do echo $word; done"''',
    "/bin/sh own.sh $AZ_BATCH_NODE_ID '' *",
    r"/bin/sh own.sh back\\slash \"quoted\" it\'s",
    "/bin/sh -c 'kill -TERM $$'",
)


def run(command_line: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Runs a command line as Batch does, without a shell; returns its exit code and output."""
    given = {"PATH": f"{folder}:{os.environ['PATH']}", "AZ_BATCH_NODE_ID": "node", **environment}
    command = shlex.split(command_line)
    done = subprocess.run(command, cwd=folder, env=given, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """Returns a start task's folder, with a script and an agent that notes its start and fails."""
    (tmp_path / "own.sh").write_text('for word; do echo "<$word>"; done\nexit 7\n')
    (tmp_path / "python3").write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/started\nexit 9\n')
    (tmp_path / "python3").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("own", OWN)
def test_the_pools_own_command_runs_as_before_though_the_agent_fails(node: Path, own: str) -> None:
    before = run(own, node, {})
    command_line, variables = command_of(own)
    assert run(command_line, node, variables) == before
    assert (node / "started").read_text() == f"{NAME} start\n"


def test_a_pool_without_a_start_task_starts_the_agent_alone(node: Path) -> None:
    offer = offer_of(None, STORE)
    assert run(offer.command_line, node, offer.environment) == (0, "")
    assert (node / "started").read_text() == f"{NAME} start\n"
    assert (offer.environment, offer.waits_for_success, offer.has_own) == ({STORAGE: STORE}, True, False)


def test_a_simple_command_stands_where_a_reader_looks_for_it() -> None:
    line = f"/bin/sh -c 'python3 {NAME} start || true; exec /bin/sh own.sh'"
    assert command_of(OWN[0]) == (line, {})
    assert command_of(OWN[2])[1].keys() == {OWN_COMMAND}


def test_a_start_task_that_names_the_agent_is_left_alone() -> None:
    line = command_of(OWN[0])[0]
    offer = offer_of(StartTask(line, ((STORAGE, "x"), (IDENTITY, "x"), ("MODE", "x"))), STORE)
    assert (offer.is_included, offer.command_line, offer.own_variables) == (True, line, ["MODE"])
    assert any("names the agent's file already" in note for note in offer.notes)


def test_the_retries_and_the_waiting_of_the_pools_start_task_stay() -> None:
    offer = offer_of(StartTask("run", waits_for_success=False, retries=4), STORE)
    assert (offer.waits_for_success, offer.retries) == (False, 4)
    made = json.loads(az_form(offer, FILE))["startTask"]
    assert (made["waitForSuccess"], made["maxTaskRetryCount"], "userIdentity" in made) == (False, 4, False)


def test_what_is_lost_or_hidden_is_said() -> None:
    assert not any("copy them" in note for note in offer_of(None, STORE).notes)
    notes = offer_of(StartTask("login --password [redacted]", (("MODE", "[redacted]"),)), STORE).notes
    assert notes[0].startswith("A changed start task reaches only nodes that start again")
    assert any("copy them" in note for note in notes)
    assert any("hidden as [redacted]" in note for note in notes)
    assert any("where the agent doesn't run" in note for note in offer_of(StartTask("cmd /c run"), STORE).notes)


OFFERS = {
    "none": offer_of(None, STORE),
    "simple": offer_of(StartTask(OWN[0], (("MODE", "x"), ("EMPTY", ""))), STORE),
    "quoted": offer_of(StartTask(OWN[2], retries=-1), STORE),
    "escaped": offer_of(StartTask(OWN[5], (("MODE", "x"),)), STORE),
}


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_bicep_and_the_json_for_az_are_the_same_start_task(offer: StartTaskOffer) -> None:
    identity = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
    path, text = Path("pool.bicep"), bicep_form(offer, FILE)
    file = File(path, Scope(SUBSCRIPTION, "rg"), {"identityId": identity}, sources={path: text.encode()})
    made = json.loads(az_form(offer, FILE))["startTask"]
    (resource,) = made["resourceFiles"]
    assert (resource["httpUrl"], resource["filePath"]) == (FILE, NAME)
    placeholder = resource["identityReference"]["resourceId"]
    assert placeholder.startswith("/subscriptions/SUBSCRIPTION/")
    assert file.value("startTask") == _replaced(made, placeholder, identity)
    assert file.value("poolIdentity") == {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}}
    variables = {one["name"]: one["value"] for one in made["environmentSettings"]}
    assert variables.items() >= {STORAGE: STORE, IDENTITY: placeholder}.items()
    assert {name for name, value in variables.items() if value == f"VALUE_OF_{name}"} == set(offer.own_variables)


def _replaced(value: Any, old: str, new: str) -> Any:
    return json.loads(json.dumps(value).replace(old, new))


def test_another_file_is_not_taken_for_the_agent() -> None:
    with pytest.raises(ValueError, match="isn't the node agent"):
        agent_file(b"PK")

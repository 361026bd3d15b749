"""The offered start task as text to copy: Bicep, JSON for `az batch`, and Python for the Batch API.

None holds a secret: identities, signatures and values of the pool's own variables are placeholders in capitals.
"""

import json
from collections.abc import Mapping
from typing import Any

from shared.domain.agent.agent_file import NAME
from shared.domain.agent.start_task import AGENT_FIRST, FROM_VARIABLE, IDENTITY, OWN_COMMAND, STORAGE, StartTaskOffer

POOL_IDENTITY = (
    "/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.ManagedIdentity"
    "/userAssignedIdentities/IDENTITY"
)
_BICEP_IDENTITY = "identityId"
_ADMIN = {"autoUser": {"scope": "pool", "elevationLevel": "admin"}}
_INDENT = "  "


class _Name(str):
    """A name of the Bicep file, which stands without quotes."""

    __slots__ = ()


def bicep_form(offer: StartTaskOffer, file: str) -> str:
    """Returns declarations for the Bicep file of the pool; `file` is the address of the agent's file."""
    start_task = _bicep(_start_task(offer, file, _Name(_BICEP_IDENTITY)))
    identity = _bicep({"type": "UserAssigned", "userAssignedIdentities": {f"${{{_BICEP_IDENTITY}}}": {}}})
    return (
        "// In the resource Microsoft.Batch/batchAccounts/pools: `identity: poolIdentity`, beside other identities of\n"
        "// the pool, and in its properties `startTask: startTask`.\n"
        "@description('Resource id of the user-assigned identity of the pool.')\n"
        f"param {_BICEP_IDENTITY} string\n\n"
        f"var poolIdentity = {identity}\n\n"
        f"var startTask = {start_task}\n"
    )


def az_form(offer: StartTaskOffer, file: str) -> str:
    """Returns the JSON for `az batch pool set --pool-id POOL --json-file FILE`; the pool must have the identity."""
    return json.dumps({"startTask": _start_task(offer, file, POOL_IDENTITY)}, indent=2) + "\n"


def python_form(account_endpoint: str, pool: str, file: str, storage: str) -> str:
    """Returns a program that changes the start task as Batch has it, and keeps everything else of it."""
    return f"""\
# pip install azure-batch azure-identity
import os
import shlex

from azure.batch import BatchClient
from azure.batch import models
from azure.identity import DefaultAzureCredential

FILE = {file!r}
STORAGE = {storage!r}
FILE_SAS = os.environ["FILE_SAS"]  # of the file: read
STORAGE_SAS = os.environ["STORAGE_SAS"]  # of the container: read, add, create, write


def with_agent(task):
    if task is None:
        admin = models.AutoUserSpecification(scope="pool", elevation_level="admin")
        task = models.BatchStartTask(
            command_line="", wait_for_success=True, user_identity=models.UserIdentity(auto_user=admin)
        )
    variables = {{one.name: one.value for one in task.environment_settings or []}}
    files = [one for one in task.resource_files or [] if one.file_path != {NAME!r}]
    if {NAME!r} not in task.command_line:
        own = shlex.join(shlex.split(task.command_line))
        task.command_line = {f"/bin/sh -c '{AGENT_FIRST}'"!r}
        if own:
            task.command_line = {FROM_VARIABLE!r}
            variables[{OWN_COMMAND!r}] = own
    variables[{STORAGE!r}] = f"{{STORAGE}}?{{STORAGE_SAS}}"
    task.environment_settings = [models.EnvironmentSetting(name=name, value=value) for name, value in variables.items()]
    task.resource_files = [*files, models.ResourceFile(http_url=f"{{FILE}}?{{FILE_SAS}}", file_path={NAME!r})]
    return task


client = BatchClient({account_endpoint!r}, DefaultAzureCredential())
pool = client.get_pool({pool!r})
client.update_pool({pool!r}, models.BatchPoolUpdateOptions(start_task=with_agent(pool.start_task)))
"""


def _start_task(offer: StartTaskOffer, file: str, identity: str) -> Mapping[str, Any]:
    """Returns the start task as the Batch API and ARM have it; the user of a pool's own start task is left to it."""
    variables = {
        **{name: f"VALUE_OF_{name}" for name in offer.own_variables},
        **offer.environment,
        IDENTITY: identity,
    }
    return {
        "commandLine": offer.command_line,
        "resourceFiles": [{"httpUrl": file, "filePath": NAME, "identityReference": {"resourceId": identity}}],
        "environmentSettings": [{"name": name, "value": value} for name, value in variables.items()],
        **({} if offer.has_own else {"userIdentity": _ADMIN}),
        "maxTaskRetryCount": offer.retries,
        "waitForSuccess": offer.waits_for_success,
    }


def _bicep(value: Any, depth: int = 0) -> str:
    """Returns a value in Bicep; keys are names, except those with an interpolation."""
    inner, outer = _INDENT * (depth + 1), _INDENT * depth
    if isinstance(value, Mapping):
        lines = [f"{inner}{_key(name)}: {_bicep(one, depth + 1)}\n" for name, one in value.items()]
        return f"{{\n{''.join(lines)}{outer}}}" if lines else "{}"
    if isinstance(value, list):
        return f"[\n{''.join(f'{inner}{_bicep(one, depth + 1)}{chr(10)}' for one in value)}{outer}]"
    if isinstance(value, str):
        return value if isinstance(value, _Name) else _quoted(value)
    return json.dumps(value)


def _key(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\${")
    return "'" + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + "'"

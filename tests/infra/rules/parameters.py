"""Parameters, outputs and descriptions: complete, in use, and the same on both sides of every border."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shared.domain.accounts.accounts import TOKEN_SCOPES
from tests.infra.bicep.files import File
from tests.infra.bicep.syntax import BicepError, Node, declarations, descendants, named, parse, text
from tests.infra.rules.resources import leaves
from tests.infra.rules.scenarios import CLIENT_ID, EVERYTHING, OWN_NETWORK, Infrastructure

_FEWEST_WORDS = 3
_SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#"
_OUTPUTS = {
    "AZURE_FUNCTION_APP_NAME",
    "AZURE_RESOURCE_GROUP",
    "BATCHSCOPE_PRINCIPAL_ID",
    "BATCHSCOPE_TELEMETRY_STORAGE",
    "BATCHSCOPE_URL",
}
_PLACEHOLDERS = {
    "alertEmail": "${ALERT_EMAIL}",
    "accountRoles": "${ACCOUNT_ROLES}",
    "authClientId": "${AUTH_CLIENT_ID}",
    "batchAccountIds": "${BATCH_ACCOUNT_IDS}",
    "environmentName": "${AZURE_ENV_NAME}",
    "location": "${AZURE_LOCATION}",
}
"""What the environment says, each in its place."""


def parameter_file(infrastructure: Infrastructure) -> Iterator[str]:
    """The file gives what main.bicep needs, of the right type: texts of the environment, and else the defaults."""
    whole = json.loads(infrastructure.read("infra/main.parameters.json"))
    if whole.get("$schema") != _SCHEMA or whole.get("contentVersion") != "1.0.0.0":
        yield "main.parameters.json is not of the schema of deployment parameters"
    given = infrastructure.parameter_file
    declared = {found.name: found for found in declarations(_main(infrastructure)) if found.kind == "parameter"}
    for name in given.keys() - declared.keys():
        yield f"main.parameters.json gives {name}, which main.bicep doesn't have"
    for name, found in declared.items():
        if found.value is None and name not in given:
            yield f"main.parameters.json lacks {name}"
    if (texts := {name: value for name, value in given.items() if "$" in str(value)}) != _PLACEHOLDERS:
        yield f"main.parameters.json has the texts {texts}, which are for each environment to say"
    bare = infrastructure.main({name: infrastructure.scenarios[0].given[name] for name in _PLACEHOLDERS})
    for name in given.keys() - _PLACEHOLDERS.keys():
        if given[name] != bare.value(name):
            yield f"main.parameters.json has {name} as {given[name]!r}, not the default {bare.value(name)!r}"


def every_value_counts(infrastructure: Infrastructure) -> Iterator[str]:
    """Another value of any parameter deploys something else, or the parameter is dead."""
    declared = {found.name: found for found in declarations(_main(infrastructure)) if found.kind == "parameter"}
    for name in declared.keys() ^ EVERYTHING.keys():
        yield f"the parameter {name} is not the same in main.bicep and in the tests' scenario"
    numbers = [value for value in EVERYTHING.values() if type(value) is int]
    if len(numbers) != len(set(numbers)):
        yield "two parameters of the tests' scenario have one value, so one could pass for the other"
    bases = {name: _picture(infrastructure.main(given)) for name, given in _BASES.items()}
    for name in declared.keys() & EVERYTHING.keys():
        kind = "own network" if name in _OF_OWN_NETWORK else "everything"
        given = _BASES[kind]
        parameters = {key: value for key, value in given.items() if key != name or declared[name].value is None}
        if declared[name].value is None:
            parameters[name] = _other(name, given[name])
        try:
            if _picture(infrastructure.main(parameters)) == bases[kind]:
                yield f"the parameter {name} changes nothing"
        except BicepError as error:
            yield f"without {name}: {error}"


_BASES = {"everything": EVERYTHING, "own network": OWN_NETWORK}
_OF_OWN_NETWORK = {"virtualNetworkAddressPrefix"}
"""Parameters of a network that is only made where none is given."""


def _other(name: str, value: Any) -> Any:
    return {"environmentName": "test", "batchAccountIds": str(value).partition(",")[0]}.get(name, str(value)[:-1] + "9")


def _picture(file: File) -> tuple[Any, ...]:
    bodies = sorted((found.id, found.api_version, str(list(leaves(found.body)))) for found in file.everything)
    return bodies, file.outputs


def _main(infrastructure: Infrastructure) -> Node:
    return parse(infrastructure.folder / "main.bicep")


_LIMITS: Mapping[str, tuple[int, int | None]] = {
    "maximumInstanceCount": (1, 1000),
    "httpConcurrency": (1, 1000),
    "telemetryRetentionDays": (1, None),
    "resourceLogRetentionDays": (1, None),
    "logDailyQuotaGb": (1, None),
    "logRetentionDays": (30, 730),
    "pollSeconds": (1, 86_400),
    "tickBudgetSeconds": (1, 1_800),
    "pollOverlapSeconds": (1, 3_600),
    "fullListMinutes": (1, 1_440),
    "jobHorizonDays": (0, 3_650),
    "fullReadHours": (1, 8_760),
    "deletedJobDays": (0, 3_650),
    "eventDays": (1, 3_650),
    "telemetryMinuteDays": (1, 365),
    "telemetryHourDays": (0, 3_650),
    "historyMinuteDays": (1, 365),
    "historyQuarterHourDays": (1, 3_650),
    "pollStatusDays": (1, 365),
    "maxBatchCallsPerMinute": (10, 1_000_000),
}
"""Least and greatest values that Azure or the app takes."""
_WRONG: Mapping[str, Sequence[Any]] = {
    "environmentName": ["x", "thirteen-long"],
    "location": ["", "eu"],
    "batchAccountIds": ["", "demo", "https://demo.westeurope.batch.azure.com"],
    "authClientId": ["", CLIENT_ID[1:], CLIENT_ID + "0"],
    "instanceMemoryMB": [0, 1024, 8192],
    "storageRedundancy": ["", "lrs", "RAGRS", "Standard_LRS"],
    "telemetryWriters": [[{"principalId": "x"}], [{"prefix": "x"}]],
}
_RIGHT: Mapping[str, Sequence[Any]] = {
    "environmentName": ["ab", "twelve-chars"],
    "location": ["uksouth"],
    "instanceMemoryMB": [512, 2048, 4096],
    "storageRedundancy": ["LRS", "ZRS", "GRS", "GZRS"],
}


def limits_hold(infrastructure: Infrastructure) -> Iterator[str]:
    """Values that Azure or the app would refuse are refused at once, and all others are taken."""
    right = {name: [edge for edge in edges if edge is not None] for name, edges in _LIMITS.items()}
    wrong = {name: [low - 1, *([high + 1] if high else [])] for name, (low, high) in _LIMITS.items()}
    for name, values in (*right.items(), *_RIGHT.items()):
        for value in values:
            if refusal := _refused(infrastructure, name, value):
                yield f"{name} = {value!r} is refused: {refusal}"
    for name, refused in (*wrong.items(), *_WRONG.items()):
        for value in refused:
            if name not in _refused(infrastructure, name, value):
                yield f"{name} = {value!r} is taken, or refused for another reason"


def _refused(infrastructure: Infrastructure, name: str, value: Any) -> str:
    try:
        infrastructure.main({**EVERYTHING, name: value})
    except BicepError as error:
        return str(error)
    return ""


def documented(infrastructure: Infrastructure) -> Iterator[str]:
    """The operators' page has every parameter with its default, as the template has them."""
    page = infrastructure.read("docs/operations.md").partition("\n## Parameters\n")[2].partition("\n## ")[0]
    found_rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", page, re.MULTILINE)
    rows = dict(found_rows)
    if len(rows) != len(found_rows):
        yield "docs/operations.md names a parameter twice"
    declared = {found.name: found for found in declarations(_main(infrastructure)) if found.kind == "parameter"}
    for name, found in declared.items():
        default = text(found.value).strip("'") if found.value else "required"
        if rows.get(name, "").strip("`") != (default or "none"):
            yield f"docs/operations.md has {rows.get(name)} as the default of {name}, not {default or 'none'}"
    for name in rows.keys() - declared.keys():
        yield f"docs/operations.md tells of {name}, which is no parameter"


def outputs(infrastructure: Infrastructure) -> Iterator[str]:
    """What hooks and workflows ask for is there, and nothing else; the values are what the names say."""
    for scenario in infrastructure.scenarios:
        wanted = {
            "AZURE_FUNCTION_APP_NAME": scenario.app.name,
            "AZURE_RESOURCE_GROUP": scenario.one("Microsoft.Resources/resourceGroups").name,
            "BATCHSCOPE_PRINCIPAL_ID": f"principal of {scenario.identity.id}",
            "BATCHSCOPE_TELEMETRY_STORAGE": scenario.telemetry_storage.name,
            "BATCHSCOPE_URL": f"https://{scenario.app.name}.azurewebsites.net",
        }
        if scenario.file.outputs != wanted:
            yield f"the outputs are {scenario.file.outputs}, not {wanted}"
    asked = re.findall(r"\b(?:BATCHSCOPE|AZURE)_[A-Z_]+\b", infrastructure.read("azure.yaml"))
    asked += re.findall(r"\.([A-Z_]+)\.value", infrastructure.read(".github/workflows/deploy.yml"))
    for name in set(asked) - _OUTPUTS - {"AZURE_ENV_NAME"}:
        yield f"{name} is asked for, but no output"


def described(infrastructure: Infrastructure) -> Iterator[str]:
    for path in infrastructure.bicep_files:
        for found in declarations(parse(path)):
            if found.kind not in {"parameter", "output"}:
                continue
            call = found.decorators.get("description")
            words = text(named(call)[1])[2:-2].split() if call else []
            if len(words) < _FEWEST_WORDS or not words[-1].endswith("."):
                yield f"{path.name}: {found.name} has no description in a sentence"


def in_use(infrastructure: Infrastructure) -> Iterator[str]:
    """No dead symbol, no orphaned module, no module of a registry."""
    files = [infrastructure.folder / "main.bicep", infrastructure.folder / "events.bicep"]
    used: set[str] = set()
    for scenario in infrastructure.scenarios:
        for file in [scenario.file, *_inner(scenario.file)]:
            used.add(file.path.resolve().name)
            for name in file.unused():
                yield f"{file.path.name}: nothing uses {name}"
    for name in infrastructure.events().unused():
        yield f"events.bicep: nothing uses {name}"
    for path in infrastructure.bicep_files:
        if path not in files and path.name not in used:
            yield f"{path.name} is deployed by nothing"
        yield from _dead_outputs(infrastructure, path)
        for node in descendants(parse(path)):
            if node.type == "string" and re.match(r"'(br|ts)[:/]", text(node)):
                yield f"{path.name}: {text(node)} comes from a registry"


def _dead_outputs(infrastructure: Infrastructure, path: Path) -> Iterator[str]:
    main = infrastructure.read("infra/main.bicep")
    symbols = "|".join(re.findall(rf"^module (\w+) 'modules/{path.name}'", main, re.MULTILINE))
    for found in declarations(parse(path)) if symbols else ():
        use = rf"\b({symbols})(\[\w+\])?!?\.outputs\.{found.name}\b"
        if found.kind == "output" and not re.search(use, main):
            yield f"{path.name}: nothing uses the output {found.name}"


def _inner(file: File) -> Iterator[File]:
    for module in file.modules:
        yield module.file
        yield from _inner(module.file)


def one_source_of_names(infrastructure: Infrastructure) -> Iterator[str]:
    """Ids of roles stand in roles.json only; subscriptions, tenants, and the hosts of a cloud nowhere."""
    for path in infrastructure.bicep_files:
        whole = path.read_text(encoding="utf-8")
        for found in re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", whole):
            yield f"{path.name} holds the id {found}"
        for found in re.findall(r"[\w.]*\b(?:windows|azure|microsoftonline|azurewebsites)\.(?:net|com|us|cn)\b", whole):
            yield f"{path.name} holds the host {found}"


def known_clouds(infrastructure: Infrastructure) -> Iterator[str]:
    """The clouds that Bicep knows are those whose tokens the app asks for, each with the zones of its own."""
    clouds = json.loads(infrastructure.read("infra/clouds.json"))
    if [cloud["batch"] for cloud in clouds.values()] != list(TOKEN_SCOPES):
        yield f"clouds.json has other suffixes of Batch accounts than {list(TOKEN_SCOPES)}"
    if clouds != _CLOUDS:
        yield f"clouds.json holds {clouds}"


_CLOUDS = {
    "AzureCloud": {"batch": "batch.azure.com", "web": "azurewebsites.net"},
    "AzureUSGovernment": {"batch": "batch.usgovcloudapi.net", "web": "azurewebsites.us"},
    "AzureChinaCloud": {"batch": "batch.chinacloudapi.cn", "web": "chinacloudsites.cn"},
}
"""Source: "Azure Private Endpoint private DNS zone values", for each cloud."""


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    parameter_file,
    known_clouds,
    limits_hold,
    documented,
    outputs,
    described,
    in_use,
    one_source_of_names,
    every_value_counts,
)

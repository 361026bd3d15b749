"""The tables in tests/data/infra: what the templates deploy in each scenario, and what the pipeline's files say.

`.venv/bin/python -m tests.infra.rules.expectations --write` renews them after a change that is meant; the difference is
then reviewed and committed with the change. A line of `resources.txt` that doesn't hold in every scenario names those
in which it does, by the short names that stand at its beginning.
"""

import difflib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from local.dev.checking.checks import workflows
from local.dev.system.checkout import HERE
from tests.infra.bicep.files import File
from tests.infra.bicep.functions import FUNCTIONS
from tests.infra.bicep.resources import SUBSCRIPTION, Resource
from tests.infra.bicep.syntax import declarations, parse, text
from tests.infra.rules.scenarios import OTHER_SUBSCRIPTION, Infrastructure, Scenario

FOLDER = HERE.root / "tests/data/infra"
_FILES = (
    "infra/clouds.json",
    "infra/main.parameters.json",
    "infra/roles.json",
    "infra/bicepconfig.json",
    "azure.yaml",
    "host.json",
    ".yamllint.yaml",
    ".github/dependabot.yml",
)
_RENEWED = "# `.venv/bin/python -m tests.infra.rules.expectations --write` renews this file; review the difference."
_SHORT: Mapping[str, str] = {
    "the parameter file": "plain",
    "everything on": "all",
    "odd values": "odd",
    "two of each": "two",
    "a network of its own": "network",
    "subnets of others": "subnets",
    "private storage": "private",
    "AzureUSGovernment": "government",
    "AzureChinaCloud": "china",
}
"""Short names of the scenarios of main.bicep."""
_MAX_COLUMNS = 118
_ASSIGNMENT = "Microsoft.Authorization/roleAssignments"
_ACTION = re.compile(r"uses:\s*(\S+)@([0-9a-f]{40})\s+#\s*(v\S+)")
type Blocks = dict[str, list[str]]
"""The lines of a table by the header over them."""


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every value that holds no others, with its path."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list) and any(isinstance(inner, Mapping | list) for inner in value):
        for place, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{place}]")
    elif not isinstance(value, Resource):
        yield path, value


def files_of(file: File) -> Iterator[File]:
    """Yields a deployed file and those of its modules."""
    yield file
    for module in file.modules:
        yield from files_of(module.file)


def resources_table(infrastructure: Infrastructure) -> list[str]:
    roles = {role: name for name, role in json.loads(infrastructure.read("infra/roles.json")).items()}
    main = {_SHORT[scenario.name]: _deployed(scenario, roles) for scenario in infrastructure.scenarios}
    events = {
        name: _marked(_resources(infrastructure.events(existingTopicName=given), roles, {"of": "the group"}), {})
        for name, given in (("new", ""), ("in use", "topic-in-use"))
    }
    legend = ", ".join(f"{short}: {name}" for name, short in _SHORT.items())
    heads = (f"# infra/main.bicep ({legend})", "# infra/events.bicep (new: a new topic, in use: a topic in use)")
    return [heads[0], *_merged(main), "", heads[1], *_merged(events)]


def _deployed(scenario: Scenario, roles: Mapping[str, str]) -> Blocks:
    file, given = scenario.file, scenario.given
    kinds = ("batchscope", "batchscope-telemetry")
    environment, subscription = given["environmentName"], f"/subscriptions/{SUBSCRIPTION}"
    marks = {
        file.value("suffix"): "SUFFIX",
        **{FUNCTIONS["guid"](subscription, kind, environment): f"guid({kind})" for kind in kinds},
        environment: "ENVIRONMENT",
        file.value("environmentLabel"): "ENV",
        given["location"]: "REGION",
    }
    tags = {**scenario.parameter("tags"), "azd-env-name": environment}
    modules = [f"{one.symbol}: {one.name} in {one.scope.id}{_waits(file, one.symbol)}" for one in file.modules]
    return _marked({**_resources(file, roles, tags), "modules": modules}, marks)


def _resources(file: File, roles: Mapping[str, str], tags: Mapping[str, str]) -> Blocks:
    blocks: Blocks = {}
    for inner in files_of(file):
        modules = {module.symbol for module in inner.modules}
        for symbol, resources in inner.own.items():
            for found in resources if symbol not in modules else ():
                waits = _waits(inner, symbol) if symbol in inner.symbols else ""
                lines = [] if found.existing else sorted(_lines(found, tags))
                blocks.setdefault(_header(found, roles) + waits, []).extend(lines)
    blocks["outputs"] = [f"{name} = {json.dumps(value)}" for name, value in file.outputs.items()]
    return blocks


def _header(found: Resource, roles: Mapping[str, str]) -> str:
    kind = f"{found.type}@{found.api_version}"
    if found.existing:
        return f"existing {kind} {found.id}"
    if found.type != _ASSIGNMENT:
        return f"{kind} {found.id}"
    role = found.get("properties.roleDefinitionId")
    name = roles.get(role.rpartition("/")[2], "custom")
    return f"{kind} of {role} ({name}) on {found.scope} to {found.get('properties.principalId')}"


def _lines(found: Resource, tags: Mapping[str, str]) -> Iterator[str]:
    skipped = {"name", "parent", "scope", "dependsOn", "tags"}
    for path, value in leaves({name: value for name, value in found.body.items() if name not in skipped}):
        if found.type != _ASSIGNMENT or path not in {"properties.roleDefinitionId", "properties.principalId"}:
            yield f"{path} = {json.dumps(value, ensure_ascii=False)}"
    if (own := found.get("tags")) is not None:
        common = tags.items() <= own.items()
        more = {name: value for name, value in own.items() if not common or name not in tags}
        yield f"tags = {'those of the deployment' if common else ''} {more or ''}".rstrip()


def _waits(file: File, symbol: str) -> str:
    waits = sorted(file.depends_on(symbol))
    return f" after {', '.join(waits)}" if waits else ""


def _marked(blocks: Blocks, marks: Mapping[str, str]) -> Blocks:
    """Returns blocks with marks for what each scenario gives: its subscription, region and environment."""
    whole = "\n".join("\n\t".join([header, *lines]) for header, lines in blocks.items())
    whole = whole.replace(SUBSCRIPTION, "SUB").replace(OTHER_SUBSCRIPTION, "SUB2")
    for known, mark in marks.items():
        word = re.escape(known)
        alone = rf"{word}(?<![A-Za-z0-9]{word})(?![A-Za-z0-9])"
        whole = re.sub(word if mark == "SUFFIX" else alone, mark, whole)
    whole = whole.replace("/subscriptions/SUB/resourceGroups/rg-batchscope-ENV", "GROUP")
    identity = "GROUP/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-batchscope-ENV"
    made: Blocks = {}
    for line in whole.replace(identity, "IDENTITY").split("\n"):
        if not line.startswith("\t"):
            lines = made.setdefault(line, [])
        else:
            lines.append(line[1:])
    return made


def _merged(scenarios: Mapping[str, Blocks]) -> Iterator[str]:
    """Yields the blocks of all scenarios as one table; what a property is in some and in others stands together."""
    headers = sorted({header for blocks in scenarios.values() for header in blocks})
    for header in headers:
        holders = [name for name, blocks in scenarios.items() if header in blocks]
        yield f"\n{header}{_only(holders, list(scenarios))}"
        lines = dict.fromkeys(line for name in holders for line in scenarios[name][header])
        for line in sorted(lines, key=lambda line: line.partition(" = ")[0]):
            yield f"    {line}{_only([name for name in holders if line in scenarios[name][header]], holders)}"


def _only(holders: list[str], every: list[str]) -> str:
    return "" if holders == every else f"   [{', '.join(holders)}]"


def parameters_table(infrastructure: Infrastructure) -> list[str]:
    """The parameters of main.bicep with their types, defaults and limits."""
    lines = []
    for found in declarations(parse(infrastructure.folder / "main.bicep")):
        if found.kind == "parameter":
            limits = [text(call) for name, call in found.decorators.items() if name != "description"]
            default = f" = {text(found.value)}" if found.value else ""
            kind = re.sub(r"@\w+\('.*?'\)", " ", found.type)
            lines.append(" ".join(f"{found.name} {kind}{default} {' '.join(limits)}".split()))
    return lines


def pipeline_table(infrastructure: Infrastructure) -> list[str]:
    """Workflows, hooks and settings of tools, without comments and in one form."""
    lines = []
    for name in (*workflows(infrastructure.root), *_FILES):
        lines += [f"# {name}", *_whole(infrastructure.read(name)), ""]
    texts = [infrastructure.read(name) for name in workflows(infrastructure.root)]
    pinned = sorted({" ".join(found) for text_ in texts for found in _ACTION.findall(text_)})
    lines += ["# actions, with the commit of each release", *pinned, ""]
    started = [line for line in infrastructure.read(".ci/run").splitlines() if line.startswith("python3 ")]
    return [*lines, "# .ci/run", *started]


@cache
def _whole(source: str) -> list[str]:
    # YAML 1.1 takes the key `on` for a truth value.
    plain = {"on" if key is True else str(key): value for key, value in yaml.safe_load(source).items()}
    return list(_rendered(plain, ""))


def _rendered(value: Any, indent: str, before: str = "") -> Iterator[str]:
    whole = f"{indent}{before}{json.dumps(value, ensure_ascii=False)}"
    if isinstance(value, str) and "\n" in value:
        yield f"{indent}{before}|"
        yield from (f"{indent}  {line}" for line in value.rstrip().splitlines())
    elif not isinstance(value, dict | list) or (len(whole) <= _MAX_COLUMNS and "\\n" not in whole):
        yield whole
    else:
        if before:
            yield f"{indent}{before}".rstrip()
        deeper = indent + "  " * bool(before)
        for key, inner in value.items() if isinstance(value, dict) else [("", entry) for entry in value]:
            yield from _rendered(inner, deeper, f"{key}: " if isinstance(value, dict) else "- ")


TABLES: Mapping[str, Callable[[Infrastructure], list[str]]] = {
    "parameters": parameters_table,
    "pipeline": pipeline_table,
    "resources": resources_table,
}


def _whole_table(name: str, infrastructure: Infrastructure) -> list[str]:
    return "\n".join([_RENEWED, *TABLES[name](infrastructure)]).splitlines()


@cache
def _pinned(name: str) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def _as_pinned(name: str) -> Callable[[Infrastructure], Iterator[str]]:
    def compare(infrastructure: Infrastructure) -> Iterator[str]:
        found = _whole_table(name, infrastructure)
        if found != _pinned(name):
            differences = difflib.unified_diff(_pinned(name), found, f"{name}.txt", "now", n=0, lineterm="")
            yield "\n".join(["tests/data/infra differs; see tests/infra/rules/expectations.py:", *differences])

    compare.__name__ = f"{name}_as_pinned"
    return compare


RULES = tuple(_as_pinned(name) for name in TABLES)


def write(root: Path) -> None:
    infrastructure = Infrastructure(root)
    for name in TABLES:
        (FOLDER / f"{name}.txt").write_text("\n".join(_whole_table(name, infrastructure)) + "\n", encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write(HERE.root)

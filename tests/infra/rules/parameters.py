"""Parameters, outputs and descriptions: complete, in use, and the same on both sides of every border."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from shared.domain.accounts.accounts import TOKEN_SCOPES
from tests.infra.bicep.files import File
from tests.infra.bicep.syntax import BicepError, Node, declarations, descendants, named, parse, text
from tests.infra.rules.expectations import files_of, leaves
from tests.infra.rules.scenarios import EVERYTHING, OWN_NETWORK, Infrastructure

_FEWEST_WORDS = 3


def parameter_file(infrastructure: Infrastructure) -> Iterator[str]:
    """The file gives what main.bicep needs, of the right type: texts of the environment, and else the defaults."""
    given = infrastructure.parameter_file
    declared = {found.name: found for found in declarations(_main(infrastructure)) if found.kind == "parameter"}
    for name in given.keys() - declared.keys():
        yield f"main.parameters.json gives {name}, which main.bicep doesn't have"
    for name, found in declared.items():
        if found.value is None and name not in given:
            yield f"main.parameters.json lacks {name}"
    filled = {name for name, value in given.items() if "$" in str(value)}
    bare = infrastructure.main({name: infrastructure.scenarios[0].given[name] for name in filled})
    for name in given.keys() - filled:
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
        for file in files_of(scenario.file):
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


def one_source_of_names(infrastructure: Infrastructure) -> Iterator[str]:
    """Ids of roles stand in roles.json only; subscriptions, tenants, and the hosts of a cloud nowhere."""
    for path in infrastructure.bicep_files:
        whole = path.read_text(encoding="utf-8")
        for found in re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", whole):
            yield f"{path.name} holds the id {found}"
        for found in re.findall(r"[\w.]*\b(?:windows|azure|microsoftonline|azurewebsites)\.(?:net|com|us|cn)\b", whole):
            yield f"{path.name} holds the host {found}"


def known_clouds(infrastructure: Infrastructure) -> Iterator[str]:
    """The clouds that Bicep knows are those whose tokens the app asks for."""
    clouds = json.loads(infrastructure.read("infra/clouds.json"))
    if [cloud["batch"] for cloud in clouds.values()] != list(TOKEN_SCOPES):
        yield f"clouds.json has other suffixes of Batch accounts than {list(TOKEN_SCOPES)}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    parameter_file,
    known_clouds,
    documented,
    described,
    in_use,
    one_source_of_names,
    every_value_counts,
)

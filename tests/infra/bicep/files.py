"""Works out what a Bicep file would deploy: the resources with all expressions evaluated, for given parameters.

It knows the part of the language that infra/ uses and refuses the rest, so that a rule never judges what it has not
understood. It stands on the public grammar only; what the platform alone knows (`principalId`, host names, keys) comes
from a short list of samples, and a property that isn't on it is refused as well.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, override

from tests.infra.bicep.expressions import Expressions, Local
from tests.infra.bicep.resources import Module, Resource, Scope
from tests.infra.bicep.syntax import (
    BicepError,
    Declaration,
    Node,
    child,
    declarations,
    descendants,
    first_argument,
    identifiers,
    is_key,
    named,
    parse_source,
    plain,
    text,
)

_INNER_FILE = re.compile(rb"'([\w./-]+\.(?:bicep|json))'")
_TYPES: dict[str, Any] = {"string": str, "int": int, "bool": bool, "object": dict, "array": list}


@dataclass
class File(Expressions):
    """One file deployed with parameters at a scope; symbols are evaluated when they are first needed."""

    path: Path
    scope: Scope
    parameters: Mapping[str, Any]
    everything: list[Resource] = field(default_factory=list)
    sources: Mapping[Path, bytes] = field(default_factory=dict)
    modules: list[Module] = field(default_factory=list)
    own: dict[str, list[Resource]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sources = self.sources or read_sources(self.path)
        self.root = parse_source(self.path.name, self.sources[self.path])
        found = declarations(self.root)
        self.symbols = {item.name: item for item in found if item.kind != "output"}
        self.output_nodes = {item.name: item for item in found if item.kind == "output"}
        if len(found) != len(self.symbols) + len(self.output_nodes):
            raise BicepError(f"{self.path.name} declares a name twice")
        self._values = {}
        self._open: list[str] = []
        self._waits: dict[str, set[str]] = {}
        self._check_target()
        self._bind_parameters()

    def deploy(self) -> "File":
        for name, item in self.symbols.items():
            if item.kind in {"resource", "module"}:
                self.value(name)
        self.outputs  # noqa: B018 - evaluated for its faults
        return self

    @property
    def outputs(self) -> dict[str, Any]:
        values = {name: self.evaluate(item.value, {}) for name, item in self.output_nodes.items()}
        for name, value in values.items():
            if type(value) is not _TYPES.get(self.output_nodes[name].type):
                raise BicepError(
                    f"{self.path.name}: the output {name} is not {self.output_nodes[name].type}: {value!r}"
                )
        return values

    @override
    def value(self, name: str) -> Any:
        if name not in self._values:
            if name in self._open:
                raise BicepError(f"{self.path.name}: {' -> '.join([*self._open, name])} is a circle")
            self._open.append(name)
            self._values[name] = self._declared(self.symbols[name])
            self._open.pop()
        return self._values[name]

    def depends_on(self, name: str) -> set[str]:
        """Resources and modules of this file that a symbol waits for, directly or through others."""
        if name in self._waits:
            return self._waits[name]
        seen: set[str] = set()
        todo = [name]
        while todo:
            for used in self._used_by(todo.pop()) - seen:
                seen.add(used)
                todo.append(used)
        self._waits[name] = {used for used in seen if self.symbols[used].kind in {"resource", "module"}} - {name}
        return self._waits[name]

    def _used_by(self, name: str) -> frozenset[str]:
        return (identifiers(self.symbols[name].node) & self.symbols.keys()) - {name}

    def unused(self) -> list[str]:
        """Parameters and variables that nothing uses."""
        used = {
            text(node)
            for item in [*self.symbols.values(), *self.output_nodes.values()]
            for node in descendants(item.node)
            if node.type == "identifier" and not is_key(node) and node != child(item.node, "identifier")
        }
        return [
            name for name, item in self.symbols.items() if item.kind in {"parameter", "variable"} and name not in used
        ]

    def _check_target(self) -> None:
        node = child(self.root, "target_scope_assignment")
        target = "subscription" if node and "'subscription'" in text(node) else "resourceGroup"
        if (target == "subscription") != (self.scope.group is None):
            raise BicepError(f"{self.path.name} is meant for a {target}, but deployed to {self.scope.id}")

    def _bind_parameters(self) -> None:
        declared = {name: item for name, item in self.symbols.items() if item.kind == "parameter"}
        if unknown := self.parameters.keys() - declared.keys():
            raise BicepError(f"{self.path.name} has no parameter {', '.join(sorted(unknown))}")
        for name, item in declared.items():
            if name in self.parameters:
                self._values[name] = self.parameters[name]
            elif item.value is None:
                raise BicepError(f"{self.path.name} needs the parameter {name}")
            self._check_parameter(item, self.value(name))

    def _check_parameter(self, item: Declaration, value: Any) -> None:
        wanted = list if item.type.endswith("[]") else _TYPES.get(item.type)
        if wanted is None or type(value) is not wanted:
            raise BicepError(f"{self.path.name}: {item.name} should be {item.type}, not {value!r}")
        limits = {
            name: self.evaluate(first_argument(call), {})
            for name, call in item.decorators.items()
            if first_argument(call)
        }
        size = value if isinstance(value, int) else len(value)
        low = limits.get("minValue", limits.get("minLength", size))
        high = limits.get("maxValue", limits.get("maxLength", size))
        if not low <= size <= high or value not in limits.get("allowed", [value]):
            raise BicepError(f"{self.path.name}: {item.name} can't be {value!r}")
        members = set(re.findall(r"(\w+):\w+", re.sub(r"@\w+\('.*?'\)", " ", item.type))) if "{" in item.type else None
        if members is not None and any(entry.keys() != members for entry in value):
            raise BicepError(f"{self.path.name}: {item.name} should hold objects of {', '.join(sorted(members))}")
        if item.type == "string[]" and not all(isinstance(entry, str) for entry in value):
            raise BicepError(f"{self.path.name}: {item.name} should hold texts only")

    def _declared(self, item: Declaration) -> Any:
        if item.kind in {"resource", "module"}:
            make = self._make_resource if item.kind == "resource" else self._make_module
            return self._repeated(item, item.value, {}, make)
        return self.evaluate(item.value, {})

    def _repeated(self, item: Declaration, node: Node | None, local: Local, make: Callable[..., Any]) -> Any:
        if node is None:
            raise BicepError(f"{self.path.name}: {item.name} has no body")
        if node.type == "for_statement":
            return [self._repeated(item, body, inner, make) for body, inner in self._rounds(node, local)]
        if node.type == "if_statement":
            condition, body = named(node)
            return self._repeated(item, body, local, make) if self._true(condition, local) else None
        return make(item, node, local)

    def _make_resource(self, item: Declaration, node: Node, local: Local, parent: Any = None) -> Resource:
        kind, _, version = plain(child(item.node, "string")).partition("@")
        nested = [found for found in named(node) if found.children[0].type == "resource_declaration"]
        body = self._object(node, local, skip=nested)
        parent = body.get("parent", parent)
        if parent is not None and "/" not in kind:
            kind, version = f"{parent.type}/{kind}", version or parent.api_version
        made = Resource(
            item.name,
            self.path.name,
            kind,
            version,
            self._id(kind, body, parent),
            str(body["name"]),
            body["scope"].id if "scope" in body else self.scope.id,
            child(item.node, "existing") is not None,
            body,
            self.scope.cloud,
        )
        self.everything.append(made)
        self.own.setdefault(item.name, []).append(made)
        for inner in nested:
            declared = declarations(_Holder(inner.children[0]))[0]
            self._values[f"{item.name}::{declared.name}"] = self._make_resource(declared, declared.value, local, made)  # type: ignore[arg-type]
        return made

    def _id(self, kind: str, body: Mapping[str, Any], parent: Any) -> str:
        if not body.get("name"):
            raise BicepError(f"{self.path.name}: a {kind} has no name")
        if kind == "Microsoft.Resources/resourceGroups":
            return f"{self.scope.id}/resourceGroups/{body['name']}"
        if parent is not None:
            if kind.rpartition("/")[0].lower() != parent.type.lower():
                raise BicepError(f"{self.path.name}: a {kind} can't be the child of a {parent.type}")
            return f"{parent.id}/{kind.rpartition('/')[2]}/{body['name']}"
        provider, *types = kind.split("/")
        names = str(body["name"]).split("/")
        if len(types) != len(names):
            raise BicepError(f"{self.path.name}: {body['name']} is no name for a {kind}; is its parent missing?")
        pairs = "/".join(f"{type_}/{name}" for type_, name in zip(types, names, strict=True))
        return f"{body['scope'].id if 'scope' in body else self.scope.id}/providers/{provider}/{pairs}"

    def _make_module(self, item: Declaration, node: Node, local: Local) -> Module:
        source = plain(child(item.node, "string"))
        path = self.path.parent / source
        if source.startswith(("br", "ts:")) or path not in self.sources:
            raise BicepError(f"{self.path.name}: {source} is not a file of this repository")
        body = self._object(node, local)
        if extra := body.keys() - {"name", "scope", "params", "dependsOn"}:
            raise BicepError(f"{self.path.name}: the module {item.name} can't have {', '.join(sorted(extra))}")
        if "name" not in body:
            raise BicepError(f"{self.path.name}: the module {item.name} has no name")
        scope = body.get("scope", self.scope)
        if isinstance(scope, Resource):
            scope = Scope(self.scope.subscription, scope.name, self.scope.cloud)
        file = deploy(path, scope, body.get("params", {}), self.sources)
        made = Module(item.name, body["name"], scope, file)
        self.modules.append(made)
        self.everything.extend(file.everything)
        self.own.setdefault(item.name, []).extend(file.everything)
        return made


_DEPLOYED: dict[tuple[Any, ...], File] = {}
"""Deployed files by all that decides what they deploy: the content of their files, scope and parameters."""
_MAX_DEPLOYED = 2_000


def deploy(path: Path, scope: Scope, parameters: Mapping[str, Any], known: Mapping[Path, bytes] | None = None) -> File:
    """A file deployed with parameters. It is evaluated once for all copies with the same content.

    `known` are contents that were read already. `path` of the file returned may be that of another copy: only its name
    has a meaning.
    """
    sources = read_sources(path, known)
    content = tuple((os.path.relpath(name, path.parent), source) for name, source in sources.items())
    key = (path.name, content, scope, repr(parameters))
    if len(_DEPLOYED) > _MAX_DEPLOYED:
        _DEPLOYED.clear()
    if key not in _DEPLOYED:
        _DEPLOYED[key] = File(path, scope, parameters, sources=sources).deploy()
    return _DEPLOYED[key]


def read_sources(path: Path, known: Mapping[Path, bytes] | None = None) -> dict[Path, bytes]:
    """The contents of a file and of all files that it names, directly or through others, by path.

    Those that are `known` aren't read again.
    """
    found: dict[Path, bytes] = {}
    todo = [path]
    while todo:
        name = todo.pop()
        if name not in found and (name in (known or {}) or name.is_file()):
            found[name] = known[name] if known and name in known else name.read_bytes()
            todo += [name.parent / inner for inner in _inner_files(found[name])] if name.suffix == ".bicep" else []
    return found


@lru_cache(_MAX_DEPLOYED)
def _inner_files(source: bytes) -> Sequence[str]:
    return [match.decode() for match in _INNER_FILE.findall(source)]


class _Holder:
    """Lets `declarations` look at a nested resource as if it stood alone."""

    def __init__(self, node: Node) -> None:
        self.children = [node]

"""Works out what a Bicep file would deploy: the resources with all expressions evaluated, for given parameters.

It knows the part of the language that infra/ uses and refuses the rest, so that a rule never judges what it has not
understood. It stands on the public grammar only; what the platform alone knows (`principalId`, host names, keys) comes
from a short list of samples, and a property that isn't on it is refused as well.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.infra.bicep_functions import FUNCTIONS
from tests.infra.bicep_syntax import (
    BicepError,
    Declaration,
    Node,
    child,
    declarations,
    descendants,
    first_argument,
    is_key,
    named,
    parse,
    plain,
    swallowed_ternary,
    text,
)

SUBSCRIPTION = "11111111-0000-0000-0000-000000000000"


_TYPES: dict[str, Any] = {"string": str, "int": int, "bool": bool, "object": dict, "array": list}


type Local = Mapping[str | int, Any]
"""Loop variables by name, and values that stand for a node by its id."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a file is deployed: a subscription, or a resource group in one."""

    subscription: str
    group: str | None = None

    @property
    def id(self) -> str:
        group = f"/resourceGroups/{self.group}" if self.group else ""
        return f"/subscriptions/{self.subscription}{group}"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource; `body` has every property as it would be sent. `existing` ones are only referred to."""

    symbol: str
    file: str
    type: str
    api_version: str
    id: str
    name: str
    scope: str
    existing: bool
    body: Mapping[str, Any]

    def get(self, path: str, default: Any = None) -> Any:
        """A property by its dotted path."""
        found: Any = self.body
        for part in path.split("."):
            if not isinstance(found, Mapping) or part not in found:
                return default
            found = found[part]
        return found


@dataclass(frozen=True, slots=True)
class Module:
    """One deployed module: what it holds and gives."""

    symbol: str
    name: str
    scope: Scope
    file: "File"


_SAMPLES: dict[tuple[str, str], Callable[[Resource], Any]] = {
    ("Microsoft.Batch/batchAccounts", "properties.accountEndpoint"): lambda r: f"{r.name}.westeurope.batch.azure.com",
    ("Microsoft.Insights/components", "properties.ConnectionString"): lambda r: f"address of {r.id}",
    ("Microsoft.ManagedIdentity/userAssignedIdentities", "properties.clientId"): lambda r: f"client of {r.id}",
    ("Microsoft.ManagedIdentity/userAssignedIdentities", "properties.principalId"): lambda r: f"principal of {r.id}",
    ("Microsoft.Storage/storageAccounts", "properties.primaryEndpoints.blob"): lambda r: (
        f"https://{r.name}.blob.core.windows.net/"
    ),
    ("Microsoft.Storage/storageAccounts", "properties.primaryEndpoints.queue"): lambda r: (
        f"https://{r.name}.queue.core.windows.net/"
    ),
    ("Microsoft.Web/sites", "properties.defaultHostName"): lambda r: f"{r.name}.azurewebsites.net",
}


@dataclass
class File:
    """One file deployed with parameters at a scope; symbols are evaluated when they are first needed."""

    path: Path
    scope: Scope
    parameters: Mapping[str, Any]
    everything: list[Resource] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    own: dict[str, list[Resource]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = parse(self.path)
        found = declarations(self.root)
        self.symbols = {item.name: item for item in found if item.kind != "output"}
        self.output_nodes = {item.name: item for item in found if item.kind == "output"}
        if len(found) != len(self.symbols) + len(self.output_nodes):
            raise BicepError(f"{self.path.name} declares a name twice")
        self._values: dict[str, Any] = {}
        self._open: list[str] = []
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
        seen: set[str] = set()
        todo = [name]
        while todo:
            for used in self._used_by(todo.pop()) - seen:
                seen.add(used)
                todo.append(used)
        return {used for used in seen if self.symbols[used].kind in {"resource", "module"}} - {name}

    def _used_by(self, name: str) -> set[str]:
        return {
            text(node)
            for node in descendants(self.symbols[name].node)
            if node.type == "identifier" and text(node) in self.symbols and not is_key(node)
        } - {name}

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

    def evaluate(self, node: Node | None, local: Local) -> Any:
        if node is None:
            raise BicepError(f"{self.path.name}: a value is missing")
        if node.id in local:
            return local[node.id]
        ternary = swallowed_ternary(node)
        if ternary is not None and ternary.id not in local:
            condition, yes, no = named(ternary)
            if self._true(condition, local):
                return self.evaluate(yes, local)
            local = {**local, ternary.id: self.evaluate(no, local)}
        known = getattr(self, f"_{node.type}", None)
        if known is None:
            raise BicepError(f"{self.path.name}:{node.start_point[0] + 1}: {node.type} is beyond this evaluator")
        return known(node, local)

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

    def _rounds(self, node: Node, local: Local) -> Iterator[tuple[Node, Local]]:
        variables, source, body = named(node)
        names = [text(found) for found in named(variables)] or [text(variables)]
        for index, entry in enumerate(self.evaluate(source, local)):
            yield body, {**local, **dict(zip(names, (entry, index), strict=False))}

    def _true(self, node: Node, local: Local) -> bool:
        value = self.evaluate(node, local)
        if not isinstance(value, bool):
            raise BicepError(f"{self.path.name}: {text(node)} is no truth value")
        return value

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
        )
        self.everything.append(made)
        self.own.setdefault(item.name, []).append(made)
        for inner in nested:
            declared = declarations(_Holder(inner.children[0]))[0]  # type: ignore[arg-type]
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
        if source.startswith(("br", "ts:")) or not path.is_file():
            raise BicepError(f"{self.path.name}: {source} is not a file of this repository")
        body = self._object(node, local)
        if extra := body.keys() - {"name", "scope", "params", "dependsOn"}:
            raise BicepError(f"{self.path.name}: the module {item.name} can't have {', '.join(sorted(extra))}")
        if "name" not in body:
            raise BicepError(f"{self.path.name}: the module {item.name} has no name")
        scope = body.get("scope", self.scope)
        if isinstance(scope, Resource):
            scope = Scope(self.scope.subscription, scope.name)
        file = File(path, scope, body.get("params", {})).deploy()
        made = Module(item.name, body["name"], scope, file)
        self.modules.append(made)
        self.everything.extend(file.everything)
        self.own.setdefault(item.name, []).extend(file.everything)
        return made

    def _string(self, node: Node, local: Local) -> str:
        return "".join(self._piece(piece, local) for piece in node.children)

    def _piece(self, node: Node, local: Local) -> str:
        if node.type == "interpolation":
            value = self.evaluate(named(node)[0], local)
            if not isinstance(value, str | int):
                raise BicepError(f"{self.path.name}: {text(node)} is no text")
            return str(value)
        if node.type == "escape_sequence":
            return text(node)[1:].replace("n", "\n")
        # The grammar takes the spaces before a closing quote for a part of it.
        return text(node) if node.type == "string_content" else text(node).replace("'", "")

    def _number(self, node: Node, _local: Local) -> int:
        return int(text(node))

    def _boolean(self, node: Node, _local: Local) -> bool:
        return text(node) == "true"

    def _null(self, _node: Node, _local: Local) -> None:
        return None

    def _array(self, node: Node, local: Local) -> list[Any]:
        return [self.evaluate(entry, local) for entry in named(node)]

    def _object(self, node: Node, local: Local, skip: Sequence[Node] = ()) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for item in named(node):
            if item in skip:
                continue
            key, value = named(item)
            name = self._string(key, local) if key.type == "string" else text(key)
            if name in made:
                raise BicepError(f"{self.path.name}: {name} is given twice")
            made[name] = [] if name == "dependsOn" else self.evaluate(value, local)
            if name == "dependsOn" and not all(text(entry) in self.symbols for entry in named(value)):
                raise BicepError(f"{self.path.name}: {text(value)} names what isn't there")
        return made

    def _for_statement(self, node: Node, local: Local) -> list[Any]:
        return [self.evaluate(body, inner) for body, inner in self._rounds(node, local)]

    def _parenthesized_expression(self, node: Node, local: Local) -> Any:
        return self.evaluate(named(node)[0], local)

    def _ternary_expression(self, node: Node, local: Local) -> Any:
        condition, yes, no = named(node)
        return self.evaluate(yes if self._true(condition, local) else no, local)

    def _unary_expression(self, node: Node, local: Local) -> Any:
        if node.children[0].type != "!":
            raise BicepError(f"{self.path.name}: {text(node)} is beyond this evaluator")
        return not self._true(node.children[1], local)

    def _binary_expression(self, node: Node, local: Local) -> Any:
        left, operator, right = node.children
        if operator.type in {"&&", "||"}:
            first = self._true(left, local)
            return self._true(right, local) if first == (operator.type == "&&") else first
        one, other = self.evaluate(left, local), self.evaluate(right, local)
        known: dict[str, Callable[[], Any]] = {
            "==": lambda: one == other,
            "!=": lambda: one != other,
            ">": lambda: one > other,
            "<": lambda: one < other,
            "??": lambda: other if one is None else one,
        }
        if operator.type not in known:
            raise BicepError(f"{self.path.name}: {operator.type} is beyond this evaluator")
        return known[operator.type]()

    def _identifier(self, node: Node, local: Local) -> Any:
        name = text(node)
        if name in local:
            return local[name]
        if name not in self.symbols:
            raise BicepError(f"{self.path.name}:{node.start_point[0] + 1}: there is no {name}")
        return self.value(name)

    def _resource_expression(self, node: Node, local: Local) -> Any:
        outer, inner = named(node)
        self.evaluate(outer, local)
        name = f"{text(outer)}::{text(inner)}"
        if name not in self._values:
            raise BicepError(f"{self.path.name}: there is no {name}")
        return self._values[name]

    def _subscript_expression(self, node: Node, local: Local) -> Any:
        whole, place = (self.evaluate(part, local) for part in named(node))
        try:
            return whole[place]
        except (IndexError, KeyError, TypeError) as error:
            raise BicepError(f"{self.path.name}: {text(node)} isn't there") from error

    def _member_expression(self, node: Node, local: Local) -> Any:
        whole, name = self.evaluate(named(node)[0], local), text(named(node)[1])
        if isinstance(whole, Resource):
            return _Property(whole, "").step(name)
        if isinstance(whole, _Property):
            return whole.step(name)
        if isinstance(whole, Module):
            if name not in {"name", "outputs"}:
                raise BicepError(f"{self.path.name}: a module has no {name}")
            return whole.name if name == "name" else whole.file.outputs
        if isinstance(whole, Mapping) and name in whole:
            return whole[name]
        raise BicepError(f"{self.path.name}:{node.start_point[0] + 1}: {text(node)} isn't there")

    def _call_expression(self, node: Node, local: Local) -> Any:
        function, arguments = named(node)
        if text(function) in {"filter", "map"}:
            source, mapping = named(arguments)
            variable, body = named(mapping)
            entries = self.evaluate(source, local)
            values = [self.evaluate(body, {**local, text(variable): entry}) for entry in entries]
            return values if text(function) == "map" else [e for e, kept in zip(entries, values, strict=True) if kept]
        given = [self.evaluate(argument, local) for argument in named(arguments)]
        known: dict[str, Callable[..., Any]] = {**FUNCTIONS, **self._functions_here()}
        if text(function) not in known:
            raise BicepError(f"{self.path.name}: the function {text(function)} is beyond this evaluator")
        return known[text(function)](*given)

    def _functions_here(self) -> dict[str, Callable[..., Any]]:
        return {
            "loadJsonContent": lambda name: json.loads((self.path.parent / name).read_text(encoding="utf-8")),
            "resourceGroup": self._resource_group,
            "subscription": lambda: {
                "id": f"/subscriptions/{self.scope.subscription}",
                "subscriptionId": self.scope.subscription,
            },
            "subscriptionResourceId": lambda kind, name: (
                f"/subscriptions/{self.scope.subscription}/providers/{kind}/{name}"
            ),
        }

    def _resource_group(self, *names: str) -> Any:
        if names:
            subscription, group = names if len(names) > 1 else (self.scope.subscription, names[0])
            return Scope(subscription, group)
        return {"id": self.scope.id, "location": "the group's region"}


@dataclass(frozen=True, slots=True)
class _Property:
    """A path into a resource on its way to a value: what the file itself says, or a sample of what Azure would."""

    resource: Resource
    path: str

    def step(self, name: str) -> Any:
        path = f"{self.path}.{name}".lstrip(".")
        if path in {"id", "name", "type"}:
            return getattr(self.resource, path)
        if path == "apiVersion":
            return self.resource.api_version
        if (self.resource.type, path) in _SAMPLES:
            return _SAMPLES[self.resource.type, path](self.resource)
        value = self.resource.get(path)
        if value is not None and not isinstance(value, Mapping):
            return value
        if any(kind == self.resource.type and known.startswith(f"{path}.") for kind, known in _SAMPLES):
            return _Property(self.resource, path)
        raise BicepError(f"{self.resource.file}: {self.resource.symbol}.{path} isn't known at this time")


class _Holder:
    """Lets `declarations` look at a nested resource as if it stood alone."""

    def __init__(self, node: Node) -> None:
        self.children = [node]

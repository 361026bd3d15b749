"""The expressions of Bicep that infra/ uses, worked out node by node."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.infra.bicep.functions import FUNCTIONS, environment_of
from tests.infra.bicep.resources import Module, Property, Resource, Scope
from tests.infra.bicep.syntax import BicepError, Declaration, Node, named, swallowed_ternary, text

type Local = Mapping[str | int, Any]
"""Loop variables by name, and values that stand for a node by its id."""


class Expressions(ABC):
    """Works out the expressions of one file, which knows its symbols and what they stand for."""

    path: Path
    sources: Mapping[Path, bytes]
    scope: Scope
    symbols: dict[str, Declaration]
    _values: dict[str, Any]

    @abstractmethod
    def value(self, name: str) -> Any:
        """What a symbol of the file stands for."""

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

    def _true(self, node: Node, local: Local) -> bool:
        value = self.evaluate(node, local)
        if not isinstance(value, bool):
            raise BicepError(f"{self.path.name}: {text(node)} is no truth value")
        return value

    def _rounds(self, node: Node, local: Local) -> Iterator[tuple[Node, Local]]:
        variables, source, body = named(node)
        names = [text(found) for found in named(variables)] or [text(variables)]
        for index, entry in enumerate(self.evaluate(source, local)):
            yield body, {**local, **dict(zip(names, (entry, index), strict=False))}

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
            "+": lambda: one + other,
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
            return Property(whole, "").step(name)
        if isinstance(whole, Property):
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
            "loadJsonContent": lambda name: json.loads(self.sources[self.path.parent / name]),
            "environment": lambda: environment_of(self.scope.cloud),
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
            return Scope(subscription, group, self.scope.cloud)
        return {"id": self.scope.id, "location": "the group's region", "tags": {"of": "the group"}}

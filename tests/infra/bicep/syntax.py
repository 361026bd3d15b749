"""The syntax of Bicep files: trees of the public grammar, and what they declare."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import tree_sitter
import tree_sitter_bicep

_DECLARATIONS = {
    "parameter_declaration",
    "variable_declaration",
    "resource_declaration",
    "module_declaration",
    "output_declaration",
}


_MAX_FILES, _MAX_NODES = 200, 100_000  # remembered: some copies of all files
_IGNORED = {"comment", "diagnostic_comment", "target_scope_assignment"}


type Node = tree_sitter.Node


class BicepError(Exception):
    """What a file says makes no sense, or is beyond this evaluator."""


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bicep.language()))


@lru_cache(_MAX_NODES)
def text(node: Node) -> str:
    return (node.text or b"").decode()


@lru_cache(_MAX_NODES)
def named(node: Node) -> tuple[Node, ...]:
    return tuple(found for found in node.children if found.is_named and found.type not in _IGNORED)


@lru_cache(_MAX_NODES)
def child(node: Node, *kinds: str) -> Node | None:
    return next((found for found in node.children if found.type in kinds), None)


def descendants(node: Node) -> Iterator[Node]:
    yield node
    for inner in node.children:
        yield from descendants(inner)


def parse(path: Path) -> Node:
    """The syntax tree of a file. Raises BicepError where the grammar is broken."""
    return parse_source(path.name, path.read_bytes())


def parse_source(name: str, source: bytes) -> Node:
    """The syntax tree of a file's content. Raises BicepError, which names the file, where the grammar is broken."""
    root, broken = _parsed(source)
    if broken is not None:
        raise BicepError(f"{name}:{broken.start_point[0] + 1}: this is not Bicep: {text(broken)[:40]!r}")
    return root


@lru_cache(_MAX_FILES)
def _parsed(source: bytes) -> tuple[Node, Node | None]:
    root = _parser().parse(source).root_node
    return root, next((node for node in descendants(root) if node.type == "ERROR" or node.is_missing), None)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One named thing of a file, with its decorators by name."""

    node: Node
    name: str
    decorators: Mapping[str, Node]

    @property
    def kind(self) -> str:
        return self.node.type.removesuffix("_declaration")

    @property
    def value(self) -> Node | None:
        after = [i for i, found in enumerate(self.node.children) if found.type == "="]
        return self.node.children[after[0] + 1] if after else None

    @property
    def type(self) -> str:
        found = child(self.node, "type", "nullable_type", "primitive_type", "array_type")
        return "".join(text(found).split()) if found else ""


@lru_cache(_MAX_FILES)
def declarations(root: Node) -> tuple[Declaration, ...]:
    found: list[Declaration] = []
    decorators: dict[str, Node] = {}
    for node in named(root):
        if node.type == "decorators":
            calls = [named(decorator)[0] for decorator in named(node)]
            decorators = {text(named(call)[0]): call for call in calls}
        elif node.type in _DECLARATIONS:
            name = child(node, "identifier")
            if name is None:
                raise BicepError(f"line {node.start_point[0] + 1} declares nothing")
            found.append(Declaration(node, text(name), decorators))
            decorators = {}
        elif node.type not in _IGNORED:
            raise BicepError(f"line {node.start_point[0] + 1}: {node.type} is beyond this evaluator")
    return tuple(found)


def is_key(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "object_property" and node.parent.children[0] == node


@lru_cache(_MAX_NODES)
def identifiers(node: Node) -> frozenset[str]:
    """The names that are used anywhere in a part of a file; keys of objects are none."""
    return frozenset(text(found) for found in descendants(node) if found.type == "identifier" and not is_key(found))


def swallowed_ternary(node: Node) -> Node | None:
    """The grammar takes `a ? b : c.d` for `(a ? b : c).d`; this finds such a ternary at the left end of a chain."""
    if node.type not in {"member_expression", "subscript_expression"}:
        return None
    while node.type in {"member_expression", "subscript_expression"}:
        node = named(node)[0]
    return node if node.type == "ternary_expression" else None


def first_argument(call: Node) -> Node | None:
    arguments = child(call, "arguments")
    return next(iter(named(arguments)), None) if arguments else None


def plain(node: Node | None) -> str:
    if node is None or any(piece.type == "interpolation" for piece in node.children):
        raise BicepError("a type or a path must be a plain text")
    return text(node)[1:-1]

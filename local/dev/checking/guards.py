"""Names the test modules that guard a module of the app by importing it, directly or through helpers.

If there are none, it names those of the modules that import it, and so on. It reads only import statements, so tests
that reach a module by HTTP or a browser are missing.
"""

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure, say

_FOLDERS = ("function_app.py", "functions", "shared", "local", "tests")
_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")  # the fields that contain statements
_WHOLE_APP = ("function_app", "functions")  # most tests reach these by requests, which no import statement shows
type Importers = Mapping[str, frozenset[str]]


def guards(checkout: Checkout, path: str) -> int:
    """Prints the test modules of one file, one a line, those of its subject first.

    Raises Failure if it is no Python file of the checkout.
    """
    file = Path(path).resolve()
    if file.suffix != ".py" or not file.is_file() or not file.is_relative_to(checkout.root):
        raise Failure(f"{path} is no Python file of this checkout; name one such as shared/domain/jobs/jobs.py.")
    name = _name(file.relative_to(checkout.root))
    subject = set(name.split(".")[1:-1])
    found = sorted(
        guards_of(name, importers_of(checkout.root)),
        key=lambda test: (-len(subject.intersection(test.split("."))), test),
    )
    for test in found:
        say(f"{test.replace('.', '/')}.py")
    if name.startswith("local."):
        if not found:
            say("No test runs it.")
    elif not found or name.partition(".")[0] in _WHOLE_APP:
        say("tests/functions and tests/e2e run the whole app, with it.")
    return 0


@cache
def importers_of(root: Path) -> Importers:
    """Returns the modules that import each module, by dotted name; parses all files once a process, in seconds."""
    files = [root / "function_app.py", *(file for folder in _FOLDERS for file in (root / folder).rglob("*.py"))]
    found: dict[str, set[str]] = {}
    for file in files:
        if file.is_file() and "node_modules" not in file.parts:
            for imported in _imports(ast.parse(file.read_text(encoding="utf-8"))):
                found.setdefault(imported, set()).add(_name(file.relative_to(root)))
    return {module: frozenset(names) for module, names in found.items()}


def guards_of(module: str, importers: Importers) -> frozenset[str]:
    """Returns tests that import a module through no other app module; else those of the modules that import it."""
    seen, edge = {module}, {module}
    while edge:
        helpers = _reached(edge, importers, inside="tests")
        tests = frozenset(name for name in helpers if name.rpartition(".")[2].startswith("test_"))
        if tests:
            return tests
        edge = {name for each in edge for name in importers.get(each, ())} - seen
        seen |= edge
    return frozenset()


def _reached(modules: Iterable[str], importers: Importers, *, inside: str) -> set[str]:
    """Returns modules of a folder that import one of these, directly or through others of that folder."""
    found: set[str] = set()
    edge = set(modules)
    while edge:
        edge = {name for each in edge for name in importers.get(each, ()) if name.startswith(f"{inside}.")} - found
        found |= edge
    return found


def _imports(tree: ast.Module) -> Iterable[str]:
    """Yields what the statements of a module import; expressions, most of a tree, contain no statements."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        for part in _BODIES:
            todo += getattr(node, part, ())


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")

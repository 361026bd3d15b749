"""House rules outside all linters: the stores may use the network, but don't read the clock."""

import ast
from pathlib import Path

import pytest

from local.dev.system.checkout import HERE

CLOCKS = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"), ("time", "time")}
SOURCES = sorted([*(HERE.root / "shared/stores").rglob("*.py"), HERE.root / "shared/composition/parts.py"])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(HERE.root)))
def test_only_the_clock_module_reads_the_clock(path: Path) -> None:
    tree = ast.parse(path.read_text())
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    named = {(node.value.id, node.attr) for node in attributes if isinstance(node.value, ast.Name)}
    assert named & CLOCKS == set()
    assert ("os", "environ") not in named

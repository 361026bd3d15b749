"""A missed bar is an exit code that a pipeline sees, and the import tree lists all loaded modules."""

import json
import os
from pathlib import Path

import pytest

from bench import cold
from bench.parts.import_tree import import_tree
from bench.report.rows import row
from local.dev.system.checkout import HERE


@pytest.mark.parametrize(("app", "code"), [(149.0, 0), (151.0, 1)])
def test_a_missed_bar_is_an_exit_code(
    app: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row("import", app, "ms", other=(100.0, "azure.functions alone"), bar=1.5)]
    monkeypatch.setattr(cold, "measure", lambda _runs: rows)
    monkeypatch.setattr("sys.argv", ["cold", "--json", str(tmp_path / "cold.json")])
    assert cold.main() == code
    assert ("MISSED" if code else "ok") in capsys.readouterr().out
    assert json.loads((tmp_path / "cold.json").read_text())["measures"][0]["ok"] is (code == 0)


def test_the_import_tree_names_the_packages_of_each_statement() -> None:
    first, second = import_tree(["import json", "import shared.errors, azure.functions"], HERE.root, os.environ)
    assert "shared.errors" not in first
    assert {"shared.errors", "azure.functions", "Python's own"} <= second.keys()

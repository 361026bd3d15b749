"""A measure that misses its bar ends with an exit code that a pipeline sees."""

import json
from pathlib import Path

import pytest

from bench import cold


@pytest.mark.parametrize(("app", "code"), [(149.0, 0), (151.0, 1)])
def test_a_missed_bar_is_an_exit_code(
    app: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cold, "measure", lambda _runs: (100.0, app))
    monkeypatch.setattr("sys.argv", ["cold", "--json", str(tmp_path / "cold.json")])
    assert cold.main() == code
    assert ("MISSED" if code else "ok") in capsys.readouterr().out
    assert json.loads((tmp_path / "cold.json").read_text())["measures"][0]["ok"] is (code == 0)

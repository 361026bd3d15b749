"""Proofs of the package and of the rules on infrastructure write sections of docs/proofs.md when asked to."""

import platform
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from local.dev.checking.figures import script_of
from local.dev.system.checkout import HERE
from local.prove import all as proofs
from local.prove import infra, package
from tests.infra.breakages.planting import Breakage

PAGE = (HERE.root / "docs/proofs.md").read_text(encoding="utf-8")
FOUND: dict[str, list[Any]] = {
    **{key: [] for key in package.COUNTED.values()},
    "functions": ["api", "tick"],
    "answers": list(package.WANTED.values()),
    "modules": ["functions", "shared"],
}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Sections by their names, instead of docs/proofs.md."""
    sections: dict[str, str] = {}
    for module in (infra, package):
        monkeypatch.setattr(module, "write_section", sections.__setitem__)
    return sections


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the package is for x86_64")
def test_the_proof_of_the_package_writes_its_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: dict[str, str]
) -> None:
    archive = tmp_path / "app.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("host.json", "{}")
    monkeypatch.setattr(package, "ARCHIVE", str(archive))
    monkeypatch.setattr(package, "build", lambda _: None)
    monkeypatch.setattr(package, "_unpacked", lambda *_: (tmp_path, tmp_path))
    monkeypatch.setattr(package, "_loaded", lambda *_: FOUND)
    assert package.main([]) == 0
    assert written == {}
    assert package.main(["--write"]) == 0
    assert re.match(r"`dev\.py prove package` on \d{4}-\d\d-\d\d, version \S+, commit \S+:\n\n\| m", written["package"])
    for row in (
        "| functions | api, tick |",
        "| answer to /api/openapi.json as a reader | 200 |",
        "| programs started | 0 |",
    ):
        assert row in written["package"]


def test_the_proof_of_the_rules_writes_how_many_breakages_they_notice(
    monkeypatch: pytest.MonkeyPatch, written: dict[str, str]
) -> None:
    seen = Breakage("an old version will do", "azure.yaml", "1.23.5", "1.20.0")
    unseen = Breakage("a comment is gone", "azure.yaml", "# azd before", "# before")
    monkeypatch.setattr(infra, "BREAKAGES", (seen, unseen))
    monkeypatch.setattr(infra, "find_checker", lambda: None)
    monkeypatch.setattr(
        infra, "faults", lambda root: {"hooks": "why"} if "1.20.0" in (root / "azure.yaml").read_text() else {}
    )
    assert infra.main(["--write"]) == 1
    for row in ("| planted breakages | 2 |", "| noticed by other rules | 1 |", "| not noticed | a comment is gone |"):
        assert row in written["infra"]


def test_changes_of_every_line_have_no_section() -> None:
    with pytest.raises(SystemExit):
        infra.main(["--every-line", "--write"])


def test_sections_of_the_page_are_of_proofs_that_write_them() -> None:
    named = set(re.findall(r"^## (\S+)$", PAGE, re.MULTILINE)) - {"all"}
    assert named <= set(proofs.names())
    for name in named | {"infra", "package"}:
        source = script_of(HERE.root, "prove", name).read_text(encoding="utf-8")
        assert '"--write"' in source or "proof_parser(" in source, name

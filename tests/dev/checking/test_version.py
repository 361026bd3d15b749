"""The version is the same in all places, and the changelog has a section for it."""

import json
import re
import tomllib

from local.dev.system.checkout import HERE
from local.prove.upgrade.versions import EARLIER
from shared.version import VERSION

CHANGELOG = (HERE.root / "CHANGELOG.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (\S+)", CHANGELOG, re.MULTILINE)


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((HERE.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    web = json.loads((HERE.root / "web/package.json").read_text(encoding="utf-8"))
    locked = json.loads((HERE.root / "web/package-lock.json").read_text(encoding="utf-8"))
    assert {project["version"], web["version"], locked["version"], locked["packages"][""]["version"]} == {VERSION}


def test_the_changelog_has_a_section_for_each_version_the_newest_first() -> None:
    assert SECTIONS == [VERSION, "0.1.0"]


def test_the_changelog_names_the_commit_of_the_version_that_upgrades_are_proved_from() -> None:
    assert f"\n## 0.1.0\nCommit {EARLIER[:7]}, 2026-11-23.\n" in CHANGELOG

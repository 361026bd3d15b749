"""Folders with too many modules fail the check."""

from pathlib import Path

import pytest

from local.dev.checking import checks
from local.dev.checking.folder_sizes import FOLDERS, MAX_MODULES, folder_faults
from local.dev.system.checkout import HERE, Checkout


def fill(folder: Path, number: int, suffix: str = ".py") -> None:
    folder.mkdir(parents=True)
    for index in range(number):
        (folder / f"module_{index}{suffix}").touch()


def test_this_checkout_has_no_folder_with_too_many_modules() -> None:
    assert folder_faults(HERE.root) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_a_module_too_many_is_a_fault_in_every_folder(name: str, tmp_path: Path) -> None:
    fill(tmp_path / name / "jobs", MAX_MODULES)
    assert folder_faults(tmp_path) == []
    (tmp_path / name / "jobs/one_more.py").touch()
    assert folder_faults(tmp_path) == [f"{name}/jobs has 17 modules, more than 16; divide it by subject"]


@pytest.mark.parametrize("suffix", [".ts", ".tsx"])
def test_modules_of_the_dashboard_count(suffix: str, tmp_path: Path) -> None:
    fill(tmp_path / "web/src/job", MAX_MODULES + 1, suffix)
    assert folder_faults(tmp_path) == ["web/src/job has 17 modules, more than 16; divide it by subject"]


def test_packages_below_and_their_docstrings_are_not_counted(tmp_path: Path) -> None:
    fill(tmp_path / "local/prove", MAX_MODULES)
    for name in ("local/prove/__init__.py", "local/prove/notes.md"):
        (tmp_path / name).touch()
    fill(tmp_path / "local/prove/agent", MAX_MODULES)
    fill(tmp_path / "local/node/node_modules/azurite", MAX_MODULES + 1, ".ts")
    assert folder_faults(tmp_path) == []


def test_check_has_this_check(tmp_path: Path) -> None:
    fill(tmp_path / "shared/domain", MAX_MODULES + 1)
    checkout = Checkout(tmp_path)
    (found,) = [check.find() for check in checks.checks(checkout) if check.title == "modules in folders"]
    assert found == "shared/domain has 17 modules, more than 16; divide it by subject"

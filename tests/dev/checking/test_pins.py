"""Lock files that don't match the requirements, or contain too much."""

import json
import shutil
from pathlib import Path

import pytest

from local.dev.checking.pins import stale_locks
from local.dev.system.checkout import HERE

FILES = (
    "requirements.in",
    "requirements.txt",
    "requirements-dev.in",
    "requirements-dev.txt",
    "local/node/package.json",
    "local/node/package-lock.json",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "local/node").mkdir(parents=True)
    for name in FILES:
        shutil.copy(HERE.root / name, tmp_path / name)
    return tmp_path


def test_the_locks_of_this_checkout_are_fresh() -> None:
    assert list(stale_locks(HERE.root)) == []


def test_a_requirement_added_without_compiling_is_noticed(root: Path) -> None:
    with (root / "requirements.in").open("a") as file:
        file.write("numpy\n")
    assert any("requirements.txt was not compiled from requirements.in" in said for said in stale_locks(root))


@pytest.mark.parametrize(
    "line", ["numpy", "numpy>=2", "numpy==2.4.0", "--index-url ../packages", "a @ https://example.org/a.whl"]
)
def test_a_line_that_is_not_an_exact_pin_is_noticed(root: Path, line: str) -> None:
    with (root / "requirements-dev.txt").open("a") as file:
        file.write(f"{line}\n")
    assert any(said.endswith(f"not an exact pin with hashes: {line}") for said in stale_locks(root))


def test_node_packages_added_without_compiling_are_noticed(root: Path) -> None:
    path = root / "local/node/package.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"devDependencies": {"left-pad": "1.3.0"}}))
    assert any("other devDependencies than package.json" in said for said in stale_locks(root))


def test_an_address_in_a_node_lock_is_noticed(root: Path) -> None:
    path = root / "local/node/package-lock.json"
    lock = json.loads(path.read_text())
    lock["packages"]["node_modules/azurite"]["resolved"] = "https://packages.example/azurite.tgz"
    path.write_text(json.dumps(lock))
    assert any("names the address of node_modules/azurite" in said for said in stale_locks(root))


def test_a_node_package_without_a_hash_is_noticed(root: Path) -> None:
    path = root / "local/node/package-lock.json"
    lock = json.loads(path.read_text())
    del lock["packages"]["node_modules/azurite"]["integrity"]
    path.write_text(json.dumps(lock))
    assert any("has no hash of node_modules/azurite" in said for said in stale_locks(root))

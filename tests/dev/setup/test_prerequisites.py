"""`dev.py test PATH` sets up only the needs of the tests in PATH."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.dev import scripts
from local.dev.setup.install import plan
from local.dev.setup.prerequisites import (
    EVERYTHING,
    FAST_PATHS,
    FIXTURES,
    NEEDS,
    NOTHING,
    PURE_TESTS,
    SLOW_TESTS,
    STORAGE,
    Prerequisite,
    needs_of,
    undeclared_needs,
)
from local.dev.setup.pytest_arguments import named_paths
from local.dev.system.checkout import HERE, Checkout
from local.dev.system.console import Failure

type Handed = dict[str, object]


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Handed:
    """Records the setup of `test`, and the command and environment that it hands over to."""
    found: Handed = {}

    def prepared(_checkout: Checkout, *, node: bool, dashboard: bool) -> None:
        found.update(node=node, dashboard=dashboard)

    def handed_over(_checkout: Checkout, command: tuple[str, ...], environment: dict[str, str]) -> int:
        found.update(command=command, environment=environment)
        return 0

    monkeypatch.delenv("HYPOTHESIS_PROFILE", raising=False)
    monkeypatch.setattr(scripts, "prepare", prepared)
    monkeypatch.setattr(scripts, "_hand_over", handed_over)
    return found


@pytest.mark.parametrize(
    ("arguments", "storage", "page"),
    [
        (["tests/domain"], False, False),
        (["tests/domain/core/test_keys.py::test_escapes_never_collide"], False, False),
        (["tests/domain", "-k", "keys"], False, False),
        (["-x", "tests/services"], False, False),
        (["tests/stores/batch/test_batch_rows.py"], False, False),
        (["tests/stores"], True, False),
        (["tests/domain", "tests/stores/jobs/test_rows.py"], True, False),
        (["tests/functions/http/test_lists.py"], True, False),
        (["tests/functions/api/test_api.py"], True, True),
        (["web"], False, False),
        (["web", "-k", "web"], False, False),
        (["tests/dev"], True, True),
        (["tests"], True, True),
        (["."], True, True),
        ([], True, True),
        (["--junitxml=report.xml", "-rs"], True, True),
        (["--fast"], False, False),
        (["--fast", "-k", "keys"], False, False),
    ],
)
def test_only_needs_of_the_named_tests_are_set_up(
    handed: Handed, arguments: list[str], *, storage: bool, page: bool
) -> None:
    assert scripts.test(HERE, arguments) == 0
    assert (handed["node"], handed["dashboard"]) == (storage, page)


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (
            ["tests/domain", "tests/dev/checking/test_ci.py::test_a_skip_must_be_on_the_list"],
            ["tests/domain", "tests/dev/checking/test_ci.py"],
        ),
        (["-xvs", "tests/dev", "--lf"], ["tests/dev"]),
        (["-k", "tests", "--ignore", "tests/e2e", "--deselect", "tests/dev"], []),
        (["-rs", "-p", "no:cacheprovider", "-xk", "tests", "./tests/dev/"], ["tests/dev"]),
        (["--some-new-option", "tests/dev"], []),
        (["tests/dev", "tests/missing.py"], []),
        (["local"], []),
        (["."], ["tests"]),
        ([str(HERE.root / "tests/dev")], ["tests/dev"]),
    ],
)
def test_paths_are_separated_from_option_values(arguments: list[str], paths: list[str]) -> None:
    assert named_paths(HERE.root, arguments) == paths


def test_pytest_gets_its_arguments_as_they_are(handed: Handed) -> None:
    scripts.test(HERE, ["tests/domain", "-k", "x", "--junitxml=report.xml", "-rs"])
    assert handed["command"] == ("pytest", "tests/domain", "-k", "x", "--junitxml=report.xml", "-rs")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["web", "-x"], ("pytest", "tests/web", "-x")),
        (["tests/domain", "-k", "web"], ("pytest", "tests/domain", "-k", "web")),
    ],
)
def test_web_as_a_path_stands_for_the_unit_tests_of_the_dashboard(
    handed: Handed, arguments: list[str], command: tuple[str, ...]
) -> None:
    scripts.test(HERE, arguments)
    assert handed["command"] == command


def test_without_the_dashboard_only_its_steps_are_left_out(tmp_path: Path) -> None:
    for name in ("requirements-dev.txt", "web/package.json", "web/package-lock.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    shutil.copytree(HERE.root / "local/node/stub", tmp_path / "local/node/stub")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE.root / "local/node" / name, tmp_path / "local/node")

    def titles(*, node: bool, dashboard: bool) -> Iterator[str]:
        return (step.title for step in plan(Checkout(tmp_path), node=node, dashboard=dashboard))

    assert not any("dashboard" in title for title in titles(node=True, dashboard=False))
    assert sum("dashboard" in title for title in titles(node=True, dashboard=True)) == 2
    assert not any("Azurite" in title for title in titles(node=False, dashboard=True))


def test_fast_runs_self_contained_tests_on_all_cores_with_few_examples(handed: Handed) -> None:
    assert needs_of(FAST_PATHS) == NOTHING
    scripts.test(HERE, ["--fast", "-k", "keys"])
    command = handed["command"]
    assert isinstance(command, tuple)
    assert "--fast" not in command
    assert {"--numprocesses=auto", *FAST_PATHS, *(f"--deselect={name}" for name in SLOW_TESTS)} <= {*command}
    assert command[-2:] == ("-k", "keys")
    environment = handed["environment"]
    assert isinstance(environment, dict)
    assert environment["HYPOTHESIS_PROFILE"] == "fast"


def test_fast_keeps_a_profile_that_was_asked_for(handed: Handed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "nightly")
    scripts.test(HERE, ["--fast"])
    environment = handed["environment"]
    assert isinstance(environment, dict)
    assert environment["HYPOTHESIS_PROFILE"] == "nightly"


@pytest.mark.parametrize("paths", [(), ("tests/domain",)])
def test_nightly_searches_in_the_whole_suite_or_a_path(handed: Handed, paths: tuple[str, ...]) -> None:
    scripts.test(HERE, ["--nightly", *paths])
    command, environment = handed["command"], handed["environment"]
    assert isinstance(command, tuple)
    assert isinstance(environment, dict)
    assert environment["HYPOTHESIS_PROFILE"] == "nightly"
    assert command == ("pytest", *scripts.spread(HERE.root, paths), *paths)


def test_fast_and_nightly_are_refused_together() -> None:
    with pytest.raises(Failure, match="leave out either it or --nightly"):
        scripts.test(HERE, ["--fast", "--nightly"])


def test_fast_beside_a_path_is_refused() -> None:
    with pytest.raises(Failure, match="leave out either it or tests/domain"):
        scripts.test(HERE, ["--fast", "tests/domain"])


def test_every_path_of_the_table_exists_and_every_slow_test_too() -> None:
    for name in (*NEEDS, *PURE_TESTS, *FAST_PATHS):
        assert (HERE.root / name).exists(), name
    for name in SLOW_TESTS:
        file, _, function = name.partition("::")
        assert f"def {function}" in (HERE.root / file).read_text(encoding="utf-8"), name
        assert any(file.startswith(path) for path in FAST_PATHS), name


@pytest.mark.parametrize("path", NEEDS)
def test_no_entry_asks_for_more_than_fixtures_of_its_tests_need(path: str) -> None:
    place = HERE.root / path
    files = [place] if place.is_file() else list(place.rglob("*.py"))
    named = {name for file in files for name in _names(file) if name in FIXTURES}
    assert NEEDS[path] <= NOTHING.union(*(FIXTURES[name] for name in named))


def test_a_test_that_needs_more_than_the_table_declares_is_refused(tmp_path: Path) -> None:
    shutil.copy(HERE.root / "tests/conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text("def test_storage(azurite): pass\n")
    options = ("-q", "-c", os.devnull, "--rootdir", str(tmp_path), "-o", f"pythonpath={HERE.root}")
    command = [
        sys.executable,
        "-m",
        "pytest",
        *options,
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.root)
    assert "1 error" in done.stdout
    assert "test_it.py needs Azurite: enter it in local/dev/setup/prerequisites.py" in done.stdout


def test_undeclared_needs_are_found_by_fixtures() -> None:
    assert undeclared_needs("tests/domain/core/test_keys.py", ["tmp_path", "miniature"]) == ["Azurite"]
    assert undeclared_needs("tests/functions/api/test_api.py", ["azurite", "dashboard"]) == []
    assert undeclared_needs("tests/stores/batch/test_batch_rows.py", ["azurite"]) == ["Azurite"]
    assert undeclared_needs("tests/stores/jobs/test_rows.py", ["browser"]) == ["a browser", "the built dashboard"]
    assert needs_of(["tests/emulator"]) == STORAGE
    assert needs_of(["tests/e2e/jobs/test_why.py"]) == EVERYTHING == frozenset(Prerequisite)


def _names(file: Path) -> Iterator[str]:
    """Yields parameters of a file's functions, and words of its decorators and marks."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value

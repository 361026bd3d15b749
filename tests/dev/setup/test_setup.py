"""Remembered setup, and interrupted setup."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from local.dev.setup.install import plan, prepare
from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure
from local.dev.system.locks import alone
from local.dev.system.shell import run_logged
from local.dev.system.stamps import Step, fingerprint


def step_of(root: Path, made_from: str, runs: list[str], *, fails: bool = False) -> Step:
    def run() -> None:
        runs.append(made_from)
        (root / "product").mkdir(exist_ok=True)
        if fails:
            raise Failure("The network is gone.")

    return Step("making", made_from, root / "product/.stamp", root / "product", run)


def test_a_step_is_done_once_for_one_input(tmp_path: Path) -> None:
    runs: list[str] = []
    step_of(tmp_path, "a", runs).do()
    assert step_of(tmp_path, "a", runs).is_done()
    assert not step_of(tmp_path, "b", runs).is_done()


def test_a_step_that_fails_halfway_is_not_done(tmp_path: Path) -> None:
    runs: list[str] = []
    step_of(tmp_path, "a", runs).do()
    with pytest.raises(Failure):
        step_of(tmp_path, "a", runs, fails=True).do()
    assert (tmp_path / "product").exists()
    assert not step_of(tmp_path, "a", runs).is_done()


def test_a_deleted_product_is_made_again(tmp_path: Path) -> None:
    runs: list[str] = []
    step_of(tmp_path, "a", runs).do()
    (tmp_path / "product/.stamp").unlink()
    assert not step_of(tmp_path, "a", runs).is_done()


def test_a_fingerprint_depends_on_contents_and_not_on_order(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("one")
    second.write_text("two")
    whole = fingerprint(tmp_path, [second, first])
    assert whole == fingerprint(tmp_path, [first, second])
    second.write_text("owt")
    assert whole != fingerprint(tmp_path, [first, second])


def test_a_half_made_environment_is_made_anew(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.python.parent.mkdir(parents=True)
    checkout.python.write_text("#!/bin/sh\nexit 1\n")
    checkout.python.chmod(0o755)
    (tmp_path / "requirements-dev.txt").write_text("")
    environment = next(iter(plan(checkout, node=False)))
    assert not environment.is_done()
    environment.do()
    assert environment.is_done()
    prepare(checkout, node=False)
    assert all(planned.is_done() for planned in plan(checkout, node=False))


def test_a_tool_that_fails_shows_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"sh ended with exit code 3.*\n.*no such package"):
        run_logged(["sh", "-c", "echo no such package; exit 3"], log=tmp_path / "a/log", cwd=tmp_path)


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no-such-tool could not be started"):
        run_logged(["no-such-tool"], log=tmp_path / "log", cwd=tmp_path)


def test_a_lock_is_free_again_after_its_owner(tmp_path: Path) -> None:
    def lock() -> AbstractContextManager[None]:
        return alone(tmp_path / "lock", busy="taken")

    with lock(), pytest.raises(Failure, match="taken"), lock():
        pytest.fail("two owners")
    with lock():
        pass


def test_packages_are_installed_by_their_hashes_only(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.python.parent.mkdir(parents=True)
    checkout.python.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\n')
    checkout.python.chmod(0o755)
    (tmp_path / "requirements-dev.txt").write_text("")
    _, packages = plan(checkout, node=False)
    packages.run()
    assert "pip install" in (tmp_path / "asked").read_text()
    assert "--require-hashes" in (tmp_path / "asked").read_text()

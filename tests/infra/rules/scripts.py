"""Scripts of infra/ that were changed pass their tests, which stand beside this file; the checkout's own run anyway."""

import atexit
import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from threading import Timer

from local.dev.system.checkout import HERE
from tests.infra.rules.scenarios import Infrastructure

SCRIPTS_FOLDER = "SCRIPTS_FOLDER"
"""Names the folder whose scripts test_smoke_test.py starts as programs, if not this checkout's."""
_TESTS: Mapping[str, tuple[str, ...]] = {
    "test_smoke_test": ("smoke_test",),
    "test_publish": ("publish",),
    "test_app_registration": ("app_registration",),
    "test_scripts": ("event_subscriptions", "azure_cli"),
    "test_deploy_check": ("deploy_check", "deployment", "deployment_places", "deployment_rights", "deployment_tools"),
}
"""Modules of tests, each with the scripts that they are first of all of."""


class RunnerError(Exception):
    """The process that runs the tests gave no answer: that is no fault of the scripts."""


def scripts_that_work(infrastructure: Infrastructure) -> Iterator[str]:
    theirs, own = _scripts(infrastructure.root), _scripts(HERE.root)
    changed = {name for name in theirs.keys() | own.keys() if theirs.get(name) != own.get(name)}
    if changed and (failure := _failure(infrastructure.root, changed)):
        yield f"the scripts of infra/ fail their tests: {failure}"


def _scripts(root: Path) -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in (root / "infra").glob("*.py")}


def _failure(root: Path, changed: Collection[str]) -> str:
    """Returns what pytest says last of the scripts under `root`; an empty text if they pass.

    It stops at the first failure, so the tests of a changed script run first.
    """
    tests = sorted(_TESTS, key=lambda test: not set(_TESTS[test]) & set(changed))
    exit_code, said = run_tests([str(root), *(f"tests/infra/scripts/{test}.py" for test in tests)])
    return said if exit_code else ""


def run_tests(asked: list[str], seconds: float = 300) -> tuple[int, str]:
    """Has the runner answer. Raises RunnerError where it takes too long or dies; the next call starts another."""
    running = runner()
    assert running.stdin
    assert running.stdout
    timer = Timer(seconds, running.kill)
    timer.start()
    try:
        print(json.dumps(asked), file=running.stdin, flush=True)
        exit_code, said = json.loads(running.stdout.readline())
    except (OSError, ValueError) as error:
        running.kill()
        runner.cache_clear()
        raise RunnerError(f"no answer within {seconds} seconds, or no process any more") from error
    finally:
        timer.cancel()
    return exit_code, said


@cache
def runner() -> subprocess.Popen[str]:
    """The process that runs the tests of all changed scripts, one after the other: it imports pytest once."""
    command = [sys.executable, "-m", "tests.infra.rules.script_runner"]
    started = subprocess.Popen(command, cwd=HERE.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(started.communicate)
    return started


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (scripts_that_work,)

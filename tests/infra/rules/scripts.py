"""Scripts of infra/ that were changed pass their tests, which stand beside this file; the checkout's own run anyway."""

import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from local.dev.system.checkout import HERE
from tests.infra.rules.scenarios import Infrastructure

SCRIPTS_FOLDER = "SCRIPTS_FOLDER"
"""Names the folder whose scripts test_smoke_test.py starts as programs, if not this checkout's."""
_TESTS = (
    "tests/infra/scripts/test_scripts.py",
    "tests/infra/scripts/test_app_registration.py",
    "tests/infra/scripts/test_publish.py",
    "tests/infra/scripts/test_deploy_check.py",
    "tests/infra/scripts/test_smoke_test.py",
)


def scripts_that_work(infrastructure: Infrastructure) -> Iterator[str]:
    theirs, own = _scripts(infrastructure.root), _scripts(HERE.root)
    changed = {name for name in theirs.keys() | own.keys() if theirs.get(name) != own.get(name)}
    if changed and (failure := _failure(infrastructure.root, changed)):
        yield f"the scripts of infra/ fail their tests: {failure}"


def _scripts(root: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (root / "infra").glob("*.py")}


def _failure(root: Path, changed: Collection[str]) -> str:
    """What pytest says last of the scripts under `root`; an empty text if they pass.

    It stops at the first failure, so the tests that are named after a changed script run first.
    """
    tests = sorted(_TESTS, key=lambda test: test.rpartition("/test_")[2] not in changed)
    options = ("-q", "-x", "-p", "no:cacheprovider", "-k", "not local_stack", "-o", f"pythonpath={root} {HERE.root}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=HERE.root,
        env={**os.environ, SCRIPTS_FOLDER: str(root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return "" if done.returncode == 0 else done.stdout[-300:] + done.stderr[-300:]


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (scripts_that_work,)

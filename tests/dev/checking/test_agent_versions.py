"""Versions of Python that can't be run here: what the agent may use of the standard library."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import agent
from local.dev.checking.checks import AGENTS_PYTHON
from local.dev.system.checkout import HERE


@pytest.mark.parametrize(
    ("code", "newer"),
    [
        ("import tomllib", "tomllib"),
        ("print('ab'.removeprefix('a'))", "removeprefix"),
        ("import math\nprint(math.lcm(4, 6))", "math.lcm"),
        ("print({} | {})", "dict union"),
    ],
)
def test_what_python_38_lacks_is_named(tmp_path: Path, code: str, newer: str) -> None:
    (tmp_path / "module.py").write_text(code)
    done = _vermin(tmp_path)
    assert done.returncode == 1
    assert newer in done.stdout


def test_the_agent_needs_no_more_than_python_38() -> None:
    assert (_vermin(HERE.root / "agent").stdout, _vermin(HERE.root / "agent").returncode) == ("", 0)


def test_every_module_of_the_agent_imports_nothing_removed_or_deprecated() -> None:
    names = [found.name for found in pkgutil.walk_packages(agent.__path__, "agent.") if found.name != "agent.__main__"]
    assert len(names) > 100
    code = f"import sys; sys.path.insert(0, {str(HERE.root)!r}); import {', '.join(names)}"
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", code], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def _vermin(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(HERE.python.with_name("vermin")), *AGENTS_PYTHON, str(folder)]
    return subprocess.run(command, check=False, capture_output=True, text=True)

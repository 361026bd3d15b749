"""Scripts of the pipeline, tried with made-up programs: they must fail when anything in them does."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.infra.rules.pipeline import steps_of
from tests.infra.rules.scenarios import Infrastructure

_FAKE = """#!/bin/sh
echo "${0##*/} $*" >>"$CALLS"
case "$FAILS" in
    "$2") exit 3 ;;
    skips) case "$1" in .ci/skips.py) exit 3 ;; esac ;;
esac
"""
_AS_ROOT = "#!/bin/sh\necho 0\n"
_NEEDED = ("bash", "dirname", "env", "mkdir", "rm", "sh", "tail", "tee")
"""The programs of the machine that `.ci/run` starts: nothing else of it is within its reach."""
_TOOLS = ("chromium-headless-shell", "curl", "collectd")
_INSTALLED = "chromium-headless-shell curl collectd-core ca-certificates"


def script_that_fails_with_its_parts(infrastructure: Infrastructure) -> Iterator[str]:
    """`.ci/run` is run with made-up programs only: it must succeed if all do, and fail if any fails."""
    script = infrastructure.read(".ci/run")
    for fails in ("nothing", "check", "test", "skips"):
        done = _ci_run(script, ("python3", "apt-get", *_TOOLS), fails=fails)
        if done and (done.exit_code == 0) != (fails == "nothing"):
            yield f".ci/run ends with {done.exit_code} when {fails} fails"
        if done and any(call.startswith("apt-get") for call in done.calls):
            yield ".ci/run installs tools that are there"


def script_that_installs_what_is_missing(infrastructure: Infrastructure) -> Iterator[str]:
    """A made-up `apt-get` is asked for the tools where one is missing, and the tests run without one all the same."""
    script = infrastructure.read(".ci/run")
    for missing in ("chromium-headless-shell", "curl"):
        there = [tool for tool in _TOOLS if tool != missing]
        done = _ci_run(script, ("python3", "apt-get", *there), fails="nothing")
        asked = [call for call in done.calls if call.startswith("apt-get")] if done else ["apt-get update"]
        if not asked or not asked[0].startswith("apt-get update"):
            yield f".ci/run doesn't look for packages where {missing} is missing"
        if done and not asked[-1].endswith(_INSTALLED):
            yield f".ci/run doesn't install {missing} where it is missing"
    bare = _ci_run(script, ("python3",), fails="nothing")
    if bare and (bare.exit_code or "no apt-get here" not in bare.output):
        yield ".ci/run doesn't go on where there is nothing to install with"


_FAKE_AZ = """#!/bin/sh
case "$*" in "$SAYS"*) echo "$TEXT" >&2 ;; esac
case "$*" in "$FAILS"*) exit 1 ;; esac
"""
_WARNING = "WARNING: infra/main.bicep(1,7) : Warning no-unused-params: Parameter 'x' is declared but never used."
_HARMLESS = "WARNING: A new Bicep release is available: v0.99.1. Upgrade now by running 'az bicep upgrade'."


def warnings_of_the_compiler_fail(infrastructure: Infrastructure) -> Iterator[str]:
    """The steps for Bicep are run with a made-up `az`, which ends well with a warning, as the real one does."""
    script = "\n".join(step["run"] for step in steps_of(infrastructure, "ci.yml") if "bicep" in step.get("run", ""))
    if _bicep_steps(script, "none", _HARMLESS) or _bicep_steps(script, "bicep", _HARMLESS):
        yield "ci.yml fails though the Bicep compiler has nothing against the files"
    for command in ("lint", "build"):
        for file in ("main", "events"):
            asked = f"bicep {command} --file infra/{file}.bicep"
            if not _bicep_steps(script, asked, _WARNING):
                yield f"ci.yml takes a warning of `az {asked}`"
            if not _bicep_steps(script, "none", _WARNING, fails=asked):
                yield f"ci.yml goes on after `az {asked}` has failed"


@cache
def _bicep_steps(script: str, says: str, text: str, *, fails: str = "none") -> int:
    """The exit code of the steps; 0 or 1 as is right where there is no bash."""
    bash = shutil.which("bash")
    if bash is None:
        return int(text == _WARNING)
    with tempfile.TemporaryDirectory() as name:
        az = Path(name) / "az"
        az.write_text(_FAKE_AZ)
        az.chmod(0o755)
        environment = {"PATH": f"{name}{os.pathsep}{os.environ['PATH']}", "RUNNER_TEMP": name}
        environment |= {"SAYS": says, "TEXT": text, "FAILS": fails}
        done = subprocess.run([bash, "-c", script], env=environment, capture_output=True, check=False, timeout=60)
        return done.returncode


@dataclass(frozen=True, slots=True)
class _Done:
    """How a script ended, what it said and which made-up programs it started."""

    exit_code: int
    output: str
    calls: list[str]


@cache
def _ci_run(script: str, programs: tuple[str, ...], *, fails: str) -> _Done | None:
    """Runs the text of `.ci/run` with these made-up programs and a few harmless ones; None where there is no bash."""
    needed = {name: shutil.which(name) for name in _NEEDED}
    if needed["bash"] is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "programs"
        for each in (folder / ".ci", path):
            each.mkdir()
        (folder / ".ci/run").write_text(script, encoding="utf-8")
        for tool, found in needed.items():
            (path / tool).symlink_to(str(found))
        for program, text in {**dict.fromkeys(programs, _FAKE), "id": _AS_ROOT}.items():
            (path / program).write_text(text)
            (path / program).chmod(0o755)
        environment = {"PATH": str(path), "FAILS": fails, "CALLS": str(folder / "calls")}
        command = [needed["bash"], str(folder / ".ci/run")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        return _Done(done.returncode, done.stdout, (folder / "calls").read_text().splitlines())


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    script_that_fails_with_its_parts,
    script_that_installs_what_is_missing,
    warnings_of_the_compiler_fail,
)

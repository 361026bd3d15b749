"""What the pipelines run, word by word and in order: a command left out, softened or mistyped shows here.

A change to a workflow's commands is entered here together with the change. That `.ci/run` fails when anything in it
does is not read but tried.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.infra.rules_pipeline import steps_of
from tests.infra.scenarios import Infrastructure

_STRICT = "set -euo pipefail"
_FILL_IN = 'envsubst < infra/main.parameters.json > "$RUNNER_TEMP/parameters.json"'
_RUNS: Mapping[str, tuple[str, ...]] = {
    "ci.yml": (
        "actions/checkout",
        "actions/setup-python",
        "bash .ci/run",
        "actions/checkout",
        _STRICT,
        "az bicep lint --file infra/main.bicep",
        "az bicep lint --file infra/events.bicep",
        _STRICT,
        "az bicep build --file infra/main.bicep --stdout > /dev/null",
        "az bicep build --file infra/events.bicep --stdout > /dev/null",
    ),
    "whatif.yml": (
        "actions/checkout",
        "azure/login",
        _STRICT,
        _FILL_IN,
        "{",
        "echo '```'",
        (
            'az deployment sub what-if --location "$AZURE_LOCATION" --template-file infra/main.bicep'
            ' --parameters "@$RUNNER_TEMP/parameters.json" --validation-level ProviderNoRbac'
        ),
        "echo '```'",
        '} | tee -a "$GITHUB_STEP_SUMMARY"',
    ),
    "deploy.yml": (
        "actions/checkout",
        "actions/setup-python",
        "python3 dev.py build",
        "azure/login",
        _STRICT,
        _FILL_IN,
        (
            'az deployment sub create --name "batchscope-$AZURE_ENV_NAME" --location "$AZURE_LOCATION"'
            ' --template-file infra/main.bicep --parameters "@$RUNNER_TEMP/parameters.json"'
            ' --query properties.outputs --output json > "$RUNNER_TEMP/outputs.json"'
        ),
        "{",
        *(
            f'echo "{name}=$(jq --exit-status --raw-output .{output}.value "$RUNNER_TEMP/outputs.json")"'
            for name, output in (
                ("group", "AZURE_RESOURCE_GROUP"),
                ("app", "AZURE_FUNCTION_APP_NAME"),
                ("url", "BATCHSCOPE_URL"),
                ("storage", "BATCHSCOPE_TELEMETRY_STORAGE"),
            )
        ),
        '} >> "$GITHUB_OUTPUT"',
        _STRICT,
        (
            'az functionapp deployment source config-zip --resource-group "$GROUP" --name "$APP"'
            " --src dist/batchscope.zip --build-remote true"
        ),
        'echo "deployed=$(date --utc +%Y-%m-%dT%H:%M:%SZ)" >> "$GITHUB_OUTPUT"',
        "azure/login",
        'python3 -m infra.event_subscriptions --resource-group "$GROUP" --app "$APP" --storage "$STORAGE"',
        _STRICT,
        (
            'BATCHSCOPE_TOKEN="$(az account get-access-token --resource "api://$AUTH_CLIENT_ID"'
            ' --query accessToken --output tsv)"'
        ),
        'echo "::add-mask::$BATCHSCOPE_TOKEN"',
        "export BATCHSCOPE_TOKEN",
        'python3 infra/smoke_test.py "$URL" --polled-after "$DEPLOYED" --patience 600',
    ),
}


def exact_commands(infrastructure: Infrastructure) -> Iterator[str]:
    for name, wanted in _RUNS.items():
        found = tuple(line for step in steps_of(infrastructure, name) for line in _lines(step))
        for line in found:
            if line not in wanted:
                yield f"{name} runs {line}, which is not entered here"
        if found != wanted:
            missing = [line for line in wanted if line not in found]
            yield f"{name} leaves out {missing}" if missing else f"{name} runs things in another order, or twice"


def _lines(step: Mapping[str, str]) -> list[str]:
    if "uses" in step:
        return [step["uses"].partition("@")[0]]
    return [" ".join(line.split()) for line in step["run"].replace("\\\n", " ").strip().split("\n")]


_CI_RUNS = [
    "python3 dev.py check",
    'python3 dev.py test --junitxml="$report" -o junit_family=xunit2 -rs | tee .local/ci-tests.log',
    'python3 .ci/skips.py "$report" .ci/allowed-skips.txt',
]


def whole_suite(infrastructure: Infrastructure) -> Iterator[str]:
    found = [line for line in infrastructure.read(".ci/run").splitlines() if line.startswith("python3 ")]
    if found != _CI_RUNS:
        yield f".ci/run runs {found}"


_FAKE = """#!/bin/sh
case "$FAILS" in
    "$2") exit 3 ;;
    skips) case "$1" in .ci/skips.py) exit 3 ;; esac ;;
esac
"""


def script_that_fails_with_its_parts(infrastructure: Infrastructure) -> Iterator[str]:
    """`.ci/run` is run with made-up programs: it must succeed if all do, and fail if any fails."""
    shell = shutil.which("bash")
    if shell is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder) / "programs"
        (Path(folder) / ".ci").mkdir()
        programs.mkdir()
        shutil.copy(infrastructure.root / ".ci/run", Path(folder) / ".ci/run")
        for name in ("python3", "chromium", "curl"):
            (programs / name).write_text(_FAKE)
            (programs / name).chmod(0o755)
        for fails in ("nothing", "check", "test", "skips"):
            environment = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "FAILS": fails}
            command = [shell, str(Path(folder) / ".ci/run")]
            done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60)
            if (done.returncode == 0) != (fails == "nothing"):
                yield f".ci/run ends with {done.returncode} when {fails} fails"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    exact_commands,
    whole_suite,
    script_that_fails_with_its_parts,
)

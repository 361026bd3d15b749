"""Workflows, hooks and tool settings: pinned, unprivileged, without secrets, and complete from build to smoke test."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from local.dev.checks import workflows
from tests.infra.scenarios import Infrastructure

type Steps = list[Mapping[str, Any]]

PINNED = {
    "actions/checkout": ("08c6903cd8c0fde910a37f88322edcfb5dd907a8", "v5.0.0"),
    "actions/setup-python": ("e797f83bcb11b83ae66e0230d6156d7c80228e7c", "v6.0.0"),
    "azure/login": ("a457da9ea143d694b1b9c7c869ebb04ebe844ef5", "v2.3.0"),
}
"""Actions that were looked up, with the release that each commit is; a new one is entered here."""
_PERMISSIONS = {
    ("ci.yml", "checks-and-tests"): {"contents": "read"},
    ("ci.yml", "bicep"): {"contents": "read"},
    ("whatif.yml", "what-if"): {"contents": "read", "id-token": "write"},
    ("deploy.yml", "deploy"): {"contents": "read", "id-token": "write"},
}
_TRIGGERS = {
    "ci.yml": {"pull_request": None, "push": {"branches": ["main"]}},
    "whatif.yml": {"pull_request": {"paths": ["infra/**", ".github/workflows/whatif.yml"]}},
}
_LOGIN = {
    "client-id": "${{ vars.AZURE_CLIENT_ID }}",
    "tenant-id": "${{ vars.AZURE_TENANT_ID }}",
    "subscription-id": "${{ vars.AZURE_SUBSCRIPTION_ID }}",
}
_LONGEST_MINUTES = 120
_DEPLOYMENT = (
    "python3 dev.py build",
    "azure/login",
    "envsubst < infra/main.parameters.json",
    "az deployment sub create",
    "--template-file infra/main.bicep",
    '--query properties.outputs --output json > "$RUNNER_TEMP/outputs.json"',
    "az functionapp deployment source config-zip",
    "--src dist/batchscope.zip --build-remote true",
    "azure/login",
    "python3 -m infra.event_subscriptions",
    "az account get-access-token",
    'echo "::add-mask::$BATCHSCOPE_TOKEN"',
    "export BATCHSCOPE_TOKEN",
    "python3 infra/smoke_test.py",
)
"""What the deployment does, in this order."""


def _workflows(infrastructure: Infrastructure) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in workflows(infrastructure.root):
        # YAML 1.1 takes the key `on` for a truth value.
        whole = yaml.safe_load(infrastructure.read(name))
        yield Path(name).name, {**whole, "on": whole.get("on", whole.get(True))}


def _jobs(infrastructure: Infrastructure) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for name, workflow in _workflows(infrastructure):
        for job_name, job in workflow["jobs"].items():
            yield name, job_name, job


def _steps(infrastructure: Infrastructure, name: str) -> Steps:
    return [step for found, _, job in _jobs(infrastructure) for step in job["steps"] if found == name]


def pinned_actions(infrastructure: Infrastructure) -> Iterator[str]:
    for name in workflows(infrastructure.root):
        for line in infrastructure.read(name).splitlines():
            found = re.search(r"uses:\s*(\S+)@(\S+)(?:\s+#\s*(\S+))?", line)
            if found and PINNED.get(found[1]) != (found[2], found[3]):
                yield f"{name}: {line.strip()} is not one of the pinned actions"
            if "uses:" in line and not found:
                yield f"{name}: {line.strip()} is not pinned"


def least_permissions(infrastructure: Infrastructure) -> Iterator[str]:
    seen = set()
    for name, workflow in _workflows(infrastructure):
        if workflow.get("permissions") != {}:
            yield f"{name} begins with permissions of its own: {workflow.get('permissions')}"
    for name, job_name, job in _jobs(infrastructure):
        seen.add((name, job_name))
        if job.get("permissions") != _PERMISSIONS.get((name, job_name)):
            yield f"{name}: {job_name} has the permissions {job.get('permissions')}"
        if not 0 < job.get("timeout-minutes", 0) <= _LONGEST_MINUTES:
            yield f"{name}: {job_name} may take too long"
        if not re.fullmatch(r"ubuntu-\d\d\.04", str(job.get("runs-on"))):
            yield f"{name}: {job_name} runs on {job.get('runs-on')}"
        if ("id-token" in (job.get("permissions") or {})) != ("environment" in job):
            yield f"{name}: {job_name} logs in without an environment, or has one for nothing"
    if seen != _PERMISSIONS.keys():
        yield f"the jobs are {sorted(seen)}"


def careful_steps(infrastructure: Infrastructure) -> Iterator[str]:
    """Logging in is by OIDC with public ids; no step keeps a token on disk or repeats what a stranger wrote."""
    for name, _, job in _jobs(infrastructure):
        for step in job["steps"]:
            given = step.get("with", {})
            if "actions/checkout" in step.get("uses", "") and given != {"persist-credentials": False}:
                yield f"{name}: the checkout keeps its token"
            if "setup-python" in step.get("uses", "") and given != {"python-version-file": ".python-version"}:
                yield f"{name}: Python is {given}"
            if "azure/login" in step.get("uses", "") and given != _LOGIN:
                yield f"{name}: the login is with {given}"
            if "${{" in step.get("run", ""):
                yield f"{name}: an expression is spliced into a script"
            if step.get("continue-on-error") or "if" in step or "|| true" in step.get("run", ""):
                yield f"{name}: a failure of {step.get('name')} may pass unnoticed"
        if job.get("continue-on-error"):
            yield f"{name}: failures of a job pass unnoticed"


def without_secrets(infrastructure: Infrastructure) -> Iterator[str]:
    for name in workflows(infrastructure.root):
        if re.search(r"\bsecrets\.|pull_request_target|workflow_run", infrastructure.read(name)):
            yield f"{name} uses secrets, or runs strangers' code with rights"


def sound_scripts(infrastructure: Infrastructure) -> Iterator[str]:
    """Scripts of more than one line stop at the first failure, and a shell can read all of them."""
    shell = shutil.which("bash")
    for name, _, job in _jobs(infrastructure):
        for script in (step["run"] for step in job["steps"] if "run" in step):
            if "\n" in script.strip() and not script.startswith("set -euo pipefail\n"):
                yield f"{name}: a script goes on after a failure: {script.splitlines()[0]}"
            if shell and subprocess.run([shell, "-n", "-c", script], capture_output=True, check=False).returncode:
                yield f"{name}: no shell understands {script.splitlines()[0]}"


def right_triggers(infrastructure: Infrastructure) -> Iterator[str]:
    found = dict(_workflows(infrastructure))
    if found.keys() != {"ci.yml", "whatif.yml", "deploy.yml"}:
        yield f"the workflows are {sorted(found)}"
    for name, wanted in _TRIGGERS.items():
        if found[name]["on"] != wanted:
            yield f"{name} runs on {found[name]['on']}"
    deploying = found["deploy.yml"]["on"]
    if deploying.get("push") != {"branches": ["main"]} or deploying.keys() != {"push", "workflow_dispatch"}:
        yield f"deploy.yml runs on {deploying}"
    chosen = (deploying.get("workflow_dispatch") or {}).get("inputs", {}).get("environment", {})
    if not chosen.get("required") or chosen.get("type") != "environment":
        yield f"deploy.yml asks for {chosen}"
    if found["deploy.yml"]["jobs"]["deploy"].get("environment", {}).get("name") != "${{ inputs.environment || 'dev' }}":
        yield "deploy.yml deploys to another environment than was asked for"
    if found["deploy.yml"].get("concurrency", {}).get("cancel-in-progress") is not False:
        yield "a deployment may be cancelled in the middle"
    condition = found["whatif.yml"]["jobs"]["what-if"].get("if")
    if condition != "github.event.pull_request.head.repo.full_name == github.repository":
        yield f"what-if runs if {condition}"


def complete_deployment(infrastructure: Infrastructure) -> Iterator[str]:
    whole = " ".join(f"{step.get('uses', '')} {step.get('run', '')}" for step in _steps(infrastructure, "deploy.yml"))
    whole = " ".join(whole.replace("\\\n", " ").split())
    place = 0
    for part in _DEPLOYMENT:
        place = whole.find(part, place)
        if place < 0:
            yield f"deploy.yml doesn't do {part} where it should"
            return
        place += len(part)
    last = _steps(infrastructure, "deploy.yml")[-1]
    if "smoke_test.py" not in last.get("run", "") or "--no-sign-in" in last.get("run", ""):
        yield "the deployment doesn't end with the smoke test"


def complete_checks(infrastructure: Infrastructure) -> Iterator[str]:
    """CI runs all checks and tests, and the real compiler over every file that is deployed by itself."""
    runs = "\n".join(step.get("run", "") for step in _steps(infrastructure, "ci.yml"))
    for wanted in (
        "bash .ci/run",
        *(f"az bicep {verb} --file infra/{file}.bicep" for verb in ("lint", "build") for file in ("main", "events")),
    ):
        if wanted not in runs:
            yield f"ci.yml doesn't run {wanted}"
    script = infrastructure.read(".ci/run")
    for wanted in ("python3 dev.py check", "python3 dev.py test"):
        if wanted not in script:
            yield f".ci/run doesn't run {wanted}"
    runs = "\n".join(step.get("run", "") for step in _steps(infrastructure, "whatif.yml"))
    for wanted in (
        "az deployment sub what-if",
        "--template-file infra/main.bicep",
        '--parameters "@$RUNNER_TEMP',
        "GITHUB_STEP_SUMMARY",
    ):
        if wanted not in runs:
            yield f"whatif.yml doesn't have {wanted}"


def variables_given(infrastructure: Infrastructure) -> Iterator[str]:
    """Where the parameter file is filled in, each placeholder's variable is there, of the same name."""
    wanted = set(re.findall(r"\$\{(\w+)\}", infrastructure.read("infra/main.parameters.json")))
    for name in ("whatif.yml", "deploy.yml"):
        filling = [step for step in _steps(infrastructure, name) if "envsubst" in step.get("run", "")]
        if len(filling) != 1:
            yield f"{name} fills in the parameter file {len(filling)} times"
        for step in filling:
            if step.get("env") != {variable: f"${{{{ vars.{variable} }}}}" for variable in wanted}:
                yield f"{name} gives the parameter file {step.get('env')}"
    for name, _, job in _jobs(infrastructure):
        for step in job["steps"]:
            asked = set(re.findall(r"\"?\$\{?([A-Z][A-Z_]+)\b", step.get("run", "")))
            known = {*step.get("env", {}), "RUNNER_TEMP", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "BATCHSCOPE_TOKEN"}
            for variable in asked - known:
                yield f"{name}: {step.get('name')} uses {variable}, which nobody sets"


def steps_understand_each_other(infrastructure: Infrastructure) -> Iterator[str]:
    text = infrastructure.read(".github/workflows/deploy.yml")
    written = set(re.findall(r'echo "(\w+)=\$\(jq', text))
    for asked in set(re.findall(r"steps\.provision\.outputs\.(\w+)", text)) - written:
        yield f"deploy.yml asks the step provision for {asked}, which it doesn't give"
    values = dict(re.findall(r'echo "(\w+)=\$\(jq --exit-status --raw-output \.(\w+)\.value', text))
    wanted = {
        "group": "AZURE_RESOURCE_GROUP",
        "app": "AZURE_FUNCTION_APP_NAME",
        "url": "BATCHSCOPE_URL",
        "storage": "BATCHSCOPE_TELEMETRY_STORAGE",
    }
    if values != wanted:
        yield f"deploy.yml takes {values} from the outputs"


def hooks(infrastructure: Infrastructure) -> Iterator[str]:
    """azd makes the registration before, builds the package, connects both afterwards; on every system alike."""
    whole = yaml.safe_load(infrastructure.read("azure.yaml"))
    service = whole["services"]["app"]
    wanted = {"project": ".", "language": "python", "host": "function", "remoteBuild": True}
    if {key: service.get(key) for key in wanted} != wanted:
        yield f"azure.yaml: the service is {service}"
    if whole.get("infra") != {"provider": "bicep", "path": "infra", "module": "main"}:
        yield f"azure.yaml: the infrastructure is {whole.get('infra')}"
    parts = {
        "preprovision": (whole["hooks"], "infra.app_registration ensure"),
        "postprovision": (whole["hooks"], "infra.app_registration connect"),
        "postdeploy": (whole["hooks"], "infra.event_subscriptions"),
        "prepackage": (service["hooks"], "dev.py build"),
    }
    for name, (held, part) in parts.items():
        for system in ("posix", "windows"):
            if part not in held.get(name, {}).get(system, {}).get("run", ""):
                yield f"azure.yaml: the hook {name} for {system} doesn't run {part}"
            if held.get(name, {}).get(system, {}).keys() != {"shell", "run"}:
                yield f"azure.yaml: the hook {name} for {system} has no shell, or may fail unnoticed"
    for module in re.findall(r"-m (infra[\w.]+)", infrastructure.read("azure.yaml")):
        if not (infrastructure.root / f"{module.replace('.', '/')}.py").exists():
            yield f"azure.yaml: there is no {module}"


_OPTIONS = {
    "app": "AZURE_FUNCTION_APP_NAME",
    "client-id": "AUTH_CLIENT_ID",
    "principal-id": "BATCHSCOPE_PRINCIPAL_ID",
    "resource-group": "AZURE_RESOURCE_GROUP",
    "storage": "BATCHSCOPE_TELEMETRY_STORAGE",
    "url": "BATCHSCOPE_URL",
}


def options_of_hooks(infrastructure: Infrastructure) -> Iterator[str]:
    """Each option of the scripts gets the output that it is about, on every system."""
    hooks_text = infrastructure.read("azure.yaml")
    for option, name in _OPTIONS.items():
        for wanted in (f'--{option} "${name}"', f"--{option} $env:{name}"):
            if wanted not in hooks_text:
                yield f"azure.yaml: {wanted} is missing"


_MILDER = {"use-recent-api-versions": "off", "use-secure-value-for-secure-inputs": "warning"}
"""Lint rules that aren't errors: versions are pinned in these tests; the webhook's address is such an input."""


_LINTED = (
    "no-hardcoded-env-urls",
    "no-hardcoded-location",
    "no-unnecessary-dependson",
    "no-unused-existing-resources",
    "no-unused-params",
    "no-unused-vars",
    "outputs-should-not-contain-secrets",
    "secure-parameter-default",
    "secure-params-in-nested-deploy",
    "secure-secrets-in-params",
    "use-parent-property",
    "use-stable-resource-identifiers",
)


def strict_compiler(infrastructure: Infrastructure) -> Iterator[str]:
    rules = json.loads(infrastructure.read("infra/bicepconfig.json"))["analyzers"]["core"]
    if rules.get("enabled") is not True:
        yield "the Bicep linter is off"
    for name, rule in rules["rules"].items():
        if rule["level"] != _MILDER.get(name, "error"):
            yield f"bicepconfig.json: {name} is {rule['level']}"
    for name in _LINTED:
        if name not in rules["rules"]:
            yield f"bicepconfig.json: {name} is not there"


def host_settings(infrastructure: Infrastructure) -> Iterator[str]:
    """The runtime is that of the repository, and host.json is what the infrastructure counts on."""
    version = infrastructure.read(".python-version").strip()
    for scenario in infrastructure.scenarios:
        if scenario.app.get("properties.functionAppConfig.runtime.version") != version:
            yield f"the app runs on another Python than {version}"
    host = json.loads(infrastructure.read("host.json"))
    if host.get("extensions", {}).get("http", {}).get("routePrefix") != "":
        yield "host.json: routes have a prefix"
    if host.get("version") != "2.0" or "ExtensionBundle" not in host.get("extensionBundle", {}).get("id", ""):
        yield "host.json: no extensions for the triggers"


def linted(infrastructure: Infrastructure) -> Iterator[str]:
    """actionlint, zizmor and yamllint have nothing to say."""
    programs = Path(sys.executable).parent
    commands = (
        ("actionlint", *workflows(infrastructure.root)),
        ("zizmor", "--offline", "--quiet", "--no-progress", ".github/workflows"),
        ("yamllint", "--strict", ".github", "azure.yaml"),
    )
    for command in commands:
        program = programs / f"{command[0]}{Path(sys.executable).suffix}"
        done = subprocess.run(
            [str(program), *command[1:]], cwd=infrastructure.root, capture_output=True, text=True, check=False
        )
        if done.returncode:
            yield f"{command[0]}: {done.stdout}{done.stderr}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    pinned_actions,
    least_permissions,
    careful_steps,
    without_secrets,
    sound_scripts,
    right_triggers,
    complete_deployment,
    complete_checks,
    variables_given,
    steps_understand_each_other,
    hooks,
    options_of_hooks,
    strict_compiler,
    host_settings,
)

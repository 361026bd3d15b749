"""Workflows: pinned, unprivileged, without secrets, run when they should be, and given what they ask for."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from local.dev.checking.checks import workflows
from tests.infra.rules.scenarios import Infrastructure

type Steps = list[Mapping[str, Any]]

PINNED = {
    "actions/attest-build-provenance": ("a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32", "v4.1.0"),
    "actions/checkout": ("08c6903cd8c0fde910a37f88322edcfb5dd907a8", "v5.0.0"),
    "actions/download-artifact": ("d3f86a106a0bac45b974a628896c90dbdf5c8093", "v4.3.0"),
    "actions/setup-python": ("e797f83bcb11b83ae66e0230d6156d7c80228e7c", "v6.0.0"),
    "actions/upload-artifact": ("ea165f8d65b6e75b540449e92b4886f43607fa02", "v4.6.2"),
    "azure/login": ("a457da9ea143d694b1b9c7c869ebb04ebe844ef5", "v2.3.0"),
    "github/codeql-action/analyze": ("8aad20d150bbac5944a9f9d289da16a4b0d87c1e", "v4.36.2"),
    "github/codeql-action/init": ("8aad20d150bbac5944a9f9d289da16a4b0d87c1e", "v4.36.2"),
}
"""Actions that were looked up, with the release that each commit is; a new one is entered here."""
_PERMISSIONS = {
    ("ci.yml", "checks-and-tests"): {"contents": "read"},
    ("ci.yml", "bicep"): {"contents": "read"},
    ("nightly.yml", "searches"): {"contents": "read"},
    ("whatif.yml", "what-if"): {"contents": "read", "id-token": "write"},
    ("deploy.yml", "package"): {"contents": "read"},
    ("deploy.yml", "deploy"): {"contents": "read", "id-token": "write"},
    ("release.yml", "package"): {"contents": "read"},
    ("release.yml", "release"): {"attestations": "write", "contents": "write", "id-token": "write"},
    ("codeql.yml", "analyze"): {"actions": "read", "contents": "read", "security-events": "write"},
    ("backup.yml", "backup"): {"contents": "read", "id-token": "write"},
}
_TRIGGERS = {
    "ci.yml": {"pull_request": None, "workflow_call": None},
    "nightly.yml": {"schedule": [{"cron": "41 2 * * *"}], "workflow_dispatch": None},
    "whatif.yml": {"pull_request": {"paths": ["infra/**", ".github/workflows/whatif.yml"]}},
    "release.yml": {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}},
    "codeql.yml": {"pull_request": None, "push": {"branches": ["main"]}, "schedule": [{"cron": "23 4 * * 1"}]},
}
_CI = "./.github/workflows/ci.yml"
_LOGIN = {
    "client-id": "${{ vars.AZURE_CLIENT_ID }}",
    "tenant-id": "${{ vars.AZURE_TENANT_ID }}",
    "subscription-id": "${{ vars.AZURE_SUBSCRIPTION_ID }}",
    "environment": "${{ vars.AZURE_CLOUD || 'azurecloud' }}",
}
_WITH: Mapping[str, Mapping[str, Any]] = {
    "actions/checkout": {"persist-credentials": False},
    "ci.yml: checks-and-tests: actions/checkout": {"fetch-depth": 0, "persist-credentials": False},
    "nightly.yml: searches: actions/checkout": {"fetch-depth": 0, "persist-credentials": False},
    "actions/download-artifact": {"name": "package", "path": "dist/"},
    "actions/setup-python": {"python-version-file": ".python-version"},
    "actions/upload-artifact": {
        "name": "package",
        "path": "dist/",
        "if-no-files-found": "error",
        "overwrite": True,
    },
    "actions/attest-build-provenance": {"subject-path": "dist/*"},
    "azure/login": _LOGIN,
    "github/codeql-action/init": {
        "languages": "actions,javascript-typescript,python",
        "build-mode": "none",
        "queries": "security-extended",
    },
    "github/codeql-action/analyze": {},
}
"""What each action is given."""
_MAX_MINUTES = 120
_KEYS = {"name", "on", "permissions", "concurrency", "jobs"}
_JOB_KEYS = {"name", "runs-on", "timeout-minutes", "permissions", "steps"}
_OWN_KEYS: Mapping[str, Mapping[str, Any]] = {
    "checks-and-tests": {},
    "bicep": {},
    "searches": {},
    "what-if": {
        "environment": "what-if",
        "if": "github.event.pull_request.head.repo.full_name == github.repository",
    },
    "deploy": {
        "environment": {
            "name": "${{ inputs.environment || 'dev' }}",
            "url": "${{ steps.provision.outputs.url }}",
        },
        "needs": "package",
    },
    "package": {"needs": "ci"},
    "release": {"environment": "release", "needs": "package"},
    "analyze": {},
    "backup": {
        "environment": "${{ matrix.environment }}",
        "strategy": {
            "fail-fast": False,
            "matrix": {
                "environment": (
                    "${{ fromJSON(inputs.environment && format('[\"{0}\"]', inputs.environment) ||"
                    " vars.BACKUP_ENVIRONMENTS || '[\"dev-backup\"]') }}"
                )
            },
        },
    },
}
"""What a job says beyond what every job does; a condition or a default more, and its steps may not run as they read."""
_STEP_KEYS = {"name", "id", "uses", "with", "env", "run"}
_CONCURRENCY = {
    "ci.yml": {
        "group": "ci-${{ github.ref }}-${{ github.event_name }}",
        "cancel-in-progress": "${{ github.event_name == 'pull_request' }}",
    },
    "nightly.yml": {"group": "nightly", "cancel-in-progress": False},
    "whatif.yml": {"group": "what-if-${{ github.ref }}", "cancel-in-progress": True},
    "deploy.yml": {"group": "deploy-${{ inputs.environment || 'dev' }}", "cancel-in-progress": False},
    "release.yml": {"group": "release-${{ github.ref }}", "cancel-in-progress": False},
    "codeql.yml": {
        "group": "codeql-${{ github.ref }}-${{ github.event_name }}",
        "cancel-in-progress": "${{ github.event_name == 'pull_request' }}",
    },
    "backup.yml": {"group": "backup-${{ inputs.environment || 'weekly' }}", "cancel-in-progress": False},
}
_BACKUP = {
    "BATCHSCOPE_BACKUPS": "${{ vars.BATCHSCOPE_BACKUPS }}",
    "BATCHSCOPE_STORAGE": "${{ vars.BATCHSCOPE_STORAGE }}",
    "RUN": "${{ matrix.environment }}-${{ github.run_id }}",
}
_GIVEN = {
    "Back up the tables": _BACKUP,
    "Check the backup": _BACKUP,
    "Name everything that would fail": {
        name: f"${{{{ vars.{name} }}}}"
        for name in (
            "ACCOUNT_ROLES",
            "ALERT_EMAIL",
            "AUTH_CLIENT_ID",
            "AZURE_ENV_NAME",
            "AZURE_LOCATION",
            "AZURE_SUBSCRIPTION_ID",
            "BATCH_ACCOUNT_IDS",
        )
    },
    "Build the package, and the list of what is in it": {"TAG": "${{ github.ref_name }}"},
    "Publish the release": {"GH_TOKEN": "${{ github.token }}", "TAG": "${{ github.ref_name }}"},
    "Deploy the package": {
        "APP": "${{ steps.provision.outputs.app }}",
        "GROUP": "${{ steps.provision.outputs.group }}",
    },
    "Subscribe to blob events": {
        "APP": "${{ steps.provision.outputs.app }}",
        "GROUP": "${{ steps.provision.outputs.group }}",
        "STORAGE": "${{ steps.provision.outputs.storage }}",
    },
    "Smoke test": {
        "AUTH_CLIENT_ID": "${{ vars.AUTH_CLIENT_ID }}",
        "DEPLOYED": "${{ steps.code.outputs.deployed }}",
        "URL": "${{ steps.provision.outputs.url }}",
    },
}
"""The variables of each step; those that fill in the parameter file are told by the file."""


def _workflows(infrastructure: Infrastructure) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in workflows(infrastructure.root):
        # YAML 1.1 takes the key `on` for a truth value.
        whole = _parsed(infrastructure.read(name))
        yield Path(name).name, {**whole, "on": whole.get("on", whole.get(True))}


@cache
def _parsed(source: str) -> dict[Any, Any]:
    whole: dict[Any, Any] = yaml.safe_load(source)
    return whole


def _jobs(infrastructure: Infrastructure) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for name, workflow in _workflows(infrastructure):
        for job_name, job in workflow["jobs"].items():
            if "uses" not in job:
                yield name, job_name, job


def steps_of(infrastructure: Infrastructure, name: str) -> Steps:
    return [step for found, _, job in _jobs(infrastructure) for step in job["steps"] if found == name]


def pinned_actions(infrastructure: Infrastructure) -> Iterator[str]:
    for name in workflows(infrastructure.root):
        for line in infrastructure.read(name).splitlines():
            found = re.search(r"uses:\s*(\S+)@(\S+)(?:\s+#\s*(\S+))?", line)
            if found and PINNED.get(found[1]) != (found[2], found[3]):
                yield f"{name}: {line.strip()} is not one of the pinned actions"
            if "uses:" in line and not found and line.split("#")[0].strip() != f"uses: {_CI}":
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
        if not 0 < job.get("timeout-minutes", 0) <= _MAX_MINUTES:
            yield f"{name}: {job_name} may take too long"
        if not re.fullmatch(r"ubuntu-\d\d\.04", str(job.get("runs-on"))):
            yield f"{name}: {job_name} runs on {job.get('runs-on')}"
        if ("id-token" in (job.get("permissions") or {})) != ("environment" in job):
            yield f"{name}: {job_name} logs in without an environment, or has one for nothing"
    if seen != _PERMISSIONS.keys():
        yield f"the jobs are {sorted(seen)}"


def careful_steps(infrastructure: Infrastructure) -> Iterator[str]:
    """Logging in is by OIDC with public ids; no step keeps a token on disk or repeats what a stranger wrote."""
    for name, job_name, job in _jobs(infrastructure):
        for step in job["steps"]:
            action = step.get("uses", "").partition("@")[0]
            if action and step.get("with", {}) != _WITH.get(f"{name}: {job_name}: {action}", _WITH.get(action)):
                yield f"{name}: {action} is given {step.get('with')}"
            if "${{" in step.get("run", ""):
                yield f"{name}: an expression is spliced into a script"
            if unknown := step.keys() - _STEP_KEYS:
                yield f"{name}: {step.get('name')} has {sorted(unknown)}: it may be skipped, or its failure unnoticed"


def nothing_else_said(infrastructure: Infrastructure) -> Iterator[str]:
    """No condition, default, container or variable beyond those that were looked up, and deployments one at a time."""
    for name, workflow in _workflows(infrastructure):
        if unknown := workflow.keys() - {True} - _KEYS:
            yield f"{name} has {sorted(unknown)}, which changes how all of its jobs run"
        if workflow.get("concurrency") != _CONCURRENCY.get(name):
            yield f"{name} runs beside itself by {workflow.get('concurrency')}"
    for name, job_name, job in _jobs(infrastructure):
        own = {key: value for key, value in job.items() if key not in _JOB_KEYS}
        if own != _OWN_KEYS.get(job_name):
            yield f"{name}: {job_name} has {own}"
        for step in job["steps"]:
            is_filling = "envsubst" in step.get("run", "")
            if not is_filling and step.get("env", {}) != _GIVEN.get(step.get("name", ""), {}):
                yield f"{name}: {step.get('name')} is given {step.get('env')}"


def without_secrets(infrastructure: Infrastructure) -> Iterator[str]:
    for name in workflows(infrastructure.root):
        if re.search(r"\bsecrets\.|pull_request_target|workflow_run", infrastructure.read(name)):
            yield f"{name} uses secrets, or runs strangers' code with rights"


def right_triggers(infrastructure: Infrastructure) -> Iterator[str]:
    found = dict(_workflows(infrastructure))
    if found.keys() != {"ci.yml", "whatif.yml", "deploy.yml", "backup.yml", *_TRIGGERS}:
        yield f"the workflows are {sorted(found)}"
    for name, wanted in _TRIGGERS.items():
        if found[name]["on"] != wanted:
            yield f"{name} runs on {found[name]['on']}"
    deploying = found["deploy.yml"]["on"]
    if deploying.get("push") != {"branches": ["main"]} or deploying.keys() != {"push", "workflow_dispatch"}:
        yield f"deploy.yml runs on {deploying}"
    backing_up = found["backup.yml"]["on"]
    if backing_up.get("schedule") != [{"cron": "17 3 * * 0"}] or backing_up.keys() != {"schedule", "workflow_dispatch"}:
        yield f"backup.yml runs on {backing_up}"
    for name, triggers in (("deploy.yml", deploying), ("backup.yml", backing_up)):
        chosen = (triggers.get("workflow_dispatch") or {}).get("inputs", {}).get("environment", {})
        if not chosen.get("required") or chosen.get("type") != "environment":
            yield f"{name} asks for {chosen}"


def deployed_after_checks(infrastructure: Infrastructure) -> Iterator[str]:
    """Only what CI has passed, of the very same commit, is deployed or released; no job with rights builds it."""
    for name, last in (("deploy.yml", "deploy"), ("release.yml", "release")):
        jobs = dict(_workflows(infrastructure))[name]["jobs"]
        if jobs.get("ci") != {"name": "CI", "permissions": {"contents": "read"}, "uses": _CI}:
            yield f"{name} begins with {jobs.get('ci')}"
        needs = [jobs[each].get("needs") for each in ("package", last)]
        if needs != ["ci", "package"] or "if" in jobs["package"] or "if" in jobs[last]:
            yield f"{name} takes what CI has not passed"
        if any("dev.py build" in step.get("run", "") for step in jobs[last]["steps"]):
            yield f"{name} builds in the job {last}, which may do more than that"


def proposed_updates(infrastructure: Infrastructure) -> Iterator[str]:
    """Dependabot looks after every lock file and every action, and waits a week before it proposes what is new."""
    updates = yaml.safe_load(infrastructure.read(".github/dependabot.yml"))["updates"]
    found = {
        (update["package-ecosystem"], folder)
        for update in updates
        for folder in update.get("directories", [update.get("directory")])
    }
    if found != {("pip", "/"), ("npm", "/web"), ("npm", "/local/node"), ("github-actions", "/")}:
        yield f"Dependabot looks after {sorted(found)}"
    for update in updates:
        if update["schedule"] != {"interval": "weekly"} or update.get("cooldown") != {"default-days": 7}:
            yield f"Dependabot proposes updates of {update['package-ecosystem']} at other times"


def variables_given(infrastructure: Infrastructure) -> Iterator[str]:
    """Where the parameter file is filled in, each placeholder's variable is there, of the same name."""
    wanted = set(re.findall(r"\$\{(\w+)\}", infrastructure.read("infra/main.parameters.json")))
    for name in ("whatif.yml", "deploy.yml"):
        filling = [step for step in steps_of(infrastructure, name) if "envsubst" in step.get("run", "")]
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


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    pinned_actions,
    least_permissions,
    careful_steps,
    nothing_else_said,
    without_secrets,
    right_triggers,
    deployed_after_checks,
    proposed_updates,
    variables_given,
    steps_understand_each_other,
)

"""Workflows: pinned, unprivileged, without secrets, run after the checks, and given what they ask for."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from infra.deployment_tools import MIN_AZD
from local.dev.checking.checks import workflows
from tests.infra.rules.scenarios import Infrastructure

type Steps = list[Mapping[str, Any]]

_CI = "./.github/workflows/ci.yml"
_MAX_MINUTES = 120
_FOR_STRANGERS = {"ci.yml", "codeql.yml", "whatif.yml"}
"""Workflows that run what anybody proposes."""
_NO_FORK = "github.event.pull_request.head.repo.full_name == github.repository"
_WRITES = {("codeql.yml", "analyze"): {"security-events"}, ("release.yml", "release"): {"attestations", "contents"}}
"""Jobs that may write more than a token of their own identity, and what."""
_OF_RUNNERS = {"RUNNER_TEMP", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}


@cache
def _parsed(source: str) -> dict[Any, Any]:
    whole: dict[Any, Any] = yaml.safe_load(source)
    return whole


def _workflows(infrastructure: Infrastructure) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    for name in workflows(infrastructure.root):
        yield Path(name).name, _parsed(infrastructure.read(name))


def _jobs(infrastructure: Infrastructure) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for name, workflow in _workflows(infrastructure):
        for job_name, job in workflow["jobs"].items():
            if "uses" not in job:
                yield name, job_name, job


def steps_of(infrastructure: Infrastructure, name: str) -> Steps:
    return [step for found, _, job in _jobs(infrastructure) for step in job["steps"] if found == name]


def pinned_actions(infrastructure: Infrastructure) -> Iterator[str]:
    """Every action is given by a commit, with the release that it is; one action is the same everywhere."""
    seen: dict[str, tuple[str, str]] = {}
    for name in workflows(infrastructure.root):
        for line in infrastructure.read(name).splitlines():
            if "uses:" not in line or line.split("#")[0].strip() == f"uses: {_CI}":
                continue
            found = re.search(r"uses:\s*(\S+)@([0-9a-f]{40})\s+#\s*(v\S+)$", line)
            if found is None or seen.setdefault(found[1], (found[2], found[3])) != (found[2], found[3]):
                yield f"{name}: {line.strip()} is not pinned, or elsewhere to another commit"


def least_permissions(infrastructure: Infrastructure) -> Iterator[str]:
    """Rights are given job by job; a job that logs in to Azure has an environment, and no other job has one."""
    for name, workflow in _workflows(infrastructure):
        if workflow.get("permissions") != {}:
            yield f"{name} begins with permissions of its own: {workflow.get('permissions')}"
    for name, job_name, job in _jobs(infrastructure):
        if not job.get("permissions"):
            yield f"{name}: {job_name} says nothing of its permissions"
        if not 0 < job.get("timeout-minutes", 0) <= _MAX_MINUTES:
            yield f"{name}: {job_name} may take too long"
        if not re.fullmatch(r"ubuntu-\d\d\.04", str(job.get("runs-on"))):
            yield f"{name}: {job_name} runs on {job.get('runs-on')}"
        if ("id-token" in (job.get("permissions") or {})) != ("environment" in job):
            yield f"{name}: {job_name} logs in without an environment, or has one for nothing"


def strangers_get_nothing(infrastructure: Infrastructure) -> Iterator[str]:
    """What strangers propose runs in few workflows, which write nothing; no job writes what isn't its own to write."""
    for name, workflow in _workflows(infrastructure):
        proposed = "pull_request" in workflow[True]  # YAML 1.1 takes the key `on` for a truth value.
        if proposed and name not in _FOR_STRANGERS:
            yield f"{name} runs what strangers propose"
        for job_name, job in workflow["jobs"].items():
            written = {right for right, level in job["permissions"].items() if level != "read"}
            if written - {"id-token"} - _WRITES.get((name, job_name), set()):
                yield f"{name}: {job_name} may write {sorted(written)}"
            if proposed and "id-token" in written and job.get("if") != _NO_FORK:
                yield f"{name}: {job_name} logs in for forks"


def without_secrets(infrastructure: Infrastructure) -> Iterator[str]:
    """No secret, no rights for strangers' code, no expression that a script would run, no token left on disk."""
    for name in workflows(infrastructure.root):
        if re.search(r"\bsecrets\.|pull_request_target|workflow_run", infrastructure.read(name)):
            yield f"{name} uses secrets, or runs strangers' code with rights"
        if "continue-on-error" in infrastructure.read(name):
            yield f"{name} goes on after a failure"
    for name, _, job in _jobs(infrastructure):
        for step in job["steps"]:
            if "${{" in step.get("run", ""):
                yield f"{name}: an expression is spliced into a script"
            if "checkout" in step.get("uses", "") and step.get("with", {}).get("persist-credentials") is not False:
                yield f"{name}: a token is left on disk"


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


def variables_given(infrastructure: Infrastructure) -> Iterator[str]:
    """Each placeholder of the parameter file, and each variable of a script, is given by the step that uses it."""
    wanted = set(re.findall(r"\$\{(\w+)\}", infrastructure.read("infra/main.parameters.json")))
    for name in ("whatif.yml", "deploy.yml"):
        filling = [step.get("env") for step in steps_of(infrastructure, name) if "envsubst" in step.get("run", "")]
        if filling != [{variable: f"${{{{ vars.{variable} }}}}" for variable in wanted}]:
            yield f"{name} gives the parameter file {filling}"
    for name, _, job in _jobs(infrastructure):
        for step in job["steps"]:
            script = step.get("run", "")
            own = set(re.findall(r"^(\w+)=", script, re.MULTILINE))
            asked = set(re.findall(r"\"?\$\{?([A-Z][A-Z_]+)\b", script))
            for variable in asked - own - _OF_RUNNERS - set(step.get("env", {})):
                yield f"{name}: {step.get('name')} uses {variable}, which nobody sets"


def outputs_asked(infrastructure: Infrastructure) -> Iterator[str]:
    """What hooks, workflows and steps ask of a deployment is an output of the template, or of the step before."""
    text = infrastructure.read(".github/workflows/deploy.yml")
    for asked in set(re.findall(r"steps\.provision\.outputs\.(\w+)", text)) - set(re.findall(r'"(\w+)=\$\(jq', text)):
        yield f"deploy.yml asks the step provision for {asked}, which it doesn't give"
    hooks = infrastructure.read("azure.yaml")
    names = {*re.findall(r"\b(?:BATCHSCOPE|AZURE)_[A-Z_]+\b", hooks), *re.findall(r"\.([A-Z_]+)\.value", text)}
    given = infrastructure.everything_on.file.outputs.keys()
    for name in sorted(names - given - {"AZURE_ENV_NAME"}):
        yield f"{name} is asked for, but no output"
    for name in sorted(given - names):
        yield f"nothing asks for the output {name}"


def same_versions(infrastructure: Infrastructure) -> Iterator[str]:
    """azd is as new as deploy-check demands, and the app runs on the Python of the repository."""
    azd = _parsed(infrastructure.read("azure.yaml"))["requiredVersions"]["azd"]
    if azd != f">= {'.'.join(map(str, MIN_AZD))}":
        yield f"azure.yaml takes azd {azd}"
    for script in re.findall(r"dev\.py infra ([\w-]+)", infrastructure.read("azure.yaml")):
        if not (infrastructure.root / f"infra/{script.replace('-', '_')}.py").exists():
            yield f"azure.yaml: there is no {script}"
    version = infrastructure.read(".python-version").strip()
    if infrastructure.everything_on.app.get("properties.functionAppConfig.runtime.version") != version:
        yield f"the app runs on another Python than {version}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    pinned_actions,
    least_permissions,
    strangers_get_nothing,
    without_secrets,
    deployed_after_checks,
    variables_given,
    outputs_asked,
    same_versions,
)

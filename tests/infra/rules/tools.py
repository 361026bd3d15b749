"""Hooks of azd, the Bicep linter, host.json: as the infrastructure and its operators count on them."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from infra.deployment_tools import MIN_AZD
from local.dev.checking.checks import workflows
from tests.infra.rules.scenarios import Infrastructure

_STOP = "$ErrorActionPreference = 'Stop';"
_END = "; exit $LASTEXITCODE"
"""In PowerShell a program that fails, or isn't there, ends a script only if the script says so."""
_INSTEAD = "azd can't pack this app: use 'azd up', or 'azd deploy app --from-package dist/batchscope.zip'."
_HOOKS: Mapping[str, tuple[str, str]] = {
    "preprovision": (
        'python3 dev.py infra app-registration ensure --name "batchscope-$AZURE_ENV_NAME" --azd',
        f'{_STOP} python dev.py infra app-registration ensure --name "batchscope-$env:AZURE_ENV_NAME" --azd{_END}',
    ),
    "postprovision": (
        (
            'python3 dev.py infra app-registration connect --client-id "$AUTH_CLIENT_ID"'
            ' --url "$BATCHSCOPE_URL" --principal-id "$BATCHSCOPE_PRINCIPAL_ID"'
        ),
        (
            f'{_STOP} python dev.py infra app-registration connect --client-id "$env:AUTH_CLIENT_ID"'
            f' --url "$env:BATCHSCOPE_URL" --principal-id "$env:BATCHSCOPE_PRINCIPAL_ID"{_END}'
        ),
    ),
    "predeploy": ("python3 dev.py build", f"{_STOP} python dev.py build{_END}"),
    "postdeploy": (
        (
            'python3 dev.py infra event-subscriptions --resource-group "$AZURE_RESOURCE_GROUP"'
            ' --app "$AZURE_FUNCTION_APP_NAME" --storage "$BATCHSCOPE_TELEMETRY_STORAGE"'
        ),
        (
            f'{_STOP} python dev.py infra event-subscriptions --resource-group "$env:AZURE_RESOURCE_GROUP"'
            f' --app "$env:AZURE_FUNCTION_APP_NAME" --storage "$env:BATCHSCOPE_TELEMETRY_STORAGE"{_END}'
        ),
    ),
    "prepackage": (
        f'echo "{_INSTEAD}" >&2; exit 1',
        f'[Console]::Error.WriteLine("{_INSTEAD}"); exit 1',
    ),
}
"""What each hook runs, on POSIX and on Windows."""
_WHOLE: Mapping[str, Any] = {
    "workflows": {"up": {"steps": [{"azd": "provision"}, {"azd": "deploy app --from-package dist/batchscope.zip"}]}},
    "infra": {"provider": "bicep", "path": "infra", "module": "main"},
    "requiredVersions": {"azd": f">= {'.'.join(map(str, MIN_AZD))}"},
}
"""What else azure.yaml says: the steps of `azd up` in their order, and the same oldest azd that deploy-check takes."""
_HOST: Mapping[str, Any] = {
    "version": "2.0",
    "telemetryMode": "OpenTelemetry",
    "functionTimeout": "00:10:00",
    "logging": {"logLevel": {"default": "Information", "Azure.Core": "Warning"}},
    "extensions": {
        "http": {"routePrefix": ""},
        "queues": {
            "batchSize": 1,
            "newBatchThreshold": 0,
            "maxDequeueCount": 5,
            "maxPollingInterval": "00:00:10",
            "visibilityTimeout": "00:00:30",
        },
    },
    "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"},
}
"""One long read at a time in an instance, which must end well before a message is handed out again; ticks are logged
at the level Information, which alert rules read."""
_LINTED = {
    "adminusername-should-not-be-literal",
    "artifacts-parameters",
    "decompiler-cleanup",
    "explicit-values-for-loc-params",
    "max-params",
    "no-conflicting-metadata",
    "no-deployments-resources",
    "no-hardcoded-env-urls",
    "no-hardcoded-location",
    "no-loc-expr-outside-params",
    "no-unnecessary-dependson",
    "no-unused-existing-resources",
    "no-unused-params",
    "no-unused-vars",
    "outputs-should-not-contain-secrets",
    "prefer-interpolation",
    "prefer-unquoted-property-names",
    "protect-commandtoexecute-secrets",
    "secure-parameter-default",
    "secure-params-in-nested-deploy",
    "secure-secrets-in-params",
    "simplify-interpolation",
    "simplify-json-null",
    "use-parent-property",
    "use-recent-api-versions",
    "use-resource-symbol-reference",
    "use-safe-access",
    "use-secure-value-for-secure-inputs",
    "use-stable-resource-identifiers",
    "use-stable-vm-image",
}
"""The rules of the linter, all of them."""


def hooks(infrastructure: Infrastructure) -> Iterator[str]:
    """azd makes the registration, then builds the package and deploys it as it is; on every system alike."""
    whole = yaml.safe_load(infrastructure.read("azure.yaml"))
    service = whole["services"]["app"]
    wanted = {"project": ".", "language": "python", "host": "function", "remoteBuild": False}
    if {**service, "hooks": {}} != {**wanted, "hooks": {}} or whole["services"].keys() != {"app"}:
        yield f"azure.yaml: the services are {whole['services']}"
    if whole.keys() != {"name", "metadata", "requiredVersions", "infra", "services", "workflows", "hooks"}:
        yield f"azure.yaml: nobody has looked up one of {sorted(whole)}"
    for key, value in _WHOLE.items():
        if whole.get(key) != value:
            yield f"azure.yaml: {key} is {whole.get(key)}"
    for name, systems in _HOOKS.items():
        held = service["hooks"] if name == "prepackage" else whole["hooks"]
        if held.get(name) != {
            system: {"shell": shell, "run": run}
            for system, shell, run in (("posix", "sh", systems[0]), ("windows", "pwsh", systems[1]))
        }:
            yield f"azure.yaml: the hook {name} is {held.get(name)}"
    if service["hooks"].keys() | whole["hooks"].keys() != _HOOKS.keys():
        yield "azure.yaml: there are other hooks than those"
    for script in re.findall(r"dev\.py infra ([\w-]+)", infrastructure.read("azure.yaml")):
        if not (infrastructure.root / f"infra/{script.replace('-', '_')}.py").exists():
            yield f"azure.yaml: there is no {script}"


_MILDER = {"use-recent-api-versions": "off", "use-secure-value-for-secure-inputs": "warning"}
"""Lint rules that aren't errors: versions are pinned in these tests; the webhook's address is such an input."""


def strict_compiler(infrastructure: Infrastructure) -> Iterator[str]:
    whole = json.loads(infrastructure.read("infra/bicepconfig.json"))
    rules = whole["analyzers"]["core"]
    if (whole.keys(), whole["analyzers"].keys(), rules.keys()) != ({"analyzers"}, {"core"}, {"enabled", "rules"}):
        yield "bicepconfig.json is for the linter only, not for another cloud, other modules or experiments"
    if rules.get("enabled") is not True:
        yield "the Bicep linter is off"
    for name, rule in rules["rules"].items():
        if rule["level"] != _MILDER.get(name, "error"):
            yield f"bicepconfig.json: {name} is {rule['level']}"
    for name in sorted(_LINTED ^ rules["rules"].keys()):
        yield f"bicepconfig.json: {name} is not there, or not entered here"


def host_settings(infrastructure: Infrastructure) -> Iterator[str]:
    """The runtime is that of the repository, and host.json is what the infrastructure counts on."""
    version = infrastructure.read(".python-version").strip()
    for scenario in infrastructure.scenarios:
        if scenario.app.get("properties.functionAppConfig.runtime.version") != version:
            yield f"the app runs on another Python than {version}"
    host = json.loads(infrastructure.read("host.json"))
    for name in sorted(_HOST.keys() | host.keys()):
        if host.get(name) != _HOST.get(name):
            yield f"host.json: {name} is {host.get(name)!r}, not {_HOST.get(name)!r}"


_YAML_RULES = {
    "extends": "default",
    "rules": {
        "comments": {"min-spaces-from-content": 1},
        "document-start": "disable",
        "line-length": {"max": 140},
        "truthy": {"check-keys": False},
    },
}


def linted(infrastructure: Infrastructure) -> Iterator[str]:
    """actionlint, zizmor and yamllint have nothing to say, and yamllint looks at all that it looked at."""
    if (rules := yaml.safe_load(infrastructure.read(".yamllint.yaml"))) != _YAML_RULES:
        yield f"yamllint goes by {rules}"
    files = [path for path in sorted((infrastructure.root / ".github").rglob("*")) if path.is_file()]
    files += [infrastructure.root / name for name in ("azure.yaml", ".yamllint.yaml")]
    content = tuple((str(path.relative_to(infrastructure.root)), path.read_bytes()) for path in files)
    if content not in _COMPLAINTS:
        _COMPLAINTS[content] = list(_complaints(infrastructure.root))
    yield from _COMPLAINTS[content]


_COMPLAINTS: dict[tuple[tuple[str, bytes], ...], list[str]] = {}
"""Complaints by the names and contents of all files that the programs look at."""


def _complaints(root: Path) -> Iterator[str]:
    programs = Path(sys.executable).parent
    commands = (
        ("actionlint", *workflows(root)),
        ("zizmor", "--offline", "--quiet", "--no-progress", ".github"),
        ("yamllint", "--strict", ".github", "azure.yaml"),
    )
    for command in commands:
        program = programs / f"{command[0]}{Path(sys.executable).suffix}"
        done = subprocess.run([str(program), *command[1:]], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{command[0]}: {done.stdout}{done.stderr}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (hooks, strict_compiler, host_settings)

"""What docs/operations.md tells operators to type and to watch is there, and means what it should."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from functions.api.account_series import ACCOUNT_SERIES
from functions.api.job_series import JOB_SERIES
from functions.api.pool_series import POOL_ROUND_SERIES, POOL_SERIES
from functions.api.schedule_series import SCHEDULE_ROUND_SERIES
from local.dev.checkout import HERE

PAGE = (HERE.root / "docs/operations.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def commands_of(script: str, folder: Path) -> list[list[str]]:
    """The calls of `az` that a script of the page makes, each as its arguments."""
    az = folder / "az"
    az.write_text(
        "#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps(sys.argv[1:]), file=open('calls', 'a'))\n"
    )
    az.chmod(0o755)
    (folder / "infra").mkdir()
    (folder / "infra/roles.json").write_text((HERE.root / "infra/roles.json").read_text())
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_shell_runs_each_script_of_the_page(script: str, tmp_path: Path) -> None:
    assert commands_of(script, tmp_path)


def test_the_pipeline_may_assign_the_roles_of_a_deployment_and_no_others(tmp_path: Path) -> None:
    (script,) = (script for script in SCRIPTS if "Access Control Administrator" in script)
    (command,) = commands_of(script, tmp_path)
    condition = option(command, "--condition")
    ids = re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", condition)
    roles = json.loads((HERE.root / "infra/roles.json").read_text(encoding="utf-8")).values()
    assert sorted(ids) == sorted([*roles, *roles])
    assert "ROLES" not in condition
    assert condition.count("(") == condition.count(")")
    assert re.findall(r"roleAssignments/(\w+)'", condition) == ["write", "delete"]
    assert "{'ServicePrincipal'}" in condition


def test_what_if_gets_the_rights_to_ask_and_none_to_write(tmp_path: Path) -> None:
    (script,) = (script for script in SCRIPTS if "deployments/whatIf/action" in script)
    definition, *assignments = commands_of(script, tmp_path)
    role = json.loads(option(definition, "--role-definition"))
    assert sorted(role["Actions"]) == [
        "Microsoft.Resources/deployments/validate/action",
        "Microsoft.Resources/deployments/whatIf/action",
    ]
    assert [option(one, "--role") for one in assignments] == ["Reader", role["Name"]]


def test_what_is_left_behind_is_deleted_by_the_names_that_a_deployment_gives(tmp_path: Path) -> None:
    whole = "\n".join(script for script in SCRIPTS if " delete " in script)
    calls = [" ".join(command) for command in commands_of(whole, tmp_path)]
    role = (HERE.root / "infra/modules/batch-role.bicep").read_text(encoding="utf-8")
    (name,) = re.findall(r"roleName: '([^']+)'", role)
    for wanted in (
        "role assignment delete --scope BATCH_ACCOUNT_ID",
        "monitor diagnostic-settings delete --resource BATCH_ACCOUNT_ID --name batchscope-ENV-SUBSCRIPTION_ID",
        f"role definition delete --name {_filled_in(name)}",
        "group delete --name rg-batchscope-ENV",
    ):
        assert any(call.startswith(wanted) for call in calls), wanted


def _filled_in(name: str) -> str:
    return name.replace("${environmentName}", "ENV").replace("${subscription().subscriptionId}", "SUBSCRIPTION_ID")


def test_metrics_that_the_page_names_are_rendered() -> None:
    named = set(re.findall(r"`(\w*batch\w*_\w+)", PAGE))
    assert named
    rounds = (*POOL_ROUND_SERIES, *SCHEDULE_ROUND_SERIES)
    assert named <= {series.name for series in (*ACCOUNT_SERIES, *JOB_SERIES, *POOL_SERIES, *rounds)}


def test_private_networking_tells_of_the_provider_that_no_deployment_registers() -> None:
    assert "az provider register --namespace Microsoft.App" in PAGE

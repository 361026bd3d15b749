"""What docs/operations.md tells operators to type and to watch is there, and means what it should."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from functions.api.metrics.account_series import ACCOUNT_FAMILIES, POOL_ROUND_FAMILIES, SCHEDULE_ROUND_FAMILIES
from functions.api.metrics.job_series import JOB_FAMILIES
from functions.api.metrics.pool_series import POOL_FAMILIES
from local.dev.system.checkout import HERE

PAGE = (HERE.root / "docs/operations.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def commands_of(script: str, folder: Path) -> list[list[str]]:
    """The calls that a script makes: arguments of `az` and `curl`, and of `azd` and `dev.py` after that name."""
    noting = "import json, sys; print(json.dumps(sys.argv[1:]), file=open('calls', 'a'))"
    programs = {
        "az": f'exec {sys.executable} -c "{noting}" "$@"',
        "curl": f'exec {sys.executable} -c "{noting}" "$@"',
        "azd": f'exec {sys.executable} -c "{noting}" azd "$@"',
        "python3": f'case $1 in dev.py) exec {sys.executable} -c "{noting}" "$@" ;; esac; exec {sys.executable} "$@"',
    }
    for name, line in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    (folder / "infra").mkdir()
    (folder / "infra/roles.json").write_text((HERE.root / "infra/roles.json").read_text())
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def commands_with(words: str, folder: Path) -> list[list[str]]:
    """The calls of the only script of the page that has these words."""
    (script,) = (script for script in SCRIPTS if words in script)
    return commands_of(script, folder)


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_shell_runs_each_script_of_the_page(script: str, tmp_path: Path) -> None:
    assert commands_of(script, tmp_path)


def test_the_pipeline_may_assign_the_roles_of_a_deployment_and_no_others(tmp_path: Path) -> None:
    (command,) = commands_with("Access Control Administrator", tmp_path)
    condition = option(command, "--condition")
    ids = re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", condition)
    roles = json.loads((HERE.root / "infra/roles.json").read_text(encoding="utf-8")).values()
    assert sorted(ids) == sorted([*roles, *roles])
    assert "ROLES" not in condition
    assert condition.count("(") == condition.count(")")
    assert re.findall(r"roleAssignments/(\w+)'", condition) == ["write", "delete"]
    assert "{'ServicePrincipal'}" in condition


def test_the_page_names_the_audience_that_the_workflows_log_in_with() -> None:
    login = "azure/login"
    workflows = [path.read_text(encoding="utf-8") for path in (HERE.root / ".github/workflows").glob("*.yml")]
    assert any(login in text for text in workflows)
    assert not any("audience:" in text for text in workflows), "azure/login's own default is api://AzureADTokenExchange"
    assert "audience `api://AzureADTokenExchange` in every cloud" in PAGE


def test_a_program_is_given_an_app_role_by_its_object_id(tmp_path: Path) -> None:
    *_, granted = commands_with("app-registration grant", tmp_path)
    assert granted[:4] == ["dev.py", "infra", "app-registration", "grant"]
    assert option(granted, "--role") == "Reader"


def test_restrictions_of_addresses_are_lifted_by_the_property_that_set_them(tmp_path: Path) -> None:
    (script,) = (script for script in SCRIPTS if "az resource update" in script and "Restrictions" in script)
    (command,) = commands_of(script, tmp_path)
    name, _, value = option(command, "--set").removeprefix("properties.siteConfig.").partition("=")
    set_by = f"{name}: empty(allowedIpRanges) ? null : 'Deny'"
    assert set_by in (HERE.root / "infra/modules/app.bicep").read_text(encoding="utf-8")
    assert value == "Allow"


def test_the_alert_of_a_stopped_app_is_switched_off_by_its_name(tmp_path: Path) -> None:
    (command,) = commands_with("scheduledQueryRules", tmp_path)
    alerts = (HERE.root / "infra/modules/alerts.bicep").read_text(encoding="utf-8")
    assert f"'{option(command, '--resource-type')}@" in alerts
    prefix, _, rule = option(command, "--name").partition("-ENV-")
    assert prefix == "batchscope"
    assert f"name: '{rule}'" in alerts
    assert (option(command, "--set"), "enabled: true" in alerts) == ("properties.enabled=false", True)


def test_what_if_gets_the_rights_to_ask_and_none_to_write(tmp_path: Path) -> None:
    definition, *assignments = commands_with("deployments/whatIf/action", tmp_path)
    role = json.loads(option(definition, "--role-definition"))
    assert sorted(role["Actions"]) == [
        "Microsoft.Resources/deployments/validate/action",
        "Microsoft.Resources/deployments/whatIf/action",
    ]
    subscriptions = ["/subscriptions/SUBSCRIPTION_ID", "/subscriptions/OTHER_SUBSCRIPTION_ID"]
    assert role["AssignableScopes"] == subscriptions
    assert [(option(one, "--scope"), option(one, "--role")) for one in assignments] == [
        (scope, name) for scope in subscriptions for name in ("Reader", role["Name"])
    ]


def test_the_page_names_what_the_environment_of_what_if_needs() -> None:
    workflow = (HERE.root / ".github/workflows/whatif.yml").read_text(encoding="utf-8")
    section = PAGE.partition("\n### What a pull request would change\n")[2].partition("```sh")[0]
    assert set(re.findall(r"`([A-Z]+_[A-Z_]+)`", section)) == set(re.findall(r"vars\.([A-Z_]+)", workflow))
    (environment,) = re.findall(r"^    environment: (\S+)$", workflow, re.MULTILINE)
    assert f"`repo:OWNER/REPO:environment:{environment}`" in section


def test_leftovers_are_deleted_by_the_names_of_the_deployment(tmp_path: Path) -> None:
    whole = "\n".join(script for script in SCRIPTS if " delete " in script)
    calls = [" ".join(command) for command in commands_of(whole, tmp_path)]
    roles = [
        _filled_in(name)
        for module in ("batch-role", "telemetry-writer-role")
        for name in re.findall(r"roleName: '([^']+)'", (HERE.root / f"infra/modules/{module}.bicep").read_text("utf-8"))
    ]
    assert len(roles) == 2
    for wanted in (
        "role assignment delete --scope BATCH_ACCOUNT_ID",
        "monitor diagnostic-settings delete --resource BATCH_ACCOUNT_ID --name batchscope-ENV-SUBSCRIPTION_ID",
        *(f"role definition delete --name {name}" for name in roles),
        "group delete --name rg-batchscope-ENV",
    ):
        assert any(call.startswith(wanted) for call in calls), wanted


def test_the_role_of_what_if_is_deleted_after_its_assignments_in_each_subscription(tmp_path: Path) -> None:
    calls = [" ".join(command) for command in commands_with('delete --name "Batchscope what-if"', tmp_path)]
    last = calls.index("role definition delete --name Batchscope what-if")
    assert [call for call in calls[:last] if "WHAT_IF_OBJECT_ID" in call] == [
        f"role assignment delete --assignee-object-id WHAT_IF_OBJECT_ID --scope /subscriptions/{name}"
        for name in ("SUBSCRIPTION_ID", "OTHER_SUBSCRIPTION_ID")
    ]


def test_no_identity_that_was_just_asked_for_is_an_object_id_of_deleted_assignments(tmp_path: Path) -> None:
    """az refuses an empty `--assignee`; without a principal `--assignee-object-id ""` deletes everybody's."""
    for number, script in enumerate(script for script in SCRIPTS if "role assignment delete" in script):
        (folder := tmp_path / str(number)).mkdir()
        deleted = [call for call in commands_of(script, folder) if call[:3] == ["role", "assignment", "delete"]]
        assert deleted
        assert not any(
            call[call.index(name) + 1] == "" for call in deleted for name in call if name.endswith("object-id")
        )


def test_the_page_says_which_shell_its_commands_are_for() -> None:
    assert any(re.search(r"\S +# |in \$[A-Z]|\$\{\w+//", script) for script in SCRIPTS), "which zsh or sh would refuse"
    assert "written for bash" in PAGE.partition("```")[0]


def test_in_other_clouds_both_tools_are_signed_in_there() -> None:
    section = PAGE.partition("\n## Other clouds\n")[2].partition("\n## ")[0]
    assert "`az cloud set`" in section
    assert "`azd config set cloud.name AzureUSGovernment`" in section


def _filled_in(name: str) -> str:
    return name.replace("${environmentName}", "ENV").replace("${subscription().subscriptionId}", "SUBSCRIPTION_ID")


def test_the_page_says_how_to_take_the_old_role_of_writers_away(tmp_path: Path) -> None:
    *_, command = commands_with("Storage Blob Data Contributor", tmp_path)
    assert option(command, "--scope").endswith("/blobServices/default/containers/telemetry")
    assert "--assignee" not in command


def test_a_writer_tries_its_own_folder_and_those_of_others(tmp_path: Path) -> None:
    tried = commands_with("try upload", tmp_path)
    assert [(command[2], "--overwrite" in command, option(command, "--name").split("/")[3]) for command in tried] == [
        ("upload", False, "POOL_1"),
        ("upload", True, "POOL_1"),
        ("upload", False, "POOL_2"),
        ("delete", False, "POOL_1"),
    ]
    assert {option(command, "--auth-mode") for command in tried} == {"login"}


def test_a_secret_for_sign_in_goes_to_the_vault_without_being_an_argument(tmp_path: Path) -> None:
    reset, stored, *_, assigned = commands_with("credential reset", tmp_path)
    assert "--append" in reset
    assert option(stored, "--file") == "/dev/stdin"
    assert "--value" not in stored
    assert option(assigned, "--role") == "Key Vault Secrets User"
    assert option(assigned, "--scope").endswith(f"/secrets/{option(stored, '--name')}")


def test_the_key_of_storage_may_be_used_by_an_identity_of_its_own(tmp_path: Path) -> None:
    made, *_, assigned = commands_with("Crypto Service Encryption User", tmp_path)
    assert made[:2] == ["identity", "create"]
    assert option(assigned, "--scope").endswith("/keys/KEY")


def test_claims_without_a_test_are_listed_with_their_proof() -> None:
    table = PAGE.partition("## What no test here can show")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for named in ("Windows", "warning", "keys are switched off"):
        assert any(named in row[0] for row in rows), named
    assert all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)


def test_metrics_that_the_page_names_are_rendered() -> None:
    named = set(re.findall(r"`(\w*batch\w*_\w+)", PAGE))
    assert named
    rounds = (*POOL_ROUND_FAMILIES, *SCHEDULE_ROUND_FAMILIES)
    assert named <= {family.name for family in (*ACCOUNT_FAMILIES, *JOB_FAMILIES, *POOL_FAMILIES, *rounds)}


def test_private_networking_names_the_provider_that_no_deployment_registers() -> None:
    assert "az provider register --namespace Microsoft.App" in PAGE

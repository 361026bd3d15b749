"""`deploy-check` names everything that would make a deployment fail, and changes nothing; with a made-up `az`."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from infra import deploy_check
from infra.azure_cli import CommandError, parsed
from infra.deployment_rights import APPROVE, DEFINE
from infra.deployment_tools import MIN_AZ, MIN_AZD
from local.dev.system.checkout import HERE
from tests.infra.scripts.fake_az import write_programs

SUBSCRIPTION = "11111111-0000-0000-0000-000000000000"
TENANT = "77777777-0000-0000-0000-000000000000"
CLIENT = "33333333-0000-0000-0000-000000000000"
SCOPE = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{SCOPE}/resourceGroups/rg-batch"
ACCOUNT = f"{GROUP}/providers/Microsoft.Batch/batchAccounts/render"
NETWORK = f"{SCOPE}/resourceGroups/rg-net/providers/Microsoft.Network/virtualNetworks/hub"
SUBNET, ZONES = f"{NETWORK}/subnets/app", f"{SCOPE}/resourceGroups/rg-dns"
APP_GROUP = f"{SCOPE}/resourceGroups/rg-batchscope-dev"
VARIABLES = {
    "AZURE_ENV_NAME": "dev",
    "AZURE_LOCATION": "West Europe",
    "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
    "BATCH_ACCOUNT_IDS": ACCOUNT,
    "AUTH_CLIENT_ID": CLIENT,
}
GET = "az rest --method get --url"
PERMISSIONS = "/providers/Microsoft.Authorization/permissions"
SETTINGS = f"{GET} {ACCOUNT}/providers/Microsoft.Insights/diagnosticSettings"
ROOM = f"{GET} {SCOPE}/providers/Microsoft.Authorization/roleAssignmentsUsageMetrics"
NAMES = f"az rest --method post --url {SCOPE}/providers/Microsoft.Web/checknameavailability"
WHAT_IF = "az deployment sub what-if"
OWNER = {"value": [{"actions": ["*"], "notActions": []}]}
CONTRIBUTOR = {"value": [{"actions": ["*"], "notActions": ["Microsoft.Authorization/*/Write"]}]}
READER = {"value": [{"actions": ["*/read"], "notActions": []}]}
PROVIDERS = ("Web", "Storage", "Insights", "OperationalInsights", "ManagedIdentity", "EventGrid", "Batch", "Resources")
CREATED = (
    f"{APP_GROUP}/providers/Microsoft.Storage/storageAccounts/stbshostabc",
    f"{APP_GROUP}/providers/Microsoft.Web/sites/func-batchscope-dev-abc",
    f"{ACCOUNT}/providers/Microsoft.Authorization/roleAssignments/22222222-0000-0000-0000-000000000000",
)
READING = ("version", "show", "list", "show-usage", "check-name", "what-if", "get-values")


def prediction(*created: str) -> dict[str, Any]:
    return {"changes": [{"resourceId": each, "changeType": "Create"} for each in created]}


def registered(*left_out: str) -> list[dict[str, str]]:
    held = [f"Microsoft.{name}" for name in (*PROVIDERS, "Network", "App", "Dashboard", "KeyVault")]
    return [
        {"namespace": name, "registrationState": "NotRegistered" if name in left_out else "Registered"} for name in held
    ]


ALL_WELL: Mapping[str, Any] = {
    "az version": {"azure-cli": "2.88.0"},
    "az bicep version": "Bicep CLI version 0.49.2 (3deeb2c)",
    "az account show": {"id": SUBSCRIPTION, "state": "Enabled", "tenantId": TENANT},
    "az ad app show": {"appRoles": [{"value": "Reader"}, {"value": "Operator"}]},
    f"{GET} {SCOPE}{PERMISSIONS}": OWNER,
    f"{GET} {GROUP}{PERMISSIONS}": OWNER,
    f"{GET} {ACCOUNT}{PERMISSIONS}": OWNER,
    f"{GET} {ACCOUNT}?": {"location": "westeurope"},
    f"{GET} {NETWORK}?": {"location": "westeurope"},
    SETTINGS: {"value": []},
    ROOM: {"roleAssignmentsRemainingCount": 3000},
    "az functionapp list-flexconsumption-locations": [{"name": "westeurope"}, {"name": "northeurope"}],
    "az functionapp list-flexconsumption-runtimes": [{"version": "3.12"}, {"version": "3.13"}],
    "az provider list": registered(),
    WHAT_IF: prediction(*CREATED),
    "az storage account check-name": {"nameAvailable": True},
    "az storage account show-usage": {"currentValue": 10, "limit": 250},
    NAMES: {"nameAvailable": True},
}
AZD: Mapping[str, Any] = {
    "azd env get-values": "\n".join(f'{name}="{value}"' for name, value in VARIABLES.items()),
    "azd version": {"azd": {"version": "1.27.0"}},
    f"azd auth login --check-status --tenant-id {TENANT} --output json": {"status": "success"},
}
"""What azd says where all is well."""
type Checked = Callable[..., tuple[int, str]]


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Checked:
    """Runs the check where the tools answer as if all were well, but for `changed`, and the variables are so,
    too; the parameter file holds `parameters`."""

    def run(
        *arguments: str,
        changed: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        **variables: str,
    ) -> tuple[int, str]:
        if parameters is not None:
            monkeypatch.setattr("infra.deployment.Deployment.parameters", parameters)
        write_programs(tmp_path, {**ALL_WELL, **(changed or {})})
        for name in ("ACCOUNT_ROLES", "ALERT_EMAIL", *VARIABLES):
            monkeypatch.delenv(name, raising=False)
        for name, value in {**VARIABLES, **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PATH", str(tmp_path))
        exit_code = deploy_check.main(arguments)
        return exit_code, capsys.readouterr().out

    return run


def wrong(printed: str) -> list[str]:
    return [line.removeprefix("WRONG: ") for line in printed.splitlines() if line.startswith("WRONG: ")]


def test_where_all_is_well_nothing_is_wrong_and_nothing_is_changed(checked: Checked, tmp_path: Path) -> None:
    exit_code, printed = checked()
    assert exit_code == 0, printed
    assert wrong(printed) == []
    assert "NOT LOOKED AT" not in printed
    assert "Nothing is wrong" in printed
    for line in (tmp_path / "asked").read_text().splitlines():
        words = line.split()
        is_reading = any(word in READING or word.startswith("list-") for word in words[:5])
        assert is_reading or line.startswith((GET, NAMES)), line


def test_everything_that_is_wrong_is_named_at_once(checked: Checked) -> None:
    exit_code, printed = checked(
        changed={
            "az version": {"azure-cli": "2.60.0"},
            f"{GET} {SCOPE}{PERMISSIONS}": READER,
            f"{GET} {ACCOUNT}{PERMISSIONS}": CONTRIBUTOR,
            "az functionapp list-flexconsumption-locations": [{"name": "northeurope"}],
            "az provider list": registered("Microsoft.EventGrid"),
            "az storage account check-name": {"nameAvailable": False, "message": "It is taken."},
            "az storage account show-usage": {"currentValue": 250, "limit": 250},
        },
        AUTH_CLIENT_ID="",
    )
    assert exit_code == 1
    assert len(wrong(printed)) == 13, printed
    for said in (
        "2.60.0",
        "AUTH_CLIENT_ID isn't set",
        "westeurope, where",
        "EventGrid",
        "taken",
        "250 storage accounts",
    ):
        assert any(said in line for line in wrong(printed)), said


LOCKED_OUT = {"fails": "ERROR: Please run 'az login' to setup account."}
FIVE = {"value": [{"name": f"other-{number}"} for number in range(5)]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"az version": {"azure-cli": "2.75.1"}}, "The Azure CLI is 2.75.1; 2.76 or newer is needed"),
        ({"az bicep version": "Bicep CLI version 0.20.4"}, "Bicep is 0.20.4; 0.30 or newer"),
        ({"az account show": LOCKED_OUT}, "Run `az login`"),
        ({"az account show": {"id": "other", "state": "Enabled"}}, f"`az account set --subscription {SUBSCRIPTION}`"),
        ({"az account show": {"id": SUBSCRIPTION, "state": "Disabled"}}, "is Disabled"),
        ({"az ad app show": {"fails": f"Resource '{CLIENT}' does not exist"}}, "no such app registration"),
        (
            {"az ad app show": {"displayName": "own", "appRoles": [{"value": "Reader"}]}},
            "lacks the app roles Operator. `python3 dev.py infra app-registration ensure --name own` adds them.",
        ),
        (
            {"az ad app show": {"displayName": "Batchscope of ours", "appRoles": []}},
            "`python3 dev.py infra app-registration ensure --name 'Batchscope of ours'` adds them.",
        ),
        ({f"{GET} {SCOPE}{PERMISSIONS}": CONTRIBUTOR}, "You may not give the app its roles"),
        ({f"{GET} {GROUP}{PERMISSIONS}": READER}, "You may not deploy what belongs to the account"),
        ({f"{GET} {ACCOUNT}{PERMISSIONS}": CONTRIBUTOR}, "You may not give the app a role on the account"),
        ({f"{GET} {ACCOUNT}?": {"fails": "ERROR: ResourceNotFound"}}, "isn't there, or you may not read it"),
        ({f"{GET} {ACCOUNT}?": {"location": "eastus"}}, "Azure keeps its logs in its own region only"),
        ({SETTINGS: FIVE}, "has 5 diagnostic settings"),
        ({"az functionapp list-flexconsumption-runtimes": [{"version": "3.12"}]}, "but not 3.13"),
        ({WHAT_IF: {"fails": "ERROR: RequestDisallowedByPolicy"}}, "Azure couldn't be asked, or would refuse"),
        ({WHAT_IF: {"error": {"message": "No such SKU."}}}, "refuses the templates: No such SKU."),
        ({NAMES: {"nameAvailable": False, "reason": "AlreadyExists"}}, "func-batchscope-dev-abc"),
        ({ROOM: {"roleAssignmentsRemainingCount": 0}}, "has room for 0 role assignments; 1 are"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_thing_that_is_wrong_is_named(checked: Checked, changed: Mapping[str, Any], said: str) -> None:
    exit_code, printed = checked(changed=changed)
    assert exit_code == 1, printed
    assert len(wrong(printed)) == 1, printed
    assert said in wrong(printed)[0]


@pytest.mark.parametrize("name", ["AZURE_ENV_NAME", "AZURE_LOCATION", "BATCH_ACCOUNT_IDS", "AUTH_CLIENT_ID"])
def test_a_variable_that_is_not_set_is_named(checked: Checked, name: str) -> None:
    exit_code, printed = checked(**{name: ""})
    assert exit_code == 1
    assert [line for line in wrong(printed) if line.startswith(f"{name} isn't set.")], printed
    assert "would refuse" not in printed


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AZURE_ENV_NAME", "a-name-too-long", "2 to 12 characters"),
        ("BATCH_ACCOUNT_IDS", "render", "holds render, which isn't the id of a Batch account"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(checked: Checked, name: str, value: str, said: str) -> None:
    exit_code, printed = checked(**{name: value})
    assert exit_code == 1
    assert any(said in line for line in wrong(printed))


def test_checks_that_could_not_run_are_named_and_fail_nothing(checked: Checked) -> None:
    exit_code, printed = checked(changed={"az ad app show": {"fails": "ERROR: Insufficient privileges"}})
    assert exit_code == 0
    assert "NOT LOOKED AT: App registration couldn't be looked at: az ad app show failed: Insufficient priv" in printed
    assert "Nothing was found wrong, but not everything was looked at; checks that are missing: 1." in printed
    assert "Nothing is wrong" not in printed


def test_a_compiler_that_is_not_installed_is_not_held_against_the_deployment(checked: Checked, tmp_path: Path) -> None:
    exit_code, printed = checked(changed={"az bicep version": {"fails": "ERROR: Bicep CLI not found."}})
    assert exit_code == 0, printed
    assert "NOT LOOKED AT: Bicep couldn't be looked at" in printed
    assert "`az bicep install`" in printed
    asked = (tmp_path / "asked").read_text()
    assert asked.index("az deployment sub what-if") < asked.index("az bicep version")


def test_a_question_is_not_waited_for() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"yes\n")
    held = os.dup(0)
    os.dup2(reading, 0)
    try:
        with pytest.raises(CommandError, match="EOFError"):
            parsed([sys.executable, "-c", "print(len(input('Install it? ')))"])
    finally:
        os.dup2(held, 0)
        for each in (held, reading, writing):
            os.close(each)


def test_private_networking_needs_the_provider_that_no_deployment_registers(checked: Checked) -> None:
    changed = {"az provider list": registered("Microsoft.App", "Microsoft.EventGrid")}
    assert checked(changed=changed)[0] == 0
    exit_code, printed = checked(changed=changed, parameters={"privateNetworking": True})
    assert exit_code == 1
    assert "`az provider register --namespace Microsoft.App`" in wrong(printed)[0]


def test_a_custom_role_needs_the_right_to_define_it(checked: Checked) -> None:
    elsewhere = "/subscriptions/22222222-0000-0000-0000-000000000000"
    account = ACCOUNT.replace(SCOPE, elsewhere)
    group = account.partition("/providers/")[0]
    changed: dict[str, Any] = {f"{GET} {each}{PERMISSIONS}": OWNER for each in (account, group)}
    changed |= {f"{GET} {account}?": {"location": "westeurope"}, SETTINGS.replace(SCOPE, elsewhere): {"value": []}}
    changed[f"{GET} {elsewhere}{PERMISSIONS}"] = CONTRIBUTOR
    given = {"leastPrivilegeBatchRole": True}
    _, printed = checked(changed=changed, parameters=given, BATCH_ACCOUNT_IDS=account)
    (only,) = wrong(printed)
    assert only.startswith(f"You may not define the custom role of leastPrivilegeBatchRole ({DEFINE}) on {elsewhere}.")


WRITER = {"principalId": "id-1", "prefix": "accounts/render/pools/a"}


def test_writers_of_telemetry_need_the_right_to_define_their_role(checked: Checked) -> None:
    may_assign = {"value": [{"actions": ["*"], "notActions": ["Microsoft.Authorization/roleDefinitions/*"]}]}
    changed = {f"{GET} {SCOPE}{PERMISSIONS}": may_assign}
    assert checked(changed=changed)[0] == 0
    (only,) = wrong(checked(changed=changed, parameters={"telemetryWriters": [WRITER]})[1])
    assert only.startswith(f"You may not define the custom role of telemetryWriters ({DEFINE}) on {SCOPE}.")


def test_subnets_and_zones_that_are_there_need_rights_of_their_own(checked: Checked) -> None:
    given = {"privateNetworking": True, "appSubnetId": SUBNET, "endpointSubnetId": SUBNET, "dnsZoneGroupId": ZONES}
    changed = {f"{GET} {each}{PERMISSIONS}": OWNER for each in (SUBNET, ZONES)}
    assert checked(changed=changed, parameters=given)[0] == 0
    _, printed = checked(changed={f"{GET} {each}{PERMISSIONS}": READER for each in (SUBNET, ZONES)})
    assert [line.rpartition("the role ")[2] for line in wrong(printed)] == [
        "Network Contributor there.",
        "Network Contributor there.",
        "Private DNS Zone Contributor there.",
    ]


def test_a_private_endpoint_of_a_batch_account_needs_the_right_to_approve_it(checked: Checked) -> None:
    may_not_approve = {"value": [{"actions": ["*"], "notActions": [APPROVE]}]}
    changed = {f"{GET} {ACCOUNT}{PERMISSIONS}": may_not_approve}
    assert checked(changed=changed)[0] == 0
    given = {"privateNetworking": True, "privateBatchAccountIds": ACCOUNT.upper()}
    (only,) = wrong(checked(changed=changed, parameters=given)[1])
    assert only.startswith(f"You may not connect a private endpoint with the account ({APPROVE}) on {ACCOUNT}.")


def test_subnets_must_be_in_the_region_of_the_deployment(checked: Checked) -> None:
    given = {"privateNetworking": True, "appSubnetId": SUBNET, "endpointSubnetId": SUBNET}
    changed: dict[str, Any] = {f"{GET} {SUBNET}{PERMISSIONS}": OWNER}
    assert checked(changed=changed, parameters=given)[0] == 0
    (only,) = wrong(checked(changed={**changed, f"{GET} {NETWORK}?": {"location": "North Europe"}})[1])
    assert only.startswith(f"The virtual network {NETWORK} is in North Europe, and AZURE_LOCATION is westeurope.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"privateNetworking": True, "appSubnetId": SUBNET}, "appSubnetId and endpointSubnetId only one is given"),
        ({"encryptionKeyUri": "https://v.vault.azure.net/keys/k"}, "encryptionIdentityId only one is given"),
        (
            {"encryptionKeyUri": "https://v.vault.azure.net/keys/k/0123", "encryptionIdentityId": "id"},
            "must end with the name of the key",
        ),
        (
            {"encryptionKeyUri": "https://v.vault.azure.net/keys/k/", "encryptionIdentityId": "id"},
            "must end with the name of the key",
        ),
        ({"privateInboundAccess": True}, "privateInboundAccess needs privateNetworking"),
        ({"privateNetworking": True, "privateBatchAccountIds": f"{ACCOUNT}2"}, "render2, which isn't in BATCH_ACCOUNT"),
        ({"telemetryWriters": [WRITER, {**WRITER, "prefix": "accounts/b"}]}, "names the identity id-1 2 times"),
        ({"telemetryWriters": [{**WRITER, "prefix": "/"}]}, "the prefix '/'. Name a folder"),
        ({"telemetryWriters": [{**WRITER, "prefix": "/accounts/a"}]}, "the prefix '/accounts/a'"),
    ],
)
def test_parameters_that_do_not_fit_together_are_named(checked: Checked, given: dict[str, Any], said: str) -> None:
    changed = {f"{GET} {SUBNET}{PERMISSIONS}": OWNER}
    (only,) = wrong(checked(changed=changed, parameters=given)[1])
    assert said in only


@pytest.mark.parametrize(
    "prefix", [WRITER["prefix"], f"{WRITER['prefix']}/", "accounts/render", "accounts/render/pools/a/b"]
)
def test_writers_may_share_a_folder_as_the_page_on_security_says(checked: Checked, prefix: str) -> None:
    given = {"telemetryWriters": [WRITER, {"principalId": "id-2", "prefix": prefix}]}
    assert checked(parameters=given)[0] == 0
    page = (HERE.root / "docs/security.md").read_text(encoding="utf-8")
    assert "Pools that trust each other may share a prefix, or one may hold the" in page


@pytest.mark.parametrize("text", ["render=Reader:Render.Reader", "render=Operator:Ops, *=Reader:Reader", ""])
def test_rights_of_watched_accounts_are_in_order(checked: Checked, text: str) -> None:
    assert checked(ACCOUNT_ROLES=text)[0] == 0


@pytest.mark.parametrize("text", ["rander=Reader:A", "render=Writer:A", "render:Reader", "render.westeurope=Reader:A"])
def test_a_mistake_in_rights_of_accounts_is_named_before_it_closes_the_app(checked: Checked, text: str) -> None:
    (only,) = wrong(checked(ACCOUNT_ROLES=text)[1])
    assert only.startswith(f"ACCOUNT_ROLES: '{text}'")


def test_accounts_that_share_a_name_have_rights_by_name_and_region(checked: Checked) -> None:
    other = ACCOUNT.replace("rg-batch", "rg-east")
    group = other.partition("/providers/")[0]
    changed: dict[str, Any] = {f"{GET} {each}{PERMISSIONS}": OWNER for each in (other, group)}
    changed |= {f"{GET} {other}?": {"location": "westeurope"}, SETTINGS.replace("rg-batch", "rg-east"): {"value": []}}
    both = {"BATCH_ACCOUNT_IDS": f"{ACCOUNT},{other}"}
    assert checked(changed=changed, ACCOUNT_ROLES="render.eastus=Reader:A", **both)[0] == 0
    (only,) = wrong(checked(changed=changed, ACCOUNT_ROLES="render=Reader:A", **both)[1])
    assert "names no watched account" in only


def test_azd_brings_the_values_that_the_environment_lacks(checked: Checked) -> None:
    values = "\n".join(f'{name}="{value}"' for name, value in VARIABLES.items() if name != "AUTH_CLIENT_ID")
    exit_code, printed = checked("--azd", changed={**AZD, "azd env get-values": values}, AUTH_CLIENT_ID="")
    assert exit_code == 0, printed


@pytest.mark.parametrize(("version", "problems"), [("1.20.0", 1), ("1.23.4", 1), ("1.23.5", 0), ("1.24.0", 0)])
def test_an_azd_that_builds_in_azure_all_the_same_is_refused(checked: Checked, version: str, problems: int) -> None:
    changed = {**AZD, "azd version": {"azd": {"version": version}}}
    _, printed = checked("--azd", changed=changed)
    assert len(wrong(printed)) == problems, printed
    assert (f"azd is {version}; 1.23.5 or newer is needed" in printed) == bool(problems)


def test_azd_must_be_logged_in_to_the_tenant_that_az_is_logged_in_to(checked: Checked) -> None:
    status = f"azd auth login --check-status --tenant-id {TENANT}"
    _, printed = checked("--azd", changed={**AZD, f"{status} --output json": {"status": "unauthenticated"}})
    (only,) = wrong(printed)
    assert f"Run `azd auth login --tenant-id {TENANT}`" in only


def test_azd_must_know_the_subscription_that_az_is_set_to(checked: Checked) -> None:
    values = "\n".join(f'{name}="{value}"' for name, value in VARIABLES.items() if name != "AZURE_SUBSCRIPTION_ID")
    (only,) = wrong(checked("--azd", changed={**AZD, "azd env get-values": values}, AZURE_SUBSCRIPTION_ID="")[1])
    assert f"Run `azd env set AZURE_SUBSCRIPTION_ID {SUBSCRIPTION}`" in only


def test_resources_are_asked_for_in_the_subscription_that_is_deployed_to(checked: Checked, tmp_path: Path) -> None:
    other = {"id": "another", "state": "Enabled", "tenantId": TENANT}
    own = {f"az account show --subscription {SUBSCRIPTION}": ALL_WELL["az account show"]}
    (only,) = wrong(checked(changed={"az account show": other, **own})[1])
    assert only.startswith("az is set to the subscription another")
    asked = [line for line in (tmp_path / "asked").read_text().splitlines() if line != "az account show"]
    unscoped = ("az rest", "az ad", "az version", "az bicep")
    assert all(line.endswith(f" --subscription {SUBSCRIPTION}") != line.startswith(unscoped) for line in asked), asked


def test_the_hooks_need_powershell_7_on_windows(
    checked: Checked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checked("--azd", changed=AZD)[0] == 0
    monkeypatch.setattr("infra.deployment_tools.IS_WINDOWS", True)
    (only,) = wrong(checked("--azd", changed=AZD)[1])
    assert only.startswith("PowerShell 7 (pwsh)")
    assert checked()[0] == 0
    (tmp_path / "pwsh").write_text("")
    (tmp_path / "pwsh").chmod(0o755)
    assert checked("--azd", changed=AZD)[0] == 0


def test_a_name_with_spaces_is_quoted_for_powershell_on_windows(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.deployment_tools.IS_WINDOWS", True)
    (only,) = wrong(checked(changed={"az ad app show": {"displayName": "Ann's app", "appRoles": []}})[1])
    assert '`python3 dev.py infra app-registration ensure --name "Ann\'s app"` adds them.' in only


def test_the_page_names_the_oldest_tools_that_will_do() -> None:
    page = (HERE.root / "docs/operations.md").read_text(encoding="utf-8")
    for name, oldest in (("Azure CLI", MIN_AZ), ("Azure Developer CLI (`azd`)", MIN_AZD)):
        assert f"the {name} {'.'.join(map(str, oldest))} or newer" in " ".join(page.split())


def test_values_of_azd_come_before_those_of_the_environment(checked: Checked) -> None:
    exit_code, printed = checked("--azd", changed=AZD, AZURE_LOCATION="nowhere", BATCH_ACCOUNT_IDS="none")
    assert exit_code == 0, printed
    exit_code, printed = checked(AZURE_LOCATION="nowhere")
    assert exit_code == 1


def test_without_the_azure_cli_one_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**VARIABLES, "PATH": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    assert deploy_check.main([]) == 1
    (only,) = wrong(capsys.readouterr().out)
    assert only.startswith("The Azure CLI (az) is not installed, or not on the PATH. Install it")


def test_dev_py_starts_it_and_shows_its_help(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path)}
    command = [sys.executable, str(HERE.root / "dev.py"), "deploy-check"]
    shown = subprocess.run([*command, "--help"], env=environment, capture_output=True, text=True, check=True).stdout
    assert "usage: dev.py deploy-check" in shown
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "WRONG: " in done.stdout

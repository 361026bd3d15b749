"""The script that registers the app in Entra ID, with a made-up `az` in its place."""

import json
from typing import Any

import pytest

from infra import app_registration
from infra.azure_cli import CommandError
from tests.infra.scripts.answering_az import CLIENT, OBJECT, REGISTRATION, ROLES, Az

GOVERNMENT = {
    "name": "AzureUSGovernment",
    "endpoints": {
        "activeDirectory": "https://login.microsoftonline.us",
        "microsoftGraphResourceId": "https://graph.microsoft.us/",
    },
}
CHINA = {
    "name": "AzureChinaCloud",
    "endpoints": {
        "activeDirectory": "https://login.chinacloudapi.cn",
        "microsoftGraphResourceId": "https://microsoftgraph.chinacloudapi.cn",
    },
}
"""What `az cloud show` says."""


CONNECT = ["connect", "--client-id", CLIENT, "--url", "https://app.example", "--principal-id", "p-1"]
CREDENTIALS = "ad_app_federated-credential_list"


def ensure(az: Az, name: str = "batchscope-dev") -> int:
    return app_registration.main(["ensure", "--name", name], az)


def connected(**answers: Any) -> Az:
    az = Az(account_show={"tenantId": "t-1"}, **answers)
    assert app_registration.main(CONNECT, az) == 0
    return az


def credential(az: Az, verb: str = "create") -> Any:
    """The credential that was written, which is one."""
    (call,) = az.called(f"ad app federated-credential {verb}")
    return json.loads(call.partition("--parameters ")[2])


def test_a_registration_is_made_once_with_both_roles(capsys: pytest.CaptureFixture[str]) -> None:
    az = Az(ad_app_list=[], ad_app_create=REGISTRATION, ad_sp_list=[])
    assert ensure(az) == 0
    assert capsys.readouterr().out == f"{CLIENT}\n"
    assert [role["value"] for role in az.files[0]] == ["Reader", "Operator"]
    assert len({role["id"] for role in az.files[0]}) == len(az.files[0])
    assert all(role["allowedMemberTypes"] == ["User", "Application"] and role["isEnabled"] for role in az.files[0])
    (created,) = az.called("ad app create")
    assert "--sign-in-audience AzureADMyOrg --enable-id-token-issuance true" in created
    assert az.called(f"ad app update --id {CLIENT} --identifier-uris api://{CLIENT}")
    assert az.called(f"ad sp create --id {CLIENT}")
    asked = az.called(f"rest --method PATCH --uri https://graph.microsoft.com/v1.0/applications/{OBJECT} --body @")
    version, trusted = az.files[1:]
    assert len(asked) == 2
    exposed = version["api"]
    assert exposed["requestedAccessTokenVersion"] == 2
    (scope,) = exposed["oauth2PermissionScopes"]
    assert (scope["value"], scope["type"], scope["isEnabled"]) == ("user_impersonation", "User", True)
    (only,) = trusted["api"]["preAuthorizedApplications"]
    assert only["appId"] == "04b07795-8ddb-461a-bbee-02f9e1bf7b46", "which is the Azure CLI"
    assert only["delegatedPermissionIds"] == [scope["id"]]
    assert az.called(f"ad sp update --id {CLIENT} --set appRoleAssignmentRequired=true")
    again = Az(ad_app_list=[REGISTRATION], ad_sp_list=[{}])
    assert ensure(again) == 0
    assert again.called("ad app create") == again.called("ad sp create") == []
    assert not [call for call in again.calls if "--app-roles" in call]


def test_other_scopes_of_a_registration_are_kept() -> None:
    own = {"value": "user_impersonation", "id": "s-1", "isEnabled": False, "type": "Admin", "origin": "Application"}
    other = {"value": "Other.Read", "id": "s-2", "isEnabled": True, "adminConsentDescription": "Reads (a & b)."}
    program = {"appId": "a-1", "delegatedPermissionIds": ["s-2"]}
    cli = {"appId": "04b07795-8ddb-461a-bbee-02f9e1bf7b46", "delegatedPermissionIds": ["s-2"]}
    api = {"oauth2PermissionScopes": [own, other], "preAuthorizedApplications": [cli, program]}
    held = {**REGISTRATION, "identifierUris": ["api://batch.example"], "api": api}
    az = Az(ad_app_list=[held], ad_sp_list=[{}])
    assert ensure(az) == 0
    assert az.called(f"ad app update --id {CLIENT} --identifier-uris api://batch.example api://{CLIENT}")
    exposed, trusted = (file["api"] for file in az.files)
    (first, second) = exposed["oauth2PermissionScopes"]
    assert first == {"value": "user_impersonation", "id": "s-1", "isEnabled": True, "type": "Admin"}
    assert second == other
    cli["delegatedPermissionIds"] = ["s-1", "s-2"]
    assert trusted["preAuthorizedApplications"] == [program, cli]
    done = {"oauth2PermissionScopes": [first, second], "preAuthorizedApplications": [program, cli]}
    again = Az(ad_app_list=[{**held, "identifierUris": [f"api://{CLIENT}"], "api": done}], ad_sp_list=[{}])
    assert ensure(again) == 0
    assert again.called("ad app update") == []
    assert [file["api"] for file in again.files] == [exposed, trusted]


def test_roles_that_a_registration_lacks_are_added_to_those_that_it_has() -> None:
    own = {"value": "Alpha.Reader", "id": "r-3", "isEnabled": False, "origin": "Application"}
    held = [own, {"value": "Reader", "id": "r-1", "isEnabled": False, "displayName": "Reads"}]
    az = Az(ad_app_list=[{**REGISTRATION, "appRoles": held}], ad_sp_list=[{}])
    assert ensure(az) == 0
    assert az.called(f"ad app update --id {CLIENT} --app-roles @")
    (kept, reader, operator), *_ = az.files
    assert kept == {"value": "Alpha.Reader", "id": "r-3", "isEnabled": False}
    assert reader == {"value": "Reader", "id": "r-1", "isEnabled": True, "displayName": "Reads"}
    assert operator == app_registration.app_roles()[1]


def test_a_name_with_an_apostrophe_is_looked_up_as_it_is() -> None:
    az = Az(ad_app_list=[REGISTRATION], ad_sp_list=[{}])
    assert ensure(az, "Ann's app") == 0
    assert az.called("ad app list") == ["ad app list --filter displayName eq 'Ann''s app'"]


@pytest.mark.parametrize("web", [None, {}, {"implicitGrantSettings": {"enableIdTokenIssuance": False}}])
def test_a_registration_that_was_made_elsewhere_issues_the_tokens_of_sign_in(web: object) -> None:
    az = Az(ad_app_list=[{**REGISTRATION, "web": web}], ad_sp_list=[{}])
    assert ensure(az) == 0
    assert f"ad app update --id {CLIENT} --enable-id-token-issuance true" in az.called("ad app update")


def test_a_name_with_an_apostrophe_is_refused_where_no_registration_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    az = Az(ad_app_list=[])
    assert ensure(az, "Ann's app") == 1
    assert "Choose another name, or register it" in capsys.readouterr().err
    assert az.called("ad app create") == []


def test_two_registrations_of_one_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    az = Az(ad_app_list=[{"appId": "a"}, {"appId": "b"}])
    assert ensure(az) == 1
    assert "There are 2 app registrations named batchscope-dev" in capsys.readouterr().err


def test_a_registration_is_made_in_the_tenant_of_the_deployment_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "s-1")
    answers = {"account_show_--subscription_s-1": {"tenantId": "t-1"}, "account_show": {"tenantId": "t-2"}}
    az = Az(**answers, ad_app_list=[REGISTRATION], ad_sp_list=[{}])
    assert ensure(az) == 1
    assert "az is set to a subscription of the tenant t-2" in capsys.readouterr().err
    assert az.called("ad") == []
    az.answers["account show"] = {"tenantId": "t-1"}
    assert ensure(az) == 0


def test_an_app_role_of_ones_own_is_added_once() -> None:
    command = ["add-role", "--client-id", CLIENT, "--role", "Alpha.Reader"]
    az = Az(ad_app_show=REGISTRATION)
    assert app_registration.main(command, az) == 0
    ((*kept, added),) = az.files
    assert kept == ROLES
    assert (added["value"], added["isEnabled"]) == ("Alpha.Reader", True)
    assert added["allowedMemberTypes"] == ["User", "Application"]
    again = Az(ad_app_show={**REGISTRATION, "appRoles": [*ROLES, added]})
    assert app_registration.main(command, again) == 0
    assert again.called("ad app update") == []


GRANT = ["grant", "--client-id", CLIENT, "--principal-id", "p-1", "--role", "Reader"]
HELD = [*ROLES, {"value": "Reader", "id": "r-0", "isEnabled": False}]


def test_a_program_is_given_an_app_role_of_the_registration() -> None:
    az = Az(ad_app_show={"appRoles": HELD}, ad_sp_show={"id": "sp-1"})
    assert app_registration.main(GRANT, az) == 0
    (asked,) = az.called("rest")
    address, _, body = asked.partition(" --body @")
    assert (
        address == "rest --method POST --uri https://graph.microsoft.com/v1.0/servicePrincipals/sp-1/appRoleAssignedTo"
    )
    assert body
    assert az.files == [{"principalId": "p-1", "resourceId": "sp-1", "appRoleId": "r-1"}]


@pytest.mark.parametrize(
    ("refusal", "exit_code"), [("Permission being assigned already exists on the object", 0), ("No such principal", 1)]
)
def test_a_role_that_is_held_already_is_no_failure(refusal: str, exit_code: int) -> None:
    az = Az(ad_app_show={"appRoles": HELD}, ad_sp_show={"id": "sp-1"})

    def call(*arguments: str) -> Any:
        if arguments[0] == "rest":
            raise CommandError(refusal)
        return az(*arguments)

    assert app_registration.main(GRANT, call) == exit_code


def test_a_role_that_the_registration_lacks_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    az = Az(ad_app_show={"appRoles": HELD[:-1]}, ad_sp_show={"id": "sp-1"})
    assert app_registration.main([*GRANT[:-1], "Writer"], az) == 1
    assert "has the app roles Operator, Reader, not Writer. Nothing was changed." in capsys.readouterr().err


def test_connecting_twice_leaves_one_federated_credential() -> None:
    az = connected(**{CREDENTIALS: []})
    given = credential(az)
    assert (given["subject"], given["issuer"]) == ("p-1", "https://login.microsoftonline.com/t-1/v2.0")
    assert given["audiences"] == ["api://AzureADTokenExchange"]
    callback = "https://app.example/.auth/login/aad/callback"
    assert az.called("ad app update")[0].endswith(callback)
    again = connected(ad_app_show={"web": {"redirectUris": [callback]}}, **{CREDENTIALS: [given]})
    assert again.called("ad app update") == []
    assert len(again.called("ad app federated-credential")) == 1


def test_an_address_with_a_slash_at_its_end_is_the_same() -> None:
    az = Az(account_show={"tenantId": "t-1"}, **{CREDENTIALS: []})
    assert app_registration.main([*CONNECT[:4], "https://app.example/", *CONNECT[5:]], az) == 0
    assert az.called("ad app update")[0].endswith(" https://app.example/.auth/login/aad/callback")


def test_redirect_uris_of_other_domains_are_kept() -> None:
    own = "https://batch.example/.auth/login/aad/callback"
    (updated,) = connected(ad_app_show={"web": {"redirectUris": [own]}}).called("ad app update")
    assert updated.endswith(f"--web-redirect-uris {own} https://app.example/.auth/login/aad/callback")


RIGHT = {
    "issuer": "https://login.microsoftonline.com/t-1/v2.0",
    "subject": "p-1",
    "audiences": ["api://AzureADTokenExchange"],
}


@pytest.mark.parametrize("wrong", [{"issuer": "https://other"}, {"audiences": ["api://other"]}, {"subject": "p-2"}])
def test_a_credential_that_says_something_else_is_corrected(wrong: dict[str, Any]) -> None:
    az = connected(**{CREDENTIALS: [{"id": "c-1", "name": "batchscope-identity-p-1", **RIGHT, **wrong}]})
    assert credential(az, "update") == RIGHT
    assert f"--id {CLIENT} --federated-credential-id c-1 --parameters " in az.called("ad app federated-credential u")[0]
    assert az.called("ad app federated-credential create") == []


def test_of_two_credentials_that_of_the_identity_is_corrected() -> None:
    named = {"id": "c-1", "name": "batchscope-identity-p-1", **RIGHT, "issuer": "https://other"}
    own = {"id": "c-2", "name": "own", **RIGHT, "audiences": ["api://other"]}
    (updated,) = connected(**{CREDENTIALS: [named, own]}).called("ad app federated-credential update")
    assert "--federated-credential-id c-2 " in updated


@pytest.mark.parametrize(
    ("cloud", "issuer", "audience"),
    [
        (GOVERNMENT, "https://login.microsoftonline.us/t-1/v2.0", "api://AzureADTokenExchangeUSGov"),
        # Tokens have another issuer than the address to sign in at.
        (CHINA, "https://login.partner.microsoftonline.cn/t-1/v2.0", "api://AzureADTokenExchangeChina"),
    ],
    ids=["government", "china"],
)
def test_a_registration_of_another_cloud_is_connected_there(cloud: dict[str, Any], issuer: str, audience: str) -> None:
    given = credential(connected(cloud_show=cloud, **{CREDENTIALS: []}))
    assert (given["issuer"], given["audiences"]) == (issuer, [audience])
    made = Az(ad_app_list=[REGISTRATION], ad_sp_list=[{}], cloud_show=cloud)
    assert ensure(made) == 0
    asked = made.called("rest --method PATCH")
    assert len(asked) == 2
    graph = cloud["endpoints"]["microsoftGraphResourceId"].rstrip("/")
    assert all(f"--uri {graph}/v1.0/applications/{OBJECT} " in call for call in asked)

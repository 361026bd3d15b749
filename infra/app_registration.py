"""The app registration with which people sign in: outside of what Bicep can deploy, so a script makes it once.

`ensure` finds or makes it, with the roles Reader and Operator, and prints its client id; with `--azd` it keeps that in
the azd environment, so that azd goes on with a client id or not at all. `connect`, once the app
exists, tells it the app's address and lets the app's managed identity sign for it, so that there is no secret.
`add-role` adds an app role of your own, such as ACCOUNT_ROLES names. `grant` gives an app role to a managed identity or
another program, which the portal doesn't do.
All may run again and again. Whoever runs them needs the right to make app registrations in Microsoft Entra ID.
"""

import argparse
import json
import os
import sys
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.azure_cli import SUBSCRIPTION, Az, CommandError, az, azd

ROLES = {
    "Reader": ("6f1d2c0a-5b0e-4f0e-9d55-3a6b1c5a1f01", "Reads accounts, jobs, tasks, metrics and the dashboard."),
    "Operator": ("6f1d2c0a-5b0e-4f0e-9d55-3a6b1c5a1f02", "Reads everything, and starts polls on demand."),
}
"""Values of the roles in a token, each with its id, the same everywhere, and what it allows."""
_CREDENTIAL = "batchscope-identity"
_SCOPE = {
    "id": "6f1d2c0a-5b0e-4f0e-9d55-3a6b1c5a1f03",
    "value": "user_impersonation",
    "type": "User",
    "isEnabled": True,
    "adminConsentDisplayName": "Use Batchscope",
    "adminConsentDescription": "Lets a program use Batchscope in the name of whoever signed in.",
    "userConsentDisplayName": "Use Batchscope",
    "userConsentDescription": "Lets a program use Batchscope in your name.",
}
_EXCHANGES = {"AzureUSGovernment": "USGov", "AzureChinaCloud": "China"}
"""How the audience of an exchanged token ends in clouds other than the public one."""
_ISSUERS = {"AzureChinaCloud": "https://login.partner.microsoftonline.cn"}
"""Who issues tokens in clouds where that isn't the address to sign in at (azure-dev #5912)."""
_ALREADY_GRANTED = "Permission being assigned already exists"
"""How Microsoft Graph refuses to grant a role a second time."""
_FAILURES = {
    "ensure": ("No sign-in for Batchscope", "Nothing was deployed."),
    "connect": ("No sign-in for Batchscope", "Nobody can sign in before this works."),
    "add-role": ("The app role wasn't added", "Nothing was changed."),
    "grant": ("The app role wasn't granted", "Nothing was changed."),
}
"""What the failure of a command means: the beginning and the end of the message."""
_AZURE_CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"


_ROLE_KEYS = ("id", "value", "displayName", "description", "allowedMemberTypes", "isEnabled")
"""What of an app role may be written; Microsoft Graph shows its origin as well."""


def app_roles() -> list[dict[str, object]]:
    """The roles as a manifest has them."""
    return [_app_role(role_id, value, description) for value, (role_id, description) in ROLES.items()]


def _app_role(role_id: str, value: str, description: str) -> dict[str, object]:
    """An app role that people, groups and other apps can be given."""
    return {
        "id": role_id,
        "value": value,
        "displayName": f"Batchscope {value}",
        "description": description,
        "allowedMemberTypes": ["User", "Application"],
        "isEnabled": True,
    }


def cloud(call: Az) -> dict[str, Any]:
    """The cloud that the Azure CLI is signed in to: its name and its endpoints."""
    shown: dict[str, Any] = call("cloud", "show")
    return shown


def require_directory(subscription: str | None, call: Az) -> None:
    """Raises CommandError unless the directory that `az` asks is that of the subscription.

    Commands of the directory take no subscription: they ask the directory of the one that `az` is set to.
    """
    if not subscription:
        raise CommandError(f"{SUBSCRIPTION} isn't set. Run `azd env set {SUBSCRIPTION} …`.")
    wanted = call("account", "show", "--subscription", subscription)["tenantId"]
    asked = call("account", "show")["tenantId"]
    if wanted != asked:
        raise CommandError(
            f"az is set to a subscription of the tenant {asked}, and {SUBSCRIPTION} is one of the tenant {wanted}. "
            f"Run `az account set --subscription {subscription}`."
        )


def ensure(display_name: str, call: Az) -> str:
    """The client id of the registration of that name, made if need be. Nobody without a role gets in."""
    quoted = display_name.replace("'", "''")
    found = call("ad", "app", "list", "--filter", f"displayName eq '{quoted}'")
    if len(found) > 1:
        raise CommandError(f"There are {len(found)} app registrations named {display_name}; keep one.")
    app = found[0] if found else _create(display_name, call)
    client_id = str(app["appId"])
    if found and missing_roles(app):
        _add_roles(app, app_roles(), call)
    if found and not _issues_id_tokens(app):
        call("ad", "app", "update", "--id", client_id, "--enable-id-token-issuance", "true")
    identifier, held = f"api://{client_id}", app.get("identifierUris") or []
    if identifier not in held:
        call("ad", "app", "update", "--id", client_id, "--identifier-uris", *held, identifier)
    _expose(str(app["id"]), app.get("api") or {}, call)
    if not call("ad", "sp", "list", "--filter", f"appId eq '{client_id}'"):
        call("ad", "sp", "create", "--id", client_id)
    call("ad", "sp", "update", "--id", client_id, "--set", "appRoleAssignmentRequired=true")
    return client_id


def _create(display_name: str, call: Az) -> Mapping[str, Any]:
    if "'" in display_name:
        raise CommandError(
            f"There is no app registration named {display_name}, and `az` can't make one whose name has an apostrophe. "
            "Choose another name, or register it in the Microsoft Entra admin center first."
        )
    made: Mapping[str, Any] = _with_file(
        app_roles(),
        call,
        *("ad", "app", "create", "--display-name", display_name, "--sign-in-audience", "AzureADMyOrg"),
        *("--enable-id-token-issuance", "true", "--app-roles"),
    )
    return made


def _issues_id_tokens(app: Mapping[str, Any]) -> bool:
    """Whether the app's sign-in gets the tokens that it asks for."""
    return bool(((app.get("web") or {}).get("implicitGrantSettings") or {}).get("enableIdTokenIssuance"))


def missing_roles(app: Mapping[str, Any]) -> list[str]:
    """Values of the roles that a registration lacks, or has switched off."""
    return sorted(ROLES.keys() - {role["value"] for role in app.get("appRoles") or [] if role.get("isEnabled", True)})


def _add_roles(app: Mapping[str, Any], roles: Sequence[Mapping[str, object]], call: Az) -> None:
    """Adds app roles to those of a registration, or switches them on where it has them."""
    held = [{key: role[key] for key in _ROLE_KEYS if key in role} for role in app.get("appRoles") or []]
    values = {role["value"] for role in held}
    wanted = {role["value"] for role in roles}
    kept = [{**role, "isEnabled": True} if role["value"] in wanted else role for role in held]
    added = [role for role in roles if role["value"] not in values]
    _with_file([*kept, *added], call, "ad", "app", "update", "--id", str(app["appId"]), "--app-roles")


def _with_file(content: Any, call: Az, *command: str) -> Any:
    """Runs a command whose last argument is a file, as texts of a registration may have what cmd.exe interprets."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "content.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        return call(*command, f"@{file}")


def _expose(object_id: str, held: Mapping[str, Any], call: Az) -> None:
    """Tokens of version 2, whose issuer the app's sign-in expects; the Azure CLI may ask for them, for scripts.

    Other scopes and programs are kept: Microsoft Graph refuses to remove a scope that is switched on.
    """
    value = _SCOPE["value"]
    shown = [{key: each[key] for key in _SCOPE if key in each} for each in held.get("oauth2PermissionScopes") or []]
    scopes = [{**each, "isEnabled": True} if each["value"] == value else each for each in shown]
    if value not in {each["value"] for each in scopes}:
        scopes.append(_SCOPE)
    wanted = {each["id"] for each in scopes if each["value"] == value}
    programs = held.get("preAuthorizedApplications") or []
    others = [each for each in programs if each["appId"] != _AZURE_CLI]
    wanted |= {each for program in programs if program not in others for each in program["delegatedPermissionIds"]}
    exposed = {"requestedAccessTokenVersion": 2, "oauth2PermissionScopes": scopes}
    trusted = [*others, {"appId": _AZURE_CLI, "delegatedPermissionIds": sorted(wanted)}]
    for api in (exposed, {"preAuthorizedApplications": trusted}):
        _ask_graph("PATCH", f"applications/{object_id}", {"api": api}, call)


def _ask_graph(method: str, path: str, body: Mapping[str, Any], call: Az) -> None:
    graph = cloud(call)["endpoints"]["microsoftGraphResourceId"].rstrip("/")
    _with_file(body, call, "rest", "--method", method, "--uri", f"{graph}/v1.0/{path}", "--body")


def connect(client_id: str, url: str, principal_id: str, call: Az) -> None:
    """Lets people return to the app after signing in, and the app's identity speak for the registration."""
    callback = f"{url.rstrip('/')}/.auth/login/aad/callback"
    app = call("ad", "app", "show", "--id", client_id) or {}
    addresses = [str(each) for each in (app.get("web") or {}).get("redirectUris") or []]
    if callback not in addresses:
        call("ad", "app", "update", "--id", client_id, "--web-redirect-uris", *addresses, callback)
    _trust(client_id, principal_id, call)


def _trust(client_id: str, principal_id: str, call: Az) -> None:
    """Lets the app's identity sign for the registration, by a credential that is made, or corrected."""
    name = f"{_CREDENTIAL}-{principal_id[:8]}"
    here = cloud(call)
    login = _ISSUERS.get(here["name"]) or here["endpoints"]["activeDirectory"].rstrip("/")
    wanted = {
        "issuer": f"{login}/{call('account', 'show')['tenantId']}/v2.0",
        "subject": principal_id,
        "audiences": [f"api://AzureADTokenExchange{_EXCHANGES.get(here['name'], '')}"],
    }
    # Azure allows each name, and each pair of issuer and subject, once.
    command = ("ad", "app", "federated-credential")
    unique = ("issuer", "subject")
    held = call(*command, "list", "--id", client_id) or []
    if any(all(each.get(key) == value for key, value in wanted.items()) for each in held):
        return
    same = [each for each in held if all(each.get(key) == wanted[key] for key in unique)]
    same += [each for each in held if each.get("name") == name]
    if not same:
        call(*command, "create", "--id", client_id, "--parameters", json.dumps({"name": name, **wanted}))
    else:
        target = ("--id", client_id, "--federated-credential-id", str(same[0]["id"]))
        call(*command, "update", *target, "--parameters", json.dumps(wanted))


def add_role(client_id: str, role: str, call: Az) -> None:
    """Adds an app role to a registration, for ACCOUNT_ROLES to name; does nothing where it is there."""
    app = call("ad", "app", "show", "--id", client_id)
    held = [each for each in app.get("appRoles") or [] if each["value"] == role and each.get("isEnabled", True)]
    if not held:
        added = _app_role(str(uuid.uuid4()), role, f"Reads or operates the accounts that are mapped to {role}.")
        _add_roles(app, [added], call)


def grant(client_id: str, principal_id: str, role: str, call: Az) -> None:
    """Gives an app role to a program, a person or a group, by its object id. Raises CommandError."""
    held = call("ad", "app", "show", "--id", client_id).get("appRoles") or []
    ids = {str(each["value"]): str(each["id"]) for each in held if each.get("isEnabled", True)}
    if role not in ids:
        raise CommandError(f"The app registration {client_id} has the app roles {', '.join(sorted(ids))}, not {role}")
    resource_id = str(call("ad", "sp", "show", "--id", client_id)["id"])
    wanted = {"principalId": principal_id, "resourceId": resource_id, "appRoleId": ids[role]}
    try:
        _ask_graph("POST", f"servicePrincipals/{resource_id}/appRoleAssignedTo", wanted, call)
    except CommandError as error:
        if _ALREADY_GRANTED not in str(error):
            raise


def main(arguments: Sequence[str], call: Az = az) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("ensure", help="find or make the registration and print its client id")
    first.add_argument("--name", required=True, help="display name of the registration")
    first.add_argument("--azd", action="store_true", help="keep it as AUTH_CLIENT_ID in the azd environment, too")
    second = commands.add_parser("connect", help="tell the registration of the deployed app")
    second.add_argument("--client-id", required=True, help="what `ensure` printed")
    second.add_argument("--url", required=True, help="address of the app: the output BATCHSCOPE_URL")
    second.add_argument("--principal-id", required=True, help="the output BATCHSCOPE_PRINCIPAL_ID")
    third = commands.add_parser("add-role", help="add an app role of your own")
    third.add_argument("--client-id", required=True, help="what `ensure` printed")
    third.add_argument("--role", required=True, help="value of the app role, such as Alpha.Reader")
    fourth = commands.add_parser("grant", help="give an app role to a program, a person or a group")
    fourth.add_argument("--client-id", required=True, help="what `ensure` printed")
    fourth.add_argument("--principal-id", required=True, help="object id of the managed identity, person or group")
    fourth.add_argument("--role", required=True, help="value of the app role, such as Reader")
    options = parser.parse_args(arguments)
    subscription = os.environ.get(SUBSCRIPTION)
    try:
        if subscription or getattr(options, "azd", False):
            require_directory(subscription, call)
        if options.command == "ensure":
            client_id = ensure(options.name, call)
            if options.azd:
                azd("env", "set", "AUTH_CLIENT_ID", client_id)
            print(client_id)
        elif options.command == "add-role":
            add_role(options.client_id, options.role, call)
        elif options.command == "grant":
            grant(options.client_id, options.principal_id, options.role, call)
        else:
            connect(options.client_id, options.url, options.principal_id, call)
    except CommandError as error:
        beginning, meaning = _FAILURES[options.command]
        print(f"{beginning}: {str(error).rstrip('.')}. {meaning}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Whether the tools, the login and the variables of a deployment are there."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator

from infra.app_registration import missing_roles
from infra.azure_cli import SUBSCRIPTION, CommandError, azd, words_of
from infra.deployment import ACCOUNT_ID, HERE, Deployment

MIN_AZ = (2, 76)
"""The first that knows `what-if --validation-level`."""
MIN_AZD = (1, 23, 5)
"""The first that knows `remoteBuild`; earlier ones build in Azure whatever azure.yaml says (azure-dev #6748)."""
MIN_BICEP = (0, 30)
MAX_NAME_LENGTH = 12
IS_WINDOWS = os.name == "nt"
OPTIONAL = {"ACCOUNT_ROLES", "ALERT_EMAIL"}


def tools(deployment: Deployment) -> Iterator[str]:
    """The Azure CLI and, where it deploys, azd. This Python is the right one, or this wouldn't run."""
    try:
        found = deployment.call("version")["azure-cli"]
    except CommandError as error:
        yield f"{_sentence(error)} Install it: see https://aka.ms/installazurecli."
        return
    if _numbers(found) < MIN_AZ:
        yield f"The Azure CLI is {found}; {_dotted(MIN_AZ)} or newer is needed. Run `az upgrade`."
    if not deployment.uses_azd:
        return
    if IS_WINDOWS and shutil.which("pwsh") is None:
        yield (
            "PowerShell 7 (pwsh), in which azd runs the hooks on Windows, is not installed, or not on the PATH. "
            "Install it: see https://aka.ms/powershell."
        )
    found = json.loads(azd("version", "--output", "json"))["azd"]["version"]
    if _numbers(found) < MIN_AZD:
        yield f"azd is {found}; {_dotted(MIN_AZD)} or newer is needed. See https://aka.ms/azd/upgrade."


def bicep(_: Deployment) -> Iterator[str]:
    """The compiler is new enough. The Azure CLI installs a missing one on first use, but not to tell its version."""
    try:
        found = re.search(r"\d+\.\d+\.\d+", words_of("bicep", "version"))
    except CommandError as error:
        raise CommandError(
            "the Azure CLI has no Bicep compiler so far. It downloads one on first use, or run `az bicep install`."
        ) from error
    if found and _numbers(found[0]) < MIN_BICEP:
        yield f"Bicep is {found[0]}; {_dotted(MIN_BICEP)} or newer is needed. Run `az bicep upgrade`."


def login(deployment: Deployment) -> Iterator[str]:
    """Who is logged in, and to which subscription; with azd, that both tools are."""
    if shutil.which("az") is None:
        raise CommandError("the Azure CLI is missing.")
    try:
        default = deployment.default_account
    except CommandError as error:
        yield f"Nobody is logged in: {error} Run `az login`."
        return
    wanted = deployment.variables.get(SUBSCRIPTION)
    if wanted and wanted.lower() != str(default["id"]).lower():
        yield (
            f"az is set to the subscription {default['id']}, and {SUBSCRIPTION} is {wanted}. "
            f"Run `az account set --subscription {wanted}`."
        )
    account = deployment.account
    if account.get("state", "Enabled") != "Enabled":
        yield f"The subscription {account['id']} is {account['state']}, so nothing can be deployed to it."
    if deployment.uses_azd:
        yield from _azd_login(deployment)


def _azd_login(deployment: Deployment) -> Iterator[str]:
    """The login that azd has of its own. That the two tools are used by one person can't be seen, and needn't be."""
    account = deployment.account
    if not deployment.variables.get(SUBSCRIPTION):
        yield (
            f"{SUBSCRIPTION} isn't set, and azd may take another subscription than az's, {account['id']}. "
            f"Run `azd env set {SUBSCRIPTION} {account['id']}`, or name another one there."
        )
    tenant = str(account["tenantId"])
    answer = json.loads(azd("auth", "login", "--check-status", "--tenant-id", tenant, "--output", "json"))
    if answer["status"] != "success":
        yield f"azd isn't logged in to the tenant {tenant}, and az is. Run `azd auth login --tenant-id {tenant}`."


def variables(deployment: Deployment) -> Iterator[str]:
    """All that the parameter file takes from the environment is there and makes sense."""
    text = (HERE / "main.parameters.json").read_text(encoding="utf-8")
    made_by_azd = {"AUTH_CLIENT_ID"} if deployment.uses_azd else set()
    for name in dict.fromkeys(re.findall(r"\$\{(\w+)\}", text)):
        if not deployment.variables.get(name) and name not in OPTIONAL | made_by_azd:
            yield f"{name} isn't set. {_how(deployment, name)}"
    environment = deployment.variables.get("AZURE_ENV_NAME", "")
    if environment and not 1 < len(environment) <= MAX_NAME_LENGTH:
        yield f"AZURE_ENV_NAME is {environment}; names of environments have 2 to {MAX_NAME_LENGTH} characters."
    for account in deployment.account_ids:
        if not ACCOUNT_ID.fullmatch(account):
            yield (
                f"BATCH_ACCOUNT_IDS holds {account}, which isn't the id of a Batch account. "
                "`az batch account list --query '[].id'` lists them."
            )


def registration(deployment: Deployment) -> Iterator[str]:
    """The app registration is there, with its roles. A pipeline's identity mostly may not read it."""
    client_id = deployment.variables.get("AUTH_CLIENT_ID")
    if not client_id:
        return
    make = "`python3 dev.py infra app-registration ensure --name batchscope-ENV` makes one and prints its client id."
    try:
        found = deployment.call("ad", "app", "show", "--id", client_id)
    except CommandError as error:
        if "does not exist" not in str(error) and "ResourceNotFound" not in str(error):
            raise
        yield f"AUTH_CLIENT_ID is {client_id}, and there is no such app registration in this tenant. {make}"
        return
    if missing := missing_roles(found):
        name = _quoted(str(found.get("displayName")))
        yield (
            f"The app registration {client_id} lacks the app roles {', '.join(missing)}. "
            f"`python3 dev.py infra app-registration ensure --name {name}` adds them."
        )


def _quoted(word: str) -> str:
    """A word of a command line, for bash, and on Windows for PowerShell and cmd.exe."""
    return f'"{word}"' if IS_WINDOWS else shlex.quote(word)


def _how(deployment: Deployment, name: str) -> str:
    if deployment.uses_azd:
        return f"Run `azd env set {name} …`."
    return "In a workflow it is a variable of the GitHub environment; here, export it."


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _sentence(error: CommandError) -> str:
    return f"{str(error)[0].upper()}{str(error)[1:]}"

"""A planned deployment: its variables and parameters, and the changes that Azure predicts for it.

It asks the Azure CLI, each thing once, and changes nothing.
"""

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from infra.azure_cli import SUBSCRIPTION, Az, CommandError, in_subscription

HERE = Path(__file__).resolve().parent
NO_CLIENT_ID = "00000000-0000-0000-0000-000000000000"
"""Stands for the client id that `azd up` is yet to make."""
ACCOUNT_ID = re.compile(
    r"/subscriptions/[0-9a-f-]{36}/resourceGroups/[^/]+/providers/Microsoft\.Batch/batchAccounts/[a-z0-9]{3,24}",
    re.IGNORECASE,
)


def read_variables(environment: Mapping[str, str], ask_azd: Callable[..., str] | None) -> Mapping[str, str]:
    """The variables of a deployment; with azd its own come before those of the environment, as `azd up` takes them.

    Raises CommandError.
    """
    if ask_azd is None:
        return environment
    lines = (line.partition("=") for line in ask_azd("env", "get-values").splitlines())
    return {**environment, **{name: value.strip('"') for name, _, value in lines}}


def plain(location: str) -> str:
    """A region's name as Azure compares it: West Europe is westeurope."""
    return location.replace(" ", "").lower()


class Deployment:
    """What is asked of Azure is asked once, when it is first needed."""

    def __init__(self, variables: Mapping[str, str], call: Az, *, uses_azd: bool = False) -> None:
        self.variables = variables
        self.call = in_subscription(call, variables.get(SUBSCRIPTION))
        self._call_anywhere = call
        self.uses_azd = uses_azd

    @cached_property
    def account(self) -> Mapping[str, Any]:
        """The subscription that is deployed to, with its tenant and user. Raises CommandError."""
        found: Mapping[str, Any] = self.call("account", "show")
        return found

    @cached_property
    def default_account(self) -> Mapping[str, Any]:
        """The subscription that `az` is set to, whose directory it asks. Raises CommandError."""
        found: Mapping[str, Any] = self._call_anywhere("account", "show")
        return found

    @property
    def is_logged_in(self) -> bool:
        try:
            return bool(self.account)
        except CommandError:
            return False

    @property
    def scope(self) -> str:
        """The subscription, as a scope."""
        return f"/subscriptions/{self.account['id']}"

    @property
    def location(self) -> str:
        """The region. Raises CommandError if none is given."""
        if not self.variables.get("AZURE_LOCATION"):
            raise CommandError("AZURE_LOCATION isn't set.")
        return plain(self.variables["AZURE_LOCATION"])

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The values of infra/main.parameters.json, filled in."""
        text = (HERE / "main.parameters.json").read_text(encoding="utf-8")
        filled = {**self.variables, "AUTH_CLIENT_ID": self.variables.get("AUTH_CLIENT_ID") or NO_CLIENT_ID}
        values = json.loads(text)["parameters"]
        return {name: self._filled(value["value"], filled) for name, value in values.items() if "value" in value}

    @staticmethod
    def _filled(value: Any, variables: Mapping[str, str]) -> Any:
        if not isinstance(value, str):
            return value
        return re.sub(r"\$\{(\w+)\}", lambda found: variables.get(found[1], ""), value)

    @property
    def account_ids(self) -> list[str]:
        """The ids of the Batch accounts to watch, as they are given."""
        return _ids(self.variables.get("BATCH_ACCOUNT_IDS", ""))

    @property
    def private_ids(self) -> set[str]:
        """Those of them that get a private endpoint, in lower case."""
        if not self.parameters.get("privateNetworking"):
            return set()
        return {each.lower() for each in _ids(self.parameters.get("privateBatchAccountIds") or "")}

    @property
    def logged_ids(self) -> set[str]:
        """Those of them whose logs are kept, in lower case."""
        return {each.lower() for each in _ids(self.parameters.get("loggedBatchAccountIds", ",".join(self.account_ids)))}

    def get(self, path: str, version: str) -> Any:
        """What Azure Resource Manager answers to a GET. Raises CommandError."""
        return self.call("rest", "--method", "get", "--url", f"{path}?api-version={version}")

    @cached_property
    def _prediction(self) -> list[str] | CommandError:
        try:
            return self._predicted()
        except CommandError as error:
            return error

    @property
    def created(self) -> list[tuple[str, str]]:
        """Type and id of every resource that a deployment would make. Raises CommandError, as when Azure refuses it."""
        if isinstance(self._prediction, CommandError):
            raise self._prediction
        return [(_type(each), each) for each in self._prediction]

    def _predicted(self) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "parameters.json"
            content = {name: {"value": value} for name, value in self.parameters.items()}
            file.write_text(json.dumps({"contentVersion": "1.0.0.0", "parameters": content}), encoding="utf-8")
            answer = self.call(
                *("deployment", "sub", "what-if", "--name", "batchscope-check", "--location", self.location),
                *("--template-file", str(HERE / "main.bicep"), "--parameters", f"@{file}", "--no-pretty-print"),
                *("--validation-level", "ProviderNoRbac"),
            )
        if answer.get("error"):
            raise CommandError(f"Azure refuses the templates: {answer['error'].get('message')}")
        return [str(each["resourceId"]) for each in answer.get("changes") or [] if each["changeType"] == "Create"]


def _ids(text: str) -> list[str]:
    return [each for each in text.replace(" ", "").split(",") if each]


def _type(resource_id: str) -> str:
    """The type in an id, in lower case, like microsoft.web/sites."""
    provider, *parts = resource_id.rpartition("/providers/")[2].split("/")
    return "/".join((provider, *parts[::2])).lower()

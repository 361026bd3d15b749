"""An `az` in this process that answers as given, in place of Azure's command line."""

import json
from pathlib import Path
from typing import Any

from tests.infra.scripts.fake_az import SPECIAL

CLIENT = "33333333-0000-0000-0000-000000000000"
OBJECT = "44444444-0000-0000-0000-000000000000"
ROLES = [{"value": "Reader", "id": "r-1", "isEnabled": True}, {"value": "Operator", "id": "r-2", "isEnabled": True}]
SIGN_IN = {"implicitGrantSettings": {"enableIdTokenIssuance": True}}
REGISTRATION = {"appId": CLIENT, "id": OBJECT, "appRoles": ROLES, "web": SIGN_IN}
PUBLIC = {
    "name": "AzureCloud",
    "endpoints": {
        "activeDirectory": "https://login.microsoftonline.com",
        "microsoftGraphResourceId": "https://graph.microsoft.com/",
    },
}


class Az:
    """Answers by the beginning of a command, remembers what was asked, and refuses what cmd.exe would interpret."""

    def __init__(self, **answers: Any) -> None:
        given = {"cloud_show": PUBLIC, **answers}
        self.answers = {name.replace("_", " "): answer for name, answer in given.items()}
        self.calls: list[str] = []
        self.files: list[Any] = []

    def __call__(self, *arguments: str) -> Any:
        assert not set(SPECIAL) & set("".join(arguments)), f"cmd.exe would interpret a part of {arguments}"
        self.calls.append(" ".join(arguments))
        self.files += [json.loads(Path(part[1:]).read_text()) for part in arguments if part.startswith("@")]
        return next((answer for name, answer in self.answers.items() if self.calls[-1].startswith(name)), None)

    def called(self, beginning: str) -> list[str]:
        return [call for call in self.calls if call.startswith(beginning)]

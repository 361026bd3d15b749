"""The properties of this app itself that announcements may concern, such as its Python."""

import platform
from importlib.metadata import version
from typing import Literal, NamedTuple, get_args

type AppProperty = Literal["appPython", "appBatchSdk", "appApiVersion", "appPlan"]
APP_PROPERTIES: tuple[AppProperty, ...] = get_args(AppProperty.__value__)


class AppProperties(NamedTuple):
    """The versions of Python, azure-batch and Batch's API, and the Functions plan as Azure names it, empty locally."""

    python: str
    batch_sdk: str
    api_version: str
    plan: str

    def value(self, name: AppProperty) -> str:
        """Returns the property that a condition names."""
        return self[APP_PROPERTIES.index(name)]


def app_properties(api_version: str, plan: str) -> AppProperties:
    """Returns those of the running app."""
    return AppProperties(platform.python_version(), version("azure-batch"), api_version, plan)

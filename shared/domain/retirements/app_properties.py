"""The properties of this app itself that announcements may concern, such as its Python."""

import platform
from importlib.metadata import version
from typing import Literal, NamedTuple, get_args

type AppProperty = Literal["appPython", "appBatchSdk", "appApiVersion", "appPlan", "appFunctionsRuntime"]
APP_PROPERTIES: tuple[AppProperty, ...] = get_args(AppProperty.__value__)


class AppProperties(NamedTuple):
    """The versions of Python, azure-batch and Batch's API, and the Functions plan and runtime as Azure names them.

    Plan and runtime are empty where the environment doesn't name them, as on a development machine.
    """

    python: str
    batch_sdk: str
    api_version: str
    plan: str
    functions_runtime: str

    def value(self, name: AppProperty) -> str:
        """Returns the property that a condition names."""
        return self[APP_PROPERTIES.index(name)]


def app_properties(api_version: str, plan: str, functions_runtime: str) -> AppProperties:
    """Returns those of the running app."""
    return AppProperties(platform.python_version(), version("azure-batch"), api_version, plan, functions_runtime)

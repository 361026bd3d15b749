"""The modules that importing the app loads: a few of its own, and no library but azure.functions."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from functions.api.endpoints import ENDPOINTS, Endpoint
from functions.api.handlers import all_routes
from local.dev.system.checkout import HERE
from shared.settings import read_settings

MAX_OWN_MODULES = 30
UNSET = {"BATCH_ACCOUNTS": "", "BATCH_ACCOUNT_IDS": "", "COST_LABELS": ""}
"""Settings whose readers load with them alone; tests of other modules may have set them."""
DEPLOYED = {
    "BATCH_ACCOUNTS": "https://demo.westeurope.batch.azure.com",
    "BATCH_ACCOUNT_IDS": "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/batch/providers"
    "/Microsoft.Batch/batchAccounts/demo",
    "COST_LABELS": "",
}
"""Those that every deployment by infra/ has."""
OWN = {"function_app", "functions", "shared"}
LOADED = """
import json, sys
import azure.functions
before = set(sys.modules)
import function_app
print(json.dumps(sorted(set(sys.modules) - before)))
"""
OPENED = """
import json, os, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from bench.measured.first_use import import_all
import function_app
import_all()
own = [name for name in opened if name.startswith((os.path.abspath("functions"), os.path.abspath("shared")))]
print(json.dumps([name for name in own if not name.endswith((".py", ".pyc")) and ".pyc." not in name]))
"""


def output_of_a_fresh_process(program: str, settings: Mapping[str, str] = UNSET) -> list[str]:
    command = [sys.executable, "-c", program]
    environment = {**os.environ, **settings}
    done = subprocess.run(command, cwd=HERE.root, env=environment, capture_output=True, text=True, check=True)
    output: list[str] = json.loads(done.stdout)
    return output


@pytest.mark.parametrize("settings", [UNSET, DEPLOYED], ids=["without settings", "deployed"])
def test_importing_the_app_loads_no_library_and_few_modules_of_its_own(settings: Mapping[str, str]) -> None:
    modules = output_of_a_fresh_process(LOADED, settings)
    own = [name for name in modules if name.split(".")[0] in OWN]
    standard = [name for name in modules if name.split(".")[0] in sys.stdlib_module_names]
    assert set(modules) - {*own, *standard} == set(), "these libraries should load with the first request or trigger"
    assert "function_app" in own
    assert len(own) <= MAX_OWN_MODULES, own


def test_importing_all_of_the_app_reads_no_data_file() -> None:
    assert output_of_a_fresh_process(OPENED) == [], "these files should be read when they are needed"


def test_endpoints_and_handlers_declare_the_same_routes() -> None:
    said = [(route.name, route.method, route.path, route.queue is not None) for route in all_routes(read_settings({}))]
    assert said == [(named.name, named.method, named.path, named.sends) for named in in_order_of_modules()]


def in_order_of_modules() -> list[Endpoint]:
    modules = list(dict.fromkeys(endpoint.module for endpoint in ENDPOINTS))
    return sorted(ENDPOINTS, key=lambda endpoint: modules.index(endpoint.module))

"""The app: settings from the environment, a runtime on them, and the functions. Nothing else."""

import os

import azure.functions as func

from functions.api import api_blueprint
from functions.housekeeping import housekeeping_blueprint
from functions.ingestion import ingestion_blueprint
from functions.job_queue import job_queue_blueprint
from functions.pages.dashboard import dashboard_blueprint
from functions.polling import polling_blueprint
from shared.runtime import Runtime
from shared.settings import read_settings

_runtime = Runtime(read_settings(os.environ))

app = func.FunctionApp()
for blueprint in (
    polling_blueprint(_runtime),
    job_queue_blueprint(_runtime),
    housekeeping_blueprint(_runtime),
    ingestion_blueprint(_runtime),
    api_blueprint(_runtime),
    dashboard_blueprint(),
):
    app.register_functions(blueprint)

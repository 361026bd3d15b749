"""The HTTP API, one file a resource."""

import azure.functions as func

from functions.api.accounts import add_accounts
from functions.api.failures import add_failures
from functions.api.health import add_health
from functions.api.history import add_history
from functions.api.jobs import add_jobs
from functions.api.metrics import add_metrics
from functions.api.monitoring import add_monitoring
from functions.api.openapi import add_openapi
from functions.api.polls import add_polls
from functions.api.pools import add_pools
from functions.api.task_details import add_task_details
from functions.api.tasks import add_tasks
from functions.api.timeline import add_timeline
from functions.http import Routes
from shared.runtime import Runtime


def api_blueprint(runtime: Runtime) -> func.Blueprint:
    """Every route of the API, on one blueprint."""
    routes = Routes(runtime)
    jobs = (add_jobs, add_history, add_tasks, add_task_details, add_timeline, add_failures)
    resources = (add_accounts, add_monitoring, *jobs, add_pools, add_polls)
    for add in (*resources, add_health, add_metrics, add_openapi):
        add(routes)
    return routes.blueprint

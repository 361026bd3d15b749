"""The HTTP API, one file a resource."""

import azure.functions as func

from functions.api.accounts import add_accounts
from functions.api.events import add_events
from functions.api.explanation import add_explanation
from functions.api.failures import add_failures
from functions.api.health import add_health
from functions.api.history import add_history
from functions.api.ingestion import add_ingestion
from functions.api.jobs import add_jobs
from functions.api.metrics import add_metrics
from functions.api.monitoring import add_monitoring
from functions.api.node_states import add_node_states
from functions.api.openapi import add_openapi
from functions.api.polls import add_polls
from functions.api.pool_history import add_pool_history
from functions.api.pools import add_pools
from functions.api.schedules import add_schedules
from functions.api.task_details import add_task_details
from functions.api.task_telemetry import add_task_telemetry
from functions.api.tasks import add_tasks
from functions.api.telemetry import add_telemetry
from functions.api.timeline import add_timeline
from functions.http import Routes
from shared.runtime import Runtime


def api_blueprint(runtime: Runtime) -> func.Blueprint:
    """Every route of the API, on one blueprint."""
    routes = Routes(runtime)
    jobs = (add_jobs, add_history, add_tasks, add_task_details, add_timeline, add_failures, add_explanation)
    pools = (add_pools, add_node_states, add_pool_history, add_telemetry, add_task_telemetry)
    resources = (add_accounts, add_monitoring, *jobs, *pools, add_schedules, add_events, add_ingestion, add_polls)
    for add in (*resources, add_health, add_metrics, add_openapi):
        add(routes)
    return routes.blueprint

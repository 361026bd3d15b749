"""The routes of the API, as the platform indexes them at start: function name, method and path.

The module of a route loads with the first request for it. Its `routes.route` declares the same method and path, and the
parameters, answer and role from which OpenAPI is generated. A new route needs a line here.
"""

from typing import NamedTuple


class Endpoint(NamedTuple):
    """A route at `/api/{path}`, served by `module` below this package; with `sends`, its function writes to a queue."""

    module: str
    name: str
    method: str
    path: str
    sends: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """The served methods: a GET route also serves HEAD, whose body the host omits."""
        return ("GET", "HEAD") if self.method == "GET" else (self.method,)

    def serves(self, path: str) -> bool:
        """Returns whether the route serves a path below `/api/`, regardless of the method."""
        given, own = path.strip("/").split("/"), self.path.split("/")
        return len(given) == len(own) and all(
            part.startswith("{") or part == name.lower() for part, name in zip(own, given, strict=True)
        )


_ACCOUNT = "accounts/{account}"
_JOB = f"{_ACCOUNT}/jobs/{{job}}"
_POOL = f"{_ACCOUNT}/pools/{{pool}}"

ENDPOINTS = (
    Endpoint("accounts.accounts", "list_accounts", "GET", "accounts"),
    Endpoint("accounts.accounts", "get_account", "GET", _ACCOUNT),
    Endpoint("accounts.monitoring", "get_monitoring", "GET", f"{_ACCOUNT}/monitoring"),
    Endpoint("accounts.monitoring", "put_monitoring", "PUT", f"{_ACCOUNT}/monitoring"),
    Endpoint("jobs.jobs", "list_jobs", "GET", f"{_ACCOUNT}/jobs"),
    Endpoint("jobs.jobs", "get_job", "GET", _JOB),
    Endpoint("jobs.history", "get_job_history", "GET", f"{_JOB}/history"),
    Endpoint("jobs.tasks", "list_tasks", "GET", f"{_JOB}/tasks"),
    Endpoint("jobs.task_details", "get_task", "GET", f"{_JOB}/tasks/{{task}}"),
    Endpoint("jobs.timeline", "get_timeline", "GET", f"{_JOB}/timeline"),
    Endpoint("jobs.failures", "list_failures", "GET", f"{_JOB}/failures"),
    Endpoint("jobs.explanation", "explain_job", "GET", f"{_JOB}/explanation"),
    Endpoint("pools.pools", "list_pools", "GET", f"{_ACCOUNT}/pools"),
    Endpoint("pools.pools", "get_pool", "GET", _POOL),
    Endpoint("pools.pools", "list_autoscale_runs", "GET", f"{_POOL}/autoscaleruns"),
    Endpoint("pools.pools", "list_nodes", "GET", f"{_POOL}/nodes"),
    Endpoint("pools.pools", "get_node", "GET", f"{_POOL}/nodes/{{node}}"),
    Endpoint("pools.node_states", "get_node_states", "GET", f"{_POOL}/nodestates"),
    Endpoint("pools.pool_history", "get_pool_history", "GET", f"{_POOL}/history"),
    Endpoint("telemetry.node_telemetry", "get_node_telemetry", "GET", f"{_POOL}/nodes/{{node}}/telemetry"),
    Endpoint("telemetry.task_telemetry", "get_task_telemetry", "GET", f"{_JOB}/tasks/{{task}}/telemetry"),
    Endpoint("schedules.schedules", "list_job_schedules", "GET", f"{_ACCOUNT}/jobschedules"),
    Endpoint("schedules.schedules", "get_job_schedule", "GET", f"{_ACCOUNT}/jobschedules/{{schedule}}"),
    Endpoint("events.events", "list_events", "GET", f"{_ACCOUNT}/events"),
    Endpoint("events.ingestion", "get_ingestion", "GET", f"{_ACCOUNT}/ingestion"),
    Endpoint("events.ingestion", "list_rejects", "GET", f"{_ACCOUNT}/rejects"),
    Endpoint("accounts.polls", "request_poll", "POST", f"{_ACCOUNT}/poll", sends=True),
    Endpoint("accounts.polls", "get_poll", "GET", f"{_ACCOUNT}/polls/{{poll}}"),
    Endpoint("health", "get_health", "GET", "health"),
    Endpoint("metrics.metrics", "get_metrics", "GET", "metrics"),
    Endpoint("openapi", "get_openapi", "GET", "openapi.json"),
    Endpoint("openapi", "get_docs", "GET", "docs"),
)

"""Every route of the API, as the platform needs it at start: its function's name, its method and its path.

The module that serves a route loads with the first request for it. There `routes.route` says the rest (parameters,
answer, role), of which OpenAPI is made, and the same method and path: whoever adds a route adds a line here.
"""

from typing import NamedTuple


class Endpoint(NamedTuple):
    """A route: `module` of this package serves it, at `/api/{path}`; with `sends` its function writes to a queue."""

    module: str
    name: str
    method: str
    path: str
    sends: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """What is answered: a GET's headers alone, too. The host leaves the body of an answer to HEAD out."""
        return ("GET", "HEAD") if self.method == "GET" else (self.method,)

    def serves(self, path: str) -> bool:
        """Whether a path behind `/api/` is this route's, by whatever method."""
        given, own = path.strip("/").split("/"), self.path.split("/")
        return len(given) == len(own) and all(
            part.startswith("{") or part == name.lower() for part, name in zip(own, given, strict=True)
        )


_ACCOUNT = "accounts/{account}"
_JOB = f"{_ACCOUNT}/jobs/{{job}}"
_POOL = f"{_ACCOUNT}/pools/{{pool}}"

ENDPOINTS = (
    Endpoint("accounts", "list_accounts", "GET", "accounts"),
    Endpoint("accounts", "get_account", "GET", _ACCOUNT),
    Endpoint("monitoring", "get_monitoring", "GET", f"{_ACCOUNT}/monitoring"),
    Endpoint("monitoring", "put_monitoring", "PUT", f"{_ACCOUNT}/monitoring"),
    Endpoint("jobs", "list_jobs", "GET", f"{_ACCOUNT}/jobs"),
    Endpoint("jobs", "get_job", "GET", _JOB),
    Endpoint("history", "get_job_history", "GET", f"{_JOB}/history"),
    Endpoint("tasks", "list_tasks", "GET", f"{_JOB}/tasks"),
    Endpoint("task_details", "get_task", "GET", f"{_JOB}/tasks/{{task}}"),
    Endpoint("timeline", "get_timeline", "GET", f"{_JOB}/timeline"),
    Endpoint("failures", "list_failures", "GET", f"{_JOB}/failures"),
    Endpoint("explanation", "explain_job", "GET", f"{_JOB}/explanation"),
    Endpoint("pools", "list_pools", "GET", f"{_ACCOUNT}/pools"),
    Endpoint("pools", "get_pool", "GET", _POOL),
    Endpoint("pools", "list_autoscale_runs", "GET", f"{_POOL}/autoscaleruns"),
    Endpoint("pools", "list_nodes", "GET", f"{_POOL}/nodes"),
    Endpoint("pools", "get_node", "GET", f"{_POOL}/nodes/{{node}}"),
    Endpoint("node_states", "get_node_states", "GET", f"{_POOL}/nodestates"),
    Endpoint("pool_history", "get_pool_history", "GET", f"{_POOL}/history"),
    Endpoint("telemetry", "get_node_telemetry", "GET", f"{_POOL}/nodes/{{node}}/telemetry"),
    Endpoint("task_telemetry", "get_task_telemetry", "GET", f"{_JOB}/tasks/{{task}}/telemetry"),
    Endpoint("schedules", "list_job_schedules", "GET", f"{_ACCOUNT}/jobschedules"),
    Endpoint("schedules", "get_job_schedule", "GET", f"{_ACCOUNT}/jobschedules/{{schedule}}"),
    Endpoint("events", "list_events", "GET", f"{_ACCOUNT}/events"),
    Endpoint("ingestion", "get_ingestion", "GET", f"{_ACCOUNT}/ingestion"),
    Endpoint("ingestion", "list_rejects", "GET", f"{_ACCOUNT}/rejects"),
    Endpoint("polls", "request_poll", "POST", f"{_ACCOUNT}/poll", sends=True),
    Endpoint("polls", "get_poll", "GET", f"{_ACCOUNT}/polls/{{poll}}"),
    Endpoint("health", "get_health", "GET", "health"),
    Endpoint("metrics", "get_metrics", "GET", "metrics"),
    Endpoint("openapi", "get_openapi", "GET", "openapi.json"),
    Endpoint("openapi", "get_docs", "GET", "docs"),
)

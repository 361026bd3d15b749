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
        """Returns whether the route serves a path below `/api/`, regardless of the method.

        A last part like `{*path}` takes all that follows.
        """
        given, own = path.strip("/").split("/"), self.path.split("/")
        if own[-1].startswith("{*"):
            given = [*given[: len(own) - 1], *["/".join(given[len(own) - 1 :])] * (len(given) >= len(own))]
        return len(given) == len(own) and all(
            part.startswith("{") or part == name.lower() for part, name in zip(own, given, strict=True)
        )


ACCOUNT = "accounts/{account}"
JOB = f"{ACCOUNT}/jobs/{{job}}"
POOL = f"{ACCOUNT}/pools/{{pool}}"

ENDPOINTS = (
    Endpoint("accounts.accounts", "list_accounts", "GET", "accounts"),
    Endpoint("accounts.accounts", "get_account", "GET", ACCOUNT),
    Endpoint("accounts.monitoring", "get_monitoring", "GET", f"{ACCOUNT}/monitoring"),
    Endpoint("accounts.monitoring", "put_monitoring", "PUT", f"{ACCOUNT}/monitoring"),
    Endpoint("accounts.quotas", "list_quotas", "GET", f"{ACCOUNT}/quotas"),
    Endpoint("jobs.jobs", "list_jobs", "GET", f"{ACCOUNT}/jobs"),
    Endpoint("jobs.jobs", "get_job", "GET", JOB),
    Endpoint("jobs.history", "get_job_history", "GET", f"{JOB}/history"),
    Endpoint("jobs.tasks", "list_tasks", "GET", f"{JOB}/tasks"),
    Endpoint("jobs.task_details", "get_task", "GET", f"{JOB}/tasks/{{task}}"),
    Endpoint("files.files", "list_task_files", "GET", f"{JOB}/tasks/{{task}}/files"),
    Endpoint("files.files", "get_task_file", "GET", f"{JOB}/tasks/{{task}}/files/{{*path}}"),
    Endpoint("files.outputs", "get_task_output", "GET", f"{JOB}/tasks/{{task}}/output"),
    Endpoint("files.outputs", "delete_job_outputs", "DELETE", f"{JOB}/outputs"),
    Endpoint("jobs.timeline", "get_timeline", "GET", f"{JOB}/timeline"),
    Endpoint("jobs.failures", "list_failures", "GET", f"{JOB}/failures"),
    Endpoint("jobs.failure_rerun", "get_failure_rerun", "GET", f"{JOB}/failures/{{group}}/rerun"),
    Endpoint("jobs.comparison", "get_job_comparison", "GET", f"{JOB}/comparison"),
    Endpoint("jobs.explanation", "explain_job", "GET", f"{JOB}/explanation"),
    Endpoint("pools.pools", "list_pools", "GET", f"{ACCOUNT}/pools"),
    Endpoint("pools.pools", "get_pool", "GET", POOL),
    Endpoint("pools.pools", "list_autoscale_runs", "GET", f"{POOL}/autoscaleruns"),
    Endpoint("pools.pools", "list_nodes", "GET", f"{POOL}/nodes"),
    Endpoint("pools.pools", "get_node", "GET", f"{POOL}/nodes/{{node}}"),
    Endpoint("files.files", "list_node_files", "GET", f"{POOL}/nodes/{{node}}/files"),
    Endpoint("files.files", "get_node_file", "GET", f"{POOL}/nodes/{{node}}/files/{{*path}}"),
    Endpoint("files.start_outputs", "get_node_output", "GET", f"{POOL}/nodes/{{node}}/output"),
    Endpoint("files.start_outputs", "delete_pool_outputs", "DELETE", f"{POOL}/outputs"),
    Endpoint("cost.account_cost", "get_account_cost", "GET", f"{ACCOUNT}/cost"),
    Endpoint("cost.cost_summary", "get_cost_summary", "GET", f"{ACCOUNT}/cost/summary"),
    Endpoint("cost.focus", "get_focus_costs", "GET", f"{ACCOUNT}/cost/focus"),
    Endpoint("cost.budgets", "list_budgets", "GET", f"{ACCOUNT}/budgets"),
    Endpoint("cost.budgets", "get_budget", "GET", f"{ACCOUNT}/budgets/{{budget}}"),
    Endpoint("cost.budgets", "put_budget", "PUT", f"{ACCOUNT}/budgets/{{budget}}"),
    Endpoint("cost.budgets", "delete_budget", "DELETE", f"{ACCOUNT}/budgets/{{budget}}"),
    Endpoint("cost.waste", "list_waste", "GET", f"{ACCOUNT}/cost/waste"),
    Endpoint("cost.job_cost", "get_job_cost", "GET", f"{JOB}/cost"),
    Endpoint("efficiency.job_efficiency", "get_job_efficiency", "GET", f"{JOB}/efficiency"),
    Endpoint("efficiency.job_what_if", "get_job_what_if", "GET", f"{JOB}/whatif"),
    Endpoint("efficiency.pool_what_if", "get_pool_what_if", "GET", f"{POOL}/whatif"),
    Endpoint("pools.pool_queue", "get_pool_queue", "GET", f"{POOL}/queue"),
    Endpoint("pools.pool_startup", "get_pool_startup", "GET", f"{POOL}/startup"),
    Endpoint("efficiency.account_efficiency", "get_account_efficiency", "GET", f"{ACCOUNT}/efficiency"),
    Endpoint("cost.pool_cost", "get_pool_cost", "GET", f"{POOL}/cost"),
    Endpoint("pools.pool_agent", "get_pool_agent", "GET", f"{POOL}/agent"),
    Endpoint("pools.pool_agent", "list_agent_nodes", "GET", f"{POOL}/agent/nodes"),
    Endpoint("pools.node_states", "get_node_states", "GET", f"{POOL}/nodestates"),
    Endpoint("pools.retirements", "list_retirements", "GET", "retirements"),
    Endpoint("conditions.conditions", "list_conditions", "GET", "conditions"),
    Endpoint("prices.prices", "list_prices", "GET", f"{ACCOUNT}/prices"),
    Endpoint("pools.pool_history", "get_pool_history", "GET", f"{POOL}/history"),
    Endpoint("telemetry.node_telemetry", "get_node_telemetry", "GET", f"{POOL}/nodes/{{node}}/telemetry"),
    Endpoint("telemetry.pool_telemetry", "get_pool_telemetry", "GET", f"{POOL}/telemetry"),
    Endpoint("telemetry.pool_telemetry", "get_account_telemetry", "GET", f"{ACCOUNT}/telemetry"),
    Endpoint("telemetry.pool_telemetry", "get_node_values", "GET", f"{POOL}/telemetry/nodes"),
    Endpoint("telemetry.pool_telemetry", "list_pool_metrics", "GET", f"{POOL}/telemetry/metrics"),
    Endpoint("telemetry.task_telemetry", "get_task_telemetry", "GET", f"{JOB}/tasks/{{task}}/telemetry"),
    Endpoint("schedules.schedules", "list_job_schedules", "GET", f"{ACCOUNT}/jobschedules"),
    Endpoint("schedules.schedules", "get_job_schedule", "GET", f"{ACCOUNT}/jobschedules/{{schedule}}"),
    Endpoint("cost.schedule_cost", "get_schedule_cost", "GET", f"{ACCOUNT}/jobschedules/{{schedule}}/cost"),
    Endpoint("events.events", "list_events", "GET", f"{ACCOUNT}/events"),
    Endpoint("events.ingestion", "get_ingestion", "GET", f"{ACCOUNT}/ingestion"),
    Endpoint("events.ingestion", "list_rejects", "GET", f"{ACCOUNT}/rejects"),
    Endpoint("accounts.polls", "request_poll", "POST", f"{ACCOUNT}/poll", sends=True),
    Endpoint("accounts.polls", "get_poll", "GET", f"{ACCOUNT}/polls/{{poll}}"),
    Endpoint("health", "get_health", "GET", "health"),
    Endpoint("metrics.metrics", "get_metrics", "GET", "metrics"),
    Endpoint("openapi", "get_openapi", "GET", "openapi.json"),
    Endpoint("openapi", "get_docs", "GET", "docs"),
)

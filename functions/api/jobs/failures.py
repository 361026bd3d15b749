"""GET accounts/{account}/jobs/{job}/failures: failed tasks by cause."""

from functions.api.jobs.insight_models import FailuresAnswer, failures_answer
from functions.http.handling import Query, RouteRequest, Routes


def add_failures(routes: Routes) -> None:
    @routes.route("GET", "accounts/{account}/jobs/{job}/failures", returns=FailuresAnswer, repeats=True)
    async def list_failures(call: RouteRequest[Query, None]) -> FailuresAnswer:
        """Lists a job's failed tasks by cause, most frequent first, with advice on well-known causes."""
        services = await call.services()
        return failures_answer(await services.queries.failures(call.path["account"], call.path["job"]))

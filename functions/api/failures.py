"""GET accounts/{account}/jobs/{job}/failures: failed tasks by cause."""

from functions.api.insight_models import FailuresAnswer, failures_answer
from functions.http import Call, Query, Routes


def add_failures(routes: Routes) -> None:
    @routes.route("GET", "accounts/{account}/jobs/{job}/failures", returns=FailuresAnswer, repeats=True)
    async def list_failures(call: Call[Query, None]) -> FailuresAnswer:
        """A job's failed tasks by cause, the most frequent first, with advice on those that are well known."""
        services = await call.services()
        return failures_answer(await services.queries.failures(call.path["account"], call.path["job"]))

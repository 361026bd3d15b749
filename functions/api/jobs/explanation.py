"""GET accounts/{account}/jobs/{job}/explanation: why a job isn't running, from storage and a few Batch requests."""

from datetime import datetime
from typing import Literal

from functions.api.endpoints import JOB
from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, Routes
from functions.http.rendering import LOOKS
from shared.domain.findings.finding import Finding
from shared.domain.findings.plain_findings import PlainValue, plain_value
from shared.services.explain.explanations import ExplanationReport


class FindingAnswer(Answer):
    """One cause. `blocking` keeps all waiting tasks from starting, `limiting` some of them; `info` is not a cause.

    `evidence` maps names to numbers, texts or lists of texts; times are in ISO 8601, durations in seconds.
    """

    code: str
    severity: Literal["blocking", "limiting", "info"]
    title: str
    detail: str
    evidence: dict[str, PlainValue]
    advice: str
    since: datetime | None


class ExplanationAnswer(Answer):
    """Why a job runs or doesn't: the first finding is the cause; `unknown` lists facts that couldn't be determined.

    `running`: some of its tasks run or are being prepared. All stored data used is as of `asOf` or later.
    """

    account: str
    job: str
    as_of: datetime | None
    running: bool
    summary: str
    findings: list[FindingAnswer]
    unknown: list[str]


def add_explanation(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/explanation", returns=ExplanationAnswer, cacheable=True, looks=LOOKS)
    async def explain_job(call: RouteRequest[Query, None]) -> ExplanationAnswer:
        """Explains why a job's tasks don't run, cause first."""
        services = await call.services()
        return _answer(await services.explanations.explain(call.path["account"], call.path["job"]))


def _answer(report: ExplanationReport) -> ExplanationAnswer:
    return ExplanationAnswer.of(
        report.explanation,
        account=report.job.account.id,
        job=report.job.job.facts.id,
        as_of=report.as_of,
        findings=list(map(finding_answer, report.explanation.findings)),
        unknown=list(report.unknown),
    )


def finding_answer(finding: Finding) -> FindingAnswer:
    pool = {"poolId": finding.scope.id} if finding.scope.kind == "pool" else {}
    return FindingAnswer.of(
        finding,
        code=finding.rule,
        detail=finding.sentence,
        evidence={name: plain_value(value) for name, value in {**pool, **finding.evidence}.items()},
    )

"""GET conditions: what needs attention in all accounts, or in one, the worst first."""

from datetime import datetime
from typing import Literal

from msgspec import UNSET, UnsetType

from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format, Key
from shared.services.conditions.condition_queries import ListedCondition


class ConditionsQuery(Query):
    """With `account` only that account's conditions, with `state` only those in it."""

    account: Key | UnsetType = UNSET
    state: Literal["firing", "pending"] | UnsetType = UNSET
    format: Format = "json"


class ConditionFields(Answer):
    """A condition: a finding that holds over time.

    `pending` conditions fire if they hold on for the time of their rule, and those that fire are resolved once they no
    longer held for another time. `unknown` says why it can't be judged at present. `isOld` is true where it already
    held when the account was first evaluated. `kind`, `id` and, of a node, `pool` name what it is about. `affected` is
    the number of tasks or nodes that it concerns.
    """

    account: str
    rule: str
    kind: Literal["account", "pool", "job", "schedule", "node"]
    id: str
    pool: str | None
    state: Literal["pending", "firing"]
    severity: Literal["blocking", "limiting", "info"]
    title: str
    detail: str
    advice: str
    since: datetime
    fired_at: datetime | None
    unknown: str | None
    is_old: bool
    affected: int | None


class InhibitedByAnswer(Answer):
    """The condition that another one follows from."""

    rule: str
    kind: str
    id: str


class ConditionAnswer(ConditionFields):
    """A condition with its finding's evidence; `inhibitedBy` names the one that it follows from."""

    finding: FindingAnswer
    inhibited_by: InhibitedByAnswer | None


class UnevaluatedAnswer(Answer):
    """An account whose conditions aren't up to date, and the `reason`."""

    account: str
    reason: str


class ConditionsPage[T](Page[T], kw_only=True):
    """Conditions; `leftOut` is the number of further findings, `unevaluated` names accounts that aren't up to date."""

    left_out: int
    unevaluated: list[UnevaluatedAnswer]


def add_conditions(routes: Routes) -> None:
    @routes.route("GET", "conditions", query=ConditionsQuery, returns=ConditionsPage[ConditionAnswer], refusals=(404,))
    async def list_conditions(
        call: RouteRequest[ConditionsQuery, None],
    ) -> ConditionsPage[ConditionAnswer] | RouteResponse:
        """Lists what needs attention, the worst first: conditions that fire, then those that are pending."""
        services = await call.services()
        found = await services.conditions.conditions(call.readable_of(call.query.account))
        shown = [
            condition_answer(one)
            for one in found.conditions
            if call.query.state is UNSET or one.condition.state == call.query.state
        ]
        if call.query.format == "csv":
            return csv_reply(Page(value=shown, count=len(shown)), ConditionFields)
        unevaluated = [UnevaluatedAnswer(account=name, reason=why) for name, why in found.unevaluated.items()]
        return ConditionsPage(value=shown, count=len(shown), left_out=found.left_out, unevaluated=unevaluated)


def condition_answer(one: ListedCondition) -> ConditionAnswer:
    condition, finding, cause = one.condition, one.condition.finding, one.inhibited_by
    amount = finding.amount
    return ConditionAnswer.of(
        condition,
        account=one.account.id,
        rule=finding.rule,
        kind=finding.scope.kind,
        id=finding.scope.id,
        pool=finding.scope.pool or None,
        severity=finding.severity,
        title=finding.title,
        detail=finding.sentence,
        advice=finding.advice,
        affected=int(amount.number) if amount and amount.unit != "money" else None,
        finding=finding_answer(finding),
        inhibited_by=InhibitedByAnswer(rule=cause.rule, kind=cause.kind, id=cause.id) if cause else None,
    )

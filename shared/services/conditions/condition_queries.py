"""Answers about conditions, from stored evaluations."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.conditions.condition import Condition, ConditionKey, ConditionState, OpenCounts
from shared.domain.conditions.evaluation import OVERDUE, AccountConditions
from shared.domain.conditions.inhibition import inhibited
from shared.domain.conditions.rules.all_rules import RULES
from shared.domain.jobs.verdicts import in_words
from shared.services.accounts.registry import Registry
from shared.stores.accounts.conditions import ConditionStore

_OPEN: tuple[ConditionState, ...] = ("firing", "pending")
_SEVERITIES = ("blocking", "limiting", "info")


@dataclass(frozen=True, slots=True)
class ListedCondition:
    """A condition of an account, and the one that it follows from, None without one."""

    account: Account
    condition: Condition
    inhibited_by: ConditionKey | None


@dataclass(frozen=True, slots=True)
class ListedConditions:
    """Conditions, the worst first; `left_out` is the number of findings beyond the most of a rule.

    `unevaluated` are accounts, by id, whose conditions aren't up to date, each with the reason.
    """

    conditions: list[ListedCondition]
    left_out: int
    unevaluated: dict[str, str]


@dataclass(frozen=True, slots=True)
class ConditionQueries:
    registry: Registry
    store: ConditionStore

    async def conditions(self, accounts: Collection[str]) -> ListedConditions:
        """Returns the open conditions of these watched accounts. Raises StorageError."""
        stored, now = await self.store.load_all(), await self.registry.clock.now()
        found, left_out, unevaluated = list[ListedCondition](), 0, dict[str, str]()
        for name in sorted(accounts):
            account = self.registry.account(name)
            evaluation = stored.get(account.key)
            if why := _not_current(evaluation, now):
                unevaluated[account.id] = why
            if evaluation:
                following = inhibited(evaluation.conditions.values())
                found += [
                    ListedCondition(account, one, following.get(one.key)) for one in evaluation.conditions.values()
                ]
                left_out += sum(evaluation.left_out.values())
        return ListedConditions(sorted(found, key=_badness), left_out, unevaluated)

    async def counts(self, accounts: Collection[str]) -> dict[str, OpenCounts]:
        """Returns the numbers of open conditions of accounts by id, without those not evaluated so far.

        Raises StorageError.
        """
        stored, found = await self.store.load_all(), dict[str, OpenCounts]()
        for name in sorted(accounts):
            account = self.registry.account(name)
            if evaluation := stored.get(account.key):
                rules = [rule.name for rule in RULES if not rule.is_event]
                counted = Counter((one.key.rule, one.state) for one in evaluation.conditions.values())
                found[account.id] = {(rule, state): counted[rule, state] for rule in rules for state in _OPEN}
        return found


def _not_current(evaluation: AccountConditions | None, now: datetime) -> str | None:
    """Returns why an evaluation isn't up to date: none was made, or one is overdue, as no tick runs."""
    if evaluation is None:
        return "Its conditions weren't evaluated yet."
    if evaluation.due is None or now <= evaluation.due + OVERDUE:
        return None
    return (
        f"Its conditions were evaluated {in_words(now - evaluation.at)} ago, and should have been since: no tick runs."
    )


def _badness(one: ListedCondition) -> tuple[object, ...]:
    """Returns a sort key: firing first, causes before what follows, then the more severe, larger and older."""
    condition = one.condition
    amount = condition.finding.amount
    return (
        condition.state != "firing",
        one.inhibited_by is not None,
        condition.unknown is not None,
        _SEVERITIES.index(condition.finding.severity),
        -(amount.number if amount and amount.unit != "money" else 0),
        condition.since,
        condition.key,
    )

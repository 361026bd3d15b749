"""What can't be judged: conditions of resources whose stored state is out of date, or still being read."""

from collections.abc import Mapping

from shared.domain.conditions.condition import ConditionKey
from shared.domain.conditions.evaluation import Unknown
from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import ConditionRule, Subject
from shared.domain.core.keys import key_of
from shared.domain.jobs.verdicts import Verdict

_OUT_OF_DATE = ("stale", "catchingUp")


def unknown_by_verdict(e: AccountEvidence) -> Unknown:
    """Returns why a rule can't judge a resource: by the verdict on it; nothing of an account that isn't watched."""
    verdicts: Mapping[Subject, Mapping[str, Verdict]] = {
        "jobs": {one.job.key: one.verdict for one in e.jobs},
        "pools": {one.pool.key: one.verdict for one in e.pools},
        "schedules": {key_of(one.schedule.facts.id): one.verdict for one in e.schedules},
    }
    off = e.watch.monitoring.off_reason

    def unknown(rule: ConditionRule, key: ConditionKey) -> str | None:
        if rule.subject == "account":
            return None
        verdict = verdicts.get(rule.subject, {}).get(key.pool or key.id)
        return off or (verdict.reason if verdict and verdict.level in _OUT_OF_DATE else None)

    return unknown

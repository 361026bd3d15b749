"""Prometheus series of accounts' quotas; a quota without a known limit has only its use."""

from collections.abc import Iterator, Mapping, Sequence

from functions.api.metrics.series import Family, Samples
from shared.domain.quotas.account_quotas import Quota

QUOTA_FAMILIES = (
    Family("azbatch_quota_limit", "What the account may have of a quota, as Azure Resource Manager says."),
    Family("azbatch_quota_used", "What the account uses of a quota."),
)


def quota_samples(quotas: Mapping[str, Sequence[Quota]]) -> Iterator[Samples]:
    """Yields the samples of each quota, by account."""
    for account, found in quotas.items():
        for one in found:
            values = {"azbatch_quota_limit": one.limit, "azbatch_quota_used": one.used}
            yield Samples((account, one.key.name, one.key.family), values)

"""Prometheus series of conditions: the open ones of each rule, also where there is none; none before the first look."""

from collections.abc import Iterator, Mapping

from functions.api.metrics.series import Family, Labels, Samples
from shared.domain.conditions.condition import OpenCounts

CONDITION_FAMILIES = (
    Family("azbatch_conditions", "Conditions of the account that fire or are pending.", ("rule", "state")),
)


def condition_samples(conditions: Mapping[str, OpenCounts]) -> Iterator[Samples]:
    """Yields the samples of each account, by its id."""
    for account, counts in conditions.items():
        values: dict[Labels, float] = {(rule, state): number for (rule, state), number in counts.items()}
        yield Samples((account,), {"azbatch_conditions": values})

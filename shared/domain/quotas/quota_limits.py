"""The limits of an account, as Azure Resource Manager has them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from shared.domain.core.labels import MAX_SEARCHED, Labels, kept_labels
from shared.domain.redaction.redaction import redacted_begin

USER_SUBSCRIPTION = "UserSubscription"


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """Limits as of a read; None where the answer has none.

    Cores of accounts in the mode `UserSubscription` are limited by the subscription, whose quotas this answer lacks.
    `families` are dedicated cores by VM family in lower case; they hold only if `enforced`.
    `tags` are those of the account with allowed names.
    """

    as_of: datetime
    allocation_mode: str = ""
    dedicated_cores: int | None = None
    spot_cores: int | None = None
    pools: int | None = None
    jobs: int | None = None
    families: Mapping[str, int] = field(default_factory=dict)
    enforced: bool = False
    tags: Labels = field(default_factory=dict)

    @property
    def is_user_subscription(self) -> bool:
        return self.allocation_mode.lower() == USER_SUBSCRIPTION.lower()


class _Family(msgspec.Struct, rename="camel"):
    name: str
    core_quota: int


class _Properties(msgspec.Struct, rename="camel"):
    account_endpoint: str | None = None
    pool_allocation_mode: str | None = None
    dedicated_core_quota: int | None = None
    low_priority_core_quota: int | None = None
    pool_quota: int | None = None
    active_job_and_job_schedule_quota: int | None = None
    dedicated_core_quota_per_vm_family: list[_Family] | None = msgspec.field(
        default=None, name="dedicatedCoreQuotaPerVMFamily"
    )
    enforced: bool | None = msgspec.field(default=None, name="dedicatedCoreQuotaPerVMFamilyEnforced")


class _Resource(msgspec.Struct):
    properties: _Properties
    tags: dict[str, str | None] | None = None


_DECODER = msgspec.json.Decoder(_Resource)


@dataclass(frozen=True, slots=True)
class AccountResource:
    """An account in ARM: its limits, and its host in lower case, empty where the answer doesn't name it."""

    limits: QuotaLimits
    host: str


def account_resource(body: bytes, as_of: datetime, labels: Collection[str] = ()) -> AccountResource:
    """Returns the account in a response's body, with tags whose names are `labels` in any case. Raises ValueError."""
    resource: _Resource = _DECODER.decode(body)
    found = resource.properties
    numbers: dict[str, Any] = {
        "dedicated_cores": found.dedicated_core_quota,
        "spot_cores": found.low_priority_core_quota,
        "pools": found.pool_quota,
        "jobs": found.active_job_and_job_schedule_quota,
    }
    families = {one.name.lower(): one.core_quota for one in found.dedicated_core_quota_per_vm_family or ()}
    if any(number is not None and number < 0 for number in (*numbers.values(), *families.values())):
        raise ValueError("A quota is below 0.")
    tags = _tags(resource.tags or {}, labels)
    limits = QuotaLimits(
        as_of, found.pool_allocation_mode or "", families=families, enforced=bool(found.enforced), tags=tags, **numbers
    )
    return AccountResource(limits, (found.account_endpoint or "").lower().removeprefix("https://"))


def _tags(found: Mapping[str, str | None], labels: Collection[str]) -> Labels:
    """Returns the values of allowed tags by the names in `labels`, as Azure's names of tags don't differ by case."""
    names = {name.lower(): name for name in labels}
    allowed = [(names[name.lower()], value or "") for name, value in found.items() if name.lower() in names]
    return kept_labels(((name, redacted_begin(value, MAX_SEARCHED)) for name, value in allowed), labels)

"""The quota of cores that an error of a resize is about, with its figures for explanations."""

from collections.abc import Iterable, Mapping

from shared.domain.findings.finding import Value
from shared.domain.quotas.account_quotas import Quota
from shared.domain.quotas.quota_use import DEDICATED, SPOT, QuotaKey, family_of

_BY_CODE: Mapping[str, QuotaKey] = {
    "accountcorequotareached": DEDICATED,
    "accountlowprioritycorequotareached": SPOT,
    "accountspotcorequotareached": SPOT,
}
_OF_FAMILY = "accountvmseriescorequotareached"
CODES = frozenset((*_BY_CODE, _OF_FAMILY))
"""Codes of resize errors that are about a quota of cores, in lower case."""


def core_quota(code: str, vm_size: str, quotas: Iterable[Quota]) -> Quota | None:
    """Returns the quota that a resize error of a pool of this size is about; None where its limit isn't known."""
    code = code.lower()
    family = family_of(vm_size)
    key = QuotaKey("familyCores", family) if code == _OF_FAMILY and family else _BY_CODE.get(code)
    return next((one for one in quotas if one.key == key and one.limit is not None), None)


def quota_sentence(quota: Quota | None) -> str:
    """Returns a sentence on a quota's limit and use; empty without one."""
    return f" The account may have {quota.limit:,} such cores, and {quota.used:,} are in use." if quota else ""


def quota_evidence(quota: Quota | None) -> dict[str, Value]:
    """Returns a quota's limit and use, nothing without one."""
    return {"coreQuota": quota.limit, "coresUsed": quota.used} if quota else {}

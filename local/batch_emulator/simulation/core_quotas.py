"""Quotas of cores: of dedicated nodes, of spot nodes, and of dedicated nodes of a VM family."""

import re
from collections import Counter
from collections.abc import Sequence

from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.core.vm_sizes import cores
from local.batch_emulator.entities import Account, Json

_SIZE = re.compile(r"([a-z]+)_([a-z]+)[0-9]+(?:-[0-9]+)?([a-z_0-9]*)")
_MESSAGES = {
    "AccountCoreQuotaReached": "The specified account has reached core quota",
    "AccountLowPriorityCoreQuotaReached": "The specified account has reached low priority core quota",
    "AccountVMSeriesCoreQuotaReached": "The specified account has reached VM series core quota",
}


def family_name(vm_size: str) -> str:
    """Returns the family of a size in lower case: standard_d4as_v5 is of standarddasv5family."""
    found = _SIZE.fullmatch(vm_size.lower())
    return f"{found[1]}{found[2]}{found[3].replace('_', '')}family" if found else ""


def within_core_quotas(
    account: Account, sizes: Sequence[str], settings: EmulatorSettings, *, dedicated: bool
) -> tuple[list[str], Json | None]:
    """Returns the first of some sizes for which the account has cores, and the error of the resize for the others."""
    limit = settings.dedicatedCoreQuota if dedicated else settings.spotCoreQuota
    families = {name.lower(): number for name, number in settings.family_quotas.items()} if dedicated else {}
    used = _used(account, dedicated=dedicated)
    granted: list[str] = []
    for size in sizes:
        family, own = family_name(size), cores(size)
        if limit and used.total() + own > limit:
            return granted, _error("AccountCoreQuotaReached" if dedicated else "AccountLowPriorityCoreQuotaReached")
        if family in families and used[family] + own > families[family]:
            return granted, _error("AccountVMSeriesCoreQuotaReached")
        used[family] += own
        granted.append(size)
    return granted, None


def _used(account: Account, *, dedicated: bool) -> Counter[str]:
    """Returns the cores of an account's nodes of a kind, by family."""
    found = Counter[str]()
    for pool in account.pools.values():
        for node in pool.nodes.values():
            if node.dedicated == dedicated:
                found[family_name(node.vm_size)] += cores(node.vm_size)
    return found


def _error(code: str) -> Json:
    return {"code": code, "message": _MESSAGES[code]}

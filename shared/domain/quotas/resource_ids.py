"""The ids that Batch accounts have in Azure Resource Manager (ARM), by which their quotas are read."""

import re
from collections.abc import Iterable, Mapping

from shared.domain.accounts.accounts import Account

_ID = re.compile(
    r"/subscriptions/[0-9a-f-]{36}/resourcegroups/[\w.()-]{1,90}/providers/microsoft\.batch/batchaccounts/([a-z0-9]{3,24})",
    re.IGNORECASE | re.ASCII,
)


def resource_ids(text: str, accounts: Iterable[Account]) -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """Returns ids by account id, from a setting that separates them by commas or spaces, and every problem in it.

    Names of accounts are unique only within a region, and an id has none. So an account gets all ids with its name; the
    answer to a read shows which is its own.
    """
    found = dict[str, tuple[str, ...]]()
    problems, known = list[str](), list(accounts)
    for entry in text.replace(",", " ").split():
        matched = _ID.fullmatch(entry.rstrip("/"))
        if not matched:
            problems.append(
                f"'{entry}' is not of the form /subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.Batch"
                "/batchAccounts/NAME"
            )
            continue
        own = [account.id for account in known if account.name == matched[1].lower()]
        if not own:
            problems.append(f"'{matched[1]}' is none of the watched accounts")
        for name in own:
            found[name] = (*found.get(name, ()), entry.rstrip("/"))
    return found, tuple(problems)

"""Which accounts' quotas are read, and where."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from shared.domain.accounts.accounts import Account
from shared.domain.quotas.account_quotas import NoLimitReason

ENDPOINTS: Mapping[str, str] = {
    "batch.azure.com": "https://management.azure.com",
    "batch.usgovcloudapi.net": "https://management.usgovcloudapi.net",
    "batch.chinacloudapi.cn": "https://management.chinacloudapi.cn",
}
"""Azure Resource Manager by the suffix of Batch accounts in each cloud (`az cloud list`, endpoints.resourceManager)."""


@dataclass(frozen=True, slots=True)
class QuotaSettings:
    """`ids` are those of accounts in Azure Resource Manager, by account id.

    `local_url` serves accounts on this machine. `labels` are the names of tags that are kept.
    """

    reads: bool = True
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)
    local_url: str | None = None
    labels: Collection[str] = ()

    def endpoint_of(self, account: Account) -> str | None:
        """Returns the address of Azure Resource Manager for an account; None for one on this machine without it."""
        if account.is_local:
            return self.local_url
        return ENDPOINTS.get((urlsplit(account.endpoint).hostname or "").split(".", 2)[-1])

    def requests_for(self, account: Account) -> Sequence[str]:
        """Returns the ids by which an account's quotas are requested, none where they aren't."""
        return self.ids.get(account.id, ()) if self.reads and self.endpoint_of(account) else ()

    def unread(self, account: Account) -> NoLimitReason:
        """Returns why quotas that were never read have no limit."""
        if not self.reads:
            return "off"
        return "notReadYet" if self.requests_for(account) else "idUnknown"

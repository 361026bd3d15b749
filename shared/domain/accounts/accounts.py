"""The watched Batch accounts and their names.

Account names are unique only within a region. The API identifies an account by its name, or by `name.region` where two
share the name. Storage always uses `name.region`, so that adding a second account moves no row of the first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

from shared.domain.core.keys import key_of

TOKEN_SCOPES: Mapping[str, str] = {
    "batch.azure.com": "https://batch.core.windows.net//.default",
    "batch.usgovcloudapi.net": "https://batch.core.usgovcloudapi.net//.default",
    "batch.chinacloudapi.cn": "https://batch.chinacloudapi.cn//.default",
}
"""The suffix of Batch accounts' addresses in each cloud, with the scope of tokens for them.

Source: `az cloud list`, endpoints.batchResourceId; it ends in a slash, which the audience of a token must have.
"""
_PUBLIC = "batch.azure.com"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAME = re.compile(r"[a-z0-9]{3,24}")
_EXAMPLE = "https://NAME.REGION.batch.azure.com"


@dataclass(frozen=True, slots=True)
class Account:
    """One watched Batch account; `id` is its name in this app's API, `key` the one in storage."""

    id: str
    key: str
    name: str
    region: str | None
    endpoint: str

    @property
    def is_local(self) -> bool:
        return is_loopback(self.endpoint)

    @property
    def token_scope(self) -> str:
        """The scope of a token for the account's cloud; the public cloud's for an account on this machine."""
        suffix = (urlsplit(self.endpoint).hostname or "").split(".", 2)[-1]
        return TOKEN_SCOPES.get(suffix, TOKEN_SCOPES[_PUBLIC])


def is_loopback(url: str) -> bool:
    """Returns whether a URL points at this machine; an invalid URL doesn't."""
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:
        return False


def is_account_name(text: str) -> bool:
    """Returns whether this is a valid name of a Batch account, in any case."""
    return bool(_NAME.fullmatch(text.lower()))


def sharing_name(name: str, ids: Iterable[str]) -> tuple[str, ...]:
    """Returns the sorted ids, with region, of accounts that share a bare name."""
    return tuple(sorted(known for known in ids if known.startswith(f"{name.lower()}.")))


def parse_accounts(text: str) -> tuple[tuple[Account, ...], tuple[str, ...]]:
    """Returns the accounts of the setting BATCH_ACCOUNTS, and every problem in it, each as a sentence."""
    parsed: list[Account] = []
    problems: list[str] = []
    for entry in re.split(r"[\s,]+", text.strip()):
        if not entry:
            continue
        try:
            account = _parse(entry)
        except ValueError as error:
            problems.append(f"BATCH_ACCOUNTS: '{_shown(entry)}' {error}")
            continue
        if any(account.key == other.key for other in parsed):
            problems.append(f"BATCH_ACCOUNTS: '{entry}' names an account that is listed already; remove one of the two")
        else:
            parsed.append(account)
    shared = Counter(account.name for account in parsed)
    return tuple(_with_region(account) if shared[account.name] > 1 else account for account in parsed), tuple(problems)


def _shown(entry: str) -> str:
    """Returns an entry without possible secrets: the text before an @, and queries."""
    return re.sub(r"//[^/@]*@", "//…@", entry).partition("?")[0]


def _parse(entry: str) -> Account:
    given_name, separator, url = entry.partition("=")
    if not separator or "/" in given_name:
        given_name, separator, url = "", "", entry
    parts = _split(url)
    host = parts.hostname or ""
    if parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(f"has more than a host name; write it like {_EXAMPLE}")
    endpoint = f"{parts.scheme}://{parts.netloc}"
    if host in LOOPBACK:
        if not separator or not _NAME.fullmatch(given_name.lower()):
            raise ValueError("is on this machine and needs a name; write it like demo=http://127.0.0.1:PORT")
        return Account(given_name.lower(), key_of(given_name), given_name.lower(), None, endpoint)
    if parts.scheme != "https":
        raise ValueError("is not https; tokens are sent over https only")
    name, _, rest = host.partition(".")
    region, _, suffix = rest.partition(".")
    if suffix not in TOKEN_SCOPES or not region or not _NAME.fullmatch(name):
        raise ValueError(f"is not a Batch account's address (it should end in {' or '.join(TOKEN_SCOPES)})")
    if separator and given_name.lower() != name:
        raise ValueError(f"gives the name '{given_name}' to the account '{name}'; leave the name out")
    return Account(name, key_of(f"{name}.{region}"), name, region, endpoint)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError(f"is not an address; write it like {_EXAMPLE}") from None
    try:
        _ = parts.port
    except ValueError:
        raise ValueError(f"has a port that is no number; write it like {_EXAMPLE}") from None
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError(f"is not an address; write it like {_EXAMPLE}")
    return parts


def _with_region(account: Account) -> Account:
    return replace(account, id=f"{account.name}.{account.region or 'local'}")

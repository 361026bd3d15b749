"""Access rules: optional function keys as in Azure, and the admin API."""

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from yarl import URL

from local.functions_host.app.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys. Unless `checked`, all functions are open, as with `func start`, and the admin API to this machine.

    The webhook of blob events always requires `system` or `master`, as in Azure; if neither is set, it is closed.
    """

    function: str = ""
    master: str = ""
    system: str = ""
    checked: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], *, checked: bool) -> "Keys":
        """Reads the keys; with `checked`, functions require them. Raises ConfigurationError if none are set."""
        keys = cls(
            environment.get("LOCAL_FUNCTION_KEY", ""),
            environment.get("LOCAL_MASTER_KEY", ""),
            environment.get("LOCAL_SYSTEM_KEY", ""),
            checked,
        )
        if checked and not (keys.function or keys.master):
            raise ConfigurationError("--auth needs LOCAL_FUNCTION_KEY or LOCAL_MASTER_KEY in the environment.")
        return keys

    def admit(self, level: str, headers: Mapping[str, str], url: URL) -> bool:
        """Returns whether a function accepts the key in x-functions-key or ?code=. The master key opens every level."""
        if level == "ANONYMOUS" or not self.checked:
            return True
        return _is_given(headers, url, self.master, *([] if level == "ADMIN" else [self.function]))

    def admit_webhook(self, headers: Mapping[str, str], url: URL) -> bool:
        """Returns whether the key opens the webhook; Azure requires the system key `blobs_extension` for any method."""
        return _is_given(headers, url, self.master, self.system)

    def admit_admin(self, headers: Mapping[str, str], url: URL, peer: str | None) -> bool:
        """Returns whether admin accepts the request; pages of other sites may not even read."""
        origin = headers.get("origin")
        if origin and origin != str(url.origin()):
            return False
        return self.admit("ADMIN", headers, url) if self.checked else _is_loopback(peer)


def _is_given(headers: Mapping[str, str], url: URL, *accepted: str) -> bool:
    given = (headers.get("x-functions-key") or url.query.get("code") or "").encode()
    return any(hmac.compare_digest(given, key.encode()) for key in accepted if key)


def _is_loopback(peer: str | None) -> bool:
    try:
        return ipaddress.ip_address(peer or "").is_loopback
    except ValueError:
        return False

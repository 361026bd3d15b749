"""Who may call what: function keys as in Azure when asked for, and the admin surface."""

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from yarl import URL

from local.functions_host.app.errors import RefusalError


@dataclass(frozen=True, slots=True)
class Keys:
    """Without `checked` every function is open, as `func start` has it, and admin answers this machine only.

    The webhook of blob events asks for `system` or `master` all the same, as Azure does; where neither is set it is
    closed.
    """

    function: str = ""
    master: str = ""
    system: str = ""
    checked: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], *, checked: bool) -> "Keys":
        """`checked`: functions ask for the keys of their levels. RefusalError where there are none."""
        keys = cls(
            environment.get("LOCAL_FUNCTION_KEY", ""),
            environment.get("LOCAL_MASTER_KEY", ""),
            environment.get("LOCAL_SYSTEM_KEY", ""),
            checked,
        )
        if checked and not (keys.function or keys.master):
            raise RefusalError("--auth needs LOCAL_FUNCTION_KEY or LOCAL_MASTER_KEY in the environment.")
        return keys

    def admit(self, level: str, headers: Mapping[str, str], url: URL) -> bool:
        """A key comes in the header x-functions-key or as ?code=. The master key opens every level."""
        if level == "ANONYMOUS" or not self.checked:
            return True
        return _is_given(headers, url, self.master, *([] if level == "ADMIN" else [self.function]))

    def admit_webhook(self, headers: Mapping[str, str], url: URL) -> bool:
        """Azure asks for the system key `blobs_extension` whatever the method is."""
        return _is_given(headers, url, self.master, self.system)

    def admit_admin(self, headers: Mapping[str, str], url: URL, peer: str | None) -> bool:
        """Also refuses pages of other sites, reading ones, too."""
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

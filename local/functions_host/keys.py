"""Who may call what: function keys as in Azure when asked for, and the admin surface."""

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from yarl import URL

from local.functions_host.errors import RefusalError


@dataclass(frozen=True, slots=True)
class Keys:
    """Without keys every function is open, as `func start` has it, and admin answers this machine only."""

    function: str = ""
    master: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Keys":
        keys = cls(environment.get("LOCAL_FUNCTION_KEY", ""), environment.get("LOCAL_MASTER_KEY", ""))
        if not keys.checked:
            raise RefusalError("--auth needs LOCAL_FUNCTION_KEY or LOCAL_MASTER_KEY in the environment.")
        return keys

    @property
    def checked(self) -> bool:
        return bool(self.function or self.master)

    def admit(self, level: str, headers: Mapping[str, str], url: URL) -> bool:
        """A key comes in the header x-functions-key or as ?code=. The master key opens every level."""
        if level == "ANONYMOUS" or not self.checked:
            return True
        given = (headers.get("x-functions-key") or url.query.get("code") or "").encode()
        accepted = [self.master] if level == "ADMIN" else [self.master, self.function]
        return any(hmac.compare_digest(given, key.encode()) for key in accepted if key)

    def admit_admin(self, headers: Mapping[str, str], url: URL, peer: str | None) -> bool:
        """Also refuses pages of other sites, which a browser on this machine would let post here."""
        origin = headers.get("origin")
        if origin and origin != str(url.origin()):
            return False
        return self.admit("ADMIN", headers, url) if self.checked else _is_loopback(peer)


def _is_loopback(peer: str | None) -> bool:
    try:
        return ipaddress.ip_address(peer or "").is_loopback
    except ValueError:
        return False

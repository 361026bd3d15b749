"""Decides which requests the host accepts. Pure.

A name that points to 127.0.0.1 makes any web page same-origin with this host (DNS rebinding), and a page of another
site may post here without reading the answer. Azure's front end accepts only its own host names. This host accepts only
names of this machine, and rejects modifying requests from pages of another origin.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from local.functions_host.app.settings import is_loopback

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Callers:
    """The check; `address` is the address that the host listens on, accepted as a host name besides loopback."""

    address: str = ""

    def refusal(self, method: str, hosts: Sequence[str], origin: str | None) -> str | None:
        """Returns the reason why a request is rejected, as a sentence; None if it is accepted.

        `hosts` are all addressed hosts: the values of `Host` and the authority of an absolute target.
        """
        if not hosts or not all(map(self._is_own, hosts)):
            return (
                "This host answers only to names of this machine, such as localhost or 127.0.0.1;"
                f" the request was for '{', '.join(dict.fromkeys(hosts))}'."
            )
        own = f"http://{hosts[0]}".lower()
        if method.upper() not in _READING and origin is not None and origin.lower() != own:
            return f"A page of another origin ('{origin}') may change nothing here; ask from a page of {own}."
        return None

    def _is_own(self, authority: str) -> bool:
        found = _AUTHORITY.fullmatch(authority)
        if not found:
            return False
        name = (found["v6"] or found["name"].removesuffix(".")).lower()
        return is_loopback(name) or name == self.address.lower()

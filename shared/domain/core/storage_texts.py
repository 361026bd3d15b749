"""Syntax checks of Azure Storage connection strings, keys and addresses, which need no request."""

import base64
from collections.abc import Mapping
from urllib.parse import urlsplit

_DEVELOPMENT = "devstoreaccount1"  # Azurite's published account


def is_connection_string(text: str) -> bool:
    parts = _parts(text)
    if _is_development(parts):
        return True
    by_key = bool(parts.get("accountname")) and is_base64(parts.get("accountkey", ""))
    return by_key or bool(parts.get("tableendpoint") and parts.get("sharedaccesssignature"))


def account_of_string(text: str) -> str:
    """Returns the account name of a connection string in lower case, an empty string where it has none."""
    parts = _parts(text)
    if _is_development(parts):
        return _DEVELOPMENT
    return parts.get("accountname", "").strip().lower() or account_of_address(parts.get("tableendpoint", ""))


def account_of_address(url: str) -> str:
    """Returns the account name of a service's address, which is the first label of its host, in lower case."""
    try:
        return (urlsplit(url).hostname or "").partition(".")[0]
    except ValueError:
        return ""


def _parts(text: str) -> dict[str, str]:
    return {name.strip().lower(): value for name, _, value in (part.partition("=") for part in text.split(";"))}


def _is_development(parts: Mapping[str, str]) -> bool:
    return parts.get("usedevelopmentstorage", "").strip().lower() == "true"


def is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False


def is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)

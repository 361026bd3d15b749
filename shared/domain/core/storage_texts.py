"""What looks like a connection string, a key or an address of Azure Storage, before anything is asked there."""

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
    """The lower-case name of the account that a connection string leads to; empty where it names none."""
    parts = _parts(text)
    if _is_development(parts):
        return _DEVELOPMENT
    return parts.get("accountname", "").strip().lower() or account_of_address(parts.get("tableendpoint", ""))


def account_of_address(url: str) -> str:
    """The lower-case name of the account whose service is at an address, its host's first label."""
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

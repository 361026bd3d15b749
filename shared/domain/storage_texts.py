"""What looks like a connection string, a key or an address of Azure Storage, before anything is asked there."""

import base64
from urllib.parse import urlsplit


def is_connection_string(text: str) -> bool:
    parts = {name.strip().lower(): value for name, _, value in (part.partition("=") for part in text.split(";"))}
    if parts.get("usedevelopmentstorage", "").lower() == "true":
        return True
    by_key = bool(parts.get("accountname")) and is_base64(parts.get("accountkey", ""))
    return by_key or bool(parts.get("tableendpoint") and parts.get("sharedaccesssignature"))


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

"""Removal of secrets at the source: a text that looks like a secret, by name or form, never leaves the node.

Lists of names that are let in come first, where they are possible; this is the last line behind them. It is strict: it
rather drops a harmless text than keeps a secret.
"""

from __future__ import annotations

import re

from agent.records.record import Record, Value

MARK = "[redacted]"
"""Stands for a value that may be a secret; the app uses the same mark."""
MAX_TEXT = 2048
"""Characters of a text that is searched; longer ones are replaced as a whole, since a part of a secret has no form."""
_NAMES = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|signature|authoriz|cookie|bearer|private|sas(?![a-z])|conn(?:ection)?_?str"
    r"|api_?key|account_?key|access_?key|shared_?key|public_?key|ssh_?key|encryption_?key|storage_?key|[_\-.]keys?$|(?:^|[_\-.])(?:sig|auth)s?$"
    r"|customdata|custom_data|userdata|user_data|certificate",
    re.IGNORECASE,
)
_FORMS = re.compile(
    r"[?&;](?:sig|sv|se|sp|st|spr|code|key|token|access_token)=|(?:\b|%26|%3f)sig(?:=|%3d|%253d)|instrumentationkey=|sharedaccess|accountkey|sharedkey|endpointsprotocol"
    r"|-----begin|ssh-(?:rsa|dss|ed25519)|ecdsa-sha2|sk-ssh|AAAA[BCE]3Nza|\beyJ[\w\-]{8,}|://[^/\s@]*@|\bbearer\s|\bbasic\s"
    r"|(?:passw(?:or)?d|pwd|passphrase|secret|token|credentials?|api[_\-]?key|client_?secret)[\"']?\s*[=:]"
    r"|--?(?:passw(?:or)?d|pass|pwd|secret|token|(?:api|account|access|shared)[_\-]?key|sas[_\-]?token)\s"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abpr]-|AKIA|ASIA|sk_live_|hf_|npm_|AIza|pypi-AgE)\w{8,}"
    r"|\bsk-[\w\-]{16,}|\b\w{3}\dQ~[\w~.\-]{8,}",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"(?=[A-Za-z0-9+/_]*\d)(?=[A-Za-z0-9+/_]*[A-Z])(?=[A-Za-z0-9+/_]*[a-z])[A-Za-z0-9+/_]{40,}={0,2}")


def is_secret_name(name: str) -> bool:
    """Returns whether a name is one that secrets have, such as `AccountKey` or `DATABASE_PASSWORD`."""
    return len(name) > MAX_TEXT or bool(_NAMES.search(name))


def is_secret_text(text: str) -> bool:
    """Returns whether a text has the form of a secret or contains one; True for a text too long to judge."""
    return len(text) > MAX_TEXT or bool(_FORMS.search(text)) or bool(_OPAQUE.search(text))


def safe_text(text: str) -> str:
    """Returns the text, or the mark instead of it where it may hold a secret."""
    return MARK if is_secret_text(text) else text


def safe_record(record: Record) -> Record:
    """Returns a record without fields and tags that may be secrets by name, and with marks for those by form."""
    fields = {name: _safe(value) for name, value in record.fields.items() if _is_safe_name(name)}
    tags = {name: safe_text(value) for name, value in record.tags.items() if _is_safe_name(name)}
    return record._replace(fields=fields, tags=tags)


def _safe(value: Value) -> Value:
    return safe_text(value) if isinstance(value, str) else value


def _is_safe_name(name: str) -> bool:
    return not is_secret_name(name) and not is_secret_text(name)

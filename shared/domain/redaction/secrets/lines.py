"""Secrets in sentences, and on lines of files where a position or the first word identifies them."""

from collections.abc import Iterator

from shared.domain.redaction.secrets.names import names_secret
from shared.domain.redaction.secrets.rules import Span, compiled, found_at
from shared.domain.redaction.secrets.values import is_reference, secret_at

_KEYS = ("api key", "access key", "account key", "storage key", "license key", "encryption key", "subscription key")
_SAID = (
    rf"(?i)(?:(?P<name>password|passphrase|passcode|secret(?: key)?|token|access code|(?<=mot de )passe"
    rf"|{'|'.join(_KEYS)})"
    r"(?:\s+for(?:\s+[\w@.'\-]+){1,2})?"
    r"(?:\s+(?:(?:is |was |has been )?(?:(?:re)?set|changed) to|is now|is|was)\s*:?"
    r"|\s+(?:used|given|entered|provided)\s*:"
    r"|\s*(?::|->|→))\s+|(?<!_)(?:pass(?:word|wd|phrase|code)|pwd)\s+(?=[^\s\d]*\d)(?=\S{6,})"
    r"|password's\s+|(?:key|secret|token)\s+[`\"'(]?(?=\S*(?-i:[a-z]))(?=\S*(?-i:[A-Z]))(?=\S*\d)(?=[\w+/=\-]{20,}(?:[\s`\"').,]|\Z))"
    r"|(?:api key|token)\s+(?=[^\s\d]{0,99}\d)(?=\S{20,}))"
)
_SECURED = r"(?P<secret>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}')\s*\|\s*(?i:ConvertTo-SecureString)"
_PGPASS_COLONS = 4
_PGPASS = r"^[\w.*\-]{1,200}:(?:\d{2,5}|\*):[^:\s]{1,64}:[^:\s/]{1,64}:(?P<secret>(?!\d+(?::|$))[^\s:]{4,200})$"
_DIRECTIVE = (
    r"^[ \t]*(?P<name>[A-Za-z][\w.\-]{2,120})[ \t]+(?=\S+[ \t]*\r?$)"  # a line of a daemon's file: `bindpw abc1`
)
_LINE = (  # a line of YAML whose value has spaces and no quotes, or a passphrase in a file of settings
    r"^[ \t]*(?:-[ \t]+|export[ \t]+)?[\w.\-]{0,60}(?i:pass(?:word|wd|phrase):[ \t]+|passphrase=)"
    r"(?P<secret>(?P<first>[^\s\"'#{\[|>$<&*!%]+)[ \t][^\n\"'#;,:=(){}|&]*)$"
)


def said(text: str, lowered: str) -> Iterator[Span]:
    """Yields values in a sentence that don't look like a word: `the password is Tr0ub4dor`."""
    for found in found_at(text, lowered, ("pass", "pwd", "secret", "token", "access code", "key ", *_KEYS), _SAID):
        if value := secret_at(text, found.end()):
            yield value.span()


def secured(text: str, _: str) -> Iterator[Span]:
    """Yields strings that PowerShell converts to secure ones."""
    return (found.span("secret") for found in compiled(_SECURED).finditer(text))


def filed(text: str, _: str) -> Iterator[Span]:
    """Yields passwords of .pgpass, whose lines name host, port, database and user first."""
    places = compiled(_PGPASS).finditer(text) if text.count(":") >= _PGPASS_COLONS else ()
    return (found.span("secret") for found in places)


def lined(text: str, _: str) -> Iterator[Span]:
    """Yields values set without a sign in a daemon's file, and a line's unquoted value with spaces."""
    for found in compiled(_LINE).finditer(text):
        if not is_reference(found["first"]) and not names_secret(found["first"]):
            yield found.span("secret")
    for found in compiled(_DIRECTIVE).finditer(text):
        if names_secret(found["name"]) and (value := secret_at(text, found.end())):
            yield value.span()

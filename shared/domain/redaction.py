"""Takes secrets out of text that came from outside before it is stored, shown or logged.

It knows what secrets of Azure look like and what people call theirs. What has no such sign can't be told from other
text.
"""

import re

MARK = "[redacted]"

_NAMES = (
    r"(?:account|access|shared|api|app|client|storage|subscription|auth)?[_\-. ]?"
    r"(?:key|secret|token|password|passwd|pwd|passphrase)"
)
_PATTERNS = (
    # the signature of a shared access signature
    (re.compile(r"(?i)([?&;]|\b)(sig=)[^&\s\"'<>;]+"), rf"\1\2{MARK}"),
    # NAME=value, NAME: value, --name value, "name": "value"
    (re.compile(rf"(?i)(\b\w*{_NAMES}[\"']?\s*[=:]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s;,&\"'<>]+)"), rf"\1{MARK}"),
    (re.compile(rf"(?i)(--?{_NAMES}\s+)(?![\-])[^\s;,&\"'<>]+"), rf"\1{MARK}"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/\-]{8,}=*"), rf"\1 {MARK}"),
    # a user's name and password in an address
    (re.compile(r"(\b[a-z][a-z0-9+.\-]*://)[^\s/@:]+:[^\s/@]+@", re.IGNORECASE), rf"\1{MARK}@"),
    # a JSON web token; an account key: 64 bytes in base64
    (re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*"), MARK),
    (re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])"), MARK),
)


def redacted(text: str) -> str:
    """The text without what looks like a secret; the names that led to it stay."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text

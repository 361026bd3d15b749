"""The extent of a value in shells, JSON, YAML and connection strings, and values that are no secrets."""

import re
from sys import maxsize

from shared.domain.redaction.secrets.rules import compiled

MARK = "[redacted]"

# A quote that may end a value, as it closes the text around the value: `sh -c 'run --token abc' && …`
_CLOSES = r"""(?=["'\\]{0,60}(?:[\s,;&|)}\]<>]|\Z))"""
_DOUBLE = r""""(?:(?s:\\.)|[^"\\])*+"?"""  # to the end of the text where it isn't closed
_JOINT = r"""'(?:"'"|\\')'"""  # a single quote within single quotes of a shell
_SINGLE = rf"""'(?:{_JOINT}|\\(?={_JOINT})|(?s:\\.)|[^'\\])*+'?"""
_PLAIN = (  # a comma ends it only where a list, a JSON object or a sentence continues after it
    r"""(?:\\.|[^\s;,&"'<>\\`]|,(?!\s|\Z|\\*["'}\])]|[\w.\-]{1,100}\s{0,9}[=:]))++"""
)


def _quoted_within(name: str) -> str:
    """Returns a pattern for quotes of a shell or of JSON within quotes: the same signs open and close them."""
    return (
        rf"""(?P<{name}_s>'["'\\]{{1,60}}')(?!["'\\])(?s:.{{0,4000}}?)(?<!["'\\])(?P={name}_s)(?!["\\])"""
        rf"""|(?P<{name}_e>\\+["'])(?s:.*?)(?:(?<!\\)(?P={name}_e)|\Z)"""
    )


VALUE = (  # adjacent pieces, as a shell joins them
    rf"(?:{re.escape(MARK)}|(?:{_quoted_within('first')}|{_DOUBLE}|{_SINGLE}|`[^`\n]*`|{_PLAIN})"
    rf"""(?:(?!["'\\]{_CLOSES})(?:{_quoted_within("next")}|{_DOUBLE}|{_SINGLE})|(?![)}}\]|]){_PLAIN})*)"""
)
_AROUND = " .,;:)}]"
# Values that refer to a secret, or mean that there is none.
_REFERENCES = (
    r"(?s)\$(?:[A-Za-z_]\w*(?:[\[{(>].*|->.*|\.[a-z].*)?|[\d@*#])|\$\{[\w.:]+(?::?[?+].*)?\}?|\$\{\{.*|\$env:\w+|\$\((?:[^()\n]*)\)?|%[A-Za-z_]\w*%|\{\{.*|@[\w.]+\(.*"
    r"|\*{2,}(?:[A-Za-z]+\*{2,})?|x{3,}|X{3,}|\.{3,}|…"
    r"|<[^<>\n]*>?|\[(?i:redacted|hidden|masked)\]?|%[sdr].{0,3}|\{\w*\}?|\[[A-Za-z]+\(.*|\{[a-z_]+[\[.(:!].*|\{\\*[\"'].*|[^\w\s]|\(\w{0,20}|-+|[({[|>~^\\]+|[})\]]+.*"
    r"|(?i:null|none|nil|undefined|true|false|yes|no|on|off|required|optional|env|file|expired|invalid|incorrect|missing|wrong"
    r"|empty|set|unset|not|ok|accepted|rejected|changed|updated|protected|hidden|masked|redacted|string|str|text|bytes|any|bool"
    r"|int|object|optional\[.*|str\|.*|secretstr|varchar.*|nvarchar.*|n/a|default"
    r"|await|return|yield|new|include|omit|same-origin|or|and|to|in|with|as|by|via|when|if|using|expected|read|write|all|lambda|repr|self|value|is|was|has|must|the|for|from|enabled|disabled)"
    r"|[\w.\-]+(?:\[[\w,]+\])?[=~<>!]=\d[\w.*+]*|METHOD=.*|[A-Z]\w*Credentials?|managed[-_]?identity"
    r"|\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-][\d:]+)?|-?\d+\.\d+(?:[eE][+-]?\d+)?"
    r"|v?\d+\.\d+\.\d+[\w.+\-]*|[A-Z]{14}-[A-Z]{10}-[A-Z]|(?:env|file|fd):[\w./\-]+|@[\w./\-]+\.\w+"
    r"|[\w.~/\\\-]+\.(?:key|pem|crt|cer|pfx|p12|json|ya?ml|txt|conf|ini|jks|ppk|pub)"
    r"|(?:self|args|config|cfg|conf|settings|os|env|opts|options|ctx|request|this|process|var|local|data|module|params"
    r"|parameters|inputs|secrets|vars|github|each|kwargs|credentials|values)\.[\w.\[\]\"']+(?:\(.*)?"
    r"|\(?(?:Get|Read|ConvertTo|ConvertFrom|New|Import|Invoke|Select|Join|Out|Start|Write)-[A-Z][A-Za-z]+|creds?"
    r"|[A-Za-z_][\w.]*[(\[].*|(?:~|\.{1,2})?(?:/[a-z0-9_.\-]+)+/?|[A-Za-z]:\\[^\s\"']+"
)


_QUOTES = r"\A(?:\\*[\"'`])+|(?:\\*[\"'`])+\Z|\\+\Z"


def value_at(text: str, start: int, end: int = maxsize) -> re.Match[str] | None:
    return compiled(VALUE).match(text, start, end)


def secret_at(text: str, start: int) -> re.Match[str] | None:
    """Returns the value at a position if it has digits and letters, and refers to no secret elsewhere."""
    value = value_at(text, start)
    return value if value and is_mixed(value[0]) and not is_reference(value[0]) else None


def is_mixed(value: str) -> bool:
    """Returns whether a value has both digits and letters, unlike a word."""
    return bool(re.search(r"\d", value) and re.search(r"[^\W\d]", value))


def is_reference(value: str) -> bool:
    """Returns whether a value only refers to a secret (`$TOKEN`, `%TOKEN%`, `<token>`), or to none (`null`, `***`)."""
    bare = compiled(_QUOTES).sub("", value.strip(_AROUND)).strip(_AROUND)
    return not bare or bool(compiled(_REFERENCES).fullmatch(bare))

"""Secrets after their names: `NAME=value`, `"name": "value"`, `--name value`, YAML blocks, XML elements."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from shared.domain.redaction.secrets import names
from shared.domain.redaction.secrets.rules import Span, compiled, found_at, matches, signs_of
from shared.domain.redaction.secrets.values import is_mixed, is_reference, value_at

_NAME = r"(?P<name>[^\W\d][\w.\-]*+|_[\w.\-]*+)"
_TYPE = r"&?(?:'static )?(?:Optional\[)?(?i:str|string|bytes|secretstr|char|text|any|final)\b[\w\[\]| .]{0,40}"
_ASSIGNED = (
    rf"(?<![\w.\-]){_NAME}(?P<close>[ \t]?(?:\\*[\"'`\])]){{0,9}})"
    rf"(?P<sign>[ \t]*(?::[ \t]+{_TYPE}=(?!=)|[ \t](?:[Ss]tring|str|char|text)[ \t]*=|:=|=>|==?(?!=)|\?=|->"
    r"|<-(?=[ \t]*[\"'])|::(?=[ \t])|[=:\uff1a]|(?<=\]);|\{(?=\\*\"))"
    r"(?!//)[ \t]*"
    r"(?:\\+\r?\n[ \t]*|[\r\n]+[ \t]{2,})?(?:[!&][\w!.]+[ \t]+)*)"
)
_OPTION = (
    r"(?<![\w\-/\\])(?:--?|/(?=[A-Za-z]+(?:[:=]|\\*[\"']\s*,)))(?P<name>[A-Za-z][\w.\-]*+)"
    r"(?P<sign>[ \t]*[\\`^]\r?\n\s*|[ \t]+|[ \t]*[=:][ \t]*|\\*[\"'][ \t]*,\s*|\\*[\"']?\r?\n[ \t]*-[ \t]+)"
    r"(?!\\*[\"']?-)"
)
_AMONG = r"(?<=[, ])\\*[\"'](?P<name>[\w.\-]{1,100})\\*[\"']\s*,\s*(?=\\*[\"'])"  # `set('x', 'password', 'abc1')`
_VARIABLE = r"(?i)\bsetvariable variable=(?P<name>[\w.\-]{1,100})[^\]\n]{0,100}\]"
_CALLED = r"\(\s*\\*[\"'](?P<name>[\w.\-]{1,100})\\*[\"']\s*,\s*(?=\\*[\"'])"
_DECLARED = r"\bvariable\s+\\*\"(?P<name>[\w\-]{1,100})\\*\"\s*\{[^{}]{0,300}?\bdefault\s*=\s*(?=\\*\")"
_WRAPPED = (
    r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{2,99})\\*[\"']\s*:\s*\{\s*\\*[\"'](?i:value|default|defaultValue)\\*[\"']"
    r"\s*:\s*(?=\\*[\"'])"
)
_WRAPPED_YAML = (
    r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{2,99})[\"']?:[ \t]*\r?\n"
    r"[ \t]+(?:value|default|secret|content|plaintext):[ \t]+"
)
_LISTED = r"\[[^\[\]\n]{1,500}\]"
_SETTERS = signs_of(
    "setx|setenv|set |set-|configure|config |settings |secret|export |setting |env |genv |define "
    "|setenvironmentvariable"
)
_SET = (
    r"(?i:(?<!\w)(?:setx|setenv|set(?:\s+-[a-z]*x[a-z]*)?|(?:configure|config|settings|secrets?)\s+set|export|setting"
    r"|g?env|define)|SetEnvironmentVariable\()\s+(?:(?:--?\w[\w\-]*|/\w)\s+)*"
    r"[\"']?(?P<name>[A-Za-z_/][\w.:\-/]*+)[\"']?[ \t]+(?:(?i:to)[ \t]+)?(?![=|&>-])"
)
_BLOCK = (
    r"^(?P<indent>[ \t]*(?:-[ \t]+)?)[\"']?(?P<name>[\w.\-]{1,100})[\"']?[ \t]*:[ \t]*(?:!\w+[ \t]+)?"
    r"[|>][-+\d]{0,2}[ \t]*(?:#[^\n]*)?\r?\n"
    r"(?P<secret>(?:(?P=indent)?[ \t]+\S[^\n]*(?:\n|\Z)|[ \t]*\r?\n)+)"
)
_ELEMENT = r"<(?P<name>[\w.:\-]{1,128})(?:\s[^<>]{0,500})?>(?:<!\[CDATA\[)?(?P<secret>[^<]+(?=</)|\s*[^<\s]+\s*\Z)"
_ATTRIBUTED = (
    r"<[\w.:\-]{1,64}\s[^<>]{0,200}?\b(?i:name|key|id)\s*=\s*[\"'](?P<name>[\w.\-]{1,100})[\"'][^<>]{0,200}>\s*"
    r"(?:<(?i:value|string)>)?(?P<secret>[^<]+)(?=</)"
)
_VALUED = r"<(?P<name>[\w.:\-]{1,64})\s(?:[^<>\n]{0,200}\s)?(?i:value)\s*=\s*(?P<secret>\"[^\"<>]+\"|'[^'<>]+')"
_PLIST = (
    r"<(?i:key|(?:\w+-)?name|variable)>\s*(?P<name>[^<\n]{1,100}?)\s*</[\w\-]+>\s*"
    r"<(?i:string|data|(?:\w+-)?value)>(?P<secret>[^<]+)"
)
_NESTED = r"<(?P<name>[\w.:\-]{1,128})>\s*<(?i:value|string|plaintext)>(?P<secret>[^<]+)"
_JOB = r"job-\d{1,10}(?![\w\-])"  # `rotate-key:job-1` is a schedule's job
_MAX_PAIRED = 4096
_QUOTED = r"\\*[\"']"
_NO_KEY = (  # a word: `key: name`, or the name of the following value
    r"""[\\"']*[A-Za-z_.\-]{1,24}(?=["'\\]*(?:[\s,;)}\]]|\Z))|["'][^"'\n]{1,100}["']\s+value\s*="""
    r"""|["'][\w. \-]{1,60}["']\s*,\s*["']value["']\s*:"""
)
_CLOSING = r"\\*[\"'](?:[)\],;]|(?<=[ \t][\"'])(?:[ \t]|\Z))"  # a quote that ends the text around the name
_PLAIN_WORD = "[a-z]{2,12}(?:[-_.][a-z]{2,12}){0,2}"
_OF_CACHE = r"(?i)\b(?:cached?|restored?)\b[\w \t]*\Z"  # `Cache restored from key: Linux-node-1a2b`
_MAX_CACHE = 48
_MIN_AUTH = 8
_MIN_RANDOM = 20
_MAYBE_KIND = ("credential", "credentials")  # `<credential>managed</credential>`
_IS_PASS = re.compile("pass|pw|kennwort|senha")  # a passphrase may be words
_TWO_WORDS = r"[a-z]{2,20} [a-z]{2,20}\b"
_SENTENCE = r"(?i)(?:password|token|secret|key) [a-z]{3,}"  # `passwd: password updated`
_ONE_WORD = r"\s*[A-Za-z]+\s*"
_DIGITS = r"\d{1,3}"
_ROW = r"\d{1,6}"  # `WHERE key = 1568`
_BEFORE_KEY = r"(?<![\w=:])([A-Za-z]+) \Z"
_WORKING_FOLDER = r"(?:OLD)?PWD"
# Values of `--auth` that are no secrets.
_SCHEME = names.words_of("login none basic key oauth oauth2 ntlm kerberos mode")


def assigned(text: str, starts: Sequence[int]) -> Iterator[Span]:
    """Yields the values of names in any kind of assignment."""
    return _values(text, matches(_ASSIGNED, text, starts), _is_assigned)


def optional(text: str, starts: Sequence[int]) -> Iterator[Span]:
    """Yields the values of options in a command line or a list of arguments."""
    begins = (start - (start > 0 and text[start - 1] == "/") for start in starts)
    return _values(text, matches(_OPTION, text, begins), _is_option)


def called(text: str, _: str) -> Iterator[Span]:
    """Yields values that a call sets: `setenv("PASSWORD", "value")`."""
    yield from _values(text, compiled(_CALLED).finditer(text), _is_named)
    yield from _values(text, compiled(_AMONG).finditer(text), lambda found: _is_named(found) and _leads_to_mixed(found))


def declared(text: str, lowered: str) -> Iterator[Span]:
    """Yields defaults of Terraform variables."""
    return _values(text, found_at(text, lowered, ("variable",), _DECLARED), _is_named)


def wrapped(text: str, starts: Sequence[int]) -> Iterator[Span]:
    """Yields values in an object of their own."""
    yield from _values(text, matches(_WRAPPED, text, starts), _is_named)
    yield from _values(text, matches(_WRAPPED_YAML, text, starts), _is_named)


def set_by_command(text: str, lowered: str) -> Iterator[Span]:
    """Yields values that a command sets (`setx NAME value`), or a pipeline's log command."""
    yield from _values(text, found_at(text, lowered, _SETTERS, _SET), _is_named)
    yield from _values(text, found_at(text, lowered, ("setvariable",), _VARIABLE), _is_named)


def _leads_to_mixed(found: re.Match[str]) -> bool:
    value = _value_behind(found)
    return value is not None and is_mixed(value[0])


def _value_behind(found: re.Match[str]) -> re.Match[str] | None:
    return value_at(found.string, found.end(), found.end() + _MAX_PAIRED)


def blocks(text: str, _: str) -> Iterator[Span]:
    """Yields block scalars of YAML, without their first indentation."""
    return _whole(text, _BLOCK)


def elements(text: str, _: str) -> Iterator[Span]:
    """Yields elements of XML."""
    for source in (_ELEMENT, _ATTRIBUTED, _VALUED, _PLIST, _NESTED):
        yield from _whole(text, source)


def _whole(text: str, source: str) -> Iterator[Span]:
    for found in compiled(source).finditer(text):
        value, name = found["secret"], found["name"]
        if not _is_named(found) or not value.strip() or is_reference(value):
            continue
        may_be_word = names.may_name_word(name) or name.lower() in _MAYBE_KIND
        if may_be_word and compiled(_ONE_WORD).fullmatch(value):
            continue
        start, end = found.span("secret")
        yield end - len(value.lstrip()), start + len(value.rstrip())


def _values(text: str, places: Iterable[re.Match[str]], leads: Callable[[re.Match[str]], bool]) -> Iterator[Span]:
    """Yields the value after each match that leads to a secret, except within a value already found."""
    last = 0
    for found in places:
        if found.end() >= last and leads(found) and (span := _value(text, found.end(), found["name"])):
            last = span[1]
            yield span


def _is_option(found: re.Match[str]) -> bool:
    if not names.option_names_secret(found["name"]):
        return _is_some_pass(found)
    if found["sign"].startswith("  ") and compiled(_TWO_WORDS).match(found.string, found.end()):
        return False  # a program's help on the option
    may_be_word = found["name"].lower() == "pass" or names.may_name_word(found["name"])
    value = compiled(_PLAIN_WORD).match(found.string, found.end()) if may_be_word else None
    return not (value and compiled(r"\s|\Z").match(found.string, value.end()))


def _is_named(found: re.Match[str]) -> bool:
    return names.names_secret_before_equals(found["name"])


def _is_assigned(found: re.Match[str]) -> bool:
    name, sign = found["name"], found["sign"].strip()
    if name[-1] in ".-" or not (names.names_secret_before_equals(name) or _is_some_pass(found)):
        return False
    if _is_demanded(found) or _is_no_value(found):
        return False
    is_short = bool(found["close"]) or "=" in sign or "->" in sign
    value = _value_behind(found)
    is_mapping = sign == ":" and value is not None and value[0][0] == "{"
    if name.lower() == "auth" and (found["close"] or not value or not is_mixed(value[0]) or len(value[0]) < _MIN_AUTH):
        return False
    if is_mapping or not (is_short or names.names_secret(name) or (value and is_mixed(value[0]))):
        return False
    rest = (found.string, found.end())
    if (sign == ":" and compiled(_JOB).match(*rest)) or (sign == "==" and not compiled(_QUOTED).match(*rest)):
        return False
    return not (name.lower() == "token" or names.may_name_word(name)) or _is_key(found, value)


def _is_demanded(found: re.Match[str]) -> bool:
    """Returns whether the text is a shell's message for an unset variable: `${API_KEY:?set it first}`."""
    text, start, end = found.string, found.start(), found.end()
    return found["sign"] == ":" and text[end : end + 1] == "?" and text[max(0, start - 2) : start] == "${"


def _is_some_pass(found: re.Match[str]) -> bool:
    """Returns whether a name in `pass` is a password's, as its value has letters and digits: `SCP_PASS=abc123`."""
    value = _value_behind(found)
    return bool(value and names.ends_in_pass(found["name"]) and is_mixed(value[0]) and len(value[0]) >= _MIN_AUTH)


def _is_no_value(found: re.Match[str]) -> bool:
    """Returns whether the match is a name in an ARN, an item of a code's table, or a reference that YAML resolves."""
    name, sign = found["name"].lower(), found["sign"]
    if sign == ":" and name == "secret" and found.string[max(0, found.start() - 1)] == ":":
        return True
    if sign.strip() == ":" and not _IS_PASS.search(name) and compiled(_TWO_WORDS).match(found.string, found.end()):
        return True
    if found["close"] == "]" and name in ("key", "token"):
        return True
    return bool(compiled(r"!(?:Ref|GetAtt|Sub|ImportValue|reference)\s").search(sign))


def _is_key(found: re.Match[str], value: re.Match[str] | None) -> bool:
    """Returns whether a value named `key` or `token` is one: not a plain word, nor a `partition key`."""
    if found["name"].lower() == "key" and compiled(_NO_KEY).match(found.string, found.end()):
        return False
    if value and names.may_name_word(found["name"]) and compiled(_PLAIN_WORD).fullmatch(value[0]):
        return False
    if compiled(_OF_CACHE).search(found.string, max(0, found.start() - _MAX_CACHE), found.start()):
        return False
    if value and len(value[0]) >= _MIN_RANDOM and is_mixed(value[0]):
        return True
    before = compiled(_BEFORE_KEY).search(found.string, max(0, found.start() - 24), found.start())
    return not (before and names.is_another(before[1], found["name"]))


def _value(text: str, start: int, name: str) -> Span | None:
    if name[-1] == "s" and (listed := compiled(_LISTED).match(text, start)):
        return None if compiled(r"\[[\d., ]*\]").fullmatch(listed[0]) else listed.span()
    value = None if compiled(_CLOSING).match(text, start) else value_at(text, start)
    if value is None or is_reference(value[0]) or value[0].lower() in _SCHEME:
        return None
    lowered = name.lower()
    if value[0].strip(".,;:)]").lower() in (lowered, lowered.rpartition(".")[2]):
        return None
    if compiled(_SENTENCE).match(text, start) or (value[0][0] == "`" and " " in value[0]):  # a command's output
        return None
    digits = compiled(_ROW if lowered == "key" else _DIGITS)
    is_number = lowered.endswith(("key", "token", "pass")) and digits.fullmatch(value[0])
    is_folder = compiled(_WORKING_FOLDER).fullmatch(name) and value[0][0] in "/~"
    return None if is_number or is_folder else value.span()

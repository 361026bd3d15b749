"""Secrets that stand behind their names: `NAME=value`, `"name": "value"`, `--name value`, YAML blocks, XML elements."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from shared.domain.secrets.names import (
    is_another,
    may_name_word,
    names_secret,
    names_secret_before_equals,
    option_names_secret,
)
from shared.domain.secrets.rules import Span, compiled, found_at
from shared.domain.secrets.values import is_mixed, is_reference, value_pattern

_NAME = r"(?P<name>[^\W\d][\w.\-]*+|_[\w.\-]*+)"
_TYPE = r"&?(?:'static )?(?:Optional\[)?(?i:str|string|bytes|secretstr|char|text|any|final)\b[\w\[\]| .]{0,40}"
_ASSIGNED = (
    rf"(?<![\w.\-]){_NAME}(?P<close>[ \t]?(?:\\*[\"'`\])]){{0,9}})"
    rf"(?P<sign>[ \t]*(?::[ \t]+{_TYPE}=(?!=)|[ \t](?:[Ss]tring|str|char|text)[ \t]*=|:=|=>|==?(?!=)|\?=|->|[=:])"
    r"(?!//)[ \t]*"
    r"(?:\\+\r?\n[ \t]*|[\r\n]+[ \t]{2,})?(?:[!&][\w!.]+[ \t]+)*)"
)
_OPTION = (
    r"(?<![\w\-/\\])(?:--?|/(?=[A-Za-z]+[:=]))(?P<name>[A-Za-z][\w.\-]*+)"
    r"(?P<sign>[ \t]*[\\`^]\r?\n\s*|[ \t]+|[ \t]*[=:][ \t]*|\\*[\"'][ \t]*,\s*|\\*[\"']?\r?\n[ \t]*-[ \t]+)"
    r"(?!\\*[\"']?-)"
)
_CALLED = r"\(\s*\\*[\"'](?P<name>[\w.\-]{1,100})\\*[\"']\s*,\s*(?=\\*[\"'])"
_DECLARED = r"\bvariable\s+\\*\"(?P<name>[\w\-]{1,100})\\*\"\s*\{[^{}]{0,300}?\bdefault\s*=\s*(?=\\*\")"
_WRAPPED = (
    r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{2,99})\\*[\"']\s*:\s*\{\s*\\*[\"'](?i:value|default|defaultValue)\\*[\"']"
    r"\s*:\s*(?=\\*[\"'])"
)
_LISTED = r"\[[^\[\]\n]{1,500}\]"
_SETTERS = (
    "setx",
    "setenv",
    "set ",
    "set-",
    "configure",
    "config ",
    "settings ",
    "secret",
    "export ",
    "setting ",
    "env ",
    "genv ",
    "define ",
    "setenvironmentvariable",
)
_SET = (
    r"(?i:(?<!\w)(?:setx|setenv|set(?:\s+-[a-z]*x[a-z]*)?|(?:configure|config|settings|secrets?)\s+set|export|setting"
    r"|g?env|define)|SetEnvironmentVariable\()\s+(?:(?:--?\w[\w\-]*|/\w)\s+)*"
    r"[\"']?(?P<name>[A-Za-z_/][\w.:\-/]*+)[\"']?[ \t]+(?![=|&>-])"
)
_BLOCK = (
    r"^(?P<indent>[ \t]*(?:-[ \t]+)?)[\"']?(?P<name>[\w.\-]{1,100})[\"']?[ \t]*:[ \t]*(?:!\w+[ \t]+)?"
    r"[|>][-+\d]{0,2}[ \t]*(?:#[^\n]*)?\r?\n"
    r"(?P<secret>(?:(?P=indent)?[ \t]+\S[^\n]*(?:\n|\Z)|[ \t]*\r?\n)+)"
)
_ELEMENT = r"<(?P<name>[\w.:\-]{1,128})(?:\s[^<>]{0,500})?>(?:<!\[CDATA\[)?(?P<secret>[^<]+(?=</)|\s*[^<\s]+\s*\Z)"
_NAMES = ("env", "name", "key", "variable", "setting", "property", "header")
_NAME_SIGN = (
    r"(?i:env|name|key|variable|setting|property|header)\\*[\"']?\s*(?:[=:]|\\?[\"']?>)\s*\\*[\"']?"
    r"(?P<name>[\w.\-:]{1,100})"
)
_VALUE_SIGN = r"(?i:value|val|content)(?:\\*[\"']?\s*(?:=|:(?!//))\s*|(?<=-[Vv]alue)\s+)"
_OTHER = r"[{}<>]|\n[ \t]*-[ \t]"  # parts one element from the next
_MAX_BESIDE = 200
_ATTRIBUTED = (
    r"<[\w.:\-]{1,64}\s[^<>]{0,200}?\b(?i:name|key|id)\s*=\s*[\"'](?P<name>[\w.\-]{1,100})[\"'][^<>]{0,200}>\s*"
    r"(?:<(?i:value|string)>)?(?P<secret>[^<]+)(?=</)"
)
_PLIST = r"<(?i:key|name|variable)>\s*(?P<name>[^<\n]{1,100}?)\s*</\w+>\s*<(?i:string|data|value)>(?P<secret>[^<]+)"
_NESTED = r"<(?P<name>[\w.:\-]{1,128})>\s*<(?i:value|string|plaintext)>(?P<secret>[^<]+)"
_JOB = r"job-\d{1,10}(?![\w\-])"  # `rotate-key:job-1` is a schedule's job
_MAX_PAIRED = 4096
_QUOTED = r"\\*[\"']"
_NO_KEY = (  # a word: `key: name`, or the name of a value that follows
    r"""[\\"']*[A-Za-z_.\-]{1,24}(?=["'\\]*(?:[\s,;)}\]]|\Z))|["'][^"'\n]{1,100}["']\s+value\s*="""
)
_CLOSING = r"\\*[\"'][)\],;]"  # a quote that ends what the name stands in
_PLAIN_WORD = "[a-z]{2,12}(?:[-_.][a-z]{2,12}){0,2}"
_LEAST_AUTH = 8
_LEAST_RANDOM = 20
_DIGITS = r"\d{1,3}"
_BEFORE_KEY = r"(?<![\w=:])([A-Za-z]+) \Z"
_WORKING_FOLDER = r"(?:OLD)?PWD"
_SCHEME = frozenset(
    ["login", "none", "basic", "key", "oauth", "oauth2", "ntlm", "kerberos", "mode"]
)  # of `--auth`, which is no secret


def assigned(text: str, _: str) -> Iterator[Span]:
    """Values of names, wherever an assignment stands."""
    return _values(text, compiled(_ASSIGNED).finditer(text), _is_assigned)


def optional(text: str, _: str) -> Iterator[Span]:
    """Values of options, in a command line or in a list of arguments."""
    return _values(text, compiled(_OPTION).finditer(text), lambda found: option_names_secret(found["name"]))


def called(text: str, _: str) -> Iterator[Span]:
    """What a call sets: `setenv("PASSWORD", "value")`."""
    yield from _values(text, compiled(_CALLED).finditer(text), _is_named)


def declared(text: str, _: str) -> Iterator[Span]:
    """Defaults of Terraform's variables, and values that stand in an object of their own."""
    yield from _values(text, compiled(_DECLARED).finditer(text), _is_named)
    yield from _values(text, compiled(_WRAPPED).finditer(text), _is_named)


def set_by_command(text: str, lowered: str) -> Iterator[Span]:
    """What a command sets: `setx NAME value`."""
    return _values(text, found_at(text, lowered, _SETTERS, _SET), _is_named)


def blocks(text: str, _: str) -> Iterator[Span]:
    """Block scalars of YAML, without their first indentation."""
    return _whole(text, _BLOCK)


def elements(text: str, _: str) -> Iterator[Span]:
    """Elements of XML."""
    yield from _whole(text, _ELEMENT)
    yield from _whole(text, _ATTRIBUTED)
    yield from _whole(text, _PLIST)
    yield from _whole(text, _NESTED)


def paired(text: str, lowered: str) -> Iterator[Span]:
    """Values beside their names in either order, as settings of an environment are written in XML, JSON and YAML."""
    names = sorted(found.span() for found in found_at(text, lowered, _NAMES, _NAME_SIGN) if _is_named(found))
    for found in found_at(text, lowered, ("value", "val", "content"), _VALUE_SIGN) if names else ():
        place = bisect_left(names, found.span())
        before, behind = names[max(0, place - 1) : place], names[place : place + 1]
        if any(_is_same_element(text, end, found.start()) for _, end in before):
            behind = []
        elif not behind or behind[0][0] > found.end() + _MAX_PAIRED:
            continue
        value = value_pattern().match(text, found.end(), found.end() + _MAX_PAIRED)
        if (
            value
            and not is_reference(value[0])
            and all(_is_same_element(text, value.end(), start) for start, _ in behind)
        ):
            yield value.span()


def _is_same_element(text: str, start: int, end: int) -> bool:
    return 0 <= end - start <= _MAX_BESIDE and not compiled(_OTHER).search(text, start, end)


def _whole(text: str, source: str) -> Iterator[Span]:
    for found in compiled(source).finditer(text):
        if _is_named(found) and found["secret"].strip() and not is_reference(found["secret"]):
            start, end = found.span("secret")
            yield end - len(found["secret"].lstrip()), start + len(found["secret"].rstrip())


def _values(text: str, places: Iterable[re.Match[str]], leads: Callable[[re.Match[str]], bool]) -> Iterator[Span]:
    """What stands behind each place that leads to a secret; what is within one that was found is no other."""
    last = 0
    for found in places:
        if found.end() >= last and leads(found) and (span := _value(text, found.end(), found["name"])):
            last = span[1]
            yield span


def _is_named(found: re.Match[str]) -> bool:
    return names_secret_before_equals(found["name"])


def _is_assigned(found: re.Match[str]) -> bool:
    name, sign = found["name"], found["sign"].strip()
    if name[-1] in ".-" or not names_secret_before_equals(name):
        return False
    is_short = bool(found["close"]) or "=" in sign or "->" in sign
    value = value_pattern().match(found.string, found.end(), found.end() + _MAX_PAIRED)
    if sign == ":" and value and value[0][0] == "{":
        return False
    if name.lower() == "auth" and (
        found["close"] or not value or not is_mixed(value[0]) or len(value[0]) < _LEAST_AUTH
    ):
        return False
    if not (is_short or names_secret(name) or (value and is_mixed(value[0]))):
        return False
    rest = (found.string, found.end())
    if (sign == ":" and compiled(_JOB).match(*rest)) or (sign == "==" and not compiled(_QUOTED).match(*rest)):
        return False
    return not (name.lower() == "token" or may_name_word(name)) or _is_key(found, value)


def _is_key(found: re.Match[str], value: re.Match[str] | None) -> bool:
    """Whether what is called `key` or `token` is one, as no plain word and no `partition key` is."""
    if found["name"].lower() == "key" and compiled(_NO_KEY).match(found.string, found.end()):
        return False
    if value and may_name_word(found["name"]) and compiled(_PLAIN_WORD).fullmatch(value[0]):
        return False
    if value and len(value[0]) >= _LEAST_RANDOM and is_mixed(value[0]):
        return True
    before = compiled(_BEFORE_KEY).search(found.string, max(0, found.start() - 24), found.start())
    return not (before and is_another(before[1], found["name"]))


def _value(text: str, start: int, name: str) -> Span | None:
    if name[-1] == "s" and (listed := compiled(_LISTED).match(text, start)):
        return None if compiled(r"\[[\d., ]*\]").fullmatch(listed[0]) else listed.span()
    value = None if compiled(_CLOSING).match(text, start) else value_pattern().match(text, start)
    if value is None or is_reference(value[0]) or value[0].lower() in _SCHEME:
        return None
    if value[0].strip(".,;:)]").lower() == name.lower():
        return None
    is_number = name.lower().endswith(("key", "token", "pass")) and compiled(_DIGITS).fullmatch(value[0])
    is_folder = compiled(_WORKING_FOLDER).fullmatch(name) and value[0][0] in "/~"
    return None if is_number or is_folder else value.span()

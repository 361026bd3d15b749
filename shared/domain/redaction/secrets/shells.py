"""Secrets that a shell passes on, as a here-string or into a file for secrets."""

from collections.abc import Iterator, Sequence

from shared.domain.redaction.secrets.names import names_secret_before_equals
from shared.domain.redaction.secrets.rules import Span, compiled, found_at, matches
from shared.domain.redaction.secrets.values import is_mixed, is_reference, secret_at, value_at

_ASKS = r"(?i)pass|pw|psk|secret|token|key|login|join|init|auth|cred|sudo|stdin|smb|crypt|pin\b"
_COMMAND_ENDS = ";|&\n"
_SURELY_ASKS = r"sudo|passwd|login|kinit|gpg|--password-stdin|secrets (?:create|versions)"
_HANDED = r"<<<[ \t]*|<\([ \t]*(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*(?:[\"'](?:[^\"'\n\\]{1,100}\\n)+)?"
_WRITTEN = (  # a whole file, or one line
    r"\b(?:echo|printf|print)[ \t]+(?:-\w+[ \t]+|['\"]%s[^'\"\n]*['\"][ \t]+)*"
    r"(?P<secret>\"[^\"\n]{4,400}\"|'[^'\n]{4,400}'|[^\s\"'|;&<>]{4,400})"
    r"[ \t]*(?:>>?|\|[ \t]*(?:sudo[ \t]+)?tee\b(?:[ \t]+-\w+)*)[ \t]*[\"']?"
    r"(?i:[^\s\"'|;&<>]*(?:pass(?!wd)|[.\-]passwd|passwd-|htpasswd|secret|token|cred|netrc|pgpass|htpasswd|private|apikey|api[_-]key))"
)
_ORACLE = r"@(?://)?[\w.\-]+:\d{2,5}[/:]\w+"
_ORACLE_USER = r"(?<![\w/.:@\-])[A-Za-z]\w{0,60}/(?P<secret>[^\s/@\"']{3,60})\Z"
_MAX_USER = 124
_HERE = (
    r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{1,99})[ \t]*=[ \t]*<<[-~]?[\"']?(?P<end>\w+)[\"']?\r?\n[ \t]*"
    r"(?P<secret>(?s:.{1,4000}?))\s*\n[ \t]*(?P=end)\b"
)
_REFERENCE = (
    r"(?i:(?<![\w])--?(?:\w{0,20}pass(?:word|wd|phrase)?|pwd|secret|\w{0,20}token|api-?key|account-?key)[ \t=:]+"
    r"|(?:-u|--user)[ =][\"']?[\w.@\-]{1,60}:)[\"']?\$\{?(?P<variable>[A-Za-z]\w{0,30})"
)
_MAX_VARIABLES = 8
_MAX_COMMAND = 200


def handed(text: str, lowered: str) -> Iterator[Span]:
    """Yields input of a command that asks for a secret: `read -r PASSWORD <<< abc`, `x --pass-file <(echo abc)`."""
    for found in found_at(text, lowered, ("<<<", "<("), _HANDED):
        first = max(0, found.start() - _MAX_COMMAND)
        ends = (text.rfind(sign, first, found.start()) + 1 for sign in _COMMAND_ENDS)
        command = text[max(first, *ends) : found.start()]
        value = value_at(text, found.end())
        if value is None or is_reference(value[0]):
            continue
        if compiled(_ASKS).search(command) and (is_mixed(value[0]) or compiled(_SURELY_ASKS).search(command)):
            yield value.span()


def written(text: str, lowered: str) -> Iterator[Span]:
    """Yields text that `echo` writes into a file with a name for secrets."""
    for found in found_at(text, lowered, ("echo", "print"), _WRITTEN):
        value = found["secret"]
        if is_mixed(value) and "$" not in value and "%" not in value and not is_reference(value):
            yield found.span("secret")


def here_documents(text: str, starts: Sequence[int]) -> Iterator[Span]:
    """Yields the content of a here-document that is assigned to a secret's name."""
    for found in matches(_HERE, text, starts):
        if names_secret_before_equals(found["name"]):
            yield found.span("secret")


def signed_in(text: str, lowered: str) -> Iterator[Span]:
    """Yields passwords of Oracle logins: `user/password@//host:1521/service`."""
    for found in found_at(text, lowered, ("@",), _ORACLE):
        user = compiled(_ORACLE_USER).search(text, max(0, found.start() - _MAX_USER), found.start())
        if user:
            yield user.span("secret")


def referenced(text: str, _: str) -> Iterator[Span]:
    """Yields values of variables that an option or a setting for a secret refers to: `$p='abc1'; x -Password $p`."""
    variables = dict.fromkeys(found["variable"] for found in compiled(_REFERENCE).finditer(text))
    for variable in list(variables)[:_MAX_VARIABLES]:
        for place in compiled(rf"(?<![\w.\-])\$?{variable}[ \t]*=(?!=)[ \t]*").finditer(text):
            if value := secret_at(text, place.end()):
                yield value.span()

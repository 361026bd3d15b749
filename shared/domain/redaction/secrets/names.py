"""Names that mark a value as a secret: `DB_PASSWORD`, `client-secret`, `storage.accountKey`, `sasToken2`.

A name is split into words, so its case style makes no difference: `_`, `-`, `.`, spaces and a change of case separate
words. The last word decides, after removal of words that only number or qualify the secret, such as `prod`.
"""

import re
from functools import lru_cache

from shared.domain.redaction.secrets.rules import compiled


def words_of(words: str) -> frozenset[str]:
    """Returns the words of a text, which spaces separate."""
    return frozenset(words.split())


_MAX_NAME = 100
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z_\d]+|\d+")
_STRONG = re.compile(
    r"(?:.*(?:password|passwd|passphrase|passcode|secret|token|credential|authtok)s?|.*pwd|pw|psk|jwt|bearer|apikey|apitoken"
    r"|.*(?:passwort|kennwort|wachtwoord|contraseña|contrasena|senha|hasło|haslo|lösenord|пароль|密码|密碼|口令|パスワード|비밀번호)"
    r"|(?:client)?assertion|creds|authkey|passkey|connectionstring|connstr|masterauth|requirepass|(?:bind|root|admin|user|db|auth|ldap|sys)pw|pidkey|productkey)"
)
# Names whose last word doesn't decide: Hadoop's, Terraform's for hosts, AppRole's, npm's.
_WHOLE = re.compile(
    r"\b(?:(?:account\.key|sas\.fixed\.token|client\.secret|secret\.key|azure\.sas)\.|tf_token_\w|vault_secret_id\Z"
    r"|npm_config__auth\Z)",
    re.IGNORECASE,
)
_NO_STRONG = words_of("tokens secrets nosecret notoken publickeytoken skiptoken nexttoken pagetoken continuationtoken")
_OWNERS = (
    "account|access|instrumentation|shared|api|app|client|storage|subscription|auth|master|private|primary|secondary|secret|encryption"
    "|decryption|signing|hmac|session|service|admin|deploy|license|host|function|cosmos|batch|search|crypt|aes|des|rsa"
)
_OWNERS_OF_KEY = frozenset(_OWNERS.split("|")) - {"primary", "secondary", "session", "host", "batch", "search"}
_GLUED_KEY = re.compile(rf"(?:.*(?:{_OWNERS}))key")
# Words before `key` or `token` that make it no secret.
_NO_KEY = words_of(
    "partition row sort public pub cache shard routing foreign unique hash range object dict group json "
    "map dedup column idempotency hot registry lookup index natural composite surrogate candidate bucket "
    "blob record item message event span metric label tag feature config context state locale order by "
    "any each enter arrow escape shortcut modifier field property setting parameter env environment job "
    "task node pool table document series instance"
)
_PROSE = words_of(
    "valid invalid duplicate missing unknown same given this that which no of for the a an press "
    "unexpected illegal expected bad new each any enter pressed"
)
_NO_PASS = re.compile(r".*(?:com|by|low|high|band|multi|tres|single|second|first|render|all|sur|under|over)pass")
_NO_TOKEN = words_of(
    "pad eos bos unk mask sep cls special stop start end max min num n per input output prompt completion "
    "total cached next continuation page skip cancellation unexpected illegal expected syntax sync first "
    "last current word sub"
)
_TAIL = words_of(
    "prod production dev development test testing staging stage qa uat live old new prev previous next "
    "current primary secondary value val text plain plaintext cleartext b64 base64 enc encoded string str "
    "v base default main backup rw ro a b eu us env"
)
# Short words that count only before `=`, in quotes, or as an option, alone or after a usual owner.
_OWNERS_OF_SHORT = (
    "db|sql|mysql|pg|my|user|admin|root|login|auth|app|api|svc|service|ftp|smtp|mail|ldap|redis|mongo|mq|vault|proxy"
    "|key|store|cert|pfx|zip|sudo|ssh|the|default|rabbit|rabbitmq|kafka|elastic|os|web|http|basic|ssl|tls|master"
)
_SHORT = re.compile(rf"(?:{_OWNERS_OF_SHORT}){{0,2}}pass|(?:storage|account|container|blob)?sas|pat")
_OWNER_OF_SHORT = re.compile(rf"(?:{_OWNERS_OF_SHORT}){{1,2}}")
_OF_PASS = words_of("imap pop scp license lic")
_OF_AUTH = words_of("redis npm docker registry smtp proxy http basic mqtt amqp mongo ldap vault")
# Last words of a name, and the words before them that make it no secret's, or alone make it one: `imagePullSecret`
# names a secret in a cluster; `keyData`, `mot_de_passe`.
_NOT_BEFORE = {"key": _NO_KEY, "token": _NO_TOKEN, "secret": ("existing", "pull")}
_CONNECTION = ("connection", "conn")
_BEFORE = {
    "data": ("key",), "header": ("identity",), "passe": ("de",), "value": ("secure",), "string": _CONNECTION,
    "str": _CONNECTION,
}  # fmt: skip
_OPTIONS = frozenset(("pass", "pw", "pwd", "auth", "pat", "sas", "creds", "apikey"))
# Every name of a secret contains one of these parts.
_PARTS_OF_NAMES = (
    r"pass|pw|psk|key|secret|token|cred|auth|jwt|bearer|assertion|sas|sig(?![a-z])|pat(?!ch|h|i|t[ei])|conn[a-z]*[._-]?str"
    r"|access code|secure[_-]?value|identity[_-]header"
    r"|kennwort|wachtwoord|contrase|senha|hasło|haslo|lösenord|пароль|密码|密碼|口令|パスワード|비밀번호"
)
_RUN = r"[\w.\-]*"
_JOINS = "_.-"


def name_starts(text: str, lowered: str) -> list[int]:
    """Returns where runs of letters, digits and `_.-` begin that may be a secret's name, in order.

    One search finds the parts that such names contain. Most lines have none, so no other search by name is made there.
    """
    starts, last = list[int](), 0
    for found in compiled(_PARTS_OF_NAMES).finditer(lowered):
        start = found.start()
        if start < last:
            continue
        while start > last and (text[start - 1].isalnum() or text[start - 1] in _JOINS):
            start -= 1
        starts.append(start)
        last = compiled(_RUN).match(text, found.start()).end()  # type: ignore[union-attr]  # it matches anywhere
    return starts


@lru_cache(4096)
def names_secret(name: str) -> bool:
    """Returns whether a value of this name is a secret, whichever separator follows the name."""
    words = _words(name)
    stem = _stem(words)
    if _WHOLE.search(name):
        return True
    return _is_strong(stem) or (stem != words and _is_strong(words))


@lru_cache(4096)
def names_secret_before_equals(name: str) -> bool:
    """Returns whether it is one before `=` or with a quoted name: elsewhere short words are too common."""
    if names_secret(name):
        return True
    words = _words(name)
    if words[-1:] == ("auth",) and len(words) > 1 and words[-2] in _OF_AUTH:
        return True
    if not words or not _SHORT.fullmatch(words[-1]):
        return name.lower() in ("_auth", "sig", "auth")
    return len(words) == 1 or words[-1] != "pass" or bool(_OWNER_OF_SHORT.fullmatch(words[-2])) or words[-2] == "target"


@lru_cache(4096)
def option_names_secret(name: str) -> bool:
    """Returns whether the value after an option of this name, given without its hyphens, is a secret."""
    words = _words(name)
    if not words or words[-1] == "env":
        return False
    return (words[-1] in _OPTIONS and words[0] != "no") or names_secret_before_equals(name)


def ends_in_pass(name: str) -> bool:
    """Returns whether it may be a password of any kind: `SCP_PASS`, `licpass`, `REDISCLI_AUTH`, but not `compass`."""
    words = _words(name)
    if words[-1:] == ("auth",):
        return len(words) > 1 and name.isupper()
    if not words or not words[-1].endswith("pass") or _NO_PASS.fullmatch(words[-1]):
        return False
    return words[-1] != "pass" or len(words) == 1 or name.isupper() or words[-2] in _OF_PASS


def may_name_word(name: str) -> bool:
    """Returns whether its value may be a plain word, as in `RUN_KEY=nightly`, but not for an `API_KEY`."""
    words = _words(name)
    return words[-1:] == ("key",) and (len(words) == 1 or words[-2] not in _OWNERS_OF_KEY)


def is_another(word: str, name: str) -> bool:
    """Returns whether a word before `key` or `token` makes it no secret: `partition key`, `pad token`."""
    word = word.lower()
    return word in _PROSE or word in (_NO_KEY if name.lower() == "key" else _NO_TOKEN)


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(name[-_MAX_NAME:]))


def _stem(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the words without up to two at the end that only distinguish several secrets."""
    for _ in range(2):
        if len(words) > 1 and (words[-1] in _TAIL or words[-1].isdecimal()):
            words = words[:-1]
    return words


def _is_strong(words: tuple[str, ...]) -> bool:
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "pass":
        return before == "become" or bool(_OWNER_OF_SHORT.fullmatch(before))
    if last in _NOT_BEFORE:
        return before not in _NOT_BEFORE[last] and words[-3:] != ("public", "key", "token")
    if last in _BEFORE:
        return before in _BEFORE[last]
    return last not in _NO_STRONG and bool(_STRONG.fullmatch(last) or _GLUED_KEY.fullmatch(last))

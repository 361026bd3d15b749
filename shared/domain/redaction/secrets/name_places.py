"""Where names stand that may be a secret's: one search for the parts that such names have.

Most lines hold none of them, so nothing else is looked for there by name.
"""

from shared.domain.redaction.secrets.rules import compiled

# Every name that `names` accepts has one of these parts.
_PARTS = (
    r"pass|pw|psk|key|secret|token|cred|auth|jwt|bearer|assertion|sas|sig(?![a-z])|pat(?!ch|h|i|t[ei])|conn[a-z]*[._-]?str"
    r"|access code|secure[_-]?value|identity[_-]header"
    r"|kennwort|wachtwoord|contrase|senha|hasło|haslo|lösenord|пароль|密码|密碼|口令|パスワード|비밀번호"
)
_RUN = r"[\w.\-]*"
_JOINS = "_.-"


def name_starts(text: str, lowered: str) -> list[int]:
    """Where runs of letters, digits and `_.-` begin that hold such a part, in order."""
    starts, last = list[int](), 0
    for found in compiled(_PARTS).finditer(lowered):
        start = found.start()
        if start < last:
            continue
        while start > last and (text[start - 1].isalnum() or text[start - 1] in _JOINS):
            start -= 1
        starts.append(start)
        last = compiled(_RUN).match(text, found.start()).end()  # type: ignore[union-attr]  # it matches anywhere
    return starts

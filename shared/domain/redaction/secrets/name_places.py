"""Positions of names that may be a secret's, found by one search for the parts that such names contain.

Most lines contain none of them, so no other search by name is made there.
"""

from shared.domain.redaction.secrets.rules import compiled

# Every name that `names` accepts contains one of these parts.
_PARTS = (
    r"pass|pw|psk|key|secret|token|cred|auth|jwt|bearer|assertion|sas|sig(?![a-z])|pat(?!ch|h|i|t[ei])|conn[a-z]*[._-]?str"
    r"|access code|secure[_-]?value|identity[_-]header"
    r"|kennwort|wachtwoord|contrase|senha|hasło|haslo|lösenord|пароль|密码|密碼|口令|パスワード|비밀번호"
)
_RUN = r"[\w.\-]*"
_JOINS = "_.-"


def name_starts(text: str, lowered: str) -> list[int]:
    """Returns where runs of letters, digits and `_.-` that contain such a part begin, in order."""
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

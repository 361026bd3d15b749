r"""Texts within texts: the meaning of escapes of JSON, URLs and XML, and its position in the original text.

Names, separators and quotes lead to a secret even when written as `\u003d`, `%3D` or `&quot;`, escaped any number of
times. So rules read a text a second time, unescaped, and their findings are mapped back.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from shared.domain.redaction.secrets.rules import compiled

SIGNS = ("%", "\\", "&")
_ENTITIES = {"amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">", "equals": "=", "colon": ":"}
_ESCAPE = (
    r"(?<!\\)(?<!\b[A-Za-z]:)\\++(?:u00(?P<unicode>2[0-9A-Fa-f]|3[A-Fa-f]|40|5[BDbd]|7[BDbd]|0[AaDd9])"
    r"|x(?P<hex>2[0-9A-Fa-f]|3[A-Fa-f]|0[AaDd])|(?P<control>[nrt])(?=[A-Za-z0-9_\-\"'{\[ ])|(?P<plain>[/\"']))"
    r"|%(?:25)*(?P<percent>2[0-9A-Fa-f]|3[A-Fa-f]|40|5[BDbd]|7[BDbd]|0[AaDd])"
    r"|&(?:amp;)*(?P<entity>amp|quot|apos|lt|gt|equals|colon|#(?:3[2-9]|4[0-7]|58|59|6[0-4])|#[xX](?:2[0-9A-Fa-f]|3[A-Fa-f]|40));"
)


@dataclass(frozen=True, slots=True)
class UnescapedText:
    """A text without escapes; `_starts` are its positions after each escape, `_ends` the same in the original text."""

    text: str
    _starts: list[int]
    _ends: list[int]

    def original(self, position: int) -> int:
        """Returns the position in the original text."""
        place = bisect_right(self._starts, position) - 1
        return self._ends[place] + position - self._starts[place]


def unescaped(text: str) -> UnescapedText | None:
    """Returns the unescaped text, or None where nothing is escaped."""
    if not any(sign in text for sign in SIGNS):
        return None
    parts, starts, ends, length, last = list[str](), [0], [0], 0, 0
    for found in compiled(_ESCAPE).finditer(text):
        parts += (text[last : found.start()], _meant(found))
        length += found.start() - last + 1
        last = found.end()
        starts.append(length)
        ends.append(last)
    return UnescapedText("".join((*parts, text[last:])), starts, ends) if parts else None


def _meant(found: re.Match[str]) -> str:
    """Returns the one character that an escape stands for."""
    if found["control"]:
        return "\n" if found["control"] in "nr" else "\t"
    if found["plain"]:
        return found["plain"]
    if found["entity"]:
        return _entity(found["entity"])
    return chr(int(found["unicode"] or found["hex"] or found["percent"], 16))


def _entity(name: str) -> str:
    if name in _ENTITIES:
        return _ENTITIES[name]
    return chr(int(f"0{name[1:]}", 16) if name[1] in "xX" else int(name[1:]))

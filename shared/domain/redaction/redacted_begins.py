"""The begin of a long text without secrets: cut first, as to look for secrets in all of it takes long.

A part of a secret has no looks. So what the cut may have left half goes, too: all behind the last space or quote before
it, as nothing that is known by its looks to the last letter has any of these in it. What is told by what stands before
it, such as a quoted value, is found wherever it ends.
"""

import re

from shared.domain.redaction.redaction import redacted

_WHOLE = re.compile(r"[\s\S]*[\s\"']")


def redacted_begin(text: str, most: int) -> str:
    """Of a text of more than `most` characters no more than that many, before secrets are taken out."""
    if len(text) <= most:
        return redacted(text)
    whole = _WHOLE.match(text, 0, most)
    return redacted(whole[0]) if whole else ""

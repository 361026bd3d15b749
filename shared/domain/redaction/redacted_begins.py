"""Redaction of a long text's beginning: the text is cut first, as the search for secrets in all of it takes long.

A part of a secret can't be recognized. So everything after the last space or quote before the cut is dropped, too: no
secret recognized by its form contains these. A secret recognized by its context, such as a quoted value, is found
wherever it ends.
"""

import re

from shared.domain.redaction.redaction import redacted

_WHOLE = re.compile(r"[\s\S]*[\s\"']")


def redacted_begin(text: str, most: int) -> str:
    """Returns the text, cut to at most `most` characters and then redacted."""
    if len(text) <= most:
        return redacted(text)
    whole = _WHOLE.match(text, 0, most)
    return redacted(whole[0]) if whole else ""

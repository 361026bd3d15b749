"""Excerpts: the last lines of a failed task's output that say why, their signature, and a title for people.

A signature depends on nothing but the output itself, so that all hosts, and all versions of a group, agree on it
(ADR 44).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from shared.domain.outputs.cleaned_lines import cleaned_lines
from shared.domain.outputs.exit_codes import exit_code_words
from shared.domain.outputs.key_lines import KeyLine, key_line_of
from shared.domain.outputs.key_texts import key_text_of
from shared.domain.outputs.masking import masked, readable, signature_of

MAX_TITLE = 160
MAX_EXCERPT_LINES, MAX_EXCERPT_LINE = 9, 240
_BEFORE, _AFTER = 2, 2
_BARE = re.compile(r"[\w.$:]{1,200}\Z")  # an exception without a message
_CRASH = re.compile(r"SIG[A-Z]{3,6} \(0x|Fatal Python error|panic: runtime error: invalid memory")


@dataclass(frozen=True, slots=True, order=True)
class ErrorExcerpt:
    """What an output says of a failure: a title, a signature that one cause shares, and the lines that say it."""

    title: str
    signature: str
    lines: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return signature_id(self.signature)


def signature_id(signature: str) -> str:
    """Returns the short, stable id of a signature."""
    return blake2b(signature.encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()


def error_excerpt(stderr: str, stdout: str = "", exit_code: int | None = None) -> ErrorExcerpt:
    """Returns the excerpt of the ends of a failed task's outputs, which may be empty, cut, binary or of any encoding.

    Where neither output says anything, the exit code is the title.
    """
    best: tuple[KeyLine, Sequence[str]] | None = None
    for text in (stderr, stdout):
        cleaned = cleaned_lines(text)
        found = key_line_of(cleaned)
        if found and (best is None or found.strength > best[0].strength):
            best = found, cleaned
    if best is None:
        words = exit_code_words(exit_code) if exit_code is not None else "no exit code"
        return ErrorExcerpt(f"No output, {words}", f"<no output> {words}")
    key, lines = best
    text = key_text_of(key.text)
    if key.frame and (_BARE.match(text) or _CRASH.match(text)):
        text = f"{text} ({key.frame})"
    masks = masked(text)
    return ErrorExcerpt(_short(readable(masks)), signature_of(masks), _excerpt(lines, key))


def _excerpt(lines: Sequence[str], key: KeyLine) -> tuple[str, ...]:
    """Returns the key line with its own frame, and what stands around it."""
    places = set(range(key.first, key.last + 1))
    if key.frame_line is not None:
        places |= {key.frame_line} | ({key.frame_line + 1} if key.frame_line < key.first else set())
    for direction, most in ((-1, _BEFORE), (1, _AFTER)):
        edge = key.first if direction < 0 else key.last
        near = range(edge + direction, edge + direction * (most + 3), direction)
        places |= set([n for n in near if 0 <= n < len(lines) and lines[n].strip(" -=*#~^")][:most])
    ordered = sorted(place for place in places if place < len(lines) and lines[place].strip())
    first = max(0, min(len(ordered) - MAX_EXCERPT_LINES, ordered.index(key.first) if key.first in ordered else 0))
    return tuple(_short(lines[place], MAX_EXCERPT_LINE) for place in ordered[first : first + MAX_EXCERPT_LINES])


def _short(text: str, most: int = MAX_TITLE) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"

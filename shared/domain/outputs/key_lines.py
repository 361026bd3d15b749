"""Which line of an output says why a task failed, and which lines belong to it."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.outputs.frames import own_frame
from shared.domain.outputs.line_strengths import HINTS, VAGUE_HINTS, Strength, is_frame, strength_of
from shared.domain.outputs.log_prefixes import LogMessage, without_prefix

_MAX_HITS = 40
"""Of each word only so many last occurrences count, so that work is linear in any output."""
_MAX_LINES = 400
_LAST = 40
"""Lines at the end that count without such a word."""
_CLUSTER = 8
"""Errors no more lines apart than this belong together, and the first one counts."""
_MAX_JOINED = 3
_MAX_FRAMES = 200
_TRACEBACK = "Traceback (most recent call last)"
_CAUSE_OF = "The above exception was the direct cause of"
_HEADER = re.compile(
    r".{0,300}(?:[^\w\s]|\w)\s?:\s*\Z|(?:.{0,20}FOAM )?FATAL ERROR\W{0,3}(?:\([\w.-]{1,40}\))?\s*\Z"
    r"|Error using\s.{0,100}\Z"
    r"|Error occurred during initialization of VM\Z|FATAL CALLED|-+ FATAL CALLED"
    r"|.{0,200}\d validation errors? for \w{1,100}\Z"
)
_FINAL = re.compile(r"(?:[A-Za-z_]\w{0,100}\.){0,10}[A-Za-z_]\w{0,100}(?=: |:?\Z)")
_AT_POWERSHELL = re.compile(r"At (?:line|.{1,300}):\d{1,6} char:\d{1,6}")
_BY_POWERSHELL = re.compile(r"\S{1,200} : \S")
_MAX_WRAPPED = 6


@dataclass(frozen=True, slots=True)
class KeyLine:
    """The line that says why: its first and last index, its whole text, and the deepest frame of the program's own."""

    first: int
    last: int
    text: str
    strength: Strength
    frame: str = ""
    frame_line: int | None = None


def key_line_of(lines: Sequence[str]) -> KeyLine | None:
    """Returns the key line of cleaned lines, None where no line says anything."""
    messages = {index: without_prefix(lines[index]) for index in _hit_lines(lines)}
    strengths = {index: strength_of(lines[index], message) for index, message in messages.items()}
    _raise_final_lines(lines, messages, strengths)
    best = max(strengths.values(), default=Strength.NONE)
    if best < Strength.CONSEQUENCE and (index := _last_said(lines, messages)) is not None:
        return KeyLine(index, index, messages[index].text, Strength.LAST_LINE)
    return _joined(lines, _chosen(lines, strengths, best), best) if best else None


def _hit_lines(lines: Sequence[str]) -> list[int]:
    """Returns the indexes of the last lines with any of the words, in order."""
    text = "\n".join(lines).lower()
    starts, place = list[int](), 0
    for line in lines:
        starts.append(place)
        place += len(line.lower()) + 1
    found = set[int]()
    for word in (*HINTS, *VAGUE_HINTS):
        place = len(text)
        for _ in range(_MAX_HITS):
            place = text.rfind(word, 0, place)
            if place < 0:
                break
            index = bisect_right(starts, place) - 1
            found.add(index)
            place = starts[index]
    found.update([index for index in range(max(0, len(lines) - 2 * _LAST), len(lines)) if lines[index]][-_LAST:])
    return sorted(found)[-_MAX_LINES:]


def _raise_final_lines(lines: Sequence[str], messages: dict[int, LogMessage], strengths: dict[int, Strength]) -> None:
    """Marks the line after the frames of each Python traceback, as an exception may have any name."""
    for index in [
        place for place in strengths if place and is_frame(lines[place - 1]) and ' File "' in lines[place - 1]
    ]:
        strengths[index] = Strength.NONE  # the source of a frame
    for start in [index for index, message in messages.items() if message.text.startswith(_TRACEBACK)]:
        for index in range(start + 1, min(len(lines), start + _MAX_FRAMES)):
            message = without_prefix(lines[index])
            if message.text and not _is_indented(lines[index], message.text):
                if _FINAL.match(message.text) and strengths.get(index) != Strength.SECONDARY:
                    strengths[index] = Strength.EXCEPTION
                break


def _is_indented(line: str, text: str) -> bool:
    """Returns whether a message is indented behind the prefix that its line may have."""
    place = line.find(text)
    return place > 0 and line[place - 1] in " \t" and (place == 1 or line[place - 2] in " \t:|")


def _chosen(lines: Sequence[str], strengths: dict[int, Strength], best: Strength) -> int:
    """Returns the last line of the highest strength, or, among weaker kinds, the first one of the last cluster."""
    places = [index for index, strength in sorted(strengths.items()) if strength == best]
    chosen = len(places) - 1
    if best >= Strength.RUNTIME:
        while chosen and any(_CAUSE_OF in line for line in lines[places[chosen - 1] : places[chosen]]):
            chosen -= 1
        return places[chosen]
    while chosen and places[chosen] - places[chosen - 1] <= _CLUSTER:
        chosen -= 1
    return places[chosen]


def _last_said(lines: Sequence[str], messages: dict[int, LogMessage]) -> int | None:
    """Returns the last line with words; one that a logger calls unimportant only if there is no other."""
    said = [
        index
        for index in sorted(messages, reverse=True)[:_LAST]
        if any(sign.isalnum() for sign in messages[index].text)
    ]
    plain = [index for index in said if messages[index].level is None and not is_frame(lines[index])]
    return next(iter((*plain, *said)), None)


def _joined(lines: Sequence[str], index: int, strength: Strength) -> KeyLine:
    first, last, text = index, index, without_prefix(lines[index]).text
    if wrapped := _wrapped_by_powershell(lines, index):
        first, last = wrapped
        text = " ".join(lines[place].strip() for place in range(first, last + 1))
    elif cause := _cause_after(lines, index):
        last, text = cause[0], f"{text}: {cause[1]}"
    elif text.startswith("terminate called"):
        thrown = [place for place in range(index + 1, min(len(lines), index + 4)) if "what():" in lines[place]]
        last, text = (thrown[0], f"{text} {lines[thrown[0]].strip()}") if thrown else (index, text)
    elif _HEADER.match(text):
        last, parts = _paragraph_after(lines, index, text)
        text = " ".join((text, *parts))
    frame, frame_line = own_frame(lines, first, last)
    return KeyLine(first, last, text, strength, frame, frame_line)


def _cause_after(lines: Sequence[str], index: int) -> tuple[int, str] | None:
    """Returns the last cause of a list of causes behind an error, as anyhow of Rust writes it."""
    start = next((n for n in range(index + 1, min(len(lines), index + 4)) if lines[n].strip() == "Caused by:"), None)
    if start is None:
        return None
    last = start
    while last + 1 < min(len(lines), start + 2 * _MAX_JOINED) and lines[last + 1].startswith(" "):
        last += 1
    return (last, re.sub(r"\A\d{1,3}: ", "", lines[last].strip())) if last > start else None


def _paragraph_after(lines: Sequence[str], index: int, header: str) -> tuple[int, list[str]]:
    """Returns the last index and the texts of the lines that a header announces."""
    parts, last = list[str](), index
    for place in range(index + 1, min(len(lines), index + 2 + _MAX_JOINED)):
        text, level = without_prefix(lines[place])
        if not any(character.isalnum() for character in text):
            if parts:
                break
            continue
        if level or is_frame(lines[place]) or is_frame(text) or len(parts) == _MAX_JOINED:
            break
        parts.append(text)
        last = place
        if "panicked at" in header:
            break
    return last, parts


def _wrapped_by_powershell(lines: Sequence[str], index: int) -> tuple[int, int] | None:
    """Returns the lines of a message that PowerShell wrapped, which ends before the place of the error."""
    end = next((n for n in range(index, min(len(lines), index + _MAX_WRAPPED)) if _AT_POWERSHELL.match(lines[n])), None)
    if end is None:
        return None
    for first in range(end - 1, max(-1, end - _MAX_WRAPPED), -1):
        if _BY_POWERSHELL.match(lines[first]):
            return first, end - 1
    return None

"""Lines of a task's output as a terminal would show them: without colours, overwritten progress bars and NULs."""

import re

MAX_CHARACTERS = 1 << 16
"""Of an output only so many last characters count."""
MAX_LINE = 2000
"""Of longer lines the begin and the end are kept, half of this each."""

# CSI and OSC sequences of ECMA-48, other escapes, and colours that lost their escape character
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,32}[ -/]{0,4}[@-~]?|\x1b\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)?|\x1b[ -/]{0,2}[0-~]?"
)
_BARE_COLOURS = re.compile(r"\[\d{1,3}(?:;\d{1,3}){0,4}m(?!\])")
_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160), 0xFEFF, 0xFFFD]) | {
    0x2028: " ",
    0x85: " ",
}
_SAYS_WHY = re.compile(r"error|fail|fatal|exception|cannot|not found|denied|killed|no such", re.IGNORECASE)


def cleaned_lines(text: str) -> list[str]:
    """Returns the lines of the last MAX_CHARACTERS; empty ones stay, and ends of lines lose their spaces."""
    text = text[-MAX_CHARACTERS:].replace("\0", "")
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    if "m" in text and "[" in text:
        text = _BARE_COLOURS.sub("", text)
    lines = text.replace("\r\n", "\n").translate(_CONTROLS).split("\n")
    return [_cut(part.rstrip()) for line in lines for part in _shown(line)]


def _shown(line: str) -> list[str]:
    """Returns what stays of a line whose begin was written anew: the last text, and earlier ones that say why."""
    if "\r" not in line:
        return [line]
    parts = [part for part in line.split("\r") if part.strip()]
    return [part for part in parts[:-1] if _SAYS_WHY.search(part)] + parts[-1:]


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE // 2]} … {line[-MAX_LINE // 2 :]}"

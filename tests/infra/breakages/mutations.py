"""Every small change of every line: the line left out, truth turned round, a number one more, a text one letter longer.

Nobody chose these, so they tell whether the rules see what they were not written for.
"""

import re
from collections.abc import Iterator

from tests.infra.breakages.planting import Breakage

_SKIPPED = ("//", "@description(")


def mutations(file: str, source: str) -> Iterator[Breakage]:
    """Breakages of a Bicep file; each replaces the whole text."""
    lines = source.splitlines(keepends=True)
    for place, line in enumerate(lines):
        if not line.strip() or line.strip().startswith(_SKIPPED):
            continue
        for change, changed in _changes(line):
            name = f"{file}:{place + 1}: {change}: {line.strip()}"
            yield Breakage(name, file, source, "".join([*lines[:place], changed, *lines[place + 1 :]]))


def _changes(line: str) -> Iterator[tuple[str, str]]:
    yield "left out", ""
    for word, other in (("true", "false"), ("false", "true")):
        if re.search(rf"\b{word}\b", line):
            yield f"{word} is {other}", re.sub(rf"\b{word}\b", other, line, count=1)
    for found in re.finditer(r"'([^'$]+)'", line):
        yield f"'{found[1]}' is longer", f"{line[: found.end() - 1]}x{line[found.end() - 1 :]}"
    for found in re.finditer(r"\b\d+\b", line) if "@20" not in line else ():
        yield f"{found[0]} is more", f"{line[: found.start()]}{int(found[0]) + 1}{line[found.end() :]}"

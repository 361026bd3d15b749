"""Parts of files, requested by the headers `ocp-range` and `Range`.

The status is 200 for `ocp-range`, since the official clients treat any other as an error, and 206 for `Range`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from local.batch_emulator.core.errors import BatchError, invalid_header

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `start` (inclusive) to `end` (exclusive), and the status of the response."""

    start: int
    end: int
    status: int

    def header(self, size: int) -> str:
        return f"bytes {self.start}-{self.end - 1}/{size}"


def requested_range(headers: Mapping[str, str], size: int) -> ByteRange | None:
    """Returns the requested part of `size` bytes, None for all. Raises BatchError: 400 or 416."""
    name = next((each for each in ("ocp-range", "range") if headers.get(each)), None)
    if name is None:
        return None
    found = _RANGE.fullmatch(headers[name].strip())
    if found is None or not any(found.groups()) or (all(found.groups()) and int(found[2]) < int(found[1])):
        raise invalid_header(name, headers[name])
    if found[1]:
        start, end = int(found[1]), min(int(found[2] or size), size - 1) + 1
    else:
        start, end = max(0, size - int(found[2])), size
    if start >= end:
        text = "The range specified is invalid for the current size of the resource."
        raise BatchError(416, "InvalidRange", text, {}, {"Content-Range": f"bytes */{size}"})
    return ByteRange(start, end, 206 if name == "range" else 200)

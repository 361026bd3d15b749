"""A leaf's column of ids: lines that deflate well, or the 16 bytes of each GUID, since GUIDs don't."""

from collections.abc import Iterable
from typing import Self, override

from shared.domain.core.keys import are_keys, keys_of
from shared.domain.packing.columns import Column
from shared.domain.packing.compression import deflated, inflated

_GUIDS = b"g"  # differs from the letters of `deflated`
_LINE = b"%08d-%04d-%04d-%04d-%012d\n" % (0, 0, 0, 0, 0)  # a GUID as text
_DIGITS = [place for place, letter in enumerate(_LINE) if letter == ord("0")]


class Ids(Column):
    """Ids without line breaks."""

    __slots__ = ()

    def __init__(self, values: Iterable[str] = (), packed: bytes | None = None) -> None:
        super().__init__(list(values), packed)

    @override
    def _pack(self) -> bytes:
        """Returns 16 bytes for each id where all are lower-case GUIDs, as random ones need that many; else lines."""
        lines = "".join([f"{name}\n" for name in self.values]).encode(errors="surrogatepass")
        return _packed_guids(lines) or deflated(lines)

    @classmethod
    def unpack(cls, packed: bytes, count: int) -> tuple[Self, list[str]]:
        """Returns the column of a stored form, and the ids' table keys.

        Raises ValueError or zlib.error where `packed` isn't `count` ids.
        """
        lines = _guid_lines(packed[1:]) if packed[:1] == _GUIDS else inflated(packed)
        values = lines.decode(errors="surrogatepass").split("\n")
        if values.pop() or len(values) != count:
            raise ValueError(f"{len(values)} lines are no {count} ids")
        return cls(values, packed), values.copy() if are_keys(lines) else keys_of(values)


def _packed_guids(lines: bytes) -> bytes:
    """Returns the lines' packed GUIDs, or no bytes where any line isn't a GUID in its exact lower-case form."""
    count, rest = divmod(len(lines), len(_LINE))
    if rest or not count:
        return b""
    digits = bytearray(count * len(_DIGITS))
    for place, column in enumerate(_DIGITS):
        digits[place :: len(_DIGITS)] = lines[column :: len(_LINE)]
    try:
        raw = bytes.fromhex(digits.decode())
    except ValueError:
        return b""
    return _GUIDS + raw if len(raw) == count * 16 and _guid_lines(raw) == lines else b""


def _guid_lines(raw: bytes) -> bytes:
    count, rest = divmod(len(raw), 16)
    if rest:
        raise ValueError(f"{rest} bytes are no GUID")
    digits, lines = raw.hex().encode(), bytearray(_LINE * count)
    for place, column in enumerate(_DIGITS):
        lines[column :: len(_LINE)] = digits[place :: len(_DIGITS)]
    return bytes(lines)

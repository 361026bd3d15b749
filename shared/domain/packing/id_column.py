"""A leaf's column of ids: lines that deflate well, or the 16 bytes of each GUID, since GUIDs don't."""

from collections.abc import Iterable, Sequence
from typing import Any

from shared.domain.core.keys import are_keys, keys_of
from shared.domain.packing.columns import Order, deflated, inflated, replaced

_GUIDS = b"g"  # differs from the letters of `deflated`
_LINE = b"%08d-%04d-%04d-%04d-%012d\n" % (0, 0, 0, 0, 0)  # a GUID as text
_DIGITS = [place for place, letter in enumerate(_LINE) if letter == ord("0")]


class Ids:
    """Ids without line breaks."""

    __slots__ = ("_are_keys", "_packed", "values")

    def __init__(self, values: Iterable[str] = (), packed: bytes | None = None) -> None:
        self.values = list(values)
        self._packed = packed
        self._are_keys = False  # as far as is known

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)

    def __getitem__(self, at: int) -> str:
        return self.values[at]

    def keys(self) -> list[str]:
        """Returns the ids' table keys."""
        return self.values.copy() if self._are_keys else keys_of(self.values)

    def update(self, places: Sequence[int], new: Sequence[str]) -> bool:
        if not replaced(self.values, places, list(new)):
            return False
        self._packed, self._are_keys = None, False
        return True

    def insert(self, at: int, new: Sequence[str]) -> None:
        self.values[at:at] = new
        self._packed, self._are_keys = None, False

    def reorder(self, order: Order) -> None:
        self.values = list(order(self.values))
        self._packed = None

    def part(self, start: int, stop: int) -> "Ids":
        return Ids(self.values[start:stop])

    def pack(self) -> bytes:
        """Returns 16 bytes for each id where all are lower-case GUIDs, as random ones need that many; else lines."""
        if self._packed is None:
            lines = "".join([f"{name}\n" for name in self.values]).encode(errors="surrogatepass")
            self._packed = _packed_guids(lines) or deflated(lines)
        return self._packed

    @classmethod
    def unpack(cls, packed: bytes, count: int) -> "Ids":
        """Returns the column of a stored form. Raises ValueError or zlib.error where `packed` isn't `count` ids."""
        lines = _guid_lines(packed[1:]) if packed[:1] == _GUIDS else inflated(packed)
        values = lines.decode(errors="surrogatepass").split("\n")
        if values.pop() or len(values) != count:
            raise ValueError(f"{len(values)} lines are no {count} ids")
        ids = cls(values, packed)
        ids._are_keys = are_keys(lines)
        return ids


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

"""A leaf's dictionary-encoded column, for values with few distinct ones: each once, and an index per row."""

import json
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from shared.domain.packing.columns import IntegerColumn, Order, deflated, inflated

_BYTE, _MAX = 256, 1 << 63
_FEW = 200  # bytes up to which unpacked words are cached


class DictionaryColumn:
    """A dictionary-encoded column of strings, integers, None, or pairs of strings."""

    __slots__ = ("_kinds", "_number_of", "_numbers", "_packed", "_words")

    def __init__(self, kinds: tuple[type, ...], values: Iterable[Any] = ()) -> None:
        """Values are of `kinds`: a tuple has two strings, an integer at most 64 bits. Raises TypeError."""
        self._kinds = kinds
        self._words: list[Any] = []
        self._number_of: dict[Any, int] = {}
        self._packed = b""
        self._numbers = IntegerColumn("i", self._numbered(list(values)))

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Any:
        return map(self._words.__getitem__, self._numbers)

    def __getitem__(self, at: int) -> Any:
        return self._words[self._numbers[at]]

    def coded(self) -> tuple[list[Any], "array[int]"]:
        """Returns the words, some of which may be unused, and for each row the index of its word."""
        return self._words, self._numbers.values

    def update(self, places: Sequence[int], new: Sequence[Any]) -> bool:
        return self._numbers.update(places, self._numbered(new))

    def insert(self, at: int, new: Sequence[Any]) -> None:
        self._numbers.insert(at, self._numbered(new))

    def reorder(self, order: Order) -> None:
        self._numbers.reorder(order)

    def part(self, start: int, stop: int) -> "DictionaryColumn":
        return DictionaryColumn._with(self._kinds, self._words, self._numbers.part(start, stop))

    def pack(self) -> bytes:
        """Returns the stored form. It drops unused words, so that a leaf doesn't grow with its past."""
        if not (self._packed and self._numbers.is_packed):
            self._drop_unused()
        if not self._packed:
            self._packed = deflated(json.dumps(self._words, separators=(",", ":")).encode())
        return len(self._packed).to_bytes(4, "little") + self._packed + self._numbers.pack()

    def _drop_unused(self) -> None:
        used = _used(self._numbers.values, len(self._words))
        if len(used) < len(self._words):
            place_of = {number: place for place, number in enumerate(used)}
            self._numbers = IntegerColumn("i", map(place_of.__getitem__, self._numbers.values))
            self._words = [self._words[number] for number in used]
            self._number_of = {word: number for number, word in enumerate(self._words)}
            self._packed = b""

    @classmethod
    def unpack(cls, kinds: tuple[type, ...], packed: bytes, count: int) -> "DictionaryColumn":
        """Returns the column of a stored form.

        Raises ValueError, LookupError, TypeError or zlib.error where `packed` isn't `count` words of those kinds.
        """
        size = int.from_bytes(packed[:4], "little")
        if len(packed) < 4 + size:
            raise ValueError("words are cut short")
        words = _words_of(kinds, packed[4 : 4 + size])
        numbers = IntegerColumn.unpack("i", packed[4 + size :], count)
        if not _all_under(numbers.values[:1] if numbers.is_steady else numbers.values, len(words)):
            raise ValueError("a word is missing")
        return cls._with(kinds, words, numbers, packed[4 : 4 + size])

    @classmethod
    def _with(
        cls, kinds: tuple[type, ...], words: Sequence[Any], numbers: IntegerColumn, packed: bytes = b""
    ) -> "DictionaryColumn":
        made = cls(kinds)
        made._words, made._numbers, made._packed = list(words), numbers, packed
        made._number_of = {word: number for number, word in enumerate(words)}
        return made

    def _numbered(self, values: Sequence[Any]) -> list[int]:
        """Returns the index of each value, adding new words. Raises TypeError for a value of another kind."""
        number_of = self._number_of
        for value in dict.fromkeys(values):
            if value in number_of:
                continue
            if not _is_of(value, self._kinds):
                raise TypeError(f"{value!r} is of none of {self._kinds}")
            number_of[value] = len(self._words)
            self._words.append(value)
            self._packed = b""
        return [number_of[value] for value in values]


def _words_of(kinds: tuple[type, ...], packed: bytes) -> tuple[Any, ...]:
    """Returns the words of a stored form. Raises ValueError, TypeError or zlib.error."""
    return (_few_words if len(packed) <= _FEW else _unpacked_words)(kinds, packed)


def _unpacked_words(kinds: tuple[type, ...], packed: bytes) -> tuple[Any, ...]:
    words = json.loads(inflated(packed))
    if tuple in kinds:
        words = [tuple(word) for word in words]
    are_of_kinds = _are_pairs(words) if kinds == (tuple,) else all(_is_of(word, kinds) for word in words)
    if not are_of_kinds or len(set(words)) != len(words):
        raise ValueError("words are of another kind, or there twice")
    return tuple(words)


_few_words = lru_cache(maxsize=256)(_unpacked_words)  # most leaves have the same few exit codes, slots and failures


def _is_of(word: Any, kinds: tuple[type, ...]) -> bool:
    match word:
        case tuple():
            return tuple in kinds and [str, str] == [*map(type, word)]
        case int():
            return type(word) in kinds and -_MAX <= word < _MAX
    return type(word) in kinds


def _are_pairs(words: Sequence[Any]) -> bool:
    return set(map(len, words)) <= {2} and set(map(type, chain.from_iterable(words))) <= {str}


def _used(numbers: "array[int]", words: int) -> list[int]:
    """Returns the indexes below `words` that occur, quickly where `words` is at most 256."""
    if words > _BYTE:
        return sorted(set(numbers))
    low = numbers.tobytes()[::4]
    return [number for number in range(words) if number in low]


def _all_under(numbers: "array[int]", limit: int) -> bool:
    """Returns whether all 32-bit numbers are from 0 to below the limit, quickly where that is at most 256."""
    raw = numbers.tobytes()
    high = raw[1::4] + raw[2::4] + raw[3::4]
    if limit <= _BYTE and high.count(0) == len(high):
        return not raw[::4].translate(None, bytes(range(limit)))
    return all(0 <= number < limit for number in set(numbers))

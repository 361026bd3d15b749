"""The corpus of the redaction bench at all offsets: a part of a file shows what the whole file shows there.

That is the contract: a part is equal, byte for byte, to the same slice of the whole with its secrets masked. So it
hides neither less nor more, wherever it begins and ends, wherever cells of the search meet, and where a kept tail
begins.
"""

from collections.abc import Iterator
from functools import cache

import pytest

from bench.redaction import Sample, samples
from shared.domain.files import file_parts
from shared.domain.files.file_parts import Part, last_part, part_from, shown_part
from shared.domain.outputs.kept_outputs import TAIL, KeptTail
from shared.domain.redaction.masking import masked
from tests.profiles import share_of

_BEFORE, _AFTER = b"starting part 7 of 12\nread 250 rows\n", b"\nwrote 250 rows\nall is done\n"
_LINE = b"read 250 rows of part 7\n"
_NEAR = 3  # bytes before and behind a secret
_CELL = 64  # bytes, as the search takes most of the time of these tests
SAMPLES = samples()


def _shown(file: bytes, wanted: Part) -> bytes:
    read = wanted.with_context(len(file))
    return shown_part(file[read.start : read.end], read, wanted, grows=False)


def _places(file: bytes, sample: Sample) -> Iterator[Part]:
    """Yields where each secret of a sample is in a file."""
    for secret in map(str.encode, sample.secrets):
        begin = file.index(secret)
        yield Part(begin, begin + len(secret))


def _pieces(sample: Sample) -> set[bytes]:
    """Returns all halves of the secrets of a sample."""
    halves = set[bytes]()
    for secret in map(str.encode, sample.secrets):
        size = max(4, len(secret) // 2)
        halves |= {secret[start : start + size] for start in range(len(secret) - size + 1)}
    return halves


@pytest.fixture
def _each_cell_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the masked cells of a file, which are the same for all of its parts."""
    monkeypatch.setattr(file_parts, "masked", cache(masked))


@pytest.mark.usefixtures("_each_cell_is_searched_once")
def test_parts_that_begin_and_end_anywhere_in_a_secret_are_slices_of_the_masked_whole() -> None:
    for sample in share_of(SAMPLES, 40):
        file = _BEFORE + sample.text.encode() + _AFTER
        whole = masked(file)
        assert not any(piece in whole for piece in _pieces(sample)), sample.text
        for place in _places(file, sample):
            for begin in range(place.start - _NEAR, place.end + _NEAR + 1):
                assert _shown(file, last_part(len(file) - begin, len(file))) == whole[begin:], (begin, sample.text)
                for end in share_of(range(begin, place.end + _NEAR + 1), 3):
                    assert _shown(file, part_from(begin, end - begin, len(file))) == whole[begin:end], sample.text


@pytest.mark.usefixtures("_each_cell_is_searched_once")
def test_a_file_read_in_chunks_of_any_size_is_the_masked_whole() -> None:
    """Whoever reads on asks for chunk after chunk; a border of them falls on every byte of each secret."""
    for sample in share_of(SAMPLES, 80):
        file = _BEFORE + sample.text.encode() + _AFTER
        whole = masked(file)
        for size in range(1, len(file) + 1):
            chunks = [_shown(file, part_from(begin, size, len(file))) for begin in range(0, len(file), size)]
            assert b"".join(chunks) == whole, (size, sample.text)


def test_a_border_of_cells_on_any_byte_of_a_secret_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search begins anew in each cell; what it finds is the same as long as the context reaches far enough."""
    monkeypatch.setattr(file_parts, "CELL", _CELL)
    for sample in share_of(SAMPLES, 150):
        text = sample.text.encode()
        context = -(-(len(text) + len(_LINE)) // _CELL) * _CELL
        monkeypatch.setattr(file_parts, "CONTEXT", context)
        whole, after = masked(_LINE + text + b"\n" + _LINE), _LINE * (context // len(_LINE) + 3)
        for place in _places(text, sample):
            for border in range(place.start - 1, place.end + 2):
                begin = context + 2 * _CELL - border
                file = (_LINE * (begin // len(_LINE) + 1))[-begin:] + text + b"\n" + after
                shown = _shown(file, Part(begin + place.start, begin + place.end))
                assert shown == whole[len(_LINE) :][place.start : place.end], (border, sample.text)


@pytest.mark.usefixtures("_each_cell_is_searched_once")
def test_a_kept_tail_that_begins_on_any_byte_of_a_secret_is_a_slice_of_the_masked_whole() -> None:
    for sample in share_of(SAMPLES, 150):
        file = _BEFORE + sample.text.encode() + _AFTER
        whole = masked(file)
        for place in _places(file, sample):
            for cut in range(place.start - 1, place.end + 1):
                part = last_part(len(file) - cut, len(file))
                kept = KeptTail(len(file), part.start, _shown(file, part))
                assert kept.content == whole[cut:], (cut, sample.text)
                for begin in range(len(file)):
                    start, content = kept.within(part_from(begin, 9, len(file)))
                    assert content == whole[max(begin, cut) : max(begin + 9, cut)], (cut, begin, sample.text)
                    assert start == max(begin, cut)


def test_tails_as_long_as_those_that_are_kept_hold_no_half_of_a_secret() -> None:
    """The cells are those of the app; the tail begins before, within and behind each secret."""
    for sample in share_of(SAMPLES[::100], 12):
        file = _BEFORE + sample.text.encode()
        whole = masked(file)
        for place in _places(file, sample):
            for cut in (place.start, (place.start + place.end) // 2, place.end - 1):
                rest = b"\n" * (TAIL - len(file) + cut)
                assert _shown(file + rest, last_part(TAIL, len(file + rest))) == whole[cut:] + rest, (cut, sample.text)

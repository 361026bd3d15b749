"""Contents of files: every range is a part of the whole, in every form, at any size."""

import re
from itertools import combinations_with_replacement

import pytest

from local.batch_emulator.contents.content import Content, FixedContent, join
from local.batch_emulator.contents.forms import FORMS, generate
from local.batch_emulator.contents.log_lines import CHARSETS, LogLines
from local.batch_emulator.core.stamps import SECOND

_MOMENT = 1_767_600_000 * SECOND


def whole(content: Content) -> bytes:
    return content.read(0, content.size)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 255, 256, 5_000, 150_001])
def test_every_range_is_a_part_of_the_whole(form: str, size: int) -> None:
    content = generate(form, size, "seed", _MOMENT)
    text = whole(content)
    assert len(text) == content.size == (max(2, size // 2 * 2) if size and form == "utf-16" else size)
    step = max(1, content.size // 23)
    borders = sorted({*range(0, content.size, step), *range(max(0, content.size - 5), content.size + 1), 0})
    for start, end in combinations_with_replacement(borders, 2):
        assert content.read(start, end) == text[start:end]


@pytest.mark.parametrize("form", FORMS)
def test_equal_seeds_give_equal_contents_and_others_give_others(form: str) -> None:
    first, second = (whole(generate(form, 4_000, seed, _MOMENT)) for seed in ("one", "two"))
    assert first == whole(generate(form, 4_000, "one", _MOMENT))
    assert first != second


@pytest.mark.parametrize("form", FORMS)
def test_a_part_of_a_huge_file_can_be_read_alone(form: str) -> None:
    content = generate(form, 8 << 40, "seed", _MOMENT)
    part = content.read((5 << 40) + 1, (5 << 40) + 100_001)
    assert len(part) == 100_000
    assert content.read((5 << 40) + 50_001, (5 << 40) + 50_101) == part[50_000:50_100]


def test_text_forms_are_in_their_encoding_and_binary_ones_in_none() -> None:
    def content(form: str) -> bytes:
        return whole(generate(form, 1 << 20, "seed", _MOMENT))

    assert content("text").isascii()
    assert not content("utf-8").isascii()
    assert content("utf-8").rpartition(b"\n")[0].decode("utf-8")
    assert "ö" in content("latin-1").decode("latin-1")
    with pytest.raises(UnicodeDecodeError):
        content("latin-1").decode("utf-8")
    assert content("utf-16").decode("utf-16").isascii()
    assert content("zip").startswith(b"PK\x03\x04")
    with pytest.raises(UnicodeDecodeError):
        content("bytes").decode("utf-8")


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_log_has_as_many_lines_as_it_says_each_with_its_time(charset: str) -> None:
    log = LogLines("seed", _MOMENT, SECOND / 4, 7, 300, charset)
    lines = whole(log).decode("utf-8" if charset == "ascii" else charset).splitlines()
    assert len(lines) == 293
    assert all(re.match(r"2026-01-05T\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARN) \w+: ", line) for line in lines)
    assert lines == sorted(lines, key=lambda line: line[:24])
    assert len({len(line) for line in lines}) > 10


def test_the_parts_of_a_log_are_parts_of_its_text() -> None:
    text = whole(LogLines("seed", _MOMENT, SECOND, 0, 50))
    parts = [whole(LogLines("seed", _MOMENT, SECOND, first, first + 5)) for first in range(0, 50, 5)]
    assert b"".join(parts) == text


def test_joined_contents_are_read_over_their_borders() -> None:
    content = join([FixedContent(b"abc"), FixedContent(b""), FixedContent(b"defg"), FixedContent(b"h")])
    assert content.size == 8
    for start in range(9):
        for end in range(start, 9):
            assert content.read(start, end) == b"abcdefgh"[start:end]
    assert whole(join([])) == b""

"""Files that are followed while they grow: no part shows what the whole file hides once it is written."""

from bench.redaction import samples
from shared.domain.files.file_parts import CONTEXT, Part, part_from, shown_part
from shared.domain.redaction.masking import masked
from tests.profiles import share_of

_BEFORE, _AFTER = b"starting part 7 of 12\nread 250 rows\n", b"\nwrote 250 rows\nall is done\n"
ON_A_LINE = [sample for sample in samples() if len(sample.text.splitlines()) == 1]


def _shown(file: bytes, start: int = 0) -> bytes:
    wanted = part_from(start, len(file), len(file))
    read = wanted.with_context(len(file))
    return shown_part(file[read.start : read.end], read, wanted, grows=True)


def test_a_file_that_grows_byte_by_byte_shows_what_the_whole_shows() -> None:
    """Words behind a secret may make it one: `echo … | docker login --password-stdin`, `{"value": …, "name": …}`."""
    assert len(ON_A_LINE) > 3_500
    for sample in share_of(ON_A_LINE, 100):
        file = _BEFORE + sample.text.encode() + _AFTER
        whole = masked(file)
        for size in range(len(_BEFORE), len(file) + 1):
            assert whole.startswith(_shown(file[:size])), (size, sample.text)
        assert _shown(file) == whole


def test_a_line_waits_until_it_ends_and_a_long_one_shows_all_but_its_end() -> None:
    line = b"word " * (CONTEXT // 4)
    assert _shown(b"one\ntwo") == b"one\n"
    assert _shown(b"10 %\r20 %") == b"10 %\r"
    assert _shown(line[:CONTEXT]) == b""
    assert _shown(line) == line[:-CONTEXT]
    assert _shown(b"one\n" + line[: CONTEXT + 9]) == b"one\n" + line[:9]
    assert _shown(line + b"\n") == line + b"\n"
    assert Part(4, 4) == part_from(len(_shown(b"one\ntwo")), 9, 4)


def test_a_secret_at_the_end_of_a_long_line_waits_for_the_words_behind_it() -> None:
    line = b"word " * CONTEXT + b"; echo Tr0ub4dor-and-3 | docker login --password-stdin"
    whole = masked(line)
    assert b"Tr0ub4dor" not in whole
    for size in range(len(line) - 60, len(line) + 1):
        assert whole.startswith(_shown(line[:size]))


def test_a_part_that_ends_just_before_the_end_of_a_growing_file_waits_too() -> None:
    file = b"one\necho Tr0ub4dor-and-3"
    for length in range(len(file) + 1):
        wanted = Part(0, length)
        shown = shown_part(file, wanted.with_context(len(file)), wanted, grows=True)
        assert b"one\n".startswith(shown)

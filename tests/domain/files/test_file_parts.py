import zlib
from itertools import count

import pytest

from bench.redaction import clean_lines, samples
from shared.domain.files import file_parts
from shared.domain.files.file_parts import MAX_PART, Part, encoding_of, last_part, part_from, shown_part
from shared.domain.redaction.masking import masked
from shared.domain.redaction.redaction import redacted

_SECRET = "Tr0ub4dor-and-3"
CELL, CONTEXT = 2048, 1024  # small ones, as the search for secrets takes most of the time of these tests


@pytest.fixture(autouse=True)
def _small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_parts, "CELL", CELL)
    monkeypatch.setattr(file_parts, "CONTEXT", CONTEXT)


def _log(size: int) -> bytes:
    """Returns lines of a log; every fifth has a secret of the redaction bench."""
    clean, secret = clean_lines(), [sample.text.replace("\n", " ") for sample in samples()]
    lines = (secret[at * 83 % len(secret)] if at % 5 == 0 else clean[at * 31 % len(clean)] for at in count())
    file = b""
    while len(file) < size:
        file += f"{next(lines)}\n".encode()
    return file


def _shown(file: bytes, wanted: Part, *, grows: bool = False) -> bytes:
    read = wanted.with_context(len(file))
    return shown_part(file[read.start : read.end], read, wanted, grows=grows)


def test_masking_keeps_the_length_and_every_other_byte() -> None:
    text = f"start\npassword={_SECRET} é \udcff end".encode(errors="surrogateescape")
    assert masked(text) == text.replace(_SECRET.encode(), b"*" * len(_SECRET))


def test_what_masking_hides_is_what_redaction_takes_out() -> None:
    for sample in samples()[::10]:
        hidden = masked(sample.text.encode()).decode()
        assert len(hidden.encode()) == len(sample.text.encode())
        assert (hidden == sample.text) == (redacted(sample.text) == sample.text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_secrets_are_masked_in_texts_of_two_bytes_a_sign(encoding: str) -> None:
    text = f"password={_SECRET} end 🚀".encode(encoding)
    assert encoding_of(text * 9) == encoding
    assert masked(text).decode(encoding) == f"password={'*' * len(_SECRET)} end 🚀"
    assert masked(text[:-1])[-1:] == text[-2:-1]


def _mixed(wide: str) -> bytes:
    """Returns a file to which a shell of Windows writes UTF-16 and programs write UTF-8, also from odd bytes on."""
    line = f"password={_SECRET} is used in part 7 of 12\n"
    narrow, broad = line.encode(), line.encode(wide)
    return narrow * 200 + broad + b"x\n" + broad + b"x\n" + broad * 20 + narrow * 3 + broad * 2 + narrow * 40


@pytest.mark.parametrize("wide", ["utf-16-le", "utf-16-be"])
def test_secrets_are_masked_in_files_of_two_encodings(wide: str) -> None:
    file = _mixed(wide)
    shown = _shown(file, Part(0, len(file)))
    assert len(shown) == len(file)
    for encoding in ("utf-8", wide):
        assert _SECRET.encode(encoding) not in shown
        assert shown.count("password=***".encode(encoding)) == file.count("password=Tr0".encode(encoding))
        assert shown.count(" is used".encode(encoding)) == file.count(" is used".encode(encoding))


@pytest.mark.parametrize("wide", ["utf-16-le", "utf-16-be"])
def test_every_part_of_a_file_of_two_encodings_is_text_and_shows_what_the_whole_shows(wide: str) -> None:
    file = _mixed(wide)
    whole = _shown(file, Part(0, len(file)))
    for start in range(0, len(file), 251):
        wanted = part_from(start, 150, len(file))
        read = wanted.with_context(len(file))
        assert encoding_of(file[read.start : read.end]), start
        assert _shown(file, wanted) == whole[wanted.start : wanted.end], start


def test_a_part_that_begins_anywhere_shows_what_the_whole_file_shows() -> None:
    file = _log(20 * CELL)
    whole = _shown(file, Part(0, len(file)))
    assert len(whole) == len(file)
    assert whole != file
    starts = {*range(CELL - 300, CELL + 300, 7), *range(0, len(file), 797), 0, len(file)}
    for start in starts:
        wanted = part_from(start, (1, 70, 5000, CELL)[start % 4], len(file))
        assert _shown(file, wanted) == whole[wanted.start : wanted.end], wanted


def test_a_secret_across_the_border_of_cells_is_hidden_at_every_offset() -> None:
    line = f"\nrun --password {_SECRET} --verbose\n".encode()
    for shift in range(len(line)):
        file = (b"a word and " * CELL)[: CELL - shift] + line + b"more " * CONTEXT
        for start in (0, CELL - len(line), CELL - 3, CELL, CELL + 3):
            assert b"0ub4" not in _shown(file, part_from(start, 2 * len(line) + CELL, len(file)))


def test_a_growing_file_read_by_offset_never_shows_half_a_token() -> None:
    file = f"begin\nexport TOKEN_FILE=x ghp_{'a1B2' * 9} then\npassword='my {_SECRET} x' end ".encode()
    whole = _shown(file, Part(0, len(file)))
    for cut in range(len(file) + 1):
        shown = _shown(file[:cut], Part(0, cut), grows=True)
        differing = {chr(one) for one, other in zip(shown, whole, strict=False) if one != other}
        assert differing <= {"'", " "}, (cut, shown)
        assert _shown(file, part_from(len(shown), MAX_PART, len(file))) == whole[len(shown) :]


def test_the_last_line_of_a_file_that_has_ended_is_shown() -> None:
    assert _shown(b"exit code 137", Part(0, 13)) == b"exit code 137"
    assert _shown(b"exit\ncode 137", Part(0, 13), grows=True) == b"exit\n"
    assert _shown(b"137", Part(0, 3), grows=True) == b""


def test_parts_stay_within_the_file_and_the_bound_of_an_answer() -> None:
    assert part_from(10, 5, 12) == Part(10, 12)
    assert part_from(20, 5, 12) == Part(12, 12)
    assert part_from(0, 2 * MAX_PART, 3 * MAX_PART) == Part(0, MAX_PART)
    assert last_part(5, 3) == Part(0, 3)
    assert last_part(5, 30) == Part(25, 30)
    assert last_part(2 * MAX_PART, 3 * MAX_PART) == Part(2 * MAX_PART, 3 * MAX_PART)
    assert _shown(b"", Part(0, 0), grows=True) == b""


def test_a_file_that_was_cut_between_two_requests_shows_what_is_left() -> None:
    wanted = Part(2, 12)
    assert shown_part(b"begin", wanted.with_context(12), wanted, grows=False) == b"gin"
    assert shown_part(b"", wanted.with_context(12), wanted, grows=False) == b""


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"", "utf-8"),
        ("Zeilen mit Umlauten: äöü\n".encode() * 40, "utf-8"),
        ("Zeilen mit Umlauten: äöü\n".encode("latin-1") * 40, "utf-8"),
        ("Ende é".encode()[:-1], "utf-8"),
        (b"a log with one odd byte \x00 in it\n", "utf-8"),
        (b"\x1b[32mok\x1b[0m 50 %\r" * 9, "utf-8"),
        ("日本語のログ\n".encode() * 9, "utf-8"),
        ("text of Windows\r\n".encode("utf-16-le") * 9, "utf-16-le"),
        (bytes(range(256)) * 9, None),
        (b"\x7fELF\x02\x01\x01" + b"\x00" * 90, None),
        (zlib.compress("".join(clean_lines()[:99]).encode()), None),
    ],
)
def test_text_is_recognised_by_all_of_its_bytes(content: bytes, encoding: str | None) -> None:
    assert encoding_of(content) == encoding

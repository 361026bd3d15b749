import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.decode.line_grammar import read_record
from shared.domain.telemetry.decode.line_protocol import PlainLines
from shared.domain.telemetry.records.bounds import MAX_STRING
from shared.domain.telemetry.records.metrics import Metric, TextError
from tests.domain.telemetry.support.reading import NS, plain, read, record

VALID = {
    "m f=1 5": Metric("m", {}, {"f": 1.0}, 5),
    "m,a=b,c=d f=1i,g=2u 5": Metric("m", {"a": "b", "c": "d"}, {"f": 1, "g": 2}, 5),
    "m f=t,g=F,h=true,i=FALSE": Metric("m", {}, {"f": True, "g": False, "h": True, "i": False}, None),
    "m f=-.5,g=1.,h=1e3,i=-2E-2 -7": Metric("m", {}, {"f": -0.5, "g": 1.0, "h": 1000.0, "i": -0.02}, -7),
    'm f="a,b c=d" 1': Metric("m", {}, {"f": "a,b c=d"}, 1),
    'm f="two\nlines" 1': Metric("m", {}, {"f": "two\nlines"}, 1),
    r'm f="a\"b\\c\nd\x"': Metric("m", {}, {"f": 'a"b\\c\\nd\\x'}, None),
    r"m\ a\,b,t\=1=v\ 2 f\ g=1": Metric("m a,b", {"t=1": "v 2"}, {"f g": 1.0}, None),
    r"m,t=a\b f=1": Metric("m", {"t": r"a\b"}, {"f": 1.0}, None),
    'm,t="q" f=1': Metric("m", {"t": '"q"'}, {"f": 1.0}, None),
    "m f=1 5\r": Metric("m", {}, {"f": 1.0}, 5),
    "  m   f=1   5  ": Metric("m", {}, {"f": 1.0}, 5),
    "größe,ort=köln f=1 1": Metric("größe", {"ort": "köln"}, {"f": 1.0}, 1),
    "m f=9223372036854775807i,g=18446744073709551615u": Metric("m", {}, {"f": 2**63 - 1, "g": 2**64 - 1}, None),
    "m f=1,f=2": Metric("m", {}, {"f": 2.0}, None),
}
INVALID = {
    b"m": (1, "a comma or a space is expected behind the name and its tags"),
    b"m ": (2, "a field's name is expected"),
    b",a=b f=1": (0, "a measurement's name is expected"),
    b"m,=b f=1": (2, "a tag's name is expected"),
    b"m,a f=1": (3, "an equals sign is expected"),
    b"m,a= f=1": (4, "a tag's value is expected"),
    b"m,a=b,a=c f=1": (6, "a tag is given twice"),
    b"m f": (3, "an equals sign is expected"),
    b"m f=": (4, "a field's value is of no known kind"),
    b"m f=nan": (4, "a field's value is of no known kind"),
    b"m f=1_0": (5, "the end of the line is expected"),
    b"m f=+1": (4, "a field's value is of no known kind"),
    b"m f=-1u": (6, "the end of the line is expected"),
    b"m f=1x 5": (5, "the end of the line is expected"),
    b'm f="a': (4, "a closing quote is expected"),
    b"m f=1e999": (4, "a number is out of range"),
    b"m f=9223372036854775808i": (4, "a number is out of range"),
    b"m f=18446744073709551616u": (4, "a number is out of range"),
    b"m f=1 9223372036854775808": (6, "the time is out of range"),
    b"m f=1 5 6": (7, "the end of the line is expected"),
    b"m g=2\r,f=1": (5, "the end of the line is expected"),
    b"m f=1,": (6, "a field's name is expected"),
    b"m\xff f=1": (1, "a text is no valid UTF-8"),
    b'm f="\xff"': (5, "a text is no valid UTF-8"),
    b"m,t=\xc3 f=1": (4, "a text is no valid UTF-8"),
    b"m\x01 f=1": (1, "a comma or a space is expected behind the name and its tags"),
}


@pytest.mark.parametrize("line", VALID, ids=repr)
def test_a_valid_line_gives_its_record(line: str) -> None:
    wanted = VALID[line]
    assert plain([record(line), record(line + "\n")]) == plain([wanted, wanted])


@pytest.mark.parametrize("line", INVALID, ids=repr)
def test_an_invalid_line_is_rejected_with_a_place_and_the_next_one_is_read(line: bytes) -> None:
    found = read(line + b"\nok f=1 5\n")
    assert [(one.start, one.end, one.position, one.reason) for one in found.mistakes] == [
        (0, len(line), *INVALID[line])
    ]
    assert found.metrics == [Metric("ok", {}, {"f": 1.0}, 5)]


def test_comments_and_blank_lines_are_no_records() -> None:
    assert read(b"# one\n\n  \r\n  # two\nm f=1\n#").metrics == [Metric("m", {}, {"f": 1.0}, None)]


def test_a_string_that_never_ends_costs_one_line_only() -> None:
    found = read(b'm f="' + b"a" * (MAX_STRING + 1) + b'"\nn f="b\nok f=1 5\n')
    assert [(one.position, one.reason) for one in found.mistakes] == [
        (4, f"a quoted string doesn't end within {MAX_STRING:,} bytes"), (4, "a closing quote is expected"),
    ]  # fmt: skip
    assert found.metrics == [Metric("ok", {}, {"f": 1.0}, 5)]
    assert len(record(f'm f="{"a" * MAX_STRING}"').fields["f"]) == MAX_STRING  # type: ignore[arg-type]


def test_numbers_of_absurd_length_are_refused_at_once() -> None:
    digits = b"9" * 1_000_000
    found = read(b"m f=%bi\nm f=1 %b\nm f=%bu 1\n" % (digits, digits, digits))
    assert [one.reason for one in found.mistakes] == [
        "a number is out of range", "the time is out of range", "a number is out of range",
    ]  # fmt: skip


def test_a_series_that_changes_its_fields_is_read_on() -> None:
    lines = b"m,t=a f=1,g=2i 1\nm,t=a f=3i,g=t 2\nm,t=a g=4i 3\nm,t=a f=5,g=6i 4\n"
    assert [one.fields for one in read(lines).metrics] == [
        {"f": 1.0, "g": 2}, {"f": 3, "g": True}, {"g": 4}, {"f": 5.0, "g": 6},
    ]  # fmt: skip


@pytest.mark.parametrize("more", ["", ',s="quoted"'], ids=["plain", "with a text"])
def test_fields_have_one_order_regardless_of_the_written_one(more: str) -> None:
    fields = ["a=1", "a-b=2i", "a.b=3", "ab=t", "é=5", "A=-6.5"]
    lines = [f"m,t=x {','.join(some)}{more} {at}\n" for at, some in enumerate(permutations(fields))]
    found = read("".join(lines).encode())
    assert not found.mistakes
    assert len({tuple(one.fields.items()) for one in found.metrics}) == 1
    assert [one.time for one in found.metrics] == [*range(720)]
    assert dict(found.metrics[-1].fields) == record(lines[0]).fields


WORDS = st.sampled_from(["m", "a.b", "load1", "x-1", "t", "1", "é", "a\\ b", "{", "i"])
VALUES = st.one_of(
    st.integers(-(2**64), 2**65).map(lambda number: f"{number}i"),
    st.integers(-5, 2**65).map(lambda number: f"{number}u"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["t", "T", "false", "TRUE", "tru", "1.", ".5", "-", "1e5", "nan", '"s"', '"a\\"b"', "0x1", "1_0"]),
)
LINES = st.builds(
    lambda name, tags, fields, stamp, end: f"{name}{tags} {fields}{stamp}{end}",
    WORDS,
    st.lists(st.tuples(WORDS, WORDS), max_size=2).map(lambda pairs: "".join(f",{key}={value}" for key, value in pairs)),
    st.lists(st.tuples(WORDS, VALUES, st.sampled_from(["", "", "\r"])), min_size=1, max_size=3).map(
        lambda parts: ",".join(f"{key}={value}{end}" for key, value, end in parts)
    ),
    st.sampled_from(["", " 1", " -5", " 1713204200000000000", " 9999999999999999999", " 1 ", "  2", " x"]),
    st.sampled_from(["", "\r"]),
)


@given(st.lists(LINES, min_size=1, max_size=4))
def test_the_quick_way_never_says_other_than_the_grammar(lines: list[str]) -> None:
    for line in lines * 2:
        text = line.encode() + b"\n"
        quick: list[Metric] = []
        if PlainLines(NS).read_run(text.decode("latin-1"), 0, quick) == 0:
            continue
        slow, end = read_record(text, 0, NS)
        assert slow
        assert (plain(quick), end) == (plain([slow]), len(text))
        assert [*quick[0].fields] == [*slow.fields]


@given(st.text("0123456789.-", min_size=1), st.text("0123456789-", min_size=1), st.sampled_from([" 5", " 007", ""]))
def test_numbers_in_a_known_layout_are_those_of_the_grammar_or_left_to_it(number: str, whole: str, time: str) -> None:
    reader, line = PlainLines(NS), f"m f={number},g={whole}i{time}\n"
    assert reader.read_run("m f=1,g=1i 5\n", 0, []) > 0
    quick: list[Metric] = []
    if reader.read_run(line, 0, quick):
        metric, _ = read_record(line.encode(), 0, NS)
        assert quick == [metric]
        assert [type(value) for value in quick[0].fields.values()] == [float, int]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63), 2**63 - 1))
def test_numbers_come_back_as_they_were(number: float, whole: int) -> None:
    fields = record(f"m f={number!r},g={whole}i").fields
    assert fields == {"f": number, "g": whole}
    assert math.copysign(1, float(fields["f"])) == math.copysign(1, number)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_rejected_to_their_end(text: bytes) -> None:
    found = read(b"m " + text)
    assert found.consumed == len(text) + 2 or found.refused
    for one in found.mistakes:
        assert 0 <= one.start <= one.start + one.position <= len(text) + 2


def test_the_grammar_shows_that_a_quote_is_open() -> None:
    with pytest.raises(TextError) as caught:
        read_record(b'm f="a\n', 0, NS)
    assert caught.value.is_open

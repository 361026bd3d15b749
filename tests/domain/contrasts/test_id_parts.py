"""Ids are split at separators and where letters meet digits."""

import pytest

from shared.domain.contrasts.id_parts import MAX_PARTS, Part, part_columns, parts_of


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("scene12-frame-0300", ["scene", 12, "frame", 300]),
        ("EU.west_4", ["eu", "west", 4]),
        ("7f0c1f9e-8d5b-4c3f-9a51-0123456789ab", []),
        ("run-0123456789abcdef0123456789abcdef", ["run"]),
        ("a1b2c3d4e5", ["a", 1, "b", 2, "c", 3, "d", 4]),
        ("1234567890123456789", ["1234567890123456789"]),
        ("\u00e9t\u00e9-\u0663", ["\u00e9t\u00e9"]),
        ("", []),
    ],
)
def test_parts_of_an_id(name: str, parts: list[Part]) -> None:
    assert parts_of(name) == parts
    assert len(parts) <= MAX_PARTS


def test_ids_with_fewer_parts_have_none_there() -> None:
    assert part_columns(["a-1", "b"]) == [["a", "b"], [1, None]]

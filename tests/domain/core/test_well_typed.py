"""Parsed JSON, some of whose properties have another type than expected."""

from typing import Any

import msgspec
import pytest

from shared.domain.core.well_typed import well_typed


class Part(msgspec.Struct, rename="camel"):
    part_name: str
    size: int | None = None


class Whole(msgspec.Struct, rename="camel"):
    whole_name: str | None = None
    part: Part | None = None
    parts: list[Part] | None = None


@pytest.mark.parametrize(("sent", "kept", "left_out"), [
    ({}, {}, ()),
    ({"wholeName": "a", "part": None}, {"wholeName": "a", "part": None}, ()),
    ({"wholeName": 1, "part": {"partName": "a"}}, {"part": {"partName": "a"}}, ("wholeName",)),
    ({"part": "a", "parts": {}}, {}, ("part", "parts")),
    ({"part": {"partName": "a", "size": []}}, {"part": {"partName": "a"}}, ("part.size",)),
    ({"part": {"size": 1}}, {}, ("part",)),
    ({"part": {"partName": [], "size": []}}, {}, ("part",)),
    (
        {"parts": [{"partName": "a", "size": "x"}, {"partName": "b", "size": "2"}]},
        {"parts": [{"partName": "a"}, {"partName": "b", "size": "2"}]},
        ("parts.size",),
    ),
    ({"parts": [{"partName": "a", "size": {}}, {"partName": "b", "size": {}}]},
     {"parts": [{"partName": "a"}, {"partName": "b"}]}, ("parts.size",)),
    ({"parts": [{"partName": "a"}, "b"]}, {}, ("parts",)),
])  # fmt: skip
def test_what_has_another_type_is_left_out_and_named_and_the_rest_kept(
    sent: dict[str, Any], kept: dict[str, Any], left_out: tuple[str, ...]
) -> None:
    assert well_typed(sent, Whole) == (kept, left_out)
    msgspec.convert(kept, Whole, strict=False)

"""Answers filled from attributes of the same names."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple

import pytest

from functions.http.answers import Answer


class Source(NamedTuple):
    kind: str
    at: datetime
    ended: datetime | None = None


class Shown(Answer):
    kind: str
    at: datetime
    ended: datetime | None
    other_name: int


def test_attributes_of_the_same_names_are_copied_and_times_are_in_utc() -> None:
    at = datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))
    found = Shown.of(Source("gauge", at), other_name=3)
    assert (found.kind, found.at.tzinfo, found.ended, found.other_name) == ("gauge", UTC, None, 3)
    assert found.at == at


def test_given_fields_win_over_attributes() -> None:
    found = Shown.of(Source("gauge", datetime.now(UTC)), kind="counter", ended=None, other_name=3)
    assert found.kind == "counter"


@pytest.mark.parametrize(("given", "error"), [({}, AttributeError), ({"othername": 3}, TypeError)])
def test_a_field_without_an_attribute_and_a_wrong_name_fail(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Shown.of(Source("gauge", datetime.now(UTC)), **given)

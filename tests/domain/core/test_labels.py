"""Labels: which names a setting allows, and that nothing else is kept."""

import pytest

from shared.domain.core.labels import MAX_LABELS, kept_labels, label_names


def test_names_are_separated_by_commas_and_may_have_blanks() -> None:
    assert label_names(" team, cost center,,team ") == ("team", "cost center")
    assert label_names("") == ()


@pytest.mark.parametrize("text", ["x" * 129, "a\x07b", ",".join(map(str, range(MAX_LABELS + 1)))])
def test_names_that_are_too_long_unprintable_or_too_many_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        label_names(text)


def test_only_values_of_allowed_names_are_kept_the_first_of_each_and_cut() -> None:
    found = [("team", "render"), ("secret", "hunter2"), ("team", "other"), ("Team", "x"), ("env", ""), (None, "y")]
    assert kept_labels(found, ("team", "env")) == {"team": "render"}
    assert kept_labels([("team", "v" * 300)], ("team",)) == {"team": "v" * 256}
    assert kept_labels(found, ()) == {}

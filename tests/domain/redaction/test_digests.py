"""Short digests of hidden parts: of these alone, the same wherever the same is hidden."""

import pytest

from shared.domain.redaction.digests import hidden_digest
from shared.domain.redaction.redaction import MARK, redacted

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize("text", [f"run --token {SECRET}", f"run -v --token {SECRET}", f"run --token {SECRET} --more"])
def test_a_secret_has_the_same_digest_in_any_text(text: str) -> None:
    shown = redacted(text)
    assert SECRET not in shown
    assert hidden_digest(text, shown) == hidden_digest(SECRET, MARK) < 4096
    other = text.replace(SECRET, "correct-horse")
    assert hidden_digest(other, shown) != hidden_digest(text, shown)


def test_each_of_several_hidden_parts_counts() -> None:
    shown = f"a={MARK} b={MARK}."
    digests = [hidden_digest(text, shown) for text in ("a=1 b=2.", "a=2 b=1.", "a=12 b=.", "a=1 b=3.", "a=1 b=2.")]
    assert digests[0] == digests[-1]
    assert len(set(digests)) == 4


@pytest.mark.parametrize("shown", ["other [redacted]", "a=[redacted] c", "a=1 b=2 [redacted] b=2", "no mask"])
def test_where_the_shown_text_is_another_one_the_whole_text_counts(shown: str) -> None:
    assert hidden_digest("a=1 b=2", shown) != hidden_digest("a=1 b=3", shown)

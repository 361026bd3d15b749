import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.keys import SEPARATOR, id_of, key_of, keys_of, partition_of

BATCH_LETTERS = string.ascii_letters + string.digits + "_-"
FORBIDDEN_IN_KEYS = set("/\\#?") | {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}
batch_ids = st.text(BATCH_LETTERS + ":", min_size=1, max_size=80)
any_text = st.text(max_size=40)


def test_ids_that_differ_in_case_have_one_key() -> None:
    assert key_of("Nightly-Render_7") == key_of("nightly-render_7") == "nightly-render_7"


def test_a_job_of_a_schedule_has_a_key_that_tables_accept() -> None:
    assert key_of("Nightly:job-1") == "nightly=3ajob-1"


@pytest.mark.parametrize("letter", BATCH_LETTERS)
def test_every_legal_character_stands_for_itself_in_lower_case(letter: str) -> None:
    assert key_of(letter) == letter.lower()


@given(batch_ids, batch_ids)
def test_two_ids_have_one_key_only_if_batch_takes_them_for_one(one: str, other: str) -> None:
    assert (key_of(one) == key_of(other)) == (one.lower() == other.lower())


@given(any_text, any_text)
def test_escapes_never_collide(one: str, other: str) -> None:
    assert (key_of(one) == key_of(other)) == (one.lower() == other.lower())


@pytest.mark.parametrize(("one", "other"), [("a:b", "a=3ab"), ("=", "=3d"), ("é", "=c3=a9"), ("a~b", "a=7eb")])
def test_an_id_that_looks_like_an_escape_is_escaped_itself(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


@given(batch_ids, batch_ids)
def test_the_order_of_keys_is_the_order_of_ids(one: str, other: str) -> None:
    assert (key_of(one) < key_of(other)) == (one.lower() < other.lower())


@given(any_text | batch_ids)
def test_a_key_leads_back_to_the_id_in_lower_case(name: str) -> None:
    assert id_of(key_of(name)) == name.lower()


@given(any_text)
def test_no_key_holds_forbidden_characters_or_separators(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9_=\-]*", key_of(name))
    assert not FORBIDDEN_IN_KEYS & set(key_of(name))
    assert SEPARATOR not in key_of(name)


@given(st.lists(batch_ids | any_text, max_size=8))
def test_many_keys_at_once_are_the_keys_of_each(names: list[str]) -> None:
    assert keys_of(names) == [key_of(name) for name in names]


@given(st.lists(any_text, min_size=3, max_size=3), st.lists(any_text, min_size=3, max_size=3))
def test_partitions_of_different_keys_never_meet(one: list[str], other: list[str]) -> None:
    ours, theirs = [key_of(part) for part in one], [key_of(part) for part in other]
    assert (partition_of(*ours) == partition_of(*theirs)) == (ours == theirs)

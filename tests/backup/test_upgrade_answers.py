import pytest

from local.prove.upgrade.answers import differences

PATH = "/accounts/demo/ingestion"


def answer(**telemetry: object) -> dict[str, object]:
    return {PATH: {"events": 5, "telemetry": telemetry}}


@pytest.mark.parametrize(("before", "after", "differ"), [(7, 7, False), (7, 9, False), (9, 7, True), (7, None, True)])
def test_amounts_of_telemetry_may_grow_between_two_hosts_and_not_shrink(
    before: int, after: int | None, *, differ: bool
) -> None:
    assert bool(differences(answer(samples=before), answer(samples=after))) == differ


def test_other_numbers_of_two_hosts_are_the_same() -> None:
    assert differences({PATH: {"events": 5}}, {PATH: {"events": 6}})
    assert differences(
        {"/accounts/demo": {"telemetry": {"samples": 5}}}, {"/accounts/demo": {"telemetry": {"samples": 6}}}
    )


@pytest.mark.parametrize(("repeats", "differing"), [(11, []), (10, [".bytes", ".records", ".repeats"])])
def test_a_log_in_which_only_repeats_came_between_two_hosts_is_the_same(repeats: int, differing: list[str]) -> None:
    before = {"records": 100, "repeats": 2, "bytes": 900, "events": 5}
    after = {"records": 111, "repeats": 2 + repeats, "bytes": 1000, "events": 5}
    assert sorted(one.place for one in differences({PATH: before}, {PATH: after})) == differing
    (shrunk, *_) = differences({PATH: after}, {PATH: before})
    assert shrunk.before > shrunk.after

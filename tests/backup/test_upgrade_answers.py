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

"""The cache of what was used lately: bounded by age and by size, and never with a value that was removed."""

from hypothesis import given
from hypothesis import strategies as st

from shared.recent_cache import RecentCache

QUARTER_HOUR = 900.0
OPERATIONS = st.tuples(st.sampled_from(["put", "pop", "get"]), st.integers(0, 5), st.integers(1, 40), st.floats(0, 500))


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_value_is_there_for_a_quarter_of_an_hour_after_each_put() -> None:
    clock = Clock()
    cache = RecentCache[str, int](10, clock=clock)
    cache.put("a", 1)
    clock.seconds += QUARTER_HOUR - 1
    assert cache.get("a") == 1
    cache.put("a", 2)
    clock.seconds += QUARTER_HOUR - 1
    assert cache.get("a") == 2
    clock.seconds += 1
    assert (cache.get("a"), cache.pop("a"), len(cache), cache.size) == (None, None, 0, 0)


def test_the_values_that_were_put_first_go_when_there_is_no_room() -> None:
    cache = RecentCache[str, int](10, clock=Clock())
    for key in "abc":
        cache.put(key, 1, size=4)
    assert [cache.get(key) for key in "abc"] == [None, 1, 1]
    cache.put("d", 1, size=11)
    assert (len(cache), cache.size) == (0, 0), "a value that exceeds the room alone isn't kept"


@given(st.lists(OPERATIONS, max_size=60))
def test_it_agrees_with_a_list_of_all_that_was_put(operations: list[tuple[str, int, int, float]]) -> None:
    clock, known = Clock(), dict[int, tuple[float, int, int]]()
    cache = RecentCache[int, int](100, clock=clock)
    for number, (name, key, size, passed) in enumerate(operations):
        clock.seconds += passed
        put, _, value = known.get(key, (0.0, 0, -1))
        expected = value if key in known and clock.seconds - put < QUARTER_HOUR else None
        if name == "get":
            assert cache.get(key) == expected
            continue
        if name == "pop":
            assert cache.pop(key) == expected
            known.pop(key, None)
            continue
        cache.put(key, number, size)
        known.pop(key, None)
        known[key] = clock.seconds, size, number
        while known:
            oldest = next(iter(known))
            if clock.seconds - known[oldest][0] < QUARTER_HOUR and sum(one for _, one, _ in known.values()) <= 100:
                break
            del known[oldest]
        assert (len(cache), cache.size) == (len(known), sum(one for _, one, _ in known.values()))

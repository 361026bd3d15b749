"""Checksums of a blob's beginning: independent of how it was read, and available for parts of it."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.blobs.blobs import MAX_MARK, MIN_MARK, PrefixChecksum

KIB = 1 << 10


@given(st.binary(max_size=9 * KIB), st.lists(st.integers(0, 9 * KIB), max_size=6))
def test_a_beginning_is_the_same_for_any_cuts_and_knows_its_longest_part(whole: bytes, cuts: list[int]) -> None:
    found, at = PrefixChecksum(), 0
    for cut in sorted({min(cut, len(whole)) for cut in (*cuts, len(whole))}):
        found, at = found.extended(whole[at:cut]), cut
    assert found == PrefixChecksum().extended(whole) == PrefixChecksum.unpack(len(whole), found.pack())
    for size in (*cuts, len(whole), len(whole) + 1):
        part = found.within(size)
        if size >= len(whole):
            assert part == found
        elif size < MIN_MARK:
            assert part is None
        else:
            assert part is not None
            assert size / 2 < part.size <= size
            assert part.checksum == PrefixChecksum().extended(whole[: part.size]).checksum


def test_of_a_large_one_no_more_than_the_first_32_mib_are_compared() -> None:
    found = PrefixChecksum(size=1 << 40, checksum=7, marks=tuple(range(16)))
    assert found.within(1 << 41) == PrefixChecksum(MAX_MARK, 15, tuple(range(16)))
    assert PrefixChecksum().extended(bytes(MAX_MARK + 5)).within(MAX_MARK + 5) == PrefixChecksum().extended(
        bytes(MAX_MARK)
    )

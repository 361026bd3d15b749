"""Shards of blobs: the same everywhere, and about equally large."""

from collections import Counter

from shared.domain.blobs.blobs import SHARDS, shard_of


def test_a_blobs_shard_never_changes_as_stored_rows_depend_on_it() -> None:
    names = ["", "a", "accounts/demo/pools/render/nodes/tvm-1/vm_perf_metrics.0.json", "\udc80"]
    assert [shard_of(name) for name in names] == [1, 46, 36, 27]


def test_shards_get_about_equally_many_blobs() -> None:
    sizes = Counter(shard_of(f"pools/p/nodes/tvm-{number}/vm_perf_metrics.0.json") for number in range(5_000))
    assert sizes.keys() == set(range(SHARDS))
    assert max(sizes.values()) < 2 * min(sizes.values())

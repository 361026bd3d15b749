"""What nodes and slots offer, and the file of VM sizes."""

from datetime import date

import pytest

from shared.domain.efficiency.offers import GIB, SlotOffer, known_nodes, node_offer, size_series
from shared.domain.pools.vm_sizes import vcpus_of


def test_each_series_of_sizes_has_its_source_and_date() -> None:
    for series in size_series():
        assert series.source.startswith("https://learn.microsoft.com/azure/virtual-machines/sizes/"), series.name
        assert date(2024, 1, 1) <= series.dated <= date(2026, 11, 30), series.name
        assert series.gpus.keys() <= series.memory_gib.keys(), series.name


def test_no_size_stands_twice_and_the_names_have_their_vcpus() -> None:
    sizes = [size for series in size_series() for size in series.memory_gib]
    assert len(sizes) == len(set(sizes))
    for size in sizes:
        assert size == size.lower()
        assert vcpus_of(size), size


def test_memory_a_vcpu_is_plausible() -> None:
    for node in known_nodes():
        assert node.room, node
        assert 2 * GIB <= node.room.memory / node.room.cores <= 10 * GIB, node.vm_size


@pytest.mark.parametrize(
    ("slots", "required", "expected"), [(1, 1, (4, 16, 1)), (4, 1, (1, 4, 4)), (4, 2, (2, 8, 2)), (2, 3, (4, 16, 1))]
)
def test_a_slot_offers_its_share_of_the_node(slots: int, required: int, expected: tuple[int, int, int]) -> None:
    offer = SlotOffer(node_offer("standard_d4s_v5", 4), slots, required)
    assert (offer.cores, (offer.memory or 0) / GIB, offer.tasks) == expected


def test_an_unknown_size_offers_unknown_memory() -> None:
    offer = SlotOffer(node_offer("standard_x4_v9", 4), 1, 1)
    assert (offer.memory, offer.room, offer.node.room, offer.cores) == (None, None, None, 4)
    assert SlotOffer(node_offer("standard_d4s_v5", None), 1, 1).cores is None


def test_gpus_are_those_of_the_size() -> None:
    offer = SlotOffer(node_offer("standard_nc48ads_a100_v4", 48), 2, 1)
    assert (offer.gpus, offer.gpu_memory / GIB) == (1, 80)

"""What nodes and slots offer, and the file of VM sizes."""

from datetime import date

import pytest

from shared.domain.efficiency.offers import (
    GIB,
    SlotOffer,
    advised_nodes,
    nearest_size,
    node_offer,
    size_file,
    size_series,
)
from shared.domain.pools.vm_sizes import vcpus_of


def test_each_series_of_sizes_has_its_source_and_date() -> None:
    for series in size_series():
        assert series.source.startswith("https://learn.microsoft.com/azure/virtual-machines/sizes/"), series.name
        assert date(2024, 1, 1) <= series.dated <= date(2026, 11, 30), series.name
        assert series.gpus.keys() <= series.memory_gib.keys(), series.name


def test_sizes_that_azure_retires_are_known_and_never_advised() -> None:
    assert node_offer("standard_f4s_v2", 4).memory == 8 * GIB
    retiring = [series for series in size_series() if series.retires]
    assert {series.name for series in retiring} == {"Dsv3", "Esv3", "Fsv2", "HBv2"}
    assert all(size_file().retirements_dated < series.retires for series in retiring if series.retires)
    advised = {node.vm_size for node in advised_nodes()}
    assert advised.isdisjoint(size for series in retiring for size in series.memory_gib)


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ("standard_d4s_v5", "standard_d4s_v5"),
        ("standard_d4ads_v6", "standard_d4s_v6"),
        ("standard_d4s_v3", "standard_d4s_v5"),
        ("standard_nc4as_t4_v3", "standard_d4s_v5"),
    ],
)
def test_of_sizes_alike_the_nearest_version_from_5_on_is_advised(present: str, expected: str) -> None:
    alike = [node for node in advised_nodes() if node.room == (4, 16 * GIB)]
    assert nearest_size(alike, present) == expected
    assert nearest_size([], present) is None


def test_no_size_stands_twice_and_the_names_have_their_vcpus() -> None:
    sizes = [size for series in size_series() for size in series.memory_gib]
    assert len(sizes) == len(set(sizes))
    for size in sizes:
        assert size == size.lower()
        assert vcpus_of(size), size


def test_memory_a_vcpu_is_plausible() -> None:
    for node in (node_offer(size, vcpus_of(size)) for series in size_series() for size in series.memory_gib):
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


def test_the_memory_of_an_unknown_size_is_the_measured_one() -> None:
    unknown, known = node_offer("standard_x4_v9", 4), node_offer("standard_d4s_v5", 4)
    assert unknown.with_memory(30.0 * GIB).room == (4, 30 * GIB)
    assert unknown.with_memory(None) == unknown
    assert known.with_memory(15.6 * GIB) == known


def test_gpus_are_those_of_the_size() -> None:
    offer = SlotOffer(node_offer("standard_nc48ads_a100_v4", 48), 2, 1)
    assert (offer.gpus, offer.gpu_memory / GIB) == (1, 80)

"""Memory and swap in bytes, as Telegraf names them."""

import os

import pytest

from agent.collectors.collector import UnsupportedError
from agent.collectors.memory import MemoryCollector, fields_of
from agent.collectors.swap import SwapCollector
from tests.agent.collectors.tree import NOW, Tree, fields

MEMINFO = """MemTotal: 1000 kB
MemFree: 300 kB
MemAvailable: 600 kB
Buffers: 50 kB
Cached: 200 kB
SReclaimable: 50 kB
SUnreclaim: 25 kB
Dirty: 7 kB
Committed_AS: 900 kB
CommitLimit: 500 kB
SwapTotal: 200 kB
SwapFree: 150 kB
HugePages_Total: 4
HugePages_Free: 3
Hugepagesize: 2048 kB
"""
PAGE = os.sysconf("SC_PAGE_SIZE")


def test_sizes_are_bytes_and_huge_pages_are_counted(tree: Tree) -> None:
    tree.write("/proc/meminfo", MEMINFO)
    found = fields(MemoryCollector(tree.machine).collect(NOW), "mem")
    assert found == {
        "total": 1024000, "free": 307200, "available": 614400, "buffered": 51200, "cached": 256000,
        "sreclaimable": 51200, "sunreclaim": 25600, "dirty": 7168, "committed_as": 921600, "commit_limit": 512000,
        "swap_total": 204800, "swap_free": 153600, "huge_pages_total": 4, "huge_pages_free": 3,
        "huge_page_size": 2097152, "used": 409600, "used_percent": 40.0,
    }  # fmt: skip


def test_caches_larger_than_the_memory_do_not_make_its_use_negative() -> None:
    found = fields_of({"MemTotal": 100, "MemFree": 60, "Buffers": 0, "Cached": 90})
    assert (found["used"], found["used_percent"]) == (40960, 40.0)


def test_a_garbled_line_costs_its_own_field_only(tree: Tree) -> None:
    tree.write("/proc/meminfo", MEMINFO.replace("Dirty: 7 kB", f"Dirty: {'9' * 5000} kB").replace("Buffers: 50", "?"))
    found = fields(MemoryCollector(tree.machine).collect(NOW), "mem")
    assert not {"dirty", "buffered", "used", "cached"} & set(found)
    assert found["available"] == 614400


def test_without_a_total_memory_is_not_measured(tree: Tree) -> None:
    tree.write("/proc/meminfo", "MemFree: 5 kB\n")
    with pytest.raises(UnsupportedError, match="how much memory"):
        MemoryCollector(tree.machine)


def test_swap_has_its_space_and_its_traffic_in_bytes(tree: Tree) -> None:
    tree.write("/proc/meminfo", MEMINFO)
    tree.write("/proc/vmstat", "pswpin 2\npswpout 3\n")
    assert fields(SwapCollector(tree.machine).collect(NOW), "swap") == {
        "total": 204800, "free": 153600, "used": 51200, "used_percent": 25.0, "in": 2 * PAGE, "out": 3 * PAGE,
    }  # fmt: skip


def test_swap_without_vmstat_has_its_space_only(tree: Tree) -> None:
    tree.write("/proc/meminfo", MEMINFO)
    found = fields(SwapCollector(tree.machine).collect(NOW), "swap")
    assert list(found) == ["total", "free", "used", "used_percent"]


def test_a_node_without_swap_says_so(tree: Tree) -> None:
    tree.write("/proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n")
    with pytest.raises(UnsupportedError, match="no swap space"):
        SwapCollector(tree.machine)

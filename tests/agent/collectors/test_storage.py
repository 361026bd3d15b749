"""File systems of the node's own disks, when they will be full, and the traffic of disks."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.collectors.collector import UnsupportedError
from agent.collectors.storage.disks import DisksCollector
from agent.collectors.storage.filesystems import FileSystemsCollector
from agent.collectors.storage.fill_rate import FillRate
from agent.collectors.storage.mounts import local_file_systems, mount_of, mounts_of
from tests.agent.collectors.tree import NOW, SteppedClock, Tree, fields, space

ROOT = "27 1 8:1 / / rw,relatime - ext4 /dev/root rw\n"
DATA = "30 27 8:17 / /mnt rw - xfs /dev/sdb1 rw\n"


def paths(*lines: str) -> list[str]:
    return [each.path for each in local_file_systems(filter(None, map(mount_of, lines)))]


def test_a_mount_is_read_with_its_escapes_and_optional_fields() -> None:
    mount = mount_of(r"36 35 98:0 /a\040b /mnt/x\040y ro,noatime master:1 shared:2 - ext3 /dev/sd\134a rw,errors=x")
    assert mount == ("98:0", "/a b", "/mnt/x y", "ext3", "/dev/sd\\a", True, ("ro", "noatime", "errors=x"))


def test_unicode_spaces_and_line_separators_belong_to_a_path(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", "30 27 8:17 / /mnt/a\u3000b\u2028c\u00e9 rw - xfs /dev/sdb1 rw\n")
    assert [mount.path for mount in mounts_of(tree.machine)] == ["/mnt/a\u3000b\u2028c\u00e9"]


def test_a_line_that_makes_no_sense_is_no_mount() -> None:
    assert [mount_of(line) for line in ("", "36 35 98:0", "- ext4", "a b c d e f - ")] == [None] * 4


def test_pseudo_and_network_file_systems_are_left_out_and_all_that_is_below_a_network() -> None:
    assert paths(
        ROOT,
        "31 27 0:5 / /proc rw - proc proc rw",
        "32 27 0:6 / /dev/shm rw - tmpfs tmpfs rw",
        "33 27 0:50 / /share rw - nfs4 server:/x rw",
        "34 33 8:33 / /share/disk rw - ext4 /dev/sdc1 rw",
        "35 27 8:49 / /shared rw - ext4 /dev/sdd1 rw",
        "36 27 0:51 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw",
    ) == ["/", "/shared"]


def test_of_several_mounts_of_a_device_the_topmost_folder_counts() -> None:
    assert paths("1 1 8:1 /sub /a rw - ext4 /dev/sda1 rw", ROOT, "2 1 8:1 / /long/bind rw - ext4 /dev/sda1 rw") == ["/"]


def test_a_mount_that_another_one_hides_is_left_out() -> None:
    assert paths(ROOT, DATA, "31 27 0:9 / /mnt rw - tmpfs tmpfs rw") == ["/"]


def test_in_a_container_the_root_is_measured() -> None:
    assert paths("1 1 0:99 / / rw - overlay overlay rw") == ["/"]


def test_space_and_inodes_are_those_of_programs_without_privileges(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", ROOT)
    tree.spaces["/"] = space(100, 40, 20, inodes=10, free_inodes=7)
    (record,) = FileSystemsCollector(tree.machine, SteppedClock()).collect(NOW)
    assert record.tags == {"path": "/", "device": "root", "fstype": "ext4", "mode": "rw"}
    assert record.fields == {
        "total": 100000, "free": 20000, "used": 60000, "used_percent": 75.0, "inodes_total": 10, "inodes_free": 7,
        "inodes_used": 3, "inodes_used_percent": 30.0,
    }  # fmt: skip


def test_a_file_system_that_cannot_be_looked_at_costs_itself_only(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", ROOT + DATA + "31 1 8:33 / /empty rw - ext4 /dev/sdc1 rw\n")
    tree.spaces = {"/mnt": space(10, 5, 5), "/empty": space(0, 0, 0)}
    records = list(FileSystemsCollector(tree.machine, SteppedClock()).collect(NOW))
    assert [each.tags["path"] for each in records] == ["/mnt"]
    assert "inodes_total" not in records[0].fields


def test_a_disk_that_fills_has_the_seconds_until_it_is_full(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", DATA)
    clock = SteppedClock()
    tree.spaces["/mnt"] = space(1000, 1000, 1000)
    collector, machine = FileSystemsCollector(tree.machine, clock), tree
    for free in (900, 840, 780):
        machine.spaces["/mnt"] = space(1000, free, free)
        records = list(collector.collect(NOW))
        clock.seconds += 60
    assert fields(records, "batchscope_filesystem", path="/mnt") == {
        "fill_bytes_per_second": 1000.0, "seconds_until_full": 780.0,
    }  # fmt: skip


def test_a_node_without_a_disk_of_its_own_says_so(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", "31 27 0:5 / /proc rw - proc proc rw\n")
    with pytest.raises(UnsupportedError, match="No file system"):
        FileSystemsCollector(tree.machine, SteppedClock())


def rate_of(*used: float) -> FillRate:
    rate = FillRate()
    for at, each in enumerate(used):
        rate.add(1000.0 + 60 * at, each)
    return rate


def test_two_samples_predict_nothing() -> None:
    assert rate_of(0, 60).bytes_per_second() is None


def test_a_writer_that_has_finished_predicts_nothing() -> None:
    assert rate_of(0, 600, 1200, 1200, 1200).seconds_until_full(10) is None


def test_an_emptying_or_very_slowly_filling_disk_predicts_nothing() -> None:
    assert rate_of(900, 600, 300).seconds_until_full(10) is None
    assert rate_of(0, 1, 2).seconds_until_full(1e9) is None


def test_samples_older_than_the_window_do_not_count() -> None:
    assert rate_of(5000, 0, 60, 120, 180, 240, 300, 360).bytes_per_second() == pytest.approx(1.0)


@given(some.integers(1, 10**9), some.integers(3, 20), some.integers(0, 10**15))
def test_a_steady_writer_has_its_own_rate(speed: int, count: int, start: int) -> None:
    rate = rate_of(*(start + speed * 60 * at for at in range(count)))
    assert rate.bytes_per_second() == pytest.approx(speed, rel=1e-6)


DISKSTATS = """   8       0 sda 10 1 8 20 5 2 16 30 1 40 50 0 0 0 0
   8       1 sda1 9 1 6 20 5 2 16 30 0 40 50
   8       2 sda2 1 0 2 1 0 0 0 0 0 1 1
   8      16 sdb 0 0 0 0 0 0 0 0 0 0 0
   7       0 loop0 5 0 5 5 0 0 0 0 0 5 5
   1       0 ram0 5 0 5 5 0 0 0 0 0 5 5
   9       9 bad x
"""


def test_disks_have_bytes_operations_and_milliseconds(tree: Tree) -> None:
    tree.write("/proc/diskstats", DISKSTATS)
    assert fields(DisksCollector(tree.machine).collect(NOW), "diskio", name="sda") == {
        "reads": 10, "merged_reads": 1, "read_time": 20, "writes": 5, "merged_writes": 2, "write_time": 30,
        "iops_in_progress": 1, "io_time": 40, "weighted_io_time": 50, "read_bytes": 4096, "write_bytes": 8192,
    }  # fmt: skip


def test_of_partitions_only_mounted_ones_are_measured(tree: Tree) -> None:
    tree.write("/proc/diskstats", DISKSTATS)
    tree.write("/proc/self/mountinfo", ROOT)
    for name in ("sda1", "sda2"):
        tree.write(f"/sys/class/block/{name}/partition", "1\n")
    assert [each.tags["name"] for each in DisksCollector(tree.machine).collect(NOW)] == ["sda", "sda1"]


def test_a_node_whose_disks_were_never_used_says_so(tree: Tree) -> None:
    tree.write("/proc/diskstats", DISKSTATS.splitlines()[3])
    with pytest.raises(UnsupportedError, match="no disk"):
        DisksCollector(tree.machine)

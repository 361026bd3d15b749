"""A disk that is full or read-only for a while: no unit is doubled, and none goes uncounted."""

from pathlib import Path

from agent.upload.gzip_units import last_number
from agent.upload.spool import Limits
from tests.agent.upload.append_service import AppendService, served
from tests.agent.upload.rig import Agent, DyingDisk, lines_of


class TightDisk(DyingDisk):
    """A disk that has room again once a unit is removed."""

    def remove(self, path: str) -> bool:
        self.is_full = self.is_full and not path.endswith(".gz")
        return super().remove(path)


class AskedDisk(DyingDisk):
    """A disk that counts how often it is asked to remove a file."""

    removals = 0

    def remove(self, path: str) -> bool:
        self.removals += 1
        return super().remove(path)


def put(agent: Agent, *numbers: int) -> None:
    for number in numbers:
        agent.spool.put(f"m v={number}i 1\n".encode())


def sent_by_the_next(ended: Agent, service: AppendService) -> list[str]:
    """Returns all lines in storage once another agent has sent what this one left."""
    ended.spool.close()
    Agent(ended.folder, ended.address).send_all()
    stored = lines_of({name: blob.content for name, blob in service.blobs.items()})
    return [line for lines in stored.values() for line in lines]


def test_a_position_that_a_full_disk_refused_doubles_no_unit(tmp_path: Path) -> None:
    service, disk = AppendService(), DyingDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk)
        put(agent, 1)
        agent.send_all()
        put(agent, 2, 3, 4)
        disk.is_full = True
        while len(agent.spool.own.units) > 2:
            agent.step()
        service.faults.append("reset after")
        while service.faults:
            agent.step()
        lines = sent_by_the_next(agent, service)
    assert sorted(lines) == [f"m v={number}i 1" for number in range(1, 5)]


def test_units_that_are_dropped_on_a_full_disk_are_counted_though_their_agent_is_killed(tmp_path: Path) -> None:
    service, disk = AppendService(), TightDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk, limits=Limits(250, 250))
        put(agent, 1, 2, 3, 4)
        disk.is_full = True
        put(agent, 5)
        *units, report = sent_by_the_next(agent, service)
    assert units == [f"m v={number}i 1" for number in range(2, 6)]
    assert "dropped_records=1i" in report


def test_a_position_that_a_read_only_disk_kept_from_before_doubles_no_unit(tmp_path: Path) -> None:
    service, disk = AppendService(), DyingDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk)
        put(agent, 1)
        agent.send_all()
        disk.is_read_only = True
        put(agent, 2)  # in memory, so that no file shows it once it is sent
        disk.is_read_only = False
        put(agent, 3)
        disk.is_read_only = True
        agent.send_all()
        lines = sent_by_the_next(agent, service)
    assert sorted(lines) == [f"m v={number}i 1" for number in range(1, 4)]
    assert len(service.blobs) == 1


def test_units_that_follow_an_old_position_are_stored_behind_those_in_the_blob(tmp_path: Path) -> None:
    service, disk = AppendService(), DyingDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk)
        put(agent, 1)
        agent.send_all()
        disk.is_read_only = True
        put(agent, 2)
        agent.send_all()
        disk.is_read_only = False
        put(agent, 3, 4)
        lines = sent_by_the_next(agent, service)
    assert lines == [f"m v={number}i 1" for number in range(1, 5)]


def test_a_report_of_drops_behind_an_old_position_has_a_number_of_its_own(tmp_path: Path) -> None:
    service, disk = AppendService(), DyingDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk)
        put(agent, 1)
        agent.send_all()
        agent.spool.own.count_dropped(9, 1)
        disk.is_read_only = True
        put(agent, 2)
        agent.send_all()
        *units, report = sent_by_the_next(agent, service)
    assert units == ["m v=1i 1", "m v=2i 1"]
    assert "dropped_records=1i" in report
    assert [last_number(blob.content, agent.spool.own.name) for blob in service.blobs.values()] == [2]


def test_drops_of_units_in_memory_are_counted_once_the_disk_has_room_though_their_agent_is_killed(
    tmp_path: Path,
) -> None:
    service, disk = AppendService(), DyingDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk, limits=Limits(1 << 20, 150))
        put(agent, 1)
        disk.is_full = True
        put(agent, 2, 3, 4, 5)
        assert agent.spool.own.dropped.records == 2
        disk.is_full = False
        put(agent, 6)
        *units, report = sent_by_the_next(agent, service)
    assert units == [f"m v={number}i 1" for number in (1, 4, 5, 6)]
    assert "dropped_records=2i" in report


def test_units_in_memory_go_to_disk_once_it_has_room_and_survive_their_agent(tmp_path: Path) -> None:
    service, disk = AppendService(), DyingDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk)
        put(agent, 1)
        disk.is_full = True
        put(agent, 2, 3)
        disk.is_full = False
        put(agent, 4)
        assert agent.spool.fields()["memory_spooled_bytes"] == 0
        lines = sent_by_the_next(agent, service)
    assert lines == [f"m v={number}i 1" for number in range(1, 5)]


def test_a_unit_that_goes_to_disk_while_it_is_sent_leaves_no_file(tmp_path: Path) -> None:
    disk = DyingDisk()
    with served(AppendService()) as address:
        agent = Agent(tmp_path, address, disk=disk)
        disk.is_full = True
        put(agent, 1)
        taken = agent.spool.take(agent.spool.own)
        assert taken
        disk.is_full = False
        put(agent, 2)
        agent.spool.sent(agent.spool.own, taken[0])
    assert [path.name for path in tmp_path.rglob("*.gz")] == ["0000000001.1.gz"]


def test_units_that_a_read_only_disk_did_not_remove_are_removed_and_not_sent_once_they_are_counted(
    tmp_path: Path,
) -> None:
    service, disk = AppendService(), DyingDisk()
    with served(service) as address:
        agent = Agent(tmp_path, address, disk=disk, limits=Limits(250, 250))
        put(agent, 1, 2, 3, 4)
        disk.is_read_only = True
        put(agent, 5)
        assert agent.spool.own.dropped.records == 1
        disk.is_read_only = False
        put(agent, 6)
        *units, report = sent_by_the_next(agent, service)
    dropped = agent.spool.own.dropped.records
    assert f"dropped_records={dropped}i" in report
    assert units == [f"m v={number}i 1" for number in range(1 + dropped, 7)]


def test_a_sent_unit_that_a_read_only_disk_did_not_remove_is_removed_later(tmp_path: Path) -> None:
    disk = DyingDisk()
    with served(AppendService()) as address:
        agent = Agent(tmp_path, address, disk=disk)
        put(agent, 1)
        disk.is_read_only = True
        agent.send_all()
        disk.is_read_only = False
        put(agent, 2)
    assert [path.name for path in tmp_path.rglob("*.gz")] == ["0000000001.1.gz"]


def test_a_disk_that_stays_read_only_is_asked_little_for_each_unit_that_is_sent(tmp_path: Path) -> None:
    units, disk = 60, AskedDisk()
    with served(AppendService()) as address:
        agent = Agent(tmp_path, address, disk=disk)
        put(agent, *range(units))
        disk.is_read_only, disk.removals = True, 0
        agent.send_all()
        assert disk.removals <= 4 * units
        disk.is_read_only = False
        put(agent, units)
    assert [path.name for path in tmp_path.rglob("*.gz")] == [f"{units:010d}.1.gz"]

"""Limits of the agent's group, and containers by their groups, in both versions of control groups."""

import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.collectors.cgroups.containers import ContainersCollector
from agent.collectors.cgroups.docker import MAX_WAIT, ContainerName, ContainerNames, names_of, running_containers
from agent.collectors.cgroups.own_cgroup import OwnCgroupCollector
from agent.collectors.collector import UnsupportedError
from agent.machine.docker_socket import DockerError, DockerSocket
from agent.machine.machine import Machine
from tests.agent.collectors.tree import NOW, SteppedClock, Tree, fields

V2 = "31 1 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
V1 = "".join(
    f"{at} 1 0:{at} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n"
    for at, name in enumerate(("memory", "cpu", "cpuacct", "blkio"), start=40)
)
ID, OTHER = "ab" * 32, "cd" * 32
NAME = ContainerName("training", "team/train", "v2")
CPU_STAT = (
    "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\nnr_periods 9\nnr_throttled 4\nthrottled_usec 500000\n"
)


def write_v2(tree: Tree, group: str, memory_limit: str = "max", cpu_limit: str = "max 100000") -> None:
    files = {
        "memory.current": "1000", "memory.max": memory_limit, "memory.peak": "1500", "cpu.max": cpu_limit,
        "memory.stat": "anon 600\ninactive_file 300\n", "memory.events": "oom 2\noom_kill 1\n", "cpu.stat": CPU_STAT,
        "io.stat": "8:0 rbytes=10 wbytes=20 rios=1 wios=2\n8:16 rbytes=5 wbytes=x rios=1 wios=1\n",
    }  # fmt: skip
    for name, text in files.items():
        tree.write(f"/sys/fs/cgroup{group}/{name}", f"{text}\n")


def write_v1(tree: Tree, group: str, memory_limit: int) -> None:
    files = {
        "memory": {
            "memory.usage_in_bytes": "1000",
            "memory.limit_in_bytes": str(memory_limit), "memory.max_usage_in_bytes": "1500",
            "memory.stat": "total_rss 600\ntotal_inactive_file 300\n", "memory.oom_control": "oom_kill 1\n",
        },
        "cpuacct": {"cpuacct.usage": "3000000000", "cpuacct.stat": "user 200\nsystem 100\n"},
        "cpu": {
            "cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000",
            "cpu.stat": "nr_periods 9\nnr_throttled 4\nthrottled_time 500000000\n",
        },
        "blkio": {
            "blkio.throttle.io_service_bytes_recursive": "8:0 Read 10\n8:0 Write 20\n8:16 Read 5\nTotal 35\n",
            "blkio.throttle.io_serviced_recursive": "8:0 Read 1\n8:0 Write 3\n8:16 Read 1\n",
        },
    }  # fmt: skip
    for controller, written in files.items():
        for name, text in written.items():
            tree.write(f"/sys/fs/cgroup/{controller}{group}/{name}", f"{text}\n")


def own(tree: Tree, mounts: str, groups: str) -> dict[str, dict[str, object]]:
    tree.write("/proc/self/mountinfo", mounts)
    tree.write("/proc/self/cgroup", groups)
    return {each.tags["path"]: dict(each.fields) for each in OwnCgroupCollector(tree.machine).collect(NOW)}


def test_the_own_group_has_use_and_throttling_and_a_parent_has_its_limit(tree: Tree) -> None:
    write_v2(tree, "/batch", cpu_limit="150000 100000")
    write_v2(tree, "/batch/task")
    found = own(tree, V2, "0::/batch/task\n")
    assert found["/batch/task"] == {
        "memory_bytes": 1000, "memory_working_set_bytes": 700, "memory_peak_bytes": 1500, "oom_kills": 1,
        "cpu_seconds": 3.0, "cpu_throttled_seconds": 0.5, "cpu_periods": 9, "cpu_throttled_periods": 4,
    }  # fmt: skip
    assert found["/batch"]["cpu_limit_cores"] == 1.5
    assert "memory_bytes" not in found["/batch"]


def test_version_1_has_the_same_fields_and_a_huge_limit_is_none(tree: Tree) -> None:
    write_v1(tree, "/a", memory_limit=2000)
    write_v1(tree, "/a/b", memory_limit=9223372036854771712)
    found = own(tree, V1, "4:memory:/a/b\n1:cpu,cpuacct:/a/b\n")
    assert found["/a"]["memory_limit_bytes"] == 2000
    assert "memory_limit_bytes" not in found["/a/b"]
    assert found["/a/b"]["cpu_throttled_seconds"] == 0.5


def test_in_a_container_the_mounts_root_is_its_own_group(tree: Tree) -> None:
    write_v2(tree, "", memory_limit="4096")
    mounts = V2.replace("0:28 /", f"0:28 /docker/{ID}")
    assert own(tree, mounts, f"0::/docker/{ID}\n")["/docker/" + ID]["memory_bytes"] == 1000
    assert own(tree, V2, "0::/\n")["/"]["memory_limit_bytes"] == 4096


def test_a_group_outside_of_what_is_mounted_does_not_lead_to_other_files(tree: Tree) -> None:
    tree.write("/sys/fs/memory.current", "5")
    with pytest.raises(UnsupportedError, match="no control group"):
        own(tree, V2, "0::/../\n")


def containers(tree: Tree, clock: SteppedClock, *names: dict[str, ContainerName]) -> ContainersCollector:
    answers = iter(names)
    return ContainersCollector(tree.machine, clock, names=ContainerNames(lambda: next(answers, {})))


@pytest.mark.parametrize(("version", "group"), [(2, f"/system.slice/docker-{ID}.scope"), (1, f"/docker/{ID}")])
def test_a_container_is_found_by_its_group_and_named_by_docker(tree: Tree, version: int, group: str) -> None:
    tree.write("/proc/self/mountinfo", V2 if version == 2 else V1)
    tree.write("/proc/meminfo", "MemTotal: 1 kB\n")
    if version == 2:
        write_v2(tree, group, memory_limit="900")
    else:
        write_v1(tree, group, memory_limit=900)
    records = list(containers(tree, SteppedClock(), {ID: NAME}).collect(NOW))
    tags = {"container_name": "training", "container_image": "team/train", "container_version": "v2"}
    cpu = fields(records, "docker_container_cpu", cpu="cpu-total", **tags)
    assert (cpu["usage_total"], cpu["throttling_throttled_time"]) == (3_000_000_000, 500_000_000)
    assert (cpu["usage_in_usermode"], cpu["usage_in_kernelmode"]) == (2_000_000_000, 1_000_000_000)
    assert fields(records, "docker_container_mem", **tags) == {
        "usage": 700, "limit": 900, "max_usage": 1500, "rss": 600, "usage_percent": 77.778,
    }  # fmt: skip
    assert fields(records, "docker_container_blkio", device="total")["io_service_bytes_recursive_read"] == 15
    assert fields(records, "docker_container_blkio", device="total")["io_serviced_recursive_write"] == 3
    assert fields(records, "docker") == {"n_containers_running": 1}


def test_use_of_cpu_is_in_percent_of_a_core_since_the_last_call(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", V2)
    write_v2(tree, f"/docker/{ID}")
    clock = SteppedClock()
    collector = containers(tree, clock)
    first = fields(collector.collect(NOW), "docker_container_cpu", container_name=ID[:12])
    tree.write(f"/sys/fs/cgroup/docker/{ID}/cpu.stat", CPU_STAT.replace("3000000", "93000000"))
    clock.seconds += 60
    second = fields(collector.collect(NOW), "docker_container_cpu", container_name=ID[:12])
    assert "usage_percent" not in first
    assert second["usage_percent"] == 150.0


def test_without_a_limit_the_nodes_memory_is_the_limit(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", V2)
    tree.write("/proc/meminfo", "MemTotal: 7 kB\n")
    write_v2(tree, f"/docker/{ID}")
    found = fields(containers(tree, SteppedClock()).collect(NOW), "docker_container_mem")
    assert (found["limit"], found["usage_percent"]) == (7168, 9.766)


def test_a_node_without_containers_and_docker_says_so(tree: Tree) -> None:
    tree.write("/proc/self/mountinfo", V2)
    write_v2(tree, "/system.slice/ssh.service")
    with pytest.raises(UnsupportedError, match="neither containers"):
        containers(tree, SteppedClock())


def test_docker_is_asked_only_about_new_containers_and_not_again_soon_after_a_failure() -> None:
    asked = []

    def ask() -> dict[str, ContainerName]:
        asked.append(1)
        if len(asked) == 2:
            raise DockerError("no answer")
        return {ID: NAME, OTHER: NAME}

    names = ContainerNames(ask)
    assert [names.names([ID])[ID], names.names([ID])[ID]] == [NAME, NAME]
    assert len(asked) == 1
    assert names.names([ID, OTHER])[OTHER] == ContainerName(OTHER[:12])
    for _ in range(MAX_WAIT - 1):
        names.names([ID, OTHER])
    assert len(asked) == 2
    assert names.names([ID, OTHER])[OTHER] == NAME


def test_images_are_split_from_their_tags_and_listings_without_sense_are_left_out() -> None:
    listed = [
        {"Id": "1", "Names": ["/a"], "Image": "host:5000/x"}, {"Id": "2", "Names": ["/b"], "Image": "x:v1@sha256:00"},
        {"Id": "3", "Names": []}, {"Names": ["/c"]}, 5,
    ]  # fmt: skip
    assert names_of(listed) == {"1": ("a", "host:5000/x", ""), "2": ("b", "x", "v1")}
    assert names_of({"message": "no"}) == {}


@contextmanager
def daemon(answer: bytes) -> Iterator[DockerSocket]:
    """A socket at which one request gets an answer."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        path = str(Path(folder, "run/docker.sock"))
        Path(folder, "run").mkdir()
        listening.bind(path)
        listening.listen()
        thread = threading.Thread(target=_answer, args=(listening, answer))
        thread.start()
        yield DockerSocket(Machine(folder))
        thread.join()


def _answer(listening: socket.socket, answer: bytes) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(answer)


def test_the_socket_of_docker_lists_running_containers() -> None:
    body = json.dumps([{"Id": ID, "Names": ["/training"], "Image": "team/train:v2"}]).encode()
    with daemon(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as docker:
        assert running_containers(docker) == {ID: NAME}


def test_a_refusal_of_docker_is_an_error() -> None:
    with daemon(b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n[]") as docker, pytest.raises(DockerError, match="500"):
        running_containers(docker)


def test_an_answer_of_docker_that_is_nested_too_deeply_is_an_error() -> None:
    body = b"[" * 200_000
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    with daemon(head + body) as docker, pytest.raises(DockerError, match="can't be asked"):
        running_containers(docker)

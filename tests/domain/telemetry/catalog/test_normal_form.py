import pytest

from shared.domain.telemetry.catalog.catalog import instruments, plugins
from shared.domain.telemetry.catalog.series import Kind, Series
from shared.domain.telemetry.records.metrics import Metric
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, at, flat, only, rollups, taken

GAUGES = {
    "cpu,cpu=cpu-total usage_idle=93.5": ("system.cpu.utilization", {"cpu.mode": "idle"}, 0.935),
    "cpu,cpu=cpu3 usage_irq=2": ("system.cpu.utilization", {"cpu.logical_number": "3", "cpu.mode": "interrupt"}, 0.02),
    'cpu,cpu="0_1" usage_user=2': ("system.cpu.utilization", {"cpu.logical_number": "0_1", "cpu.mode": "user"}, 0.02),
    "mem used=5i": ("system.memory.usage", {"system.memory.state": "used"}, 5),
    "mem total=5i": ("system.memory.limit", {}, 5),
    "mem available=5i": ("system.memory.linux.available", {}, 5),
    "swap used_percent=50": ("system.paging.utilization", {"system.paging.state": "used"}, 0.5),
    "disk,path=/mnt,device=sdb1,more=x free=5i": (
        "system.filesystem.usage",
        {"system.device": "sdb1", "system.filesystem.mountpoint": "/mnt", "system.filesystem.state": "free"},
        5,
    ),
    "diskio,name=sdb iops_in_progress=3i": ("system.disk.pending_operations", {"system.device": "sdb"}, 3),
    "mem shared=5i": ("system.memory.linux.shared", {}, 5),
    "netstat tcp_syn_recv=4i": (
        "system.network.connection.count",
        {"network.connection.state": "syn_received", "network.transport": "tcp"},
        4,
    ),
    "system load5=0.25": ("system.cpu.load_average.5m", {}, 0.25),
    "processes zombies=2i": ("system.process.count", {"process.state": "defunct"}, 2),
    "procstat,process_name=bwa,cmdline=bwa\\ mem pid=42i,memory_rss=7i": (
        "process.memory.usage", {"process.executable.name": "bwa", "process.pid": "42"}, 7,
    ),
    "procstat,process_name=bwa pid=42i,cpu_usage=800": (
        "batchscope.process.cpu.usage", {"process.executable.name": "bwa", "process.pid": "42"}, 8,
    ),
    "nvidia_smi,index=1,name=A100,uuid=x utilization_gpu=50i": (
        "hw.gpu.utilization", {"hw.gpu.task": "general", "hw.id": "1", "hw.model": "A100", "hw.type": "gpu"}, 0.5,
    ),
    "nvidia_smi,index=0 memory_used=2i": ("hw.gpu.memory.usage", {"hw.id": "0", "hw.type": "gpu"}, 2 * 2**20),
    "nvidia_smi,index=0 power_draw=250.5": ("hw.power", {"hw.id": "0", "hw.type": "gpu"}, 250.5),
    "nvidia_smi,index=0 temperature_gpu=70i": ("hw.temperature", {"hw.id": "0", "hw.type": "gpu"}, 70),
    'nvidia_smi,index=0 clocks_throttle_reasons_hw_slowdown="Active"': (
        "batchscope.gpu.throttled",
        {"batchscope.gpu.throttle.reason": "hardware", "hw.id": "0", "hw.type": "gpu"},
        1,
    ),
    "nvidia_smi,index=0 temperature_memory=80i": (
        "hw.temperature", {"hw.id": "0", "hw.sensor_location": "memory", "hw.type": "gpu"}, 80,
    ),
    'nvidia_smi,index=0 retired_pages_pending="Yes"': (
        "batchscope.gpu.retired_pages", {"batchscope.gpu.page.state": "pending", "hw.id": "0", "hw.type": "gpu"}, 1,
    ),
    "nvidia_smi_mig,uuid=GPU-1,index=1,gpu_index=7,name=A100 memory_fb_used=3i": (
        "batchscope.gpu.mig.memory.usage",
        {"batchscope.gpu.mig.index": "1", "hw.id": "GPU-1", "hw.model": "A100", "hw.type": "gpu"},
        3 * 2**20,
    ),
    "amd_rocm_smi,name=card0,gpu_id=0x74a1 memory_used=17809408i": (
        "hw.gpu.memory.usage", {"hw.id": "card0", "hw.type": "gpu"}, 17809408,
    ),
    "amd_rocm_smi,name=card0 temperature_sensor_junction=71": (
        "hw.temperature", {"hw.id": "card0", "hw.type": "gpu"}, 71,
    ),
    "smartctl,name=/dev/nvme0,model=x,serial=1,type=nvme temperature=48i": (
        "hw.temperature", {"hw.id": "/dev/nvme0", "hw.model": "x", "hw.type": "physical_disk"}, 48,
    ),
    "nvme,device=nvme0 percentage_used=3i": (
        "hw.physical_disk.endurance_utilization",
        {"hw.id": "nvme0", "hw.physical_disk.state": "remaining", "hw.type": "physical_disk"},
        0.97,
    ),
    "smart_attribute,device=nvme0,name=Percentage_Used raw_value=3i,value=9i": (
        "hw.physical_disk.endurance_utilization",
        {"hw.id": "nvme0", "hw.physical_disk.state": "remaining", "hw.type": "physical_disk"},
        0.97,
    ),
    "cpu,host=h,instance=1,type=percent,type_instance=wait value=12.5": (
        "system.cpu.utilization", {"cpu.logical_number": "1", "cpu.mode": "iowait"}, 0.125,
    ),
    "memory,host=h,type=memory,type_instance=buffered value=242335744.000000": (
        "system.memory.usage", {"system.memory.state": "buffers"}, 242335744,
    ),
    "memory,host=h,type=percent,type_instance=used value=9.5": (
        "system.memory.utilization", {"system.memory.state": "used"}, 0.095,
    ),
    "df,host=h,instance=mnt-data,type=df_complex,type_instance=reserved value=5.000000": (
        "system.filesystem.usage",
        {"batchscope.filesystem.name": "mnt-data", "system.filesystem.state": "reserved"},
        5,
    ),
    "load,host=h,type=load longterm=7.5": ("system.cpu.load_average.15m", {}, 7.5),
    "swap,host=h,type=swap,type_instance=free value=5.0": ("system.paging.usage", {"system.paging.state": "free"}, 5),
    "processes,host=h,type=ps_state,type_instance=zombies value=2.000000": (
        "system.process.count", {"process.state": "defunct"}, 2,
    ),
    "uptime,host=h,type=uptime value=56835.000000": ("system.uptime", {}, 56835),
    "docker_container_mem,container_name=exec1,container_image=ubuntu,engine_host=h usage=7i": (
        "container.memory.usage", {"container.image.name": "ubuntu", "container.name": "exec1"}, 7,
    ),
    "win_cpu,instance=_Total,objectname=Processor Percent_Idle_Time=75": (
        "system.cpu.utilization", {"cpu.mode": "idle"}, 0.75,
    ),
    "win_cpu,instance=3 Percent_Privileged_Time=2": (
        "system.cpu.utilization", {"cpu.logical_number": "3", "cpu.mode": "system"}, 0.02,
    ),
    "win_mem Available_Bytes=5": ("system.memory.usage", {"system.memory.state": "free"}, 5),
    "win_disk,instance=C:,objectname=LogicalDisk Free_Megabytes=2": (
        "system.filesystem.usage",
        {"system.filesystem.mountpoint": "C:", "system.filesystem.state": "free"},
        2 * 2**20,
    ),
    "win_system System_Up_Time=7": ("system.uptime", {}, 7),
    "mem dirty=5i": ("system.linux.memory.dirty", {}, 5),
    "mem committed_as=5i": ("batchscope.memory.committed", {}, 5),
    "pressure,resource=io,type=some avg10=12.5": (
        "batchscope.pressure.average",
        {
            "batchscope.pressure.resource": "io", "batchscope.pressure.type": "some",
            "batchscope.pressure.window": "10s",
        },
        0.125,
    ),
    "nvidia_smi,index=0 clocks_current_sm=1980i": (
        "batchscope.gpu.clock.frequency",
        {"batchscope.gpu.clock.domain": "sm", "hw.id": "0", "hw.type": "gpu"},
        1_980_000_000,
    ),
    "nvidia_smi,index=0 pcie_link_width_current=8i": ("batchscope.gpu.pcie.width", {"hw.id": "0", "hw.type": "gpu"}, 8),
    "nvidia_smi,index=0 ecc_errors_uncorrected_aggregate_total=3i": (
        "batchscope.gpu.lifetime_errors", {"error.type": "uncorrected", "hw.id": "0", "hw.type": "gpu"}, 3,
    ),
    "amd_rocm_smi,name=card0 clocks_current_memory=900i": (
        "batchscope.gpu.clock.frequency",
        {"batchscope.gpu.clock.domain": "memory", "hw.id": "card0", "hw.type": "gpu"},
        900_000_000,
    ),
    "sensors,chip=k10temp-pci-00c3,feature=tctl temp_input=61.5": (
        "hw.temperature", {"hw.id": "k10temp-pci-00c3", "hw.sensor_location": "tctl", "hw.type": "temperature"}, 61.5,
    ),
    "temp,sensor=core_0 temp=42": ("hw.temperature", {"hw.id": "core_0", "hw.type": "temperature"}, 42),
    "batchscope_clock offset_seconds=0.25": ("batchscope.clock.offset", {}, 0.25),
    "batchscope_agent spooled_bytes=7i": ("batchscope.agent.spool.usage", {}, 7),
    "batchscope_task,job_id=j,task_id=t cpu_usage=150": ("batchscope.task.cpu.usage", {}, 1.5),
    "batchscope_task_attempt,job_id=j,task_id=t,task_attempt=9,cpu_time_from=samples cpu_time_user=2.5": (
        "batchscope.task.attempt.cpu.time",
        {"batchscope.task.attempt": "9", "batchscope.cpu.source": "samples", "cpu.mode": "user"},
        2.5,
    ),
    "batchscope_cgroup,path=/a cpu_limit_cores=2": (
        "batchscope.cgroup.cpu.limit", {"batchscope.cgroup.path": "/a"}, 2,
    ),
    "docker_container_cpu,container_name=exec1,cpu=cpu-total usage_percent=150": (
        "container.cpu.usage", {"container.name": "exec1"}, 1.5,
    ),
}  # fmt: skip
COUNTERS = {
    "diskio,name=sdb read_bytes={}i": ("system.disk.io", {"disk.io.direction": "read", "system.device": "sdb"}, 60),
    "diskio,name=sdb io_time={}i": ("system.disk.io_time", {"system.device": "sdb"}, 0.06),
    "net,interface=eth0 bytes_sent={}i": (
        "system.network.io", {"network.interface.name": "eth0", "network.io.direction": "transmit"}, 60,
    ),
    "net,interface=eth0 drop_in={}i": (
        "system.network.packet.dropped", {"network.interface.name": "eth0", "network.io.direction": "receive"}, 60,
    ),
    "infiniband,device=mlx5_0,port=1 port_rcv_data={}i": (
        "hw.network.io",
        {"batchscope.infiniband.port": "1", "hw.id": "mlx5_0", "hw.type": "network", "network.io.direction": "receive"},
        240,
    ),
    "infiniband,device=mlx5_0,port=1 symbol_error={}i": (
        "hw.errors",
        {"batchscope.infiniband.port": "1", "error.type": "symbol_error", "hw.id": "mlx5_0", "hw.type": "network"},
        60,
    ),
    "nvidia_smi,index=0 ecc_errors_uncorrected_volatile_total={}i": (
        "hw.errors", {"error.type": "uncorrected", "hw.id": "0", "hw.type": "gpu"}, 60,
    ),
    "nvidia_smi,index=0 ecc_errors_volatile_sram_correctable={}i": (
        "hw.errors",
        {"batchscope.gpu.memory.type": "sram", "error.type": "corrected", "hw.id": "0", "hw.type": "gpu"},
        60,
    ),
    "nvidia_smi,index=0 ecc_errors_volatile_sram_uncorrectable_secded={}i": (
        "hw.errors",
        {
            "batchscope.gpu.memory.check": "secded", "batchscope.gpu.memory.type": "sram", "error.type": "uncorrected",
            "hw.id": "0", "hw.type": "gpu",
        },
        60,
    ),
    "nvidia_smi,index=0 clocks_event_reasons_counters_hw_therm_slowdown={}i": (
        "batchscope.gpu.throttled_time",
        {"batchscope.gpu.throttle.reason": "hardware_thermal", "hw.id": "0", "hw.type": "gpu"},
        6e-5,
    ),
    "infiniband,device=mlx5_0,port=1 np_cnp_sent={}i": (
        "batchscope.infiniband.congestion",
        {
            "batchscope.infiniband.congestion.event": "notified", "batchscope.infiniband.port": "1", "hw.id": "mlx5_0",
            "hw.type": "network",
        },
        60,
    ),
    "nstat,name=snmp TcpRetransSegs={}i": ("batchscope.network.tcp.retransmits", {}, 60),
    "kernel context_switches={}i": ("batchscope.context_switches", {}, 60),
    "batchscope_gpu,index=0 energy_joules={}i": ("hw.energy", {"hw.id": "0", "hw.type": "gpu"}, 60),
    "batchscope_agent dropped_records={}i": ("batchscope.agent.records", {"batchscope.agent.state": "dropped"}, 60),
    "batchscope_append too_long={}i": ("batchscope.agent.lines", {"batchscope.agent.state": "too_long"}, 60),
    "nfsstat,mountpoint=/data,operation=READ,serverexport=10.0.0.4:/x rtt={}i": (
        "batchscope.nfs.response_time",
        {
            "batchscope.nfs.export": "10.0.0.4:/x", "batchscope.nfs.operation": "READ",
            "system.filesystem.mountpoint": "/data",
        },
        0.06,
    ),
    "lustre2,name=work-OST0000 write_bytes={}i": (
        "batchscope.lustre.io", {"batchscope.lustre.target": "work-OST0000", "disk.io.direction": "write"}, 60,
    ),
    "smart_device,device=nvme0 media_errors={}i": (
        "hw.errors", {"error.type": "media", "hw.id": "nvme0", "hw.type": "physical_disk"}, 60,
    ),
    "smart_attribute,device=nvme0,name=Data_Units_Read raw_value={}i": (
        "batchscope.physical_disk.io",
        {"disk.io.direction": "read", "hw.id": "nvme0", "hw.type": "physical_disk"},
        60 * 512_000,
    ),
    "smartctl,name=/dev/nvme0 controller_busy_time={}i": (
        "batchscope.physical_disk.busy_time", {"hw.id": "/dev/nvme0", "hw.type": "physical_disk"}, 3600,
    ),
    "procstat,process_name=bwa pid=42i,voluntary_context_switches={}i": (
        "process.context_switches",
        {"process.context_switch.type": "voluntary", "process.executable.name": "bwa", "process.pid": "42"},
        60,
    ),
    "pressure,resource=memory,type=full total={}i": (
        "batchscope.pressure.stalled",
        {"batchscope.pressure.resource": "memory", "batchscope.pressure.type": "full"},
        6e-5,
    ),
    "interface,host=h,instance=eth0,type=if_octets rx={}i": (
        "system.network.io", {"network.interface.name": "eth0", "network.io.direction": "receive"}, 60,
    ),
    "interface,host=h,instance=eth0,type=if_dropped tx={}i": (
        "system.network.packet.dropped", {"network.interface.name": "eth0", "network.io.direction": "transmit"}, 60,
    ),
    "disk,host=h,instance=vda,type=disk_ops write={}i": (
        "system.disk.operations", {"disk.io.direction": "write", "system.device": "vda"}, 60,
    ),
    "disk,host=h,instance=vda,type=disk_io_time io_time={}i": ("system.disk.io_time", {"system.device": "vda"}, 0.06),
    "cpu,host=h,instance=0,type=cpu,type_instance=user value={}i": (
        "system.cpu.time", {"cpu.logical_number": "0", "cpu.mode": "user"}, 0.6,
    ),
    "processes,host=h,type=fork_rate value={}i": ("system.process.created", {}, 60),
    "vmem,host=h,type=vmpage_faults majflt={}i": ("system.paging.faults", {"system.paging.fault.type": "major"}, 60),
    "vmem,host=h,type=vmpage_io,type_instance=swap out={}i": (
        "system.paging.operations", {"system.paging.direction": "out"}, 60,
    ),
    "docker_container_cpu,container_name=exec1,cpu=cpu1 usage_in_usermode={}i": (
        "container.cpu.time", {"container.name": "exec1", "cpu.logical_number": "1", "cpu.mode": "user"}, 6e-8,
    ),
    "docker_container_net,container_name=exec1,network=eth0 rx_bytes={}i": (
        "container.network.io",
        {"container.name": "exec1", "network.interface.name": "eth0", "network.io.direction": "receive"},
        60,
    ),
    "docker_container_blkio,container_name=total,device=total io_service_bytes_recursive_write={}i": (
        "container.disk.io", {"container.name": "total", "disk.io.direction": "write"}, 60,
    ),
}  # fmt: skip


RATES = {
    "win_net,instance=Ethernet Bytes_Sent_persec={}": (
        "system.network.io", {"network.interface.name": "Ethernet", "network.io.direction": "transmit"}, (100, 40), 40,
    ),
    "win_diskio,instance=0\\ C: Disk_Reads_persec={}": (
        "system.disk.operations", {"disk.io.direction": "read", "system.device": "0 C:"}, (1, 2.5), 2.5,
    ),
    "win_diskio,instance=1 Percent_Idle_Time={}": ("system.disk.io_time", {"system.device": "1"}, (100, 75), 0.25),
    "win_system Context_Switches_persec={}": ("batchscope.context_switches", {}, (9000, 8000), 8000),
}  # fmt: skip


@pytest.mark.parametrize("line", GAUGES)
def test_a_gauge_takes_its_name_unit_and_attributes(line: str) -> None:
    name, attributes, value = GAUGES[line]
    series, rollup = only(rollups(at(1, line)))
    assert (series.name, dict(series.attributes)) == (name, attributes)
    assert (rollup.count, rollup.min, rollup.max, rollup.sum, rollup.last) == (1, *[pytest.approx(value)] * 4)
    assert rollup.last_at == BEGIN + SECOND
    assert instruments()[name].kind is Kind.GAUGE


@pytest.mark.parametrize("line", COUNTERS)
def test_a_counter_gives_its_growth(line: str) -> None:
    name, attributes, grown = COUNTERS[line]
    series, rollup = only(rollups(at(1, line.format(1000)), at(31, line.format(1060))))
    assert (series.name, dict(series.attributes)) == (name, attributes)
    assert rollup.count == 1
    assert rollup.sum == pytest.approx(grown)
    assert rollup.min == rollup.max == rollup.last == pytest.approx(grown / 30)
    assert instruments()[name].kind is Kind.COUNTER


@pytest.mark.parametrize("line", RATES)
def test_a_rate_counts_for_the_time_since_the_reading_before(line: str) -> None:
    name, attributes, values, rate = RATES[line]
    series, rollup = only(rollups(at(1, line.format(values[0])), at(31, line.format(values[1]))))
    assert (series.name, dict(series.attributes)) == (name, attributes)
    assert rollup.count == 1
    assert rollup.sum == pytest.approx(30 * rate)
    assert rollup.min == rollup.max == rollup.last == pytest.approx(rate)
    assert instruments()[name].kind is Kind.COUNTER


def test_the_sum_of_all_disks_is_no_disk() -> None:
    found = taken(at(1, "win_diskio,instance=_Total Current_Disk_Queue_Length=1,Percent_Idle_Time=2"))
    assert (found.rollups, found.dropped.unread_fields) == ({}, 2)


def test_every_name_has_one_unit_and_kind_and_distinct_attributes() -> None:
    for name, plugin in plugins().items():
        seen: dict[Series, str] = {}
        for field, rule in plugin.fields.items():
            assert instruments()[rule.name].unit == rule.unit, field
            assert instruments()[rule.name].kind is rule.kind, field
            assert not set(dict(rule.attributes)) & {*plugin.tags.values(), *dict(plugin.fixed)}, field
            twin = seen.setdefault(Series(rule.name, rule.attributes), field)
            assert twin == field or (name, field, twin) in TWINS, field


TWINS = {  # fields that versions of a plugin name differently
    ("processes", "zombie", "zombies"), ("nvidia_smi", "ecc_corrected", "ecc_errors_corrected_volatile_total"),
    ("nvidia_smi", "ecc_uncorrected", "ecc_errors_uncorrected_volatile_total"),
} | {
    ("nvidia_smi", f"clocks_{word}_{name}", f"clocks_throttle_reasons_{name}")
    for word in ("event_reasons", "event_reason")
    for name in (
        "gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "hw_thermal_slowdown",
        "hw_power_brake_slowdown", "sw_thermal_slowdown", "sync_boost",
    )
}  # fmt: skip


def test_a_rate_is_no_reading_of_a_counter() -> None:
    line = "interface,host=h,instance=eth0,type=if_octets rx={}"
    found = taken(*(at(second, line.format(value)) for second, value in enumerate((7.5, 9.5, "100i", "160i"))))
    _, rollup = only(found.rollups[0])
    assert (rollup.count, rollup.sum, found.dropped.unread_fields) == (1, 60, 2)


def test_pages_of_memory_are_no_pages_of_swap() -> None:
    lines = ("vmem,host=h,type=vmpage_io,type_instance=memory in={}i", "disk,host=h,type=disk_time read={}i")
    found = taken(*(at(second, line.format(second)) for second in (1, 2) for line in lines))
    assert (found.rollups, found.dropped.unread_fields) == ({}, 4)


def test_an_aggregate_is_a_series_of_its_own_as_if_each_value_had_been_sent() -> None:
    fields = {"count": 3, "max": 97, "mean": 93, "min": 88, "s2": 1}
    line = "agg.cpu,cpu=cpu-total " + ",".join(f"usage_idle_{name}={value}" for name, value in fields.items())
    series, rollup = only(rollups(at(1, line)))
    assert dict(series.attributes) == {"batchscope.source": "aggregate", "cpu.mode": "idle"}
    assert (rollup.count, rollup.min, rollup.max) == (3, 0.88, 0.97)
    assert rollup.sum == pytest.approx(2.79)


def test_an_aggregate_of_a_counter_is_its_newest_reading() -> None:
    line = "agg.net,interface=eth0 bytes_sent_count=3,bytes_sent_max={},bytes_sent_mean=1,bytes_sent_min=0"
    _, rollup = only(rollups(at(1, line.format(100)), at(16, line.format(400))))
    assert (rollup.count, rollup.sum, rollup.max) == (1, 300, 20)


@pytest.mark.parametrize(
    ("written", "value"), [('"12.5"', 12.5), ('"true"', 1), ("f", 0), ('"\\"7\\""', 7), ('"Not Active"', 0)]
)
def test_numbers_and_booleans_may_come_as_texts(written: str, value: float) -> None:
    _, rollup = only(rollups(at(1, f"mem used={written}")))
    assert rollup.last == value


@pytest.mark.parametrize("written", ['"nan"', '"inf"', '"N/A"', '""', "1e300"])
def test_invalid_numbers_are_counted(written: str) -> None:
    found = taken(at(1, f"mem used={written}"), at(2, "mem used=4"))
    _, rollup = only(found.rollups[0])
    assert (rollup.count, rollup.sum, found.dropped.no_numbers) == (1, 4, 1)


def test_numbers_beyond_all_measure_are_no_crash() -> None:
    found = taken(*(Metric("mem", {}, {"used": value, "free": 1}, BEGIN) for value in (10**400, 1.0, float("nan"), 2)))
    assert found.dropped.no_numbers == 2
    assert {rollup.count for rollup in flat(found.rollups[0]).values()} == {2, 4}


def test_measurements_of_texts_alone_are_counted_by_name_and_bounded_and_logs_are_no_measurement() -> None:
    lines = (at(1, f'm{number} f="x"') for number in range(200))
    found = taken(*lines, at(1, 'm7 f="y"'), at(1, 'tail message="x"'))
    assert found.dropped.unknown["m7"] == 2
    assert len(found.dropped.unknown) == 101
    assert sum(found.dropped.unknown.values()) == 201
    assert found.rollups == {}
    assert not taken(
        at(1, "procstat_lookup pid_count=1i"), at(1, "agg.procstat_lookup pid_count_max=1")
    ).dropped.unknown
    assert not taken(at(1, "nvidia_smi_process,name=a used_memory=1i")).dropped.unknown


def test_a_tag_is_never_taken_for_a_field() -> None:
    found = rollups(Metric("mem", {"used": "free"}, {"total": 7}, BEGIN), at(1, "mem used=1,free=2,total=3"))
    sums = {dict(series.attributes).get("system.memory.state"): one.sum for (series, _), one in flat(found).items()}
    assert sums == {"used": 1, "free": 2, None: 10}


def test_processes_of_one_name_differ_by_pid() -> None:
    found = rollups(*(at(1, f"procstat,process_name=bwa pid={pid}i,memory_rss={pid}i") for pid in (5, 6)))
    assert {dict(series.attributes)["process.pid"]: one.sum for (series, _), one in flat(found).items()} == {
        "5": 5, "6": 6,
    }  # fmt: skip


def test_fields_that_nobody_watches_are_counted() -> None:
    assert taken(at(1, "mem used=1,vmalloc_chunk=2,mapped=3")).dropped.unread_fields == 2


def test_labels_that_differ_behind_their_cut_make_different_series_but_hold_no_secret() -> None:
    paths = [f"/{'a' * length}" for length in (100, 128, 129, 500, 501)]
    found = rollups(*(at(1, f"disk,path={path} used=1") for path in paths))
    assert len(found) == len(paths)
    secrets = [f"/{'a' * length}/token\\={value}" for length in (5, 200) for value in (4711, 4712)]
    assert len(rollups(*(at(1, f"disk,path={path} used=1") for path in secrets))) == 2


def test_a_label_never_holds_a_secret_and_is_bounded() -> None:
    signed = "https://a.blob.core.windows.net/c?sv\\=1&sig\\=abc%2Fdef"
    series, _ = only(rollups(at(1, f"disk,path={signed} used=1")))
    assert "abc" not in str(series)
    series, _ = only(rollups(at(1, f"disk,path=/{'a' * 500} used=1")))
    assert len(series.attributes[0][1]) == 128
    assert list(taken(at(1, 'AKIAIOSFODNN7EXAMPLE f="x"')).dropped.unknown) == ["[redacted]"]

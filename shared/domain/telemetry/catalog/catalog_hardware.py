"""Field mappings for Telegraf's measurements of GPUs, disks and InfiniBand.

Fields and units follow Telegraf's input plugins nvidia_smi (memory in MiB, times in microseconds), amd_rocm_smi (memory
in bytes), infiniband (the kernel's counters; data in words of four bytes), smart and smartctl. Fields that nvidia_smi
doesn't query have nvidia-smi's own names. `nvme` is NVMe's health log: percentages, minutes, and data in units of
512,000 bytes.

GPU memory errors are those since the driver was loaded: older ones aren't growth that the node saw. The temperature of
an AMD GPU is `junction`, by which it throttles.
"""

from shared.domain.telemetry.catalog.series import Plugin, Rule, counter, gauge

_PERCENT, _MICRO, _MINUTE, _MIB, _WORD, _DATA_UNIT = 0.01, 1e-6, 60, 1 << 20, 4, 512_000
_THROTTLES = {
    "gpu_idle": "idle", "applications_clocks_setting": "setting", "sw_power_cap": "power_cap",
    "hw_slowdown": "hardware", "hw_thermal_slowdown": "hardware_thermal", "hw_power_brake_slowdown": "power_brake",
    "sw_thermal_slowdown": "thermal", "sync_boost": "sync_boost",
}  # fmt: skip
_THROTTLED_TIMES = {
    "sw_power_cap": "power_cap", "sw_therm_slowdown": "thermal", "hw_therm_slowdown": "hardware_thermal",
    "hw_power_brake": "power_brake", "sync_boost": "sync_boost",
}  # fmt: skip
_FAULTS = {
    "symbol_error": "", "link_error_recovery": "", "link_downed": "", "local_link_integrity_errors": "",
    "excessive_buffer_overrun_errors": "", "VL15_dropped": "", "port_rcv_errors": "receive",
    "port_rcv_remote_physical_errors": "receive", "port_rcv_constraint_errors": "receive",
    "port_rcv_switch_relay_errors": "receive", "port_xmit_discards": "transmit",
    "port_xmit_constraint_errors": "transmit",
}  # fmt: skip


def _throttles() -> dict[str, Rule]:
    now = {
        f"clocks_{word}_{name}": gauge("batchscope.gpu.throttled", "1", batchscope_gpu_throttle_reason=said)
        for word in ("throttle_reasons", "event_reasons", "event_reason")
        for name, said in _THROTTLES.items()
    }
    times = {
        f"clocks_event_reasons_counters_{name}": counter(
            "batchscope.gpu.throttled_time", "s", _MICRO, batchscope_gpu_throttle_reason=said
        )
        for name, said in _THROTTLED_TIMES.items()
    }
    return now | times


def _ecc(kind: str, written: str) -> dict[str, Rule]:
    whole = counter("hw.errors", "{error}", error_type=kind)
    parts = {
        f"ecc_errors_volatile_{memory}_{written}": counter(
            "hw.errors", "{error}", error_type=kind, batchscope_gpu_memory_type=memory
        )
        for memory in ("dram", "sram")
    }
    return {f"ecc_errors_{kind}_volatile_total": whole, f"ecc_{kind}": whole, **parts}


def _fault(field: str, direction: str) -> Rule:
    if direction:
        return counter("hw.errors", "{error}", error_type=field.lower(), network_io_direction=direction)
    return counter("hw.errors", "{error}", error_type=field.lower())


def _traffic(name: str, unit: str, direction: str, factor: float = 1) -> Rule:
    return counter(f"hw.network.{name}", unit, factor, network_io_direction=direction)


def _rows(state: str) -> Rule:
    return gauge("batchscope.gpu.remapped_rows", "{row}", batchscope_gpu_row_state=state)


def _pages(state: str) -> Rule:
    return gauge("batchscope.gpu.retired_pages", "{page}", batchscope_gpu_page_state=state)


_ENDURANCE = gauge("hw.physical_disk.endurance_utilization", "1", -_PERCENT, 1, hw_physical__disk_state="remaining")
_MEDIA_ERRORS = counter("hw.errors", "{error}", error_type="media")
_TEMPERATURE = gauge("hw.temperature", "Cel")
_WARNING = gauge("batchscope.physical_disk.critical_warning", "1")
_SPARE = gauge("batchscope.physical_disk.available_spare", "1", _PERCENT)
_BUSY = counter("batchscope.physical_disk.busy_time", "s", _MINUTE)
_READ = counter("batchscope.physical_disk.io", "By", _DATA_UNIT, disk_io_direction="read")
_WRITTEN = counter("batchscope.physical_disk.io", "By", _DATA_UNIT, disk_io_direction="write")
_HEALTHY = gauge("hw.status", "1", hw_state="ok")
_HEALTH_LOG = {
    "percentage_used": _ENDURANCE, "media_errors": _MEDIA_ERRORS, "temperature": _TEMPERATURE,
    "critical_warning": _WARNING, "available_spare": _SPARE, "controller_busy_time": _BUSY,
    "data_units_read": _READ, "data_units_written": _WRITTEN,
}  # fmt: skip
_MEMORY_TEMPERATURE = gauge("hw.temperature", "Cel", hw_sensor__location="memory")
_GENERAL = gauge("hw.gpu.utilization", "1", _PERCENT, hw_gpu_task="general")
_POWER, _FAN = gauge("hw.power", "W"), gauge("hw.fan.speed_ratio", "1", _PERCENT)

HARDWARE = {
    "nvidia_smi": Plugin({
        "utilization_gpu": _GENERAL,
        "utilization_encoder": gauge("hw.gpu.utilization", "1", _PERCENT, hw_gpu_task="encoder"),
        "utilization_decoder": gauge("hw.gpu.utilization", "1", _PERCENT, hw_gpu_task="decoder"),
        "utilization_memory": gauge("batchscope.gpu.memory.bus_utilization", "1", _PERCENT),
        "memory_used": gauge("hw.gpu.memory.usage", "By", _MIB),
        "memory_total": gauge("hw.gpu.memory.limit", "By", _MIB),
        "temperature_gpu": _TEMPERATURE, "temperature_memory": _MEMORY_TEMPERATURE,
        "power_draw": _POWER, "power_limit": gauge("batchscope.gpu.power.limit", "W"), "fan_speed": _FAN,
        "remapped_rows_correctable": _rows("corrected"), "remapped_rows_uncorrectable": _rows("uncorrected"),
        "remapped_rows_pending": _rows("pending"), "remapped_rows_failure": _rows("failed"),
        "retired_pages_multiple_single_bit": _pages("corrected"), "retired_pages_double_bit": _pages("uncorrected"),
        "retired_pages_pending": _pages("pending"),
        **{f"ecc_errors_volatile_sram_uncorrectable_{check}": counter(
            "hw.errors", "{error}", error_type="uncorrected", batchscope_gpu_memory_type="sram",
            batchscope_gpu_memory_check=check,
        ) for check in ("parity", "secded")},
        **_throttles(), **_ecc("corrected", "correctable"), **_ecc("uncorrected", "uncorrectable"),
    }, {"index": "hw.id", "name": "hw.model"}, fixed=(("hw.type", "gpu"),)),
    "nvidia_smi_mig": Plugin({
        "memory_fb_used": gauge("batchscope.gpu.mig.memory.usage", "By", _MIB),
        "memory_fb_total": gauge("batchscope.gpu.mig.memory.limit", "By", _MIB),
        "sram_uncorrectable": counter("batchscope.gpu.mig.errors", "{error}", error_type="uncorrected"),
    }, {"uuid": "hw.id", "index": "batchscope.gpu.mig.index", "name": "hw.model"}, fixed=(("hw.type", "gpu"),)),
    "amd_rocm_smi": Plugin({
        "utilization_gpu": _GENERAL, "memory_used": gauge("hw.gpu.memory.usage", "By"),
        "memory_total": gauge("hw.gpu.memory.limit", "By"), "power_draw": _POWER, "fan_speed": _FAN,
        "temperature_sensor_junction": _TEMPERATURE, "temperature_sensor_memory": _MEMORY_TEMPERATURE,
        "temperature_sensor_edge": gauge("hw.temperature", "Cel", hw_sensor__location="edge"),
    }, {"name": "hw.id"}, fixed=(("hw.type", "gpu"),)),
    "infiniband": Plugin({
        "port_xmit_data": _traffic("io", "By", "transmit", _WORD),
        "port_rcv_data": _traffic("io", "By", "receive", _WORD),
        "port_xmit_packets": _traffic("packets", "{packet}", "transmit"),
        "port_rcv_packets": _traffic("packets", "{packet}", "receive"),
        "port_xmit_wait": counter("batchscope.infiniband.transmit_wait", "{tick}"),
        **{field: _fault(field, direction) for field, direction in _FAULTS.items()},
    }, {"device": "hw.id", "port": "batchscope.infiniband.port"}, fixed=(("hw.type", "network"),)),
    "nvme": Plugin(
        _HEALTH_LOG, {"device": "hw.id", "name": "hw.id", "model": "hw.model"}, fixed=(("hw.type", "physical_disk"),)
    ),
    "smartctl": Plugin(
        {**_HEALTH_LOG, "health_ok": _HEALTHY}, {"name": "hw.id", "model": "hw.model"},
        fixed=(("hw.type", "physical_disk"),),
    ),
    "smart_device": Plugin({
        "temp_c": _TEMPERATURE, "health_ok": _HEALTHY, "percentage_used": _ENDURANCE, "media_errors": _MEDIA_ERRORS,
        "critical_warning": _WARNING, "available_spare": _SPARE,
    }, {"device": "hw.id", "model": "hw.model"}, fixed=(("hw.type", "physical_disk"),)),
    "smart_attribute": Plugin({
        "Percentage_Used/raw_value": _ENDURANCE, "Media_and_Data_Integrity_Errors/raw_value": _MEDIA_ERRORS,
        "Temperature_Celsius/raw_value": _TEMPERATURE, "Critical_Warning/raw_value": _WARNING,
        "Available_Spare/raw_value": _SPARE, "Controller_Busy_Time/raw_value": _BUSY,
        "Data_Units_Read/raw_value": _READ, "Data_Units_Written/raw_value": _WRITTEN,
    }, {"device": "hw.id", "model": "hw.model"}, fixed=(("hw.type", "physical_disk"),), named_by="name"),
}  # fmt: skip

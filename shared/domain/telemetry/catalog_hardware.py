"""Measurements of Telegraf about GPUs, disks and InfiniBand, and what becomes of their fields.

Fields and units: Telegraf's input plugins nvidia_smi (memory in MiB), infiniband (the kernel's counters; data in words
of four bytes) and smart, nvidia-smi's own names for what the plugin doesn't ask, and NVMe's health log
(`nvme`: percentages, data in units of 512,000 bytes).
"""

from shared.domain.telemetry.series import Plugin, Rule, counter, gauge

_PERCENT, _MIB, _WORD, _DATA_UNIT = 0.01, 1 << 20, 4, 512_000
_THROTTLES = {
    "active": "any", "gpu_idle": "idle", "applications_clocks_setting": "setting", "sw_power_cap": "power_cap",
    "hw_slowdown": "hardware", "hw_thermal_slowdown": "hardware_thermal", "hw_power_brake_slowdown": "power_brake",
    "sw_thermal_slowdown": "thermal", "sync_boost": "sync_boost",
}  # fmt: skip
_FAULTS = {
    "symbol_error": "", "link_error_recovery": "", "link_downed": "", "local_link_integrity_errors": "",
    "excessive_buffer_overrun_errors": "", "VL15_dropped": "", "port_rcv_errors": "receive",
    "port_rcv_remote_physical_errors": "receive", "port_rcv_constraint_errors": "receive",
    "port_rcv_switch_relay_errors": "receive", "port_xmit_discards": "transmit",
    "port_xmit_constraint_errors": "transmit",
}  # fmt: skip


def _throttles() -> dict[str, Rule]:
    return {
        f"clocks_{word}_reasons_{name}": gauge("batchscope.gpu.throttled", "1", batchscope_gpu_throttle_reason=said)
        for word in ("throttle", "event")
        for name, said in _THROTTLES.items()
    }


def _ecc(kind: str) -> dict[str, Rule]:
    rule = counter("hw.errors", "{error}", error_type=kind)
    return {f"ecc_errors_{kind}_volatile_total": rule, f"ecc_{kind}": rule}


def _fault(field: str, direction: str) -> Rule:
    if direction:
        return counter("hw.errors", "{error}", error_type=field.lower(), network_io_direction=direction)
    return counter("hw.errors", "{error}", error_type=field.lower())


def _traffic(name: str, unit: str, direction: str, factor: float = 1) -> Rule:
    return counter(f"hw.network.{name}", unit, factor, network_io_direction=direction)


def _rows(state: str) -> Rule:
    return gauge("batchscope.gpu.remapped_rows", "{row}", batchscope_gpu_row_state=state)


_ENDURANCE = gauge("hw.physical_disk.endurance_utilization", "1", -_PERCENT, 1, hw_physical__disk_state="remaining")
_MEDIA_ERRORS = counter("hw.errors", "{error}", error_type="media")
_TEMPERATURE = gauge("hw.temperature", "Cel")
_WARNING = gauge("batchscope.physical_disk.critical_warning", "1")
_SPARE = gauge("batchscope.physical_disk.available_spare", "1", _PERCENT)

HARDWARE = {
    "nvidia_smi": Plugin({
        "utilization_gpu": gauge("hw.gpu.utilization", "1", _PERCENT, hw_gpu_task="general"),
        "utilization_encoder": gauge("hw.gpu.utilization", "1", _PERCENT, hw_gpu_task="encoder"),
        "utilization_decoder": gauge("hw.gpu.utilization", "1", _PERCENT, hw_gpu_task="decoder"),
        "utilization_memory": gauge("batchscope.gpu.memory.bus_utilization", "1", _PERCENT),
        "memory_used": gauge("hw.gpu.memory.usage", "By", _MIB),
        "memory_total": gauge("hw.gpu.memory.limit", "By", _MIB),
        "temperature_gpu": _TEMPERATURE, "power_draw": gauge("hw.power", "W"),
        "power_limit": gauge("batchscope.gpu.power.limit", "W"),
        "fan_speed": gauge("hw.fan.speed_ratio", "1", _PERCENT),
        "remapped_rows_correctable": _rows("corrected"), "remapped_rows_uncorrectable": _rows("uncorrected"),
        "remapped_rows_pending": _rows("pending"), "remapped_rows_failure": _rows("failed"),
        **_throttles(), **_ecc("corrected"), **_ecc("uncorrected"),
    }, {"index": "hw.id", "name": "hw.model"}, fixed=(("hw.type", "gpu"),)),
    "infiniband": Plugin({
        "port_xmit_data": _traffic("io", "By", "transmit", _WORD),
        "port_rcv_data": _traffic("io", "By", "receive", _WORD),
        "port_xmit_packets": _traffic("packets", "{packet}", "transmit"),
        "port_rcv_packets": _traffic("packets", "{packet}", "receive"),
        "port_xmit_wait": counter("batchscope.infiniband.transmit_wait", "{tick}"),
        **{field: _fault(field, direction) for field, direction in _FAULTS.items()},
    }, {"device": "hw.id", "port": "batchscope.infiniband.port"}, fixed=(("hw.type", "network"),)),
    "nvme": Plugin({
        "percentage_used": _ENDURANCE, "media_errors": _MEDIA_ERRORS, "temperature": _TEMPERATURE,
        "critical_warning": _WARNING, "available_spare": _SPARE,
        "data_units_read": counter("batchscope.physical_disk.io", "By", _DATA_UNIT, disk_io_direction="read"),
        "data_units_written": counter("batchscope.physical_disk.io", "By", _DATA_UNIT, disk_io_direction="write"),
    }, {"device": "hw.id", "name": "hw.id", "model": "hw.model"}, fixed=(("hw.type", "physical_disk"),)),
    "smart_device": Plugin({
        "temp_c": _TEMPERATURE, "health_ok": gauge("hw.status", "1", hw_state="ok"), "percentage_used": _ENDURANCE,
        "media_and_data_integrity_errors": _MEDIA_ERRORS, "critical_warning": _WARNING, "available_spare": _SPARE,
    }, {"device": "hw.id", "model": "hw.model"}, fixed=(("hw.type", "physical_disk"),)),
    "smart_attribute": Plugin({
        "Percentage_Used/raw_value": _ENDURANCE, "Media_and_Data_Integrity_Errors/raw_value": _MEDIA_ERRORS,
        "Temperature_Celsius/raw_value": _TEMPERATURE, "Critical_Warning/raw_value": _WARNING,
        "Available_Spare/raw_value": _SPARE,
    }, {"device": "hw.id", "model": "hw.model"}, fixed=(("hw.type", "physical_disk"),), named_by="name"),
}  # fmt: skip

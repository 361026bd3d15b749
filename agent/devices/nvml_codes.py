"""Return codes of NVML: their names, and the scope of each failure (a query, a GPU or the whole session)."""

from __future__ import annotations

NAMES = (
    "SUCCESS", "UNINITIALIZED", "INVALID_ARGUMENT", "NOT_SUPPORTED", "NO_PERMISSION", "ALREADY_INITIALIZED",
    "NOT_FOUND", "INSUFFICIENT_SIZE", "INSUFFICIENT_POWER", "DRIVER_NOT_LOADED", "TIMEOUT", "IRQ_ISSUE",
    "LIBRARY_NOT_FOUND", "FUNCTION_NOT_FOUND", "CORRUPTED_INFOROM", "GPU_IS_LOST", "RESET_REQUIRED",
    "OPERATING_SYSTEM", "LIB_RM_VERSION_MISMATCH", "IN_USE", "MEMORY", "NO_DATA", "VGPU_ECC_NOT_SUPPORTED",
    "INSUFFICIENT_RESOURCES", "FREQ_NOT_SUPPORTED", "ARGUMENT_VERSION_MISMATCH", "DEPRECATED", "NOT_READY",
    "GPU_NOT_FOUND", "INVALID_STATE", "RESET_TYPE_NOT_SUPPORTED",
)  # fmt: skip
"""Names by code; 999 is UNKNOWN, too."""
SUCCESS, INSUFFICIENT_SIZE = 0, NAMES.index("INSUFFICIENT_SIZE")
NOT_SUPPORTED, FUNCTION_NOT_FOUND = NAMES.index("NOT_SUPPORTED"), NAMES.index("FUNCTION_NOT_FOUND")
_ABSENT = frozenset((
    "INVALID_ARGUMENT", "NOT_SUPPORTED", "NO_PERMISSION", "FUNCTION_NOT_FOUND", "VGPU_ECC_NOT_SUPPORTED",
    "ARGUMENT_VERSION_MISMATCH", "DEPRECATED",
))  # fmt: skip
_LOST = frozenset(("TIMEOUT", "IRQ_ISSUE", "GPU_IS_LOST", "RESET_REQUIRED", "GPU_NOT_FOUND"))
_SESSION = frozenset(("UNINITIALIZED", "DRIVER_NOT_LOADED", "LIBRARY_NOT_FOUND", "LIB_RM_VERSION_MISMATCH"))


class NvmlError(Exception):
    """NVML answered a call with another code than success; `name` is the code's name without its prefix."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.name = NAMES[code] if 0 <= code < len(NAMES) else "UNKNOWN"
        super().__init__(f"NVML answered {self.name} ({code}).")

    @property
    def is_absent(self) -> bool:
        """The GPU or the driver doesn't support the query; repeating it soon is of no use."""
        return self.name in _ABSENT

    @property
    def is_lost(self) -> bool:
        """The GPU doesn't answer any more; the others may."""
        return self.name in _LOST

    @property
    def ends_session(self) -> bool:
        """The driver was unloaded or replaced; all handles are void."""
        return self.name in _SESSION

"""The kernel's door to an NVMe controller: reads its health log. It needs CAP_SYS_ADMIN."""

from __future__ import annotations

import array
import fcntl
import os
import struct

LOG_SIZE = 512
"""Bytes of the health log."""
_ADMIN_COMMAND = 0xC0484E41  # _IOWR('N', 0x41, 72 bytes)
_COMMAND = struct.Struct("=BBHIIIQQII6III")
_GET_LOG_PAGE, _HEALTH, _ALL_NAMESPACES = 0x02, 0x02, 0xFFFFFFFF
_TIMEOUT = 2000  # milliseconds


class HealthLogs:
    """Reads health logs of controllers."""

    def read(self, path: str) -> bytes:
        """Returns the log of the controller whose device file is at `path`. Raises OSError."""
        log = array.array("B", bytes(LOG_SIZE))
        address, _ = log.buffer_info()
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            status = fcntl.ioctl(file, _ADMIN_COMMAND, bytearray(_command(address)))
        finally:
            os.close(file)
        if status:
            raise OSError(f"The NVMe controller answered with status {status:#x}.")
        return log.tobytes()


def _command(address: int) -> bytes:
    """Returns the command that writes the health log to an address of `LOG_SIZE` bytes."""
    page = _HEALTH | (LOG_SIZE // 4 - 1) << 16
    return _COMMAND.pack(
        _GET_LOG_PAGE, 0, 0, _ALL_NAMESPACES, 0, 0, 0, address, 0, LOG_SIZE, page, 0, 0, 0, 0, 0, _TIMEOUT, 0
    )

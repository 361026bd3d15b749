"""A process that stands for a task: it uses part of a core, some memory and some disk, until it is ended.

`python -m local.machine_node.load SEED`: a number from 0 on, from which the amounts follow.
"""

import os
import sys
import tempfile
import time
from contextlib import suppress

_MIB = 1 << 20
_PERIOD = 0.1  # seconds, busy for a share of it
_SHARES = (0.02, 0.05, 0.1, 0.2)
_MEMORY = (16, 32, 48, 64)  # MiB, reached within half a minute
_WRITES = (0, 1, 2)  # MiB every ten seconds
_GROWTH_SECONDS, _WRITE_SECONDS = 30, 10
_LOWEST = 19  # of priorities, so that nobody notices


def main(seed: int) -> None:
    os.nice(_LOWEST)
    share, most, written = _SHARES[seed % 4], _MEMORY[seed // 4 % 4], _WRITES[seed // 16 % 3]
    begin, held, last = time.monotonic(), bytearray(), 0.0
    with tempfile.TemporaryFile() as file:
        while True:
            now = time.monotonic()
            wanted = int(most * min(1.0, (now - begin) / _GROWTH_SECONDS)) * _MIB
            if len(held) < wanted:
                held += b"\1" * (wanted - len(held))
            if now - last >= _WRITE_SECONDS:
                last = now
                file.seek(0)
                file.write(b"\2" * written * _MIB)
            while time.monotonic() - now < share * _PERIOD:
                sum(range(1000))
            time.sleep((1 - share) * _PERIOD)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(int(sys.argv[1]))

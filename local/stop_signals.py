"""Stop signals of the local programs."""

import asyncio
import signal
from contextlib import suppress


def cancel_on_signals() -> None:
    """Has SIGINT and SIGTERM cancel the task that calls this."""
    task = asyncio.current_task()
    if task is not None:
        with suppress(NotImplementedError):  # Windows: the signal ends the program
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, task.cancel)

"""The thread that sends the units of the spool: the sampler's sink, which never waits for the network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from agent.events.event import MEASUREMENT as EVENT
from agent.records.record import Value
from agent.upload.sender import IDLE_WAIT, Sender
from agent.upload.spool import Spool

_ENDING_WAIT = 1.0  # seconds between tries at the end
_EVENT = f"{EVENT},".encode()


class Uploader:
    """Keeps lines in the spool and sends them in the background.

    `start` begins the thread, after any fork. Unsent units stay in the spool for the next agent.
    """

    def __init__(self, spool: Spool, sender: Sender, log: Callable[[str], None]) -> None:
        self._spool, self._sender, self._log = spool, sender, log
        self._wake = threading.Event()
        self._is_urgent = self._is_ending = self._is_stopped = False
        self._records = 0
        self._thread = threading.Thread(target=self._run, name="uploader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, lines: bytes, records: int) -> None:
        """Keeps whole lines, one record each; they are on disk when it returns. Wakes the sender.

        With an event among them the sender tries at once, even after failures.
        """
        self._records += records
        self._spool.put(lines)
        if lines.startswith(_EVENT) or b"\n" + _EVENT in lines:
            self._is_urgent = True
        self._wake.set()

    def fields(self) -> Mapping[str, Value]:
        """Returns fields about the uploader for the agent's own record."""
        return {"flushed_records": self._records, **self._sender.fields(), **self._spool.fields()}

    def drain(self, seconds: float) -> bool:
        """Sends all units and ends the thread; returns whether all was sent within the seconds.

        The service's wish to be left alone for a time stands even then.
        """
        self._is_urgent = self._is_ending = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(seconds)
        is_sent = not self._thread.is_alive() and self._sender.is_done()
        self._is_stopped = True
        self._wake.set()
        return is_sent

    def _run(self) -> None:
        while not self._is_stopped:
            if self._is_urgent:
                self._is_urgent = False
                self._sender.hurry()
            wait = self._stepped()
            if self._is_ending and self._sender.is_done():
                self._sender.finish()
                return
            if wait:
                self._wake.wait(min(wait, _ENDING_WAIT) if self._is_ending else wait)
                self._wake.clear()

    def _stepped(self) -> float:
        """Takes a step of the sender, whose defects must not end the thread."""
        try:
            return self._sender.step()
        except Exception as error:
            self._log(f"The uploader failed ({type(error).__name__}); it goes on.")
            return IDLE_WAIT

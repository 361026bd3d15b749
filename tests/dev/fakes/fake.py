"""Faults of the fakes on request: `FAKE_<NAME>` is `crash`, `finish`, `deaf` (to SIGTERM) or `silent`."""

import os
import signal
import sys
import time


def misbehave(name: str) -> None:
    wish = os.environ.get(f"FAKE_{name.upper()}")
    if wish == "crash":
        print("the last words of the " + name, flush=True)
        sys.exit(7)
    if wish == "finish":
        sys.exit(0)
    if wish == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if wish == "silent":
        time.sleep(600)

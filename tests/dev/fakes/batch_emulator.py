"""Stands where the Batch emulator stands: tells its arguments, says that it listens, and lives."""

import sys
import time

from tests.dev.fakes.fake import misbehave

misbehave("emulator")
print(sys.argv, flush=True)
print("listening on http://127.0.0.1:1", flush=True)
time.sleep(600)

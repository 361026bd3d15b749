"""Stands where the Batch emulator stands: says that it listens, and lives."""

import time

from tests.dev.fakes.fake import misbehave

misbehave("emulator")
print("listening on http://127.0.0.1:1", flush=True)
time.sleep(600)

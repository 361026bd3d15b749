"""Replaces the Batch emulator: prints its arguments, announces its address, and keeps running."""

import sys
import time

from tests.dev.fakes.fake import misbehave

misbehave("emulator")
print(sys.argv, flush=True)
print("listening on http://127.0.0.1:1", flush=True)
time.sleep(600)

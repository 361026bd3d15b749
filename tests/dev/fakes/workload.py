"""Replaces the workload; has a child process, as a real program may."""

import subprocess
import sys
import time

from tests.dev.fakes.fake import misbehave

grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(f"grandchild {grandchild.pid}", flush=True)
misbehave("workload")
time.sleep(600)

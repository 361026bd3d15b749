"""Where the bodies of documented events are, which are no part of the repository."""

import os
from pathlib import Path

BODIES = Path(os.environ.get("CONFORMANCE_DIR", Path(__file__).parents[4] / "shared/conformance")) / "batch-events"

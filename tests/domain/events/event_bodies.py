"""The folder of the documented event bodies, which aren't part of the repository."""

import os
from pathlib import Path

BODIES = Path(os.environ.get("CONFORMANCE_DIR", Path(__file__).parents[4] / "shared/conformance")) / "batch-events"

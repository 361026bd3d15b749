"""The Bicep checker and the published data that stand beside the checkout where the project is developed."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from local.dev.system.checkout import HERE

_CLEAN = "0 errors, 0 warnings"


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks Bicep against the types of Azure's resources, which `conformance` holds."""

    program: Path
    conformance: Path

    def complaints(self, root: Path) -> str:
        """What it says about every Bicep file of a checkout; an empty text if nothing."""
        files = sorted(str(path.relative_to(root)) for path in (root / "infra").rglob("*.bicep"))
        types = str(self.conformance / "bicep-types")
        command = [sys.executable, str(self.program), "--types", types, "--require-types", *files]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        is_clean = done.returncode == 0 and done.stdout.strip() == f"{len(files)} files, {_CLEAN}"
        return "" if is_clean else done.stdout + done.stderr


def find_conformance() -> Path | None:
    """Data that others published, beside the checkout or where CONFORMANCE_DIR says; None where there are none."""
    found = Path(os.environ.get("CONFORMANCE_DIR") or HERE.root.parent / "shared/conformance").resolve()
    return found if (found / "schemas").is_dir() else None


def find_checker() -> Checker | None:
    """None where there is no checker beside the data, or no data."""
    conformance = find_conformance()
    if conformance is None or not (conformance / "bicep-types/index.json").is_file():
        return None
    program = conformance.parent / "tools/bicepcheck.py"
    return Checker(program, conformance) if program.is_file() else None

"""The Bicep checker and the schemas that stand beside the checkout where the project is developed, and only there."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from local.dev.checkout import HERE

_CLEAN = "0 errors, 0 warnings"


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks Bicep against the types of Azure's resources; `conformance` holds those and JSON schemas."""

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

    def schema(self, name: str) -> Path:
        return self.conformance / "schemas" / name


def find_checker() -> Checker | None:
    """None where there is none; the environment variable CONFORMANCE_DIR says where else the data are."""
    conformance = Path(os.environ.get("CONFORMANCE_DIR") or HERE.root.parent / "shared/conformance").resolve()
    program = conformance.parent / "tools/bicepcheck.py"
    found = program.is_file() and (conformance / "bicep-types/index.json").is_file()
    return Checker(program, conformance) if found else None

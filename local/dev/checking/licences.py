"""docs/licences.md: the licence of each deployed package, from the packages' metadata.

`lock` writes the page, `check` compares it with the installed packages. A licence missing in `ALLOWED` is a fault:
somebody has to read it first.
"""

import json
import re
from collections.abc import Iterator
from email.message import Message
from importlib import metadata
from pathlib import Path

from local.dev.checking.pins import logical_lines
from local.dev.packaging.wheels import normalized_name
from local.dev.system.checkout import Checkout

PAGE = "docs/licences.md"
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 AND BSD-2-Clause",
    "Apache-2.0 AND MIT",
    "Apache-2.0 OR BSD-3-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT OR Apache-2.0",
    "MIT-0",
    "MPL-2.0",
    "MPL-2.0 AND (Apache-2.0 OR MIT)",
    "PSF-2.0",
}
"""None of them requires publishing the source of its users; MPL-2.0 requires that of changes to the package itself."""
SPDX = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD-3-Clause License": "BSD-3-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
HEAD = """# Licences

Of everything in the package that `python3 dev.py build` makes, and of what builds and checks the dashboard, as the
packages themselves say. `python3 dev.py lock` writes this page, and `python3 dev.py check` holds it against the lock
files. Batchscope's own licence is MIT.
"""


def write_licences(checkout: Checkout) -> None:
    (checkout.root / PAGE).write_text(page(checkout), encoding="utf-8")


def licence_faults(checkout: Checkout) -> Iterator[str]:
    """Yields a sentence for each unapproved licence, and one if the page is outdated."""
    for name, _, licence in (*python_licences(checkout), *web_licences(checkout.root)):
        if licence not in ALLOWED:
            yield f"{name} has the licence {licence!r}: read it, then allow it in local/dev/checking/licences.py."
    path = checkout.root / PAGE
    if not path.exists() or path.read_text(encoding="utf-8") != page(checkout):
        yield f"{PAGE} isn't what the installed packages say; run `python3 dev.py lock`."


def page(checkout: Checkout) -> str:
    """Returns the page for the installed packages."""
    return (
        f"{HEAD}\n## Python\n{_table(python_licences(checkout))}\n## Dashboard\n{_table(web_licences(checkout.root))}"
    )


def _table(rows: Iterator[tuple[str, str, str]]) -> str:
    lines = "".join(f"| {name} | {version} | {licence} |\n" for name, version, licence in rows)
    return f"| package | version | licence |\n|---|---|---|\n{lines}"


def python_licences(checkout: Checkout) -> Iterator[tuple[str, str, str]]:
    """Yields name, version and licence of every package in requirements.txt."""
    held = {normalized_name(found.name): found for found in metadata.distributions(path=[str(checkout.packages)])}
    lock = (checkout.root / "requirements.txt").read_text(encoding="utf-8")
    for line in logical_lines(lock.splitlines()[1:]):
        name, version = re.split(r"==| ", line)[:2]
        found = held.get(name)
        yield name, version, _licence(found.metadata) if found else "not installed"


def _licence(package: metadata.PackageMetadata | Message) -> str:
    """Returns the licence, as an SPDX expression where known."""
    expression = package.get("License-Expression")
    classifiers = [text.rpartition(" :: ")[2] for text in package.get_all("Classifier") or [] if "License ::" in text]
    stated = [text for text in (expression, package.get("License"), *classifiers) if text and "\n" not in text]
    known = [SPDX.get(text.strip(), text.strip()) for text in stated]
    return next((text for text in known if text in ALLOWED), known[0] if known else "not stated")


def web_licences(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yields name, version and licence of every package of the dashboard, including those that only build it."""
    packages = json.loads((root / "web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for path, package in sorted(packages.items()):
        if path:
            name = path.rpartition("node_modules/")[2]
            use = ", builds only" if package.get("dev") or package.get("devOptional") else ""
            yield f"{name}{use}", package["version"], package.get("license", "not stated")

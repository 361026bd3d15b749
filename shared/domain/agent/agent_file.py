"""The node agent's file, as the app's package has it."""

import re
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO

NAME = "batchscope-agent.pyz"
"""The file's name in the package, in storage and on nodes."""
_MODULE = "agent/__init__.py"
_VERSION = re.compile(rb'^VERSION = "([\w.+-]+)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A file of the agent: its version, SHA-256 in hexadecimal digits, and size in bytes."""

    version: str
    sha256: str
    size: int


def agent_file(content: bytes) -> AgentFile:
    """Returns the description of a file. Raises ValueError if it isn't the agent's."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            found = _VERSION.search(archive.read(_MODULE))
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"{NAME} isn't the node agent: {error}") from error
    if found is None:
        raise ValueError(f"{NAME} names no version.")
    return AgentFile(found[1].decode(), sha256(content).hexdigest(), len(content))

"""Compiles Python files for a package, as a program that does nothing else: sources come in, bytecode goes out.

What `marshal` writes depends on how often the process refers to an object, so the same source can give other bytes in a
process that has imported other modules. In this one, started with `-I -S`, it is always the same.
"""

import importlib.util
import marshal
import sys
import warnings

UNCHECKED_HASH = 1
"""The flags in the head of bytecode that Python takes without looking at its source (PEP 552)."""


def bytecode(name: str, content: bytes) -> bytes | str:
    """The bytecode of a source that is called `name` in it, or why there is none."""
    try:
        code = compile(content, name, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError) as error:
        return f"{name} doesn't compile: {error}"
    head = importlib.util.MAGIC_NUMBER + UNCHECKED_HASH.to_bytes(4, "little")
    return head + importlib.util.source_hash(content) + marshal.dumps(code)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sources = marshal.load(sys.stdin.buffer)  # noqa: S302 - of the program that started this one
    for source in sources:
        marshal.dump(bytecode(*source), sys.stdout.buffer)

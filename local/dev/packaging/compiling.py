"""Compiles Python files for a package in a separate program: reads sources, writes bytecode.

The output of `marshal` depends on the number of references to an object, so the same source can give other bytes in a
process with other imported modules. This program, started with `-I -S`, always gives the same bytes.
"""

import importlib.util
import marshal
import sys
import warnings

UNCHECKED_HASH = 1
"""The flags in the head of bytecode that Python loads without reading its source (PEP 552)."""


def bytecode(name: str, content: bytes) -> bytes | str:
    """Returns the bytecode of a source with this name, or the error that prevents it."""
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

"""The one place where functions and services get their loggers.

Alert rules of `infra/` match on how log lines begin, so no name from outside may begin a line or break one. Every log
call begins with words of its own (a test sees to that), and the filter here escapes what would break the line.
"""

import logging
import textwrap
import traceback


def logger(name: str) -> logging.Logger:
    """The logger of a module, whose records are one line each, but for tracebacks, whose lines are indented."""
    found = logging.getLogger(name)
    found.addFilter(_one_line)
    return found


def escaped(text: str) -> str:
    r"""The text with line breaks and all else that doesn't print as escapes like `\n`."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _one_line(record: logging.LogRecord) -> bool:
    record.msg, record.args = escaped(record.getMessage()), None
    if record.exc_info and not record.exc_text:
        shown = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        lines = (escaped(line) for line in shown.split("\n"))
        record.exc_text = textwrap.indent("\n".join(lines), "  ", lambda _: True)
    return True

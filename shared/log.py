"""The loggers of functions and services.

Alert rules of `infra/` match the start of log lines, so no external name may start or break a line. Each log call
begins with its own words (a test checks that), and the filter here escapes characters that would break the line.
"""

import logging
import textwrap
import traceback


def logger(name: str) -> logging.Logger:
    """Returns a module's logger, whose records are one line each, followed by indented lines for tracebacks."""
    found = logging.getLogger(name)
    found.addFilter(_one_line)
    return found


def escaped(text: str) -> str:
    r"""Returns the text with line breaks and other unprintable characters as escapes like `\n`."""
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

"""What loggers and launchers write before a message: times, levels, ranks, hosts, names of loggers."""

import re
from typing import Literal, NamedTuple

type Level = Literal["low", "warning", "error", "fatal"]


class LogMessage(NamedTuple):
    """A line without its prefix; `level` is None where it states none."""

    text: str
    level: Level | None = None


_LEVELS: dict[str, Level] = {
    **dict.fromkeys(("TRACE", "DEBUG", "INFO", "NOTICE", "NOTE", "HINT", "INFORMATION", "I", "D"), "low"),
    **dict.fromkeys(("WARN", "WARNING", "W"), "warning"),
    **dict.fromkeys(("ERROR", "ERR", "SEVERE", "E"), "error"),
    **dict.fromkeys(("FATAL", "CRITICAL", "CRIT", "EMERG", "ALERT", "PANIC", "F", "C"), "fatal"),
}
_LEVEL_NAMES = "TRACE|DEBUG|INFO|NOTICE|NOTE|HINT|WARN(?:ING)?|ERROR|ERR|SEVERE|FATAL|CRITICAL|CRIT|EMERG|ALERT"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_GLOG = re.compile(rf"([IWEFD])\d{{4}} {_CLOCK} +\d{{1,9}} [\w./+-]{{1,200}}:\d{{1,6}}\] ?")
_TIME = re.compile(
    rf"[\[(<]?(?:\d{{4}}[-/.]\d\d?[-/.]\d\d?(?:[T_ ]{_CLOCK}{_ZONE})?"
    rf"|\d\d[-/.]\d\d[-/.](?:\d\d){{1,2}} {_CLOCK}{_ZONE}|{_CLOCK}"
    rf"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:{_MONTH} {{1,2}}\d\d?|\d\d? {_MONTH})(?: \d{{4}})? {_CLOCK}"
    r"(?: [A-Z]{3,4})?(?: \d{4})?|(?<=\[) {0,8}\d{1,9}\.\d{1,9})[\])>]?(?:[:,|] ?|(?= )|$)"
)
_PLACES = re.compile(  # ranks, processes and streams, as launchers name them
    r"\[\d{1,6},\d{1,6}\]<std(?:err|out)>:?|\[(?:rank ?|\w{1,20} )?\d{1,10}\]:?|\[std(?:err|out)\]|npm (?:ERR!"
    r"|error)"
    r"|\[ {0,8}\d{1,9}\.\d{1,9}(?:e[+-]\d\d)?\]|\[[^\]\n]{1,80} @ (?:0x)?[0-9a-fA-F]{4,16}\]|\d{1,9}MB(?=\s)"
    r"|[\d\s:.%|/#-]{16,200}(?=[A-Za-z])"
    r"|\((?:\w{1,40} )?pid=\d{1,9}[^)]{0,80}\)|\[[\w.-]{1,80}:\d{1,9}\]:?|[│╷╵|#=>]{1,2}(?= )|--->"
    r"|(?:rank|node|task|worker|proc|host)[-_ ]?\d{1,10}[:|]|\d{1,5}:(?= [A-Za-z\s])"
)
_LEVEL = re.compile(
    rf"[\[(<](?P<closed>{_LEVEL_NAMES}|[A-Z][a-z]{{3,10}})[\])>]:?|(?P<plain>{_LEVEL_NAMES})(?:\s*[:|]|\s+-(?= )"
    rf"|(?=\s\s)|$)"
    rf"|(?P<spaced>{_LEVEL_NAMES}|[IWEF])(?= )"
)
_LOGGER = re.compile(
    r"(?:\[[^\]\n]{1,60}\] ?)?(?:(?P<name>(?:[\w$]{1,60}\.){1,9}[\w$]{1,60}|root|main|__main__|[A-Z][a-z]\w{1,60})"
    r"(?: -|:|\])(?= )|- |[\w./-]{1,200}\.(?:cc|cpp|c|py|go|rs):\d{1,6}[\]:])"
)
_EXCEPTION_NAME = re.compile(r"(?:Error|Exception|Fault|Failure|Interrupt|Exit)\Z")
_FIELD = {
    "level": re.compile(r"""\b(?:level|severity|lvl)"?\s{0,3}[:=]\s{0,3}"?([A-Za-z]{1,12})"""),
    "text": re.compile(r"""\b(?:msg|message|error|err)"?\s{0,3}[:=]\s{0,3}"((?:[^"\\]|\\.){1,1000})"""),
}
_STRUCTURED = re.compile(r"""\{.{0,2000}"(?:msg|message|error|err)"|.{0,200}?\b(?:level|severity|lvl)="?[A-Za-z]""")
_MAX_PARTS = 8


def without_prefix(line: str) -> LogMessage:
    """Returns the message of a line; a line that consists of prefixes alone is returned as it is."""
    text = line.strip()
    if text and _STRUCTURED.match(text):
        return _of_fields(text)
    level: Level | None = None
    logged = False
    for _ in range(_MAX_PARTS):
        rest, found, at = _next(text, logged=logged, leveled=level is not None)
        if rest is None:
            break
        logged, level, text = logged or at, found or level, rest
    return LogMessage(text or line.strip(), level)


def _next(text: str, *, logged: bool, leveled: bool) -> tuple[str | None, Level | None, bool]:
    """Returns the rest behind the next part of a prefix, its level, and whether it shows a logger; None without one."""
    if found := _GLOG.match(text):
        return text[found.end() :].lstrip(), _LEVELS[found[1]], True
    if found := _TIME.match(text) or (_TIME.match(text, 1) if text.startswith("[") else None):
        return text[found.end() :].lstrip(" :|-]"), None, True
    if found := _PLACES.match(text):
        return text[found.end() :].lstrip(), None, False
    if not leveled and (found := _LEVEL.match(text)):
        name = (found["closed"] or found["plain"] or found["spaced"]).upper()
        if name in _LEVELS and (logged or not found["spaced"]):
            return text[found.end() :].lstrip(" :|"), _LEVELS[name], logged or bool(found["closed"])
    if logged and (found := _LOGGER.match(text)) and not _EXCEPTION_NAME.search(found["name"] or ""):
        return text[found.end() :].lstrip(), None, True
    return None, None, False


def _of_fields(text: str) -> LogMessage:
    """Returns the message of a log in JSON, or in `key=value`."""
    level, message = (pattern.search(text) for pattern in _FIELD.values())
    known = _LEVELS.get(level[1].upper()) if level else None
    return LogMessage(message[1] if message else text, known)

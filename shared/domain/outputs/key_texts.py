"""Key lines without what differs between shells, runtimes and threads that say the same."""

import re

_SHELL = re.compile(
    r"(?:\S{0,300}/)?(?:(?:-?(?:ba|da|z|k|c|tc|a)?sh)(?:\.exe)?|[\w.+-]{1,200}\.(?:sh|bash|command)"
    r"|\.command\.\w{2,4}|line)"
    r":? (?:line )?(?:\d{1,7}: )?(?:exec: )?"
)
_COMMAND = re.compile(
    r"(?P<path>[^\s:]{1,500}): (?P<what>(?:command )?not found|[Pp]ermission denied|No such file or directory"
    r"|cannot execute.{0,100}|[Ee]xec format error|[Ii]s a directory)\s*\Z"
)
_ENDED = re.compile(
    r"(?:.{0,500}?: (?:line )?\d{1,7}: )?\s{0,9}(?:\d{1,9} )?(?P<what>Killed|Terminated|Segmentation fault"
    r"|Illegal instruction"
    r"|Bus error|Floating point exception|Aborted|Hangup|User defined signal \d|Trace/breakpoint trap"
    r"|CPU time limit exceeded"
    r"|File size limit exceeded)(?: {1,40}\(core dumped\))? {1,60}(?P<command>[^\s(].{0,1000})"
)
_INTERPRETERS = re.compile(r"(?:python|pypy|perl|ruby|node|julia|Rscript|bash|sh|java|mono|dotnet|php|lua)[\d.]{0,6}\Z")
_LOADER = re.compile(r"[^\s:]{1,500}: (?=error while loading shared libraries: |symbol lookup error: )")
_VERSION = re.compile(r"[^\s:]{1,500}: (?=\S{1,500}: version )")
_TERMINATE = re.compile(
    r"terminate called after throwing an instance of ['\"]?(?P<name>[^'\"]{1,300})['\"]?"
    r"\s{0,9}(?:what\(\):\s{0,9}(?P<text>.*))?"
)
_PANIC = re.compile(
    r"thread '[^']{0,200}'(?: \(\d{1,9}\))? panicked at (?:'(?P<text>.{0,1500})', )?"
    r"(?P<place>\S{1,300}?)(?::\d{1,9}){2}:?(?P<after>.*)"
)
_WRAPPERS = re.compile(
    r"(?:Caused by: |Exception in thread \"[^\"]{0,200}\" |Unhandled [Ee]xception[.:] |-+> |(?:ERROR: )?LoadError: "
    r"|ERROR: |Uncaught "
    r"(?:exception )?|PHP Fatal error:\s{1,3}(?:Uncaught )?|error: Uncaught (?:\(in promise\) )?){1,4}"
)
_RANKED = re.compile(r"(?:\W{0,4})(?:[Rr]ank|[Pp]rocess|[Tt]ask|[Ww]orker)[ =#]{0,2}\d{1,6}[:,]\s{0,3}")


def key_text_of(text: str) -> str:
    """Returns the text in one form for one statement, so that its title and signature don't depend on who said it."""
    text = _WRAPPERS.sub("", text, count=1).strip() if _WRAPPERS.match(text) else text
    if found := _ENDED.match(text):
        return f"{found['what']}: {_program(found['command'])}"
    if found := _TERMINATE.match(text):
        return _terminated(found["name"], found["text"] or "")
    if found := _PANIC.match(text):
        return f"panicked at {found['place']}: {(found['text'] or found['after']).strip()}"
    text = _RANKED.sub("", text, count=1) if _RANKED.match(text) else text
    text = _LOADER.sub("", text, count=1)
    text = _VERSION.sub("", text, count=1)
    return _of_shell(text)


def _of_shell(text: str) -> str:
    found = _SHELL.match(text)
    rest = text[found.end() :] if found else text
    command = _COMMAND.match(rest)
    if command is None:
        return rest if found and rest else text
    name = _base(command["path"]) if found or "not found" in command["what"] else command["path"]
    what = "command not found" if command["what"] == "not found" and found else command["what"]
    return f"{name}: {what}"


def _terminated(name: str, text: str) -> str:
    return name if not text or text == name else f"{name}: {text}"


def _program(command: str) -> str:
    """Returns the name of a command's program; of an interpreter, that of its script."""
    words = [word for word in command.split()[:12] if "=" not in word]
    names = [_base(word) for word in words if not word.startswith("-")]
    if len(names) > 1 and _INTERPRETERS.match(names[0]):
        return names[1]
    return names[0] if names else command[:60]


def _base(path: str) -> str:
    return re.split(r"[\\/]", path.strip("\"'()"))[-1] or path

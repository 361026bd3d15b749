"""How well a line says why a task failed: a number for each line, by what kind of statement it is.

The kinds are general: final lines of exceptions, what runtimes and kernels print when they end a program, lines that
call themselves errors, words of failure. Beneath all stand lines that only repeat that something failed before.
"""

import re
from collections.abc import Callable
from enum import IntEnum

from shared.domain.outputs.log_prefixes import Level, LogMessage


class Strength(IntEnum):
    """The higher one says why; lines of one strength are chosen by their place."""

    NONE = 0
    LAST_LINE = 5
    WARNING = 12
    CONSEQUENCE = 20
    VAGUE = 22
    SIGNAL = 25
    WORDS = 30
    SECONDARY = 50
    ERROR = 60
    SYSTEM_ERROR = 64
    FATAL = 66
    RUNTIME = 76
    EXCEPTION = 80


HINTS = (
    "error", "fatal", "fail", "exception", "cannot", "can't", "couldn't", "could not", "unable", "not found", "denied",
    "refused", "invalid", "missing", "no such", "no space", "undefined", "unknown", "unexpected", "abort", "exceeded",
    "timed out", "timeout", "time limit", "killed", "kill", "fault", "violat", "corrupt", "panic", "illegal",
    "unsupported", "not supported", "not recogni", "unrecogni", "not exist", "doesn't exist", "expired", "overflow",
    "out of ", "not enough", "insufficient", "mismatch", "incompatible", "inconsistent", "truncated", "diverge",
    "forbidden", "unauthorized", "unbound", "rejected", "bad ", "giving up", "attempt to", "broken",
    "not available", "unavailable",
    "terminat", "traceback", "exit", "throw", "sigs", "sigf", "sigb", "sigk", "sigi", "siga", "signal",
    "no valid", "not a valid", "required", "quota", "licen",
    "halt", "crash", "wrong", "stopp", "conflict", "warn", "cancel", "lost ", "dump",
)  # fmt: skip
"""Words of failure in lower case."""
VAGUE_HINTS = ("not ", "must ", "too ", "zero", "nan", "empty", "no ", "only ", "should ", "never ")
"""Words that also stand where nothing failed."""

_FRAME = re.compile(
    r"\s{1,40}(?:at [\w$.<(/]|File \"|from /|\^|~|\.\.\. \d|@ )|\s{0,20}#\d{1,4} |\s{0,20}\[ ?\d{1,4}\] "
    r"|(?:Traceback|Stack ?trace|Calls:|During handling|The above exception|Driver stacktrace|Backtrace"
    r"|stack (?:back)?trace"
    r"|In addition:|Require stack|Current thread|Possible solutions|Suppressed:|Usage|usage|Note|NOTE|note"
    r"|hint|help|Tip|Compile with|If you |(?:For|See|Run|Try|Please|Check) (?:the|that|your|if|whether|also"
    r"|more|further"
    r"|debug|help|details|with|to|using|running|'|`|report|see|check|make|read|refer|install|set|use|add"
    r"|http)\w{0,20})|\s{0,20}\+ (?:CategoryInfo|FullyQ|~)"
    r"|Error in [\w./>]{1,100} \(line \d|CallStack|\s{0,20}error, called at|\s{0,20}what\(\)|Caused by:\Z"
    r"|Command [a-z ]{2,20}:\Z"
    r"|[\w./-]{1,100}\.(?:\(\*?\w{1,60}\)\.)?\w{1,80}\((?:0x|\{|\.\.\.|\)\Z)"
    r"|\W{0,200}\Z|\s{1,40}(?:errno|code|syscall|address|port):|_{3,}|\s{0,20}[\w./-]{1,200}\(\+?0x"
)
_INNOCENT = re.compile(
    r"\b(?:no|0|zero|without|any) (?:\w{1,20} )?(?:errors?|failures?|warnings?|problems?)\b"
    r"|\b(?:errors?|fail(?:ed|ures?)|warnings?|loss|nan)\s{0,3}[:=]\s{0,3}-?(?:0\b|\d{0,9}\.\d)|\bhandle_error"
    r"|error[- ]?rate"
    r"|\bfail(?:ed)? (?:over|fast)|\b\d{1,9} (?:passed|succeeded)|exit(?:ed)? (?:code|status|with)?:? ?0\b"
    r"|retry(?:ing)? ",
    re.IGNORECASE,
)
_IGNORED = re.compile(r"\bignor(?:ed|ing)\b|, continuing|will be retried", re.IGNORECASE)
_EXITED = re.compile(
    r"exit(?:ed|s)?(?: status| code|code)?[ :=(]{1,3}-?\d|(?:non-?zero|bad) (?:exit|return|status)|exited with"
    r"|exit with"
    r"|returned (?:a )?non-?zero|returned \d|exit(?:ed)? (?:code|status)|exitcode|failed with (?:exit )?(?:code"
    r"|status)"
)
_CONSEQUENCE = re.compile(
    r"\*\*\* \[.{0,300}\] Error \d|\bELIFECYCLE|Execution halted|(?:Conversion|Build|Job|Task|Script|Command|Step"
    r"|Run|"
    r"Pipeline|Process|Test)s? (?:has )?failed[.!]?\Z|Aborted \(core|(?:^|: )Abort(?:ed|ing)\W{0,4}\Z"
    r"|BAD TERMINATION"
    r"|Primary job +terminated|APPLICATION TERMINATED|CLEANING UP|CLEANUP|YOU CAN IGNORE|Core dump"
    r"|core dump(?! *\))"
    r"|errors? occurred|aborting due to|could not compile|compilation aborted|Error is not recoverable"
    r"|Child returned"
    r"|Terminating|terminating|Cleaning|Shutting|stopping|worker stops|help message|because of errors|message file"
    r"|end of error message|Process received signal|Errors?\(s\)|Error executing process|Error Object"
    r"|Error termination"
    r"|This error was|common cause|to report|bug report|stack trace|stacktrace|complete log|[Ss]ee .{0,60}(?:file"
    r"|log)|for details"
    r"|has been aborted|Failures?:\W{0,4}\Z|FAILED\Z|exit status|Failing at address|To enable traceback"
    r"|Signal code|^exit "
    r"|Could not read from remote|failed to (?:fetch|push) some"
    r"|see above|previous errors?|kill all|Rendering aborted|^(?:Blender )?quit|^Sending process|closing signal"
    r"|r\(\d+\);"
)
_SIGNAL = re.compile(
    r"SIG[A-Z]{2,6}\b|signal:? ?\d|Signal: |Segmentation|segfault|KILLED BY|\bkilled\b|core dumped|Terminated"
    r"|terminated by"
    r"|exited on signal|MPI_ABORT|CANCELLED",
    re.IGNORECASE,
)
_SECONDARY = re.compile(
    r"CalledProcessError|ChildFailedError|ProcessRaisedException|BrokenProcessPool|terminated abruptly"
    r"|closed by (?:remote "
    r")?peer|reset by (?:remote )?peer|remote process exited|ncclRemoteError|NCCL (?:communicator|watchdog|error"
    r"|WARN)"
    r"|Broken ?pipe|KeyboardInterrupt|SystemExit|MPI_ABORT|WorkerLostError|lost connection to|Job aborted"
    r"|another (?:rank|process) (?:failed|exited|died|aborted)|peer (?:exited|failed)|Cancell?edError"
    r"|context canceled",
)
_NAME = r"(?:[A-Za-z_$][\w$]{0,100}(?:\.|::|\\|/)){0,12}"
_EXCEPTION = re.compile(
    rf"(?:(?:Caused by|Uncaught|Unhandled exception[.:]?|Unhandled|Exception in thread \"[^\"]{{0,200}}\""
    rf"|LoadError|"
    rf"PHP Fatal error|Fatal error|exception|error|ERROR|Error|fatal|\(in promise\)|\*\* \(|at"
    rf"|---\>):? {{0,3}}){{0,4}}\(?"
    rf"(?P<name>{_NAME}[A-Za-z_$][\w$]{{0,100}}?(?:Error|Exception|Interrupt|Exit|Fault|Failure|Expired|Violation"
    rf"|Denied)"
    rf"|{_NAME}(?:[A-Z][\w$]{{1,60}}\.)?[A-Z][\w$]{{1,100}}(?=:\s)(?<=Error))"
    r"(?:\)|\[\w{1,60}\]| \[\w{1,60}\])?(?=:|\s*\Z|\s\(| in | of | ---)"
)
_RUBY = re.compile(r"\((?:[A-Z]\w{1,60}::){0,5}[A-Z]\w{1,60}(?:Error|Exception)\)\s{0,3}\Z")
_RUNTIME = re.compile(
    r"^panic: |panicked at|terminate called|what\(\): |Assertion .{1,300} failed|[Aa]ssertion failed"
    r"|AddressSanitizer: "
    r"|ThreadSanitizer|UndefinedBehaviorSanitizer|stack smashing|double free|free\(\): |malloc\(\): "
    r"|corrupted (?:size|top|unsorted)"
    r"|buffer overflow detected|caught segfault|Fortran runtime error|forrtl: (?:severe|error)|received signal"
    r"|FATAL ERROR:"
    r"|Fatal Python error|oom[-_]kill|OOM Killed|[Oo]ut of memory: Kill|CANCELLED AT|TIME LIMIT|heap out of memory"
    r"|insufficient memory|[Cc]annot allocate|Cannot reserve|not reserve enough|memory size of|\bException:"
    r"|(?:Segmentation fault|Illegal instruction|Bus error|Floating point exception"
    r"|Killed)(?: +\(core dumped\))?(?:\s|\Z)"
    r"|error while loading shared|symbol lookup error|version `?'?GLIBC|version `?'?CXXABI|cannot execute"
    r"|[Ee]xec format error"
    r"|bad interpreter|(?:command )?not found\Z|is not recognized as|unbound variable|CUDA error|cudaError"
    r"|CUDNN_STATUS"
    r"|Driver/library|0x[Cc]000[0-9A-Fa-f]{4}\b|\bdll\b.{0,40}(?:not found|missing)|SIG[A-Z]{3,5} \(0x"
    r"|Fatal error in PMPI"
    r"|FOAM FATAL|Error in routine|^fatal error: |Can't locate|[Rr]eached heap limit|ERROR STOP|USER ERROR"
    r"|No space left"
    r"|Disk quota|not enough space|AuthenticationFailed|failed to authenticate|^Error (?:in|using) |FATAL CALLED"
    r"|^\*\* \(|^Error: (?=\S)|thrown in|Fatal error:|: fatal: |Check failed"
)
_SYSTEM = re.compile(
    r"No such file|[Pp]ermission denied|Access is denied|[Aa]ccess denied|resolve host|[Nn]ame or service"
    r"|name resolution"
    r"|[Cc]onnection (?:refused|timed out|reset)|ECONN|ETIMEDOUT|i/o timeout|does(?: not|n't) exist"
    r"|[Ll]icens.{0,60}(?:fail|expire"
    r"|denied|not|reached|error|invalid|unavailable)|(?:no|not|No) (?:valid )?.{0,30}[Ll]icens|cannot find the"
    r"|[Uu]nauthorized"
    r"|\b403:? (?=[A-Z])|x509|certificate|no basic auth|manifest unknown|undefined reference|[Ss]yntax error"
    r"|[Oo]ut of memory"
)
_LABELED = re.compile(
    r"(?:^|[\s:\])(,*>!-])(?:error|fatal|panic|abort|failure)(?:\[\w{1,20}\]| \w{1,10}\d{2,6}| in [^:]{1,60}"
    r"| \d{1,5}(?: \(\w{1,20}\))?)?"
    r"\s{0,3}[:!]|^\W{0,4}error\b|: error\W{0,3}\Z|^error[-_ ]?code|^E: |^\[E::|\bERR: |^[A-Z]{2,8}-\d{3,6}: ",
    re.IGNORECASE,
)
_UTILITY = re.compile(
    r"(?:\S{0,200}/)?(?:cp|mv|rm|ls|cat|ln|tar|mkdir|rmdir|chmod|chown|touch|stat|find|grep|head|tail|gzip|du|df"
    r"|sed|cut"
    r"|sort|kill|wc|zip|diff|basename|readlink): "
)
_WARNS = re.compile(
    r"\[W::|(?:\S{1,60}: )?(?:warn(?:ing)?|info|debug|note|hint|deprecat\w{0,8}|\w{1,60}Warning)\b"
    r"|\S{1,200}:\d{1,6}: \w{0,60}Warning",
    re.IGNORECASE,
)
_STATEMENTS: tuple[tuple[Callable[[str], re.Match[str] | None], Strength], ...] = (
    (_EXCEPTION.match, Strength.EXCEPTION),
    (_RUBY.search, Strength.EXCEPTION),
    (_UTILITY.match, Strength.ERROR),
    (_INNOCENT.search, Strength.NONE),
    (_RUNTIME.search, Strength.RUNTIME),
    (_SYSTEM.search, Strength.SYSTEM_ERROR),
    (_LABELED.search, Strength.ERROR),
)
"""The first that fits counts."""
_BY_LEVEL: dict[Level | None, Strength] = {"error": Strength.ERROR, "fatal": Strength.FATAL}


def strength_of(line: str, message: LogMessage) -> Strength:
    """Returns how well a cleaned line says why, given its message without prefixes."""
    text = message.text
    if _FRAME.match(line) or _FRAME.match(text):
        return Strength.NONE
    if message.level == "low":
        return Strength.NONE
    if message.level == "warning" or _WARNS.match(text) or _IGNORED.search(text):
        return Strength.WARNING
    return max(_statement(text), _BY_LEVEL.get(message.level, Strength.NONE)) if _is_cause(text) else _report(text)


def _is_cause(text: str) -> bool:
    """Returns whether a line isn't of those that report a failure which had a cause before."""
    if _SECONDARY.search(text) or _EXITED.search(text):
        return False
    return bool(_EXCEPTION.match(text) or _RUBY.search(text)) or not _CONSEQUENCE.search(text)


def _report(text: str) -> Strength:
    if _SECONDARY.search(text) or _EXCEPTION.match(text):
        return Strength.SECONDARY
    return Strength.SIGNAL if _SIGNAL.search(text) else Strength.CONSEQUENCE


def _statement(text: str) -> Strength:
    for matches, strength in _STATEMENTS:
        if matches(text):
            return strength
    lowered = text.lower()
    if any(hint in lowered for hint in HINTS):
        return Strength.WORDS
    return Strength.VAGUE if any(hint in lowered for hint in VAGUE_HINTS) else Strength.NONE


def is_frame(line: str) -> bool:
    """Returns whether a line is part of a stack, a rule of signs, or advice on how to read on."""
    return bool(_FRAME.match(line))

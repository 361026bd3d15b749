"""Exit codes in words. A program may give any code its own meaning, so these are the usual ones.

Sources: POSIX shells' convention for signals (128 and the signal's number), signal(7) for numbers on Linux, sysexits.h,
and [MS-ERREF] 2.3.1 for NTSTATUS values, which Batch reports as negative numbers.
"""

_SIGNED = 1 << 32
_SIGNALS = {
    1: ("SIGHUP", "hung up"),
    2: ("SIGINT", "interrupted"),
    3: ("SIGQUIT", "quit"),
    4: ("SIGILL", "an illegal instruction"),
    5: ("SIGTRAP", "a breakpoint"),
    6: ("SIGABRT", "aborted by the program itself"),
    7: ("SIGBUS", "a bus error"),
    8: ("SIGFPE", "an arithmetic error"),
    9: ("SIGKILL", "killed, often for lack of memory"),
    11: ("SIGSEGV", "an access to memory that isn't its own"),
    13: ("SIGPIPE", "a closed pipe"),
    14: ("SIGALRM", "a timer"),
    15: ("SIGTERM", "asked to end"),
    24: ("SIGXCPU", "a limit of CPU time"),
    25: ("SIGXFSZ", "a limit of file sizes"),
    31: ("SIGSYS", "a forbidden system call"),
}
_WORDS = {
    0: "success",
    1: "a general error",
    2: "wrong usage, or an error of its own",
    64: "wrong usage (EX_USAGE)",
    65: "wrong input (EX_DATAERR)",
    66: "missing input (EX_NOINPUT)",
    68: "an unknown host (EX_NOHOST)",
    69: "an unavailable service (EX_UNAVAILABLE)",
    70: "an internal error (EX_SOFTWARE)",
    71: "an error of the operating system (EX_OSERR)",
    73: "an output file that can't be created (EX_CANTCREAT)",
    74: "an error of input or output (EX_IOERR)",
    75: "a temporary failure (EX_TEMPFAIL)",
    77: "a missing permission (EX_NOPERM)",
    78: "a wrong configuration (EX_CONFIG)",
    124: "a time limit, by the command timeout",
    125: "an error of the launcher (docker, timeout)",
    126: "a command that can't be executed",
    127: "a command that wasn't found",
    255: "an error (-1), often of ssh or a script",
}
_STATUSES = {
    0x40010004: "ended by a debugger (DBG_TERMINATE_PROCESS)",
    0x80000003: "a breakpoint (STATUS_BREAKPOINT)",
    0xC0000005: "an access to memory that isn't its own (STATUS_ACCESS_VIOLATION)",
    0xC0000017: "no memory left (STATUS_NO_MEMORY)",
    0xC000001D: "an illegal instruction (STATUS_ILLEGAL_INSTRUCTION)",
    0xC0000094: "an integer division by zero (STATUS_INTEGER_DIVIDE_BY_ZERO)",
    0xC00000FD: "a stack that is used up (STATUS_STACK_OVERFLOW)",
    0xC000007B: "a program or DLL for another architecture (STATUS_INVALID_IMAGE_FORMAT)",
    0xC000012D: "the commit limit of memory (STATUS_COMMITMENT_LIMIT)",
    0xC0000135: "a missing DLL (STATUS_DLL_NOT_FOUND)",
    0xC0000138: "a function missing in a DLL (STATUS_ORDINAL_NOT_FOUND)",
    0xC0000139: "a function missing in a DLL (STATUS_ENTRYPOINT_NOT_FOUND)",
    0xC000013A: "ended from outside (STATUS_CONTROL_C_EXIT)",
    0xC0000142: "a DLL that failed to start (STATUS_DLL_INIT_FAILED)",
    0xC0000374: "a corrupt heap (STATUS_HEAP_CORRUPTION)",
    0xC0000409: "a damaged stack, or aborted by the program itself (STATUS_STACK_BUFFER_OVERRUN)",
    0xE0434352: "an unhandled exception of .NET",
    0xE06D7363: "an unhandled exception of C++",
}
_MIN_STATUS = 0x40000000
_SIGNAL_BASE, _MAX_SIGNAL = 128, 64


def exit_code_words(code: int) -> str:
    """Returns an exit code with its usual meaning: "exit code 137: SIGKILL, killed, often for lack of memory"."""
    meaning = _meaning(code)
    unsigned = code + _SIGNED if code < 0 else code
    number = f"{code} (0x{unsigned:08X})" if _is_status(unsigned) else str(code)
    return f"exit code {number}: {meaning}" if meaning else f"exit code {number}"


def signal_of(code: int) -> int | None:
    """Returns the number of the signal that ended a program, None where none did."""
    signal = -code if code < 0 else code - _SIGNAL_BASE
    return signal if 0 < signal <= _MAX_SIGNAL else None


def _meaning(code: int) -> str | None:
    signal = signal_of(code)
    if signal is not None:
        name, words = _SIGNALS.get(signal, (f"signal {signal}", ""))
        return f"{name}, {words}" if words else name
    return _WORDS.get(code) or _STATUSES.get(code + _SIGNED if code < 0 else code)


def _is_status(unsigned: int) -> bool:
    return _MIN_STATUS <= unsigned < _SIGNED - _MAX_SIGNAL - 1

"""The start task that starts the node agent first, and then does the pool's own work.

Batch runs a command line without a shell and expands no variables in it. So the pool's own words reach the shell quoted
one by one, and the shell becomes their program: its exit code and its signals stay those of the start task.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.domain.agent.agent_file import NAME
from shared.domain.pools.pool_settings import StartTask
from shared.domain.redaction.redaction import MARK

STORAGE, IDENTITY = "BATCHSCOPE_STORAGE", "BATCHSCOPE_IDENTITY"
OWN_COMMAND = "BATCHSCOPE_START_TASK"
"""The variable with the pool's own command line, where that can't stand inside the agent's."""
AGENT_FIRST = f"python3 {NAME} start || true"
FROM_VARIABLE = f"/bin/sh -c '{AGENT_FIRST}; eval \"exec ${OWN_COMMAND}\"'"
_WINDOWS = ("cmd", "powershell", "pwsh.exe")
_RESTART = (
    "A changed start task reaches only nodes that start again: reboot or reimage the others, or let the pool shrink "
    "and grow."
)
_IDENTITIES = (
    "Only Azure's management plane sets the identities of a pool (Bicep, ARM, the portal); the Batch API refuses them. "
    "Without an identity, use a SAS."
)
_EXPIRY = (
    "A SAS signed by an identity lasts seven days at most, and nodes that start later can't use it. An identity has no "
    "such limit."
)
_KEPT = (
    "The new start task replaces the old one as a whole. Batchscope stores neither its resource files, its container "
    "settings, its user nor values of its variables: copy them. The Python form reads them from Batch and keeps them."
)
_REDACTED = "Secrets in the pool's command line are hidden as [redacted]: put them back, or use the Python form."
_INCLUDED = "The pool's start task names the agent's file already. Its nodes start the agent when they start."
_ON_WINDOWS = "The pool's start task looks like one for Windows, where the agent doesn't run: let Telegraf write there."


@dataclass(frozen=True, slots=True)
class StartTaskOffer:
    """A start task with the agent: the command line, its variables with values, and the pool's own variables by name.

    `is_included`: the pool's start task starts the agent already, and its command line is offered as it is. `notes` are
    sentences for the operator.
    """

    command_line: str
    environment: Mapping[str, str]
    own_variables: Sequence[str]
    waits_for_success: bool
    retries: int
    has_own: bool
    is_included: bool
    notes: Sequence[str]


def offer_of(own: StartTask | None, storage: str) -> StartTaskOffer:
    """Returns the start task for a pool; `storage` is the address of the container that nodes write to."""
    is_included = own is not None and NAME in own.command_line
    line, more = (own.command_line, {}) if own and is_included else command_of(own.command_line if own else "")
    names = [name for name, _ in own.environment] if own else []
    ours = {STORAGE: storage, **more}
    return StartTaskOffer(
        command_line=line,
        environment=ours,
        own_variables=[name for name in names if name not in (*ours, IDENTITY)],
        waits_for_success=own.waits_for_success if own else True,
        retries=own.retries if own else 0,
        has_own=own is not None,
        is_included=is_included,
        notes=list(_notes(own, is_included=is_included)),
    )


def command_of(own: str) -> tuple[str, Mapping[str, str]]:
    """Returns the command line that starts the agent and then runs `own`, and the variables that it needs."""
    if not own.strip():
        return f"/bin/sh -c '{AGENT_FIRST}'", {}
    words = _quoted(own)
    if "'" in words:
        return FROM_VARIABLE, {OWN_COMMAND: words}
    return f"/bin/sh -c '{AGENT_FIRST}; exec {words}'", {}


def _quoted(own: str) -> str:
    """Returns a command line whose words a shell leaves as they are; one with unequal quotes is left alone."""
    try:
        return shlex.join(shlex.split(own))
    except ValueError:
        return own


def _notes(own: StartTask | None, *, is_included: bool) -> Sequence[str]:
    if own and own.command_line.lower().startswith(_WINDOWS):
        return [_ON_WINDOWS]
    if is_included:
        return [_INCLUDED, _RESTART]
    kept = [_KEPT] if own else []
    if own and MARK in own.command_line:
        kept.append(_REDACTED)
    return [_RESTART, _IDENTITIES, _EXPIRY, *kept]

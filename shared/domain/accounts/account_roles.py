"""Access rights per watched account, by the setting: app roles and groups of Microsoft Entra ID.

An account without an entry is open to everybody with the app role Reader or Operator. One with entries is open only to
those that they name, so that a forgotten entry denies access and never grants it.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self, get_args

type Role = Literal["Reader", "Operator"]

OTHERS = "*"
"""Stands for every account without its own entry."""
_ROLES: tuple[Role, ...] = get_args(Role.__value__)
_GROUP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ENTRY = re.compile(r"(?P<account>[^=:]+)=(?P<role>[^=:]+):(?P<holder>[\w.\-]{1,120})", re.ASCII)
_EXAMPLE = "demo=Reader:Demo.Reader or demo=Operator:OBJECT-ID-OF-A-GROUP"


def is_group(holder: str) -> bool:
    """Returns whether this is a group's object id. Other text is an app role: group owners can choose names."""
    return bool(_GROUP.fullmatch(holder))


@dataclass(frozen=True, slots=True)
class Grant:
    """The app roles and groups that may read an account, and those that may also operate it."""

    readers: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()

    def allows(self, role: Role, held: Collection[str]) -> bool:
        """Returns whether a holder of these app roles and groups has the role; operators are readers."""
        allowed = self.operators if role == "Operator" else self.readers | self.operators
        return not allowed.isdisjoint(held)

    def with_holder(self, role: Role, holder: str) -> Self:
        if role == "Operator":
            return type(self)(self.readers, self.operators | {holder})
        return type(self)(self.readers | {holder}, self.operators)


EVERYBODY = Grant(frozenset({"Reader"}), frozenset({"Operator"}))
"""The grant of accounts that the setting doesn't name."""


@dataclass(frozen=True, slots=True)
class AccountRoles:
    """`own` are the grants of accounts with entries, by id; `others` is that of all other accounts."""

    others: Grant = EVERYBODY
    own: Mapping[str, Grant] = field(default_factory=dict)

    def allowed(self, role: Role, held: Collection[str], accounts: Iterable[str]) -> frozenset[str]:
        """Returns the ids among `accounts` for which a holder of these app roles and groups has a role."""
        return frozenset(name for name in accounts if self.own.get(name, self.others).allows(role, held))

    def knows(self, held: Collection[str]) -> bool:
        """Returns whether any of these app roles and groups occurs in this app's grants."""
        grants = (EVERYBODY, self.others, *self.own.values())
        return any(grant.allows("Reader", held) for grant in grants)

    def allows_all(self, role: Role, held: Collection[str], accounts: Iterable[str]) -> bool:
        """Returns whether these app roles and groups give a role in all `accounts` and each account with an entry."""
        grants = [self.own.get(name, self.others) for name in accounts] + list(self.own.values())
        return all(grant.allows(role, held) for grant in grants)


def parse_account_roles(text: str, accounts: Collection[str]) -> tuple[AccountRoles, tuple[str, ...]]:
    """Parses the setting ACCOUNT_ROLES for these account ids; returns also every problem in it, each as a sentence.

    An invalid entry counts as an account that nobody may read, so that nobody may read every account.
    """
    own: dict[str, Grant] = {}
    problems: list[str] = []
    for entry in text.replace(",", " ").split():
        try:
            account, role, holder = _parse(entry)
        except ValueError as error:
            own[entry] = Grant()
            problems.append(f"ACCOUNT_ROLES: '{entry}' {error}")
            continue
        own[account] = own.get(account, Grant()).with_holder(role, holder)
        if account not in (OTHERS, *accounts):
            known = ", ".join(sorted(accounts)) or "none"
            problems.append(f"ACCOUNT_ROLES: '{entry}' names no watched account; these are {known}, and {OTHERS}")
    return AccountRoles(own.pop(OTHERS, EVERYBODY), own), tuple(problems)


def _parse(entry: str) -> tuple[str, Role, str]:
    """Returns account, role and its holder. Raises ValueError with the end of a sentence."""
    parts = _ENTRY.fullmatch(entry)
    if parts is None:
        raise ValueError(f"is not of the form ACCOUNT=ROLE:WHO; write it like {_EXAMPLE}")
    role = next((role for role in _ROLES if role.lower() == parts["role"].lower()), None)
    if role is None:
        raise ValueError(f"has a role that is neither {' nor '.join(_ROLES)}")
    holder = parts["holder"]
    return parts["account"].lower(), role, holder.lower() if is_group(holder) else holder

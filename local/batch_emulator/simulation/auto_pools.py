"""Pools that are created and deleted with a job or a schedule.

Source: the references of AutoPoolSpecification and JobSchedulingErrorCodes. The id of such a pool is the prefix and a
GUID; `keepAlive` keeps it. If it can't be created, the service completes the job and states the reason.
"""

import uuid

from local.batch_emulator.entities import Account, Failure, Job, Json
from local.batch_emulator.simulation.pools import PoolTransitions
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.failures import package_of


class AutoPools:
    def __init__(self, account: Account, context: SimulationContext, pools: PoolTransitions) -> None:
        self._account = account
        self._context = context
        self._pools = pools

    def begin(self, job: Job) -> Failure | None:
        """Gives a new job its own pool or its schedule's; both must already be marked as changed.

        Returns the reason if the pool can't be created; None on success, or if the job has no such rules.
        """
        rules = _rules(job)
        if not rules:
            return None
        owner = job.schedule if job.schedule and _is_of_schedule(rules) else job
        if owner.auto_pool.lower() not in self._account.pools:
            if failure := self._creation_failure(rules["pool"]):
                return failure
            guid = uuid.UUID(int=self._context.rng.getrandbits(128), version=4)
            owner.auto_pool = f"{rules.get('autoPoolIdPrefix') or ''}{guid}"
            self._pools.create(owner.auto_pool, {**rules["pool"], "id": owner.auto_pool})
        job.auto_pool = owner.auto_pool
        return None

    def _creation_failure(self, specification: Json) -> Failure | None:
        if self._pools.is_pool_quota_reached():
            text = "The account has reached its quota of pools, so the pool of the job could not be created."
            return Failure("usererror", "AutoPoolCreationFailedWithQuotaReached", text)
        if package := package_of(specification, "unknown"):
            text = "The pool of the job has application package references that could not be satisfied."
            details = (("ApplicationPackageReference", package),)
            return Failure("usererror", "InvalidApplicationPackageReferencesInAutoPool", text, details)
        return None

    def end(self, job: Job) -> None:
        """Deletes the pool of an ended job, unless `keepAlive` is set or its schedule continues."""
        rules = _rules(job)
        is_shared = job.schedule and _is_of_schedule(rules) and job.schedule.state not in ("completed", "deleting")
        pool = self._account.pools.get(job.auto_pool.lower())
        if pool and pool.state == "active" and not rules.get("keepAlive") and not is_shared:
            self._pools.delete(pool)


def _rules(job: Job) -> Json:
    return dict((job.spec.get("poolInfo") or {}).get("autoPoolSpecification") or {})


def _is_of_schedule(rules: Json) -> bool:
    return str(rules.get("poolLifetimeOption", "")).lower() == "jobschedule"

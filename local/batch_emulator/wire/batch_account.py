"""A Batch account as Azure Resource Manager has it: its mode, quotas and tags."""

from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.entities import Account, Json

_UNLIMITED = 1_000_000
"""The quota that stands for none: the service always has one."""


def batch_account(account: Account, resource_id: str, host: str, settings: EmulatorSettings) -> Json:
    """Returns the resource with an id; `host` is the one by which the account is reached."""
    return {
        "id": resource_id,
        "name": account.name,
        "type": "Microsoft.Batch/batchAccounts",
        "location": "westeurope",
        "tags": dict(settings.tags),
        "properties": {
            "accountEndpoint": host,
            "provisioningState": "Succeeded",
            "poolAllocationMode": "BatchService",
            "dedicatedCoreQuota": settings.dedicatedCoreQuota or _UNLIMITED,
            "lowPriorityCoreQuota": settings.spotCoreQuota or _UNLIMITED,
            "dedicatedCoreQuotaPerVMFamily": [
                {"name": name, "coreQuota": number} for name, number in settings.family_quotas.items()
            ],
            "dedicatedCoreQuotaPerVMFamilyEnforced": bool(settings.family_quotas),
            "poolQuota": settings.poolQuota or _UNLIMITED,
            "activeJobAndJobScheduleQuota": settings.jobQuota or _UNLIMITED,
        },
    }

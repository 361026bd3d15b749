"""Quotas of a Batch account: limits from Azure Resource Manager, use counted from pools, jobs and schedules.

Imports accounts, core, findings, jobs, pools and redaction.
"""

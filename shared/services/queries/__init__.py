"""Answers about accounts, jobs, pools and schedules from what is stored, without a call to Batch.

Imports `accounts` and `reading`.
"""

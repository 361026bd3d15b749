"""Answers from storage about accounts, jobs, pools and schedules, without requests to Batch.

Imports `accounts` and `reading`.
"""

"""Rounds over an account's jobs, pools and schedules: when one is due, and its result.

Imports `jobs`, `pools` and `schedules`.
"""

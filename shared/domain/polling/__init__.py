"""Rounds over an account's jobs, pools and schedules: when one is due, and what it leaves behind.

Imports `jobs`, `pools` and `schedules`.
"""

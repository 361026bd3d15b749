"""Removal of secrets from external text; callers use `redaction.redacted`.

Imports nothing of ours but its own rules in `secrets`.
"""

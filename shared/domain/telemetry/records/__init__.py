"""Records as agents write them: their form, the precision of their time stamps, and their writer's identity.

Imports `core` and `redaction`.
"""

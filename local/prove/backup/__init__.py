"""`prove backup`: backups during polls can be restored. Runs backups as programs, and compares the results.

Imports `upgrade` for recorded answers of hosts.
"""

"""Why a job doesn't run: one `Evidence`, and a rule a file that makes findings of it, the cause first.

A rule is a pure function and imports no other. Imports the subjects that it explains.
"""

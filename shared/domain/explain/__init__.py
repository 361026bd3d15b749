"""Explanations why a job doesn't run: one `Evidence`, and rules, one file each, that derive findings, the cause first.

A rule is a pure function and imports no other rule. Imports the subjects that it explains.
"""

"""The rules: pure functions of the evidence that return a finding, or None where it shows no such cause.

A rule has a module of its own and imports no other rule. It returns nothing where its evidence is missing: the services
that gather evidence state what is unknown.
"""

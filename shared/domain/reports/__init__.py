"""Answers to queries: stored facts, together with derived statements about them as of now.

Imports all subjects that it reports on, and `polling`.
"""

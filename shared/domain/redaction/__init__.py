"""Takes secrets out of text that came from outside. `redaction.redacted` is what others call.

Imports nothing of ours but its own rules, which are in `secrets`.
"""

"""The rules for secrets: token forms, names and commands that lead to a secret, and escapes in text."""

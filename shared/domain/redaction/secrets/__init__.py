"""What secrets look like: token forms, names and commands that lead to a secret, and how text escapes them."""

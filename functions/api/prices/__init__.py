"""What the nodes of an account's pools cost an hour."""

"""`up`: the local stack's programs, their command lines, and their supervision."""

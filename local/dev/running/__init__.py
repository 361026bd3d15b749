"""`up`: the local stack's programs, how each is called, and their supervision."""

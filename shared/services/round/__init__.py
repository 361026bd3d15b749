"""What a round of one account has found so far, and the polls of its jobs. Imports `jobs` and `reading`."""

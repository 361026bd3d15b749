"""What `prove upgrade` and `prove backup` ask hosts for and how they compare it."""

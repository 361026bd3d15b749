"""Requests and comparisons of hosts for `prove upgrade` and `prove backup`."""

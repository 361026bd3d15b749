"""Control groups, and the containers that are found by them."""

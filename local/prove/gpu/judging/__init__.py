"""The judges of `prove gpu`, a module for each subject: pure functions from raw values to findings."""

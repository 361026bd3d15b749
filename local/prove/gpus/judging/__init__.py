"""The judges of `prove gpu`: one module a subject."""

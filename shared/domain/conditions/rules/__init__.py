"""The rules of conditions, one a module, by what they are about."""

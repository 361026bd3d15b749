"""A package, so that its stack, a fixture of that scope, ends with this folder and not with the session."""

"""A package, so that its browser, a fixture of that scope, ends with this folder and not with the session."""

"""The route of conditions: what needs attention. Imports `jobs` for the form of findings."""

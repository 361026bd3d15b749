"""Builds what is deployed: wheels, bytecode, the zip and its contents as CycloneDX."""

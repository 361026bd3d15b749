"""Builds the deployed package: wheels, bytecode, the zip and its contents as CycloneDX."""

"""The app's version, which OpenAPI shows; a test keeps pyproject.toml equal."""

VERSION = "0.2.0"

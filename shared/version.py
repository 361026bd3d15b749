"""The app's version. OpenAPI shows it; a test keeps pyproject.toml equal."""

VERSION = "0.2.0"

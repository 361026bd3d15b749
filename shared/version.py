"""The app's version, as OpenAPI tells it; pyproject.toml has the same, which a test keeps."""

VERSION = "0.2.0"

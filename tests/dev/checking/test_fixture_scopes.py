"""A fixture of scope `package` lasts as long as the session where its folder is no package. It must end earlier."""

from local.dev.system.checkout import HERE


def test_fixtures_of_a_package_are_in_one() -> None:
    files = [path for path in (HERE.root / "tests").rglob("*.py") if 'scope="package"' in path.read_text("utf-8")]
    found = {path.relative_to(HERE.root).as_posix() for path in files if path.name == "conftest.py"}
    assert found >= {"tests/e2e/conftest.py", "tests/e2e/live/conftest.py"}
    assert [path for path in files if path.name == "conftest.py" and not path.with_name("__init__.py").exists()] == []

from pathlib import Path

from local.prove.reporting.proofs_page import write_section


def test_a_proof_replaces_its_own_section_and_leaves_the_others(tmp_path: Path) -> None:
    page = tmp_path / "proofs.md"
    write_section("exact", "All as it\nshould be.", page)
    write_section("accounts", "First.", page)
    write_section("kills", "None lost \\1.", page)
    write_section("accounts", "Second.\n\n| a | b |", page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Proofs\n")
    assert text.endswith(
        "\n\n## exact\nAll as it\nshould be.\n\n## accounts\nSecond.\n\n| a | b |\n\n## kills\nNone lost \\1.\n"
    )
    write_section("kills", "None lost \\1.", page)
    assert page.read_text(encoding="utf-8") == text

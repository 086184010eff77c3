"""What codesearch writes into a file can be taken out again."""

import pytest

from codesearch.agents.clients import (
    BEGIN,
    CLIENTS,
    END,
    backup_of,
    instruction_file,
    read_text,
    with_paragraph,
    without_paragraph,
    write_text,
)
from codesearch.errors import ConfigError

PARAGRAPH = "## Code search\n\nAsk it.\n"


@pytest.mark.parametrize("old", ["", "# Rules\n", "# Rules\n\n\n", "a\r\nb\r\n", "\n"])
def test_a_paragraph_is_added_once_replaced_and_taken_out(old, tmp_path):
    new = with_paragraph(old, PARAGRAPH, tmp_path)
    assert new.startswith(old) and new.count("Ask it.") == new.count(BEGIN) == 1
    assert with_paragraph(new, PARAGRAPH, tmp_path) == new
    assert with_paragraph(new, "other\n", tmp_path) == with_paragraph(old, "other\n", tmp_path)
    assert without_paragraph(new, tmp_path) == old
    assert without_paragraph(old, tmp_path) == old


def test_what_was_written_after_a_paragraph_stays(tmp_path):
    new = with_paragraph("a\n", PARAGRAPH, tmp_path) + "\n## More\n"
    assert without_paragraph(new, tmp_path) == "a\n\n## More\n"


@pytest.mark.parametrize(
    "text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"]
)
def test_markers_that_are_no_pair_are_an_error(text, tmp_path):
    for edit in (
        lambda: with_paragraph(text, PARAGRAPH, tmp_path),
        lambda: without_paragraph(text, tmp_path),
    ):
        with pytest.raises(ConfigError, match="by hand"):
            edit()


def test_the_text_of_before_is_kept_in_a_backup_that_is_never_a_link(tmp_path):
    path, other = tmp_path / "a.json", tmp_path / "other"
    path.write_text("1")
    path.chmod(0o600)
    backup_of(path).symlink_to(other)
    write_text(path, "ü", backup="1")
    assert (path.read_text("utf-8"), backup_of(path).read_text()) == ("ü", "1")
    assert [one.stat().st_mode & 0o777 for one in (path, backup_of(path))] == [0o600, 0o600]
    assert not other.exists() and not backup_of(path).is_symlink()


def test_an_instruction_file_may_be_a_link_inside_of_the_project_only(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").touch()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project / "GEMINI.md").symlink_to(tmp_path / "other")
    (project / ".github").symlink_to(".github")
    assert instruction_file(CLIENTS["claude"], project) == project / "AGENTS.md"
    with pytest.raises(ConfigError, match="leads out of the project"):
        instruction_file(CLIENTS["gemini"], project)
    with pytest.raises(ConfigError, match="nothing was written"):
        read_text(instruction_file(CLIENTS["vscode"], project))
    assert instruction_file(CLIENTS["zed"], project) is instruction_file(CLIENTS["claude"], None) is None

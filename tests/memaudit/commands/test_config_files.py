"""Config files that Snakemake cannot read are named in one line, each with what is wrong."""

import re

import pytest

from memaudit.commands.config_files import check_files
from memaudit.common.errors import AuditError


@pytest.mark.parametrize("text", ["run: mine\n", '{"run": "mine"}', '{\t"run": "mine"}', "run: !odd mine\n"])
def test_yaml_and_json_with_keys_pass(tmp_path, text):
    """Values are checked later, as those of the project's own files are."""
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    check_files([str(tmp_path / "mine.yaml")])


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"run: a\n\tlira: 1\n", "is no YAML in line 2 ("),
        (b"run: [a\n", "is no YAML in line 2 ("),
        (b"run: a: b\n", "is no YAML in line 1 ("),
        (b"", "must have keys at its top level"),
        (b"- run\n", "must have keys at its top level"),
        (b"[1]", "must have keys at its top level"),
        (b"run: \x00\n", "is no YAML ("),
        (b"\xff\xfe\x00", "is no text in UTF-8"),
    ],
)
def test_a_file_that_is_no_config_is_one_line(tmp_path, content, fault):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(AuditError, match=re.escape(f"{path}: {fault}")) as raised:
        check_files([str(path)])
    assert "\n" not in str(raised.value)


def test_folders_and_absent_files_are_named_together(tmp_path):
    with pytest.raises(AuditError) as raised:
        check_files([str(tmp_path), "none.yaml"])
    assert str(raised.value) == (
        f"{tmp_path}: is a folder; name a config file behind --configfile; none.yaml: there is no such config file; "
        "give its path behind --configfile"
    )

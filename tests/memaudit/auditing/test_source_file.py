"""A user's file behind a safe link, its delimiter, and the audit's folder name."""

import gzip

import pytest

from memaudit.auditing import source_file
from memaudit.common.errors import AuditError


@pytest.mark.parametrize(
    ("content", "name", "linked"),
    [
        (b"a,b\n1,2\n", "*[x]?.csv", "source.csv"),
        (gzip.compress(b"a,b\n", mtime=0), "t.csv", "source.csv.gz"),
        (b"PAR1 and more", "t.data", "source.parquet"),
    ],
)
def test_the_link_has_a_safe_name_and_the_suffix_of_the_content(tmp_path, content, name, linked):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "source.old").touch()
    link = source_file.link(tmp_path / name, tmp_path)
    assert link.name == linked
    assert link.resolve() == (tmp_path / name).resolve()
    assert not (tmp_path / "source.old").exists()


def test_a_file_that_only_claims_to_be_parquet_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"a,b\n")
    with pytest.raises(AuditError, match="is not a Parquet file"):
        source_file.link(tmp_path / "t.parquet", tmp_path)


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [("a;b;c", ";"), ("a\tb", "\t"), ('"a;b;c",d', ","), ("a|b,c|d", "|"), ("a", ","), ("", ","), ('"a\n";b;c', ";")],
)
def test_the_delimiter_is_the_most_frequent_one_outside_quotes(tmp_path, line, delimiter):
    (tmp_path / "t.csv").write_text(line + "\n")
    assert source_file.delimiter(tmp_path / "t.csv", "utf-8") == delimiter
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(f"{line}\n".encode()))
    assert source_file.delimiter(tmp_path / "t.csv.gz", "utf-8") == delimiter


@pytest.mark.parametrize(
    ("name", "stem"), [("/x/data.2023.csv", "data-2023"), ("t.csv.gz", "t"), ("$(x).csv", "x"), (".csv", "table")]
)
def test_a_stem_holds_only_letters_digits_and_dashes(name, stem):
    assert source_file.stem(name) == stem

"""A user's file behind a safe link, its delimiter, and the audit's folder name."""

import gzip

import pandas as pd
import pytest

from memaudit.auditing.reading import source_file
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
    ("name", "stem"), [("/x/data.2023.csv", "data-2023"), ("t.csv.gz", "t"), ("$(x).csv", "x"), (".csv", "table")]
)
def test_a_stem_holds_only_letters_digits_and_dashes(name, stem):
    assert source_file.stem(name) == stem


def test_a_fetched_file_tells_its_delimiter_and_names_itself_in_faults(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;x\n")
    (tmp_path / "into").mkdir()
    fetched = source_file.fetched(str(tmp_path / "t.csv"), tmp_path / "into", None, None)
    assert (fetched.delimiter, fetched.origin["columns"], fetched.origin["typed"]) == (";", ["a", "b"], False)
    assert pd.read_parquet(fetched.raw).to_numpy().tolist() == [["1,5", "x"]]
    for given, message in (((None, ";;"), "--delimiter ';;': must be one"), (("utf-99", None), "--encoding 'utf-99'")):
        with pytest.raises(AuditError, match=message):
            source_file.fetched(str(tmp_path / "t.csv"), tmp_path / "into", *given)
    (tmp_path / "t.csv").write_text("a,b\n1,2,3\n")
    with pytest.raises(AuditError, match=r"t.csv': line 2 has 3 fields.*, or set --delimiter") as error:
        source_file.fetched(str(tmp_path / "t.csv"), tmp_path / "into", None, None)
    assert "source.csv" not in str(error.value)
    (tmp_path / "t.csv").write_text("a,File_Row_Number\n1,2\n")
    with pytest.raises(AuditError, match=r"t.csv': a column is called file_row_number, a reserved name"):
        source_file.fetched(str(tmp_path / "t.csv"), tmp_path / "into", None, None)

"""Fetching: every source, and one clear line for everything that can be wrong with it. The servers are on 127.0.0.1."""

import hashlib
import zipfile

import openml
import pandas as pd
import pytest
from raw_tables import CSV, csv_entry, fetched

from memaudit.common.errors import AuditError
from memaudit.data.table_sources import SHIPPED


def test_csv_arrives_as_text_with_its_checksum(tmp_path):
    table, facts = fetched(csv_entry(tmp_path, CSV), tmp_path)
    assert table.to_dict("list") == {"age": ["31", "44"], "job": ["cook", "nurse"], "pay": ["low", "high"]}
    assert facts["sha256"] == hashlib.sha256(CSV.encode()).hexdigest()
    assert (facts["rows"], facts["columns"]) == (2, ["age", "job", "pay"])
    assert not facts["typed"]


def test_a_missing_file_and_a_wrong_checksum_are_named(tmp_path):
    with pytest.raises(AuditError, match="there is no such file"):
        fetched({"source": "file", "path": str(tmp_path / "nowhere.csv")}, tmp_path)
    with pytest.raises(AuditError, match=f"its sha256 is .*, not {'0' * 64}"):
        fetched(csv_entry(tmp_path, CSV, sha256="0" * 64), tmp_path)


def test_parquet_keeps_its_types_and_loses_its_pandas_index(tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]}, index=["r1", "r2"])
    frame.to_parquet(tmp_path / "t.parquet")
    table, facts = fetched({"source": "file", "path": str(tmp_path / "t.parquet")}, tmp_path)
    assert list(table) == ["x", "y"]
    assert facts["typed"]
    assert table["x"].dtype == "float64"


def test_a_damaged_parquet_file_is_named(tmp_path):
    with pytest.raises(AuditError, match="not a readable Parquet file"):
        fetched(csv_entry(tmp_path, b"PAR1 and no more", "t.parquet"), tmp_path)


def test_bundled_classes_are_names_and_their_checksum_is_checked(tmp_path):
    table, facts = fetched({"source": "sklearn", "name": "wine"}, tmp_path)
    assert table["target"].value_counts().to_dict() == {"class_0": 59, "class_1": 71, "class_2": 48}
    assert facts["target"] == "target"
    with pytest.raises(AuditError, match="ships another wine"):
        fetched({"source": "sklearn", "name": "wine", "sha256": "0" * 64}, tmp_path)
    with pytest.raises(AuditError, match="ships no table 'titanic'; it has breast_cancer"):
        fetched({"source": "sklearn", "name": "titanic"}, tmp_path)


@pytest.mark.parametrize("name", ["credit-g", "blood-transfusion"])
def test_a_shipped_table_is_read_from_any_folder_and_its_checksum_is_checked(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    entry = {"source": "shipped", "name": name}
    table, facts = fetched(entry, tmp_path)
    assert facts["origin"] == f"resources/tables/{name}.csv.gz"
    assert facts["sha256"] in (SHIPPED / "README.md").read_text(encoding="utf-8")
    assert len(table) == facts["rows"]
    with pytest.raises(AuditError, match=f"its sha256 is {facts['sha256']}"):
        fetched(entry | {"sha256": "0" * 64}, tmp_path)


def test_the_shipped_tables_are_small_and_a_missing_one_is_named(tmp_path):
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 60_000
    with pytest.raises(AuditError, match=r"titanic\.csv\.gz: there is no such file"):
        fetched({"source": "shipped", "name": "titanic"}, tmp_path)


def test_texts_are_not_tables(tmp_path):
    with pytest.raises(AuditError, match="is not a table"):
        fetched({"source": "hub", "name": "a/b"}, tmp_path)


def test_a_url_is_fetched_once_and_kept(tmp_path, server):
    server.files["/t.csv"] = CSV.encode()
    entry = {"source": "url", "url": f"{server.url}/t.csv", "sha256": hashlib.sha256(CSV.encode()).hexdigest()}
    for _ in range(2):
        table, facts = fetched(entry, tmp_path)
        assert table["age"].tolist() == ["31", "44"]
        assert facts["sha256"] == entry["sha256"]
    assert len(server.seen) == 1


def test_one_member_of_an_archive(tmp_path, server):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inner/t.csv", CSV)
    server.files["/a.zip"] = (tmp_path / "a.zip").read_bytes()
    table, facts = fetched({"source": "url", "url": f"{server.url}/a.zip#inner/t.csv"}, tmp_path)
    assert table["job"].tolist() == ["cook", "nurse"]
    assert facts["sha256"] == hashlib.sha256(server.files["/a.zip"]).hexdigest()
    with pytest.raises(AuditError, match=r"no member other\.csv"):
        fetched({"source": "url", "url": f"{server.url}/a.zip#other.csv"}, tmp_path)


ARFF = """@relation people
@attribute number integer
@attribute age numeric
@attribute smokes {no, yes}
@attribute code {1, 2}
@attribute class {sick, well}
@data
1, 31, no, 1, sick
2, ?, yes, 2, well
"""


def description(number, version, md5, arff_url, arff_format="ARFF"):
    return f"""<oml:data_set_description xmlns:oml="http://openml.org/openml">
  <oml:id>{number}</oml:id><oml:name>people</oml:name><oml:version>{version}</oml:version>
  <oml:description>made up</oml:description><oml:format>{arff_format}</oml:format><oml:licence>Public</oml:licence>
  <oml:url>{arff_url}</oml:url><oml:file_id>1</oml:file_id>
  <oml:default_target_attribute>class</oml:default_target_attribute>
  <oml:row_id_attribute>number</oml:row_id_attribute>
  <oml:status>active</oml:status><oml:md5_checksum>{md5}</oml:md5_checksum>
</oml:data_set_description>"""


@pytest.fixture
def openml_cache(tmp_path):
    """A cache that holds data set 7, as the openml package lays it out for its own server."""
    folder = tmp_path / "openml" / "org" / "openml" / "www" / "datasets" / "7"
    folder.mkdir(parents=True)
    md5 = hashlib.md5(ARFF.encode()).hexdigest()
    (folder / "dataset.arff").write_text(ARFF)
    (folder / "description.xml").write_text(description(7, 3, md5, "local"))
    return tmp_path / "openml"


@pytest.fixture
def openml_server(server, monkeypatch):
    monkeypatch.setattr(openml.config, "server", f"{server.url}/api/v1/xml")
    return server


def test_openml_from_its_cache_without_a_network(tmp_path, openml_cache):
    table, facts = fetched({"source": "openml", "id": 7, "version": 3}, tmp_path, openml_cache)
    assert list(table) == ["age", "smokes", "code", "class"], "the row number is no feature"
    assert table["age"].isna().tolist() == [False, True]
    assert facts["target"] == "class"
    assert facts["ignored"] == ["number"]
    assert facts["types"] == {
        "age": "numeric", "smokes": "categorical", "code": "categorical", "class": "categorical"
    }  # fmt: skip
    assert "version 3" in facts["origin"]
    assert not list(openml_cache.rglob("*.pkl*")), "no pickle may lie where somebody could swap it"


def test_openml_of_another_version_is_refused(tmp_path, openml_cache):
    with pytest.raises(AuditError, match="version 2 was requested, but its description is of id 7, version 3"):
        fetched({"source": "openml", "id": 7, "version": 2}, tmp_path, openml_cache)


def test_openml_of_a_changed_file_is_refused(tmp_path, openml_cache):
    path = next(openml_cache.rglob("dataset.arff"))
    path.write_text(ARFF.replace("31", "32"))
    with pytest.raises(AuditError, match="differs from its description's MD5"):
        fetched({"source": "openml", "id": 7, "version": 3}, tmp_path, openml_cache)


def test_openml_offline_and_not_cached_names_the_data_set_and_the_way_out(tmp_path, openml_server, openml_cache):
    openml_server.server_close()
    with pytest.raises(AuditError, match=r"OpenML 8: neither in the cache .* copy its folder into the cache"):
        fetched({"source": "openml", "id": 8, "version": 1}, tmp_path, openml_cache)


def test_openml_by_its_server_then_from_the_cache(tmp_path, openml_server):
    md5 = hashlib.md5(ARFF.encode()).hexdigest()
    openml_server.files["/people.arff"] = ARFF.encode()
    text = description(9, 1, md5, f"{openml_server.url}/people.arff")
    openml_server.files["/api/v1/xml/data/9"] = text.encode()
    for _ in range(2):
        table, _ = fetched({"source": "openml", "id": 9, "version": 1}, tmp_path, tmp_path / "cache")
        assert table["class"].tolist() == ["sick", "well"]
    assert len(openml_server.seen) == 2, "description and table, once each"


def test_openml_of_a_damaged_download_is_refused(tmp_path, openml_server):
    openml_server.files["/people.arff"] = ARFF.encode()
    text = description(9, 1, "0" * 32, f"{openml_server.url}/people.arff")
    openml_server.files["/api/v1/xml/data/9"] = text.encode()
    with pytest.raises(AuditError, match=r"OpenML 9: .*[Cc]hecksum"):
        fetched({"source": "openml", "id": 9, "version": 1}, tmp_path, tmp_path / "cache")

"""Tables from their sources: this project, scikit-learn, OpenML, a local file, an address.

Each source becomes one unchanged Parquet table and facts about it: origin, sha256, whether its columns have types (a
CSV has none), the categories among them, its default target, the columns that the source itself leaves out (OpenML's
row numbers), the delimiter of a CSV, and whether it is the user's own (a local file, or a CSV from an address), whose
numbers and dates may have any notation. Nothing is unpickled.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from memaudit.common.errors import AuditError
from memaudit.common.file_kinds import PARQUET, kind
from memaudit.common.io import replacing
from memaudit.common.project_paths import PROJECT
from memaudit.data import csv_to_parquet
from memaudit.data.download import check, download
from memaudit.data.duckdb_engine import connect, identifier, literal

SHIPPED = PROJECT / "resources" / "tables"
BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "wine")


def fetch(
    entry: Mapping[str, Any],
    table: str | Path,
    downloads: str | Path,
    openml_cache: str | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """Fetch an entry of the catalogue as Parquet to `table`; return its facts.

    entry: source (shipped, sklearn: name; openml: id, version; file: path; url: url, `archive.zip#member` for a part of
    an archive), sha256, and for CSV files delimiter and encoding. downloads: folder of downloads, where interrupted
    ones are resumed. openml_cache: folder of the openml package (None: its default); what is cached needs no network.
    Raises AuditError for anything missing, damaged or not as declared.
    """
    table = Path(table)
    with replacing(table) as temporary:
        if entry["source"] == "shipped":
            path = SHIPPED / f"{entry['name']}.csv.gz"
            facts = {"origin": str(path.relative_to(PROJECT)), **_local(entry, path, temporary, threads)}
        elif entry["source"] == "sklearn":
            facts = _bundled(entry, temporary)
        elif entry["source"] == "openml":
            facts = _openml(entry, temporary, openml_cache)
        elif entry["source"] == "file":
            path = Path(entry["path"]).expanduser()
            facts = {"origin": f"file {path}", **_local(entry, path, temporary, threads)}
        elif entry["source"] == "url":
            facts = {"origin": entry["url"], **_remote(entry, temporary, Path(downloads), threads)}
        else:
            raise AuditError(f"source {entry['source']} is not a table: texts are fetched by the studies that use them")
        file = pq.ParquetFile(temporary)
        columns, rows = csv_to_parquet.unique(file.schema_arrow.names, facts["origin"]), file.metadata.num_rows
        if not rows:
            raise AuditError(f"{facts['origin']}: a header, but no records")
    absent = {"types": {}, "target": None, "ignored": [], "licence": None, "typed": True, "delimiter": None}
    facts = {**absent, **facts}
    own = entry["source"] == "file" or (entry["source"] == "url" and not facts["typed"])
    return {**facts, "own": own, "rows": rows, "columns": columns}


def _bundled(entry: Mapping[str, Any], table: Path) -> dict[str, Any]:
    import sklearn
    from sklearn import datasets

    name, expected = entry["name"], entry.get("sha256")
    if name not in BUNDLED:
        raise AuditError(f"scikit-learn ships no table {name!r}; it has {', '.join(BUNDLED)}")
    bundle = getattr(datasets, f"load_{name}")(as_frame=True)
    classes = bundle.get("target_names")
    frame = (
        bundle.frame if classes is None else bundle.frame.assign(target=np.asarray(classes)[bundle.target].astype(str))
    )
    frame.to_parquet(table, index=False)
    sha256 = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
    if expected not in (None, sha256):
        raise AuditError(f"scikit-learn {sklearn.__version__} ships another {name}: as CSV its sha256 is {sha256}")
    return {"origin": f"scikit-learn {sklearn.__version__}, {name}", "sha256": sha256, "target": "target"}


def _openml(entry: Mapping[str, Any], table: Path, cache: str | None) -> dict[str, Any]:
    """An OpenML table from its ARFF file, whose MD5 its description states.

    The package's own readers are not used: they keep pickles in the cache and load any pickle there.
    """
    import arff

    number = entry["id"]
    dataset = _openml_dataset(number, entry.get("version"), cache)
    content = Path(dataset.data_file).read_bytes()
    # The package re-encodes other files than ASCII, so only ASCII files can be compared again.
    if content.isascii() and hashlib.md5(content).hexdigest() != dataset.md5_checksum:
        raise AuditError(f"OpenML {number}: its file differs from its description's MD5; delete {dataset.data_file}")
    if str(dataset.format).lower() != "arff":
        raise AuditError(f"OpenML {number}: its format is {dataset.format}; only dense ARFF tables are read")
    try:
        parsed = arff.loads(content.decode())
    except (arff.ArffException, UnicodeError) as error:
        raise AuditError(f"OpenML {number}: its ARFF file cannot be read ({type(error).__name__})") from None
    ignored = {name for names in (dataset.row_id_attribute, dataset.ignore_attribute) for name in _names(names)}
    kinds = {name: _arff_type(kind) for name, kind in parsed["attributes"] if name not in ignored}
    frame = pd.DataFrame(parsed["data"], columns=[name for name, _ in parsed["attributes"]])
    frame[list(kinds)].to_parquet(table, index=False)
    return {
        "origin": f"OpenML {number}, version {dataset.version}, {dataset.name}",
        "sha256": hashlib.sha256(content).hexdigest(),
        "target": dataset.default_target_attribute,
        "types": {name: kind for name, kind in kinds.items() if kind},
        "ignored": sorted(ignored),
        "licence": dataset.licence,
    }


def _openml_dataset(number: int, version: int | None, cache: str | None) -> Any:
    """Return the package's description of a data set; its ARFF file is in the cache."""
    import openml
    import requests

    os.environ["OPENML_SKIP_PARQUET"] = "true"
    openml.config.set_retry_policy("human", 1)
    if cache is not None:
        openml.config.set_root_cache_directory(Path(cache).expanduser())
    try:
        dataset = openml.datasets.get_dataset(
            number, download_data=True, download_qualities=False, download_features_meta_data=False
        )
    except (openml.exceptions.PyOpenMLError, requests.RequestException, OSError) as error:
        raise AuditError(
            f"OpenML {number}: neither in the cache {openml.config.get_cache_directory()} nor available from the "
            f"server ({_first_line(error)}); fetch it once with a network, or copy its folder into the cache"
        ) from None
    if (dataset.dataset_id, dataset.version) != (number, version or dataset.version):
        described = f"id {dataset.dataset_id}, version {dataset.version}"
        raise AuditError(f"OpenML {number}: version {version} was requested, but its description is of {described}")
    return dataset


def _arff_type(kind: str | list[str]) -> str | None:
    return "categorical" if isinstance(kind, list) else None if kind == "STRING" else "numeric"


def _names(value: str | list[str] | None) -> list[str]:
    return value.split(",") if isinstance(value, str) else value or []


def _local(entry: Mapping[str, Any], path: Path, table: Path, threads: int) -> dict[str, Any]:
    """Copy a CSV or Parquet file to `table`; return its sha256, whether its columns have types, and its delimiter."""
    if not path.is_file():
        raise AuditError(f"{path}: there is no such file; see `path` of its entry in the catalogue")
    sha256 = check(path, entry.get("sha256"), path)
    typed = kind(path, path) == PARQUET
    encoding = entry.get("encoding") or "utf-8"
    delimiter = None if typed else entry.get("delimiter") or csv_to_parquet.detected_delimiter(path, encoding)
    with connect(table.parent, threads) as connection:
        if typed:
            _copy_parquet(connection, path, table)
        else:
            csv_to_parquet.to_parquet(connection, path, table, delimiter, encoding)
    return {"sha256": sha256, "typed": typed, "delimiter": delimiter}


def _copy_parquet(connection: duckdb.DuckDBPyConnection, path: Path, table: Path) -> None:
    try:
        names = csv_to_parquet.unique(pq.read_schema(path).names, path)
        index = [name for name in names if name.startswith("__index_level_")]
        without = f"EXCLUDE ({', '.join(map(identifier, index))})" if index else ""
        connection.execute(
            f"COPY (SELECT * {without} FROM read_parquet({literal(path)})) TO {literal(table)} (FORMAT parquet)"
        )
    except (OSError, ValueError, duckdb.Error) as error:
        raise AuditError(f"{path}: not a readable Parquet file ({_first_line(error)})") from None


def _remote(entry: Mapping[str, Any], table: Path, downloads: Path, threads: int) -> dict[str, Any]:
    """Download an address to `table`; return the facts of `_local`, the sha256 that of the download."""
    url, _, member = entry["url"].partition("#")
    name = url.split("?")[0].rsplit("/", 1)[-1]
    path = downloads / hashlib.sha256(url.encode()).hexdigest()[:16] / name
    download(url, path, entry.get("sha256"))
    if not member:
        return _local(entry, path, table, threads)
    with tempfile.TemporaryDirectory(dir=table.parent) as folder:
        inside = Path(folder, Path(member).name)
        try:
            with zipfile.ZipFile(path) as archive, archive.open(member) as source, open(inside, "wb") as target:
                shutil.copyfileobj(source, target)
        except (KeyError, zipfile.BadZipFile) as error:
            raise AuditError(f"{url}: no member {member} in a readable zip archive ({_first_line(error)})") from None
        facts = _local({**entry, "sha256": None}, inside, table, threads)
    return facts | {"sha256": check(path, None, url)}


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]

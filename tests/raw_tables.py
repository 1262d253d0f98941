"""Small raw tables, and the records that are made from them."""

import numpy as np
import pandas as pd

from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.table_sources import fetch

KEY = b"a key for tests"
CSV = "age,job,pay\n31,cook,low\n44,nurse,high\n"


def made(frame, tmp_path, key=KEY, name="records", **policy):
    """Records, schema and counts of a table; the target is `y`, a class, unless the policy says otherwise."""
    frame = pd.DataFrame(frame)
    frame.to_parquet(tmp_path / "raw.parquet", index=False)
    settings = {"task": "classification", "target": "y", "types": {}, "conflicts": "keep"} | policy
    path = tmp_path / f"{name}.parquet"
    schema, rows = deduplicate(tmp_path / "raw.parquet", path, key, Policy(**settings), "people")
    return pd.read_parquet(path), schema, {row["metric"]: row["estimate"] for row in rows}


def types(schema):
    return {column["name"]: column["type"] for column in schema["columns"]}


def people(n=40, **columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.permutation(n) + 18.0, "job": ["cook", "nurse"] * (n // 2)})
    return frame.assign(y=["low", "high", "high", "low"] * (n // 4), **columns)


def csv_entry(tmp_path, content, name="table.csv", **more):
    """A CSV file, as an entry of the catalogue."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return {"source": "file", "path": str(path), **more}


def fetched(entry, tmp_path, cache=None):
    """The fetched table and its facts."""
    facts = fetch(entry, tmp_path / "out" / "raw.parquet", tmp_path / "downloads", cache)
    return pd.read_parquet(tmp_path / "out" / "raw.parquet"), facts

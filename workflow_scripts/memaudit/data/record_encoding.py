"""Records as arrays for models."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.common.errors import AuditError
from memaudit.common.unreadable_texts import unreadable_texts

DAY = np.timedelta64(1, "D")


def vocabulary(records: pd.DataFrame, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with every distinct text of these records as a category of its column, for models of text.

    It stays in memory: a schema on disk holds no text of a user's table.
    """
    columns = [
        column | {"categories": sorted(records[column["name"]].dropna().unique())}
        if column["type"] == "text"
        else column
        for column in schema["columns"]
    ]
    return {**schema, "columns": columns}


def encode(
    records: pd.DataFrame, schema: Mapping[str, Any], reads_text: bool = False
) -> tuple[Array32, NDArray[np.int64] | Array]:
    """Return features (record, column) as float32 and target (record,): class codes as int64, or numbers as float64.

    Numbers are unchanged, categories become their place in the schema's sorted list, dates become days since 1970;
    missing values and unknown categories become NaN. Text becomes its place in the list of `vocabulary`, for a model
    that reads text. Raises AuditError for text columns otherwise, for unknown classes, and for numbers beyond float32.
    """
    texts = [column for column in schema["columns"] if column["type"] == "text"]
    if texts and not reads_text:
        raise unreadable_texts(schema, texts)
    features = [_numbers(records[column["name"]], column) for column in schema["columns"]]
    for column, numbers in zip(schema["columns"], features, strict=True):
        if (np.abs(numbers) > np.finfo(np.float32).max).any():
            raise AuditError(f"column {column['name']!r} has numbers beyond 3.4e38, float32's largest; rescale it")
    target = _numbers(records["target"], schema["target"])
    if schema["task"] == "classification":
        if np.isnan(target).any():
            raise AuditError("the records have a target class that their schema does not know; make both again")
        target = target.astype(np.int64)
    return np.column_stack(features).astype(np.float32), target


def _numbers(values: pd.Series, column: Mapping[str, Any]) -> Array:
    if column["type"] in ("categorical", "text"):
        codes = pd.Index(column["categories"], dtype="str").get_indexer(values)
        return np.where(codes < 0, np.nan, codes)
    if column["type"] == "date":
        return (values.to_numpy(dtype="datetime64[us]") - np.datetime64(0, "us")) / DAY
    return values.to_numpy(dtype=np.float64)

"""Hashed features of texts, for models that read only numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

HASHED = 8  # numbers in place of a text


def hashed(records: pd.DataFrame, schema: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return records and schema with HASHED numbers in place of each text; missing stays missing.

    Signed counts of its runs of three characters, hashed and scaled to norm 1 (Weinberger et al. 2009): nothing is
    fitted, so the numbers of a record depend on no other record, and texts that share words are close.
    """
    from sklearn.feature_extraction.text import HashingVectorizer  # takes half a second, and few tables have texts

    vectors = HashingVectorizer(n_features=HASHED, analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32)
    columns, new = [], {}
    for column in schema["columns"]:
        if column["type"] != "text":
            columns.append(column)
            continue
        texts = records[column["name"]]
        cells = np.where(texts.isna().to_numpy()[:, None], np.nan, vectors.transform(texts.fillna("")).toarray())
        names = [f"{column['name']} #{place}" for place in range(HASHED)]
        columns += [{"name": name, "type": "numeric"} for name in names]
        new |= dict(zip(names, cells.T, strict=True))
    return records.assign(**new), {**schema, "columns": columns}

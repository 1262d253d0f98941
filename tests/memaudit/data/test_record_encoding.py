"""Records as arrays: numbers, categories, dates and missing values; text and unknown classes are refused."""

import numpy as np
import pandas as pd
import pytest
from raw_tables import made, people

from memaudit.common.errors import AuditError
from memaudit.data.record_encoding import encode


def test_encode_numbers_categories_dates_and_missing(tmp_path):
    frame = pd.DataFrame(
        {
            "x": [1.5, None, 2.0],
            "c": ["b", None, "a"],
            "d": pd.to_datetime(["1970-01-02", None, "1970-01-01 12:00"], format="ISO8601"),
            "y": ["no", "yes", "no"],
        }
    )
    records, schema, _ = made(frame, tmp_path, conflicts="drop_both")
    features, target = encode(records, schema)
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features, [[1.5, 1, 1], [np.nan] * 3, [2, 0, 0.5]])
    assert (target.dtype, target.tolist()) == (np.int64, [0, 1, 0])


def test_encode_keeps_regression_targets_and_a_category_outside_the_list_is_missing(tmp_path):
    records, schema, _ = made(people().assign(y=np.arange(40) / 3), tmp_path, task="regression")
    features, target = encode(records.assign(job="astronaut"), schema)
    assert np.isnan(features[:, 1]).all()
    np.testing.assert_array_equal(target, np.arange(40) / 3)


def test_encode_refuses_numbers_that_float32_would_make_infinite(tmp_path):
    records, schema, _ = made(people(), tmp_path)
    with pytest.raises(AuditError, match=r"column 'age' has numbers beyond 3\.4e38"):
        encode(records.assign(age=1e39), schema)


def test_encode_refuses_text_and_unknown_classes(tmp_path):
    essays = people(essay=[f"essay {i}" for i in range(40)])
    records, schema, _ = made(essays, tmp_path)
    with pytest.raises(AuditError, match=r"^data set \w+: column 'essay' holds texts that are no categories"):
        encode(records, schema)
    records, schema, _ = made(people(), tmp_path)
    with pytest.raises(AuditError, match="a target class that their schema does not know"):
        encode(records.assign(target="unheard of"), schema)

"""What a split holds: shared records, targets of both sides, and a sample of encoded features."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.data.member_splits import MEMBERS, NONMEMBERS
from memaudit.data.split_contents import read_contents

SPLIT = pd.DataFrame({"id": ["1", "2", "3", "4", "2"], "side": [MEMBERS, MEMBERS, NONMEMBERS, NONMEMBERS, NONMEMBERS]})
SCHEMA = {
    "task": "classification",
    "grouped": False,
    "columns": [{"name": "x", "type": "numeric"}],
    "target": {"name": "target", "type": "categorical", "categories": ["a", "b"]},
}


def contents(folder, records, schema=SCHEMA, split=SPLIT):
    write_table(records, folder / "records.parquet")
    write_table(split, folder / "split.parquet")
    return read_contents(folder / "records.parquet", folder / "split.parquet", schema, np.random.default_rng(0))


def records(**columns):
    return pd.DataFrame({"x": [1, 2, 3, 1], "target": ["a", "b", "a", "b"], "id": ["1", "2", "3", "4"]} | columns)


def test_shared_ids_and_duplicates_are_counted(tmp_path):
    assert contents(tmp_path, records()).shared == {"shared_ids": 1, "shared_copies": 2}


def test_a_group_among_members_and_nonmembers_is_counted(tmp_path):
    grouped = SCHEMA | {"grouped": True}
    assert contents(tmp_path, records(group=["p", "q", "r", "p"]), grouped).shared["shared_groups"] == 2


def test_targets_are_counts_of_classes_or_numbers(tmp_path):
    found = contents(tmp_path, records())
    assert found.classes
    assert sorted(zip(found.members, found.nonmembers, strict=True)) == [(1, 1), (1, 2)]
    numeric = SCHEMA | {"task": "regression", "target": {"name": "target", "type": "numeric"}}
    found = contents(tmp_path, records(target=[1.0, 2.0, 3.0, 4.0]), numeric)
    assert not found.classes
    assert (sorted(found.members), sorted(found.nonmembers)) == ([1, 2], [2, 3, 4])


def test_free_text_enters_the_sample_by_its_length(tmp_path):
    texts = SCHEMA | {"columns": [{"name": "x", "type": "text"}]}
    sample = contents(tmp_path, records(x=["a", "bb", "ccc", "dddd"]), texts, SPLIT[:4]).sample
    np.testing.assert_array_equal(np.sort(sample.features[:, 0]), [1, 2, 3, 4])
    np.testing.assert_array_equal(sample.member, sample.features[:, 0] <= 2)


def test_a_missing_split_is_one_line(tmp_path):
    write_table(records(), tmp_path / "records.parquet")
    write_table(SPLIT[:0], tmp_path / "empty.parquet")
    (tmp_path / "split.parquet").write_bytes(b"no table")
    with pytest.raises(AuditError, match=r"split\.parquet: cannot be read"):
        read_contents(tmp_path / "records.parquet", tmp_path / "split.parquet", SCHEMA, np.random.default_rng(0))

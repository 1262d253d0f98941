"""Rows of the user's table are located by the ids of the records."""

import pandas as pd
from attack_grids import call

from memaudit.common.io import read_table, write_json
from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.record_ids import make_key, read_key


def test_each_record_is_located_in_its_first_row(tmp_path, project):
    """Of equal rows the first one counts, as in the records."""
    table = pd.DataFrame({"row": [4, 7, 8, 9], "c0": [1.0, 2.0, 1.0, 3.0], "target": ["a", "b", "a", "b"]})
    table.to_parquet(tmp_path / "raw.parquet")
    make_key(tmp_path / "id.key")
    facts = {"types": {}, "typed": True, "own": True, "delimiter": None}
    write_json(facts, tmp_path / "raw.json")
    policy = {"task": "classification", "target": "target", "drop": ["row"]}
    inputs = [f"table={tmp_path}/raw.parquet", f"facts={tmp_path}/raw.json", f"key={tmp_path}/id.key"]
    job = {"policy": policy | {"duplicates": "keep", "conflicts": "keep", "group": None}}
    call(project, "audit_locate_records", inputs, [str(tmp_path / "rows.parquet")], **job)
    key = read_key(tmp_path / "id.key")
    deduplicate(tmp_path / "raw.parquet", tmp_path / "r.parquet", key, Policy(**policy, typed=True), "t")
    records = read_table(tmp_path / "r.parquet").merge(read_table(tmp_path / "rows.parquet"), on="id")
    assert list(records["row"]) == [4, 7, 9]

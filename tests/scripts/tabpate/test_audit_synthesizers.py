"""Bounds of every arm from the refits of its file."""

import numpy as np
import pandas as pd
from tabpate_tables import call, results

from memaudit.common.io import write_table


def test_the_rows_of_each_arm_are_those_of_its_file(tmp_path):
    member = np.tile([True, False], 20)
    for name, shift in (("mst", 0.0), ("aim", 9.0)):
        scores = np.random.default_rng(0).standard_normal(40) + shift * member
        table = pd.DataFrame({"epsilon": 1.0, "noise": "stated", "member": member, "synthetic_records": scores})
        write_table(table.assign(noisy_counts=scores), tmp_path / f"{name}.parquet")
    inputs = [str(tmp_path / f"{name}.parquet") for name in ("mst", "aim")]
    call("tabpate_audit_synthesizers", inputs, [tmp_path / "out.parquet"], arms=["mst", "aim"], seed=1, delta=1e-5)
    found = results(tmp_path / "out.parquet")
    bound = found[found["metric"] == "epsilon lower bound"]
    assert len(bound) == 4
    assert set(bound["attack"]) == {"synthetic_records", "noisy_counts"}
    assert bound[bound["arm"] == "aim"]["estimate"].min() > 1
    assert bound[bound["arm"] == "mst"]["estimate"].max() < 0.5

"""The draw of splits: one line a record and split, within its limits, or an error that names the data set."""

from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import load_script
from sklearn.datasets import load_wine

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, write_table
from memaudit.workflow.job import Paths

LIMITS = {"tvd": 0.2, "ks": 0.2, "wasserstein": 0.2, "p_value": 0.0}


def draw(folder, **params):
    x, y = load_wine(return_X_y=True, as_frame=True)
    records = x.assign(target=pd.Series(list("abc"))[y].to_numpy(), id=[f"{i:04x}" for i in range(len(x))])
    write_table(records, folder / "records.parquet")
    outputs = [f"splits={folder}/splits.parquet", f"checks={folder}/checks.parquet"]
    given = {"seed": 1, "splits": 2, "queries": [16], "context": [20], "placebos": False, "limits": LIMITS} | params
    job = {"input": Paths([f"records={folder}/records.parquet"]), "output": Paths(outputs)}
    job |= {"params": SimpleNamespace(**given), "wildcards": SimpleNamespace(dataset="wine")}
    assert load_script("iclmem_draw_splits").main(SimpleNamespace(**job)) == {"seed": 1}
    return read_table(folder / "splits.parquet"), tidy.expand(read_table(folder / "checks.parquet"))


def test_members_and_non_members_have_equal_numbers_and_their_statistics_are_within_the_limits(tmp_path):
    splits, checks = draw(tmp_path)
    assert sorted(splits["split"].unique()) == [0, 1]
    roles = splits.groupby("split")["role"].value_counts().unstack()
    assert (roles["query"] == 16).all()
    assert (roles["nonmember"] == 16).all()
    assert (checks[checks["metric"] == "tvd"]["estimate"] <= LIMITS["tvd"]).all()
    assert (checks[checks["metric"] == "draws"]["estimate"] >= 1).all()


def test_splits_do_not_depend_on_their_number(tmp_path):
    (tmp_path / "one").mkdir()
    few, _ = draw(tmp_path / "one", splits=1)
    many, _ = draw(tmp_path)
    pd.testing.assert_frame_equal(few, many[many["split"] == 0])


def test_limits_that_no_draw_meets_name_the_data_set(tmp_path):
    with pytest.raises(AuditError, match=r"data set wine: split 0: .* in the last of 50 draws"):
        draw(tmp_path, limits=LIMITS | {"tvd": -1.0})

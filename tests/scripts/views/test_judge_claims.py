"""The claims of the study are judged, those of other studies are not."""

from types import SimpleNamespace

import pytest
import yaml
from conftest import load_script
from report_examples import CLAIM, results

from memaudit.common.io import read_table, write_table
from memaudit.workflow.job import Paths


@pytest.mark.parametrize(("value", "verdict"), [(0.5, "reproduced"), (0.9, "not reproduced")])
def test_a_claim_has_the_verdict_of_its_results(tmp_path, value, verdict):
    claim = CLAIM.model_dump(exclude_unset=True) | {"relation": "greater", "right": {"value": value}, "where": {}}
    claim.pop("tolerance")
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([claim, claim | {"id": "two", "study": "another"}]))
    write_table(results().assign(low=0.58, high=0.62), tmp_path / "auc.parquet")
    paths = [f"claims={tmp_path}/claims.yaml", str(tmp_path / "auc.parquet")]
    load_script("views_judge_claims").main(
        SimpleNamespace(
            input=Paths(paths),
            output=Paths([str(tmp_path / "judged.parquet")]),
            wildcards=SimpleNamespace(study="demo"),
        )
    )
    judged = read_table(tmp_path / "judged.parquet")
    assert judged[["id", "verdict"]].values.tolist() == [["one", verdict]]

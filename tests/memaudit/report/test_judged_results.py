"""Kept results of a run are those that its verdicts and sentences rest on, and are judged as the run judged them."""

import pandas as pd
import pytest
from conftest import PROJECT

from memaudit.claims.claim_predicates import load
from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table, write_table
from memaudit.report.judged_results import JUDGE, judged_anew, kept_results

CLAIMS = load(PROJECT / "config/claims.yaml")


def record(folder, judged, stated):
    for number, name in enumerate(dict.fromkeys([*judged, *stated])):
        write_table(tidy.frame([tidy.row("lira", {"file": name}, "auc", number)]), folder / name)
    paths = {"judged": [str(folder / name) for name in judged], "stated": [str(folder / name) for name in stated]}
    return {"rule": JUDGE, "params": {"study": "lira", **paths}}


def test_each_row_says_what_rests_on_it_and_in_which_order(tmp_path):
    kept = kept_results([{"rule": "lira_draw_designs"}, record(tmp_path, ["a", "c"], ["c", "b"])])
    assert kept["setting"].tolist() == ["file=c", "file=b", "file=a"]
    assert kept["judged"].tolist() == [1, -1, 0]
    assert kept["stated"].tolist() == [0, 1, -1]
    assert set(kept["view"]) == {"lira"}


def test_a_run_that_does_not_say_what_was_judged_is_refused(tmp_path):
    former = {"rule": JUDGE, "params": {"study": "lira"}}
    with pytest.raises(AuditError, match="study lira are of an earlier version: run its command again"):
        kept_results([record(tmp_path, ["a"], ["a"]), former])
    with pytest.raises(AuditError, match="no study of the run has verdicts"):
        kept_results([{"rule": "lira_draw_designs"}])


@pytest.mark.parametrize("path", sorted((PROJECT / "docs/results").glob("*.parquet")), ids=lambda path: path.stem)
def test_published_runs_are_judged_by_the_present_predicates(path):
    """Otherwise: make rejudge."""
    published = read_json(path.with_suffix(".json"))
    anew = judged_anew(published, read_table(path), CLAIMS, published["code"][JUDGE])
    for name, study in published["studies"].items():
        if "claims" in study:
            assert anew["studies"][name]["claims"]["rows"] == study["claims"]["rows"]


def test_a_claim_that_has_changed_is_judged_as_it_is_now():
    path = PROJECT / "docs/results/lira.parquet"
    published = read_json(path.with_suffix(".json"))
    (claim,) = (one for one in CLAIMS if one.id == "lira-naive-above-pp")
    anew = judged_anew(published, read_table(path), [claim], "new")
    assert [row["id"] for row in anew["studies"]["lira"]["claims"]["rows"]] == [claim.id]
    assert anew["code"] == {**published["code"], JUDGE: "new"}
    assert pd.DataFrame(published["studies"]["lira"]["claims"]["rows"]).shape[0] > 1

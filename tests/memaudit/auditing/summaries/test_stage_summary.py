"""The summary of a stage has a part for each table that the stage has, and none for those that it has not."""

import pandas as pd
import pytest
from audit_examples import AUDIT, FACTS

from memaudit.auditing.summaries import stage_summary as module
from memaudit.common import tidy

MAIN = {"model": "main", "threat": "probabilities passive", "attack": "strongest", "poison": 0, "records": "members"}


def frame(rows):
    return tidy.frame([tidy.row("audit", keys, metric, value, n=64) for keys, metric, value in rows])


@pytest.fixture
def tables():
    counted = {"duplicates": 3.0, "conflicting_records": 2.0, "records": 495.0}, {"members": 300.0, "nonmembers": 100.0}
    dedup, checks = (frame([({"dataset": "wine"}, *one) for one in table.items()]) for table in counted)
    planted = [("lookup", "lookup auc", 0.9), ("lookup", "changed answers", 0.1), ("innocent", "found", 0.0)]
    planted += [("innocent", "check failed", 0.0)]
    rows = [({"planted": kind}, metric, value) for kind, metric, value in planted]
    rows += [(MAIN, "auc", 0.7), (MAIN, "queries", 1.0), (MAIN, "own fpr above twice the nominal", 0.1)]
    of_rate = MAIN | {"fpr": 0.01, "base rate": 0.1}
    metrics = ("mean precision", "precision in one context", "predictive level")
    rows += [(of_rate, metric, 0.5) for metric in metrics]
    rows += [({"posterior": "lira"}, "calibration error", 0.02)]
    rows += [({"contexts": 32}, "auc by contexts", 0.7), ({"score": "lira"}, "auc with many contexts", 0.75)]
    rows += [({"context": 8}, "auc by size", 0.7)]
    rows += [({"contexts": 32}, "auc as deployed", 0.6), ({}, "deployed records", 400.0)]
    risk = pd.DataFrame(
        {"id": ["a", "b"], "row": [1, 2], "vulnerability": [2.0, 0.1], "low": [1.0, -1.0], "high": [3.0, 1.2]}
    )
    risk = risk.assign(shows=[True, False])
    return {name: [] for name in module.RESULTS} | {
        "threats": [frame(rows)], "risk": [risk], "dedup": [dedup], "checks": [checks],
    }  # fmt: skip


def test_counts_are_named_by_their_metrics():
    assert module.counts(frame([({}, "a", 1.0), ({}, "b", 2.0)])) == {"a": 1.0, "b": 2.0}


def test_the_first_stage_has_the_parts_of_its_tables_alone(tables):
    found = module.stage_summary(tables, FACTS, AUDIT | {"complete": False}, sets=32, score="lira", names=None)
    assert (found.stage, found.shadow_sets, found.context, found.rated, found.showing) == ("quick", 32, 8, 2, 1)
    assert found.table.model_dump(include={"rows", "duplicates", "disputed", "alike", "records", "columns"}) == {
        "rows": 500, "duplicates": 3, "disputed": 2, "alike": 0, "records": 400, "columns": 1,
    }  # fmt: skip
    assert [one.attack for one in found.adversaries] == ["strongest"]
    assert found.groups == found.mitigations == found.private == found.tuned == found.advice == []
    assert found.subpopulation is found.inference is None


def test_rows_that_differ_in_the_target_alone_are_counted_where_they_are_kept(tables):
    (dedup,) = tables["dedup"]
    tables["dedup"] = [dedup.assign(estimate=dedup["estimate"].where(dedup["metric"] != "records", 497.0))]
    table = module.stage_summary(tables, FACTS, AUDIT, sets=32, score="lira", names=None).table
    assert (table.disputed, table.alike) == (0, 2)


def test_the_second_stage_has_mitigations(tables):
    reason = tidy.row("audit", {"mitigation": "keys", "attack": "white-box"}, "tested", 0.0, method="as deployed")
    tables["mitigations"] = [tidy.frame([reason])]
    found = module.stage_summary(tables, FACTS, AUDIT, sets=32, score="lira", names=None)
    assert found.stage == "full"
    assert [(one.name, one.reason) for one in found.mitigations] == [("keys", "as deployed")]

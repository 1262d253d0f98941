"""Tidy rows of the strongest score: headline, choice, deployment, and every score by record and by person."""

from types import SimpleNamespace

import numpy as np
from attack_grids import passive
from audit_examples import ATTACKS, AUDIT

from memaudit.auditing.summaries import summarize_results
from memaudit.common import tidy
from memaudit.statistics.strongest_score import choose
from memaudit.studies.audit import audit_attacks, strongest_attack

PARAMS = SimpleNamespace(seed=1, attacks=ATTACKS, audit=AUDIT | {"threats": ["labels"]})


def judged(records, grid):
    keys = {"dataset": "wine", "model": "main", "records": records}
    panel = audit_attacks.panels(grid, ["labels"], ATTACKS["rmia"])[records]
    found, most_chosen = strongest_attack.judged(panel, choose(panel, AUDIT["fpr"]), keys, PARAMS, control=True)
    return tidy.frame(found), most_chosen


def test_labels_alone_give_the_headline_of_a_label_adversary():
    results, most_chosen = judged("members", audit_attacks.first_variant(passive(np.random.default_rng(0))))
    table = tidy.expand(results)
    assert set(table["threat"]) == {"label-only passive"}
    # The attack that compares models is judged elsewhere, with a test.
    assert set(table["attack"]) == {"strongest", "correctness", "lira correctness shrunk"}
    assert most_chosen in ("correctness", "lira correctness", "lira correctness shrunk")
    assert set(table.loc[table["metric"] == "auc detected", "attack"]) == {"strongest"}
    detected = table[table["metric"] == "auc detected"].set_index("records")["estimate"]
    assert detected.to_dict() == {"members": 1, "companions": 0}, "members of another unit are the negative control"
    nominal, *_ = summarize_results.deployments(results)
    assert (nominal.fpr, nominal.base_rate, nominal.mean.null) == (0.01, 0.1, 0.1)
    assert nominal.level == (nominal.contexts - 1) / (nominal.contexts + 1)
    assert 0 <= summarize_results.uneven(results).estimate <= 1


def test_persons_leak_more_than_their_rows():
    grid = audit_attacks.first_variant(passive(np.random.default_rng(0)))
    units = np.where(grid.member, np.arange(grid.sizes["record"]) // 3, 100 + np.arange(grid.sizes["record"]))
    counts = grid.counts.values[:, np.unique(units, return_index=True)[1]][:, np.unique(units, return_inverse=True)[1]]
    extra = 1.5 * (counts > 0).astype(float) - 1.5 * (grid.counts.values > 0)
    own = np.arange(2) == grid.label.values[:, None]
    logits = grid.logits.values + (extra[..., None] * own).astype(np.float32)
    grid = grid.assign(
        logits=(grid.logits.dims, logits), counts=(grid.counts.dims, counts), design=(grid.counts.dims, counts > 0)
    ).assign_coords(unit=("record", units))
    aucs = {}
    for records in ("members", "persons"):
        table = tidy.expand(judged(records, grid)[0])
        best = table[(table["attack"] == "strongest") & (table["metric"] == "auc")].iloc[0]
        aucs[records] = best["estimate"]
        assert best["n"] == 32 * (30 if records == "members" else 10)
    assert aucs["persons"] > aucs["members"]
    assert "lira correctness" in set(table["attack"])

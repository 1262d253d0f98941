"""A model with a lookup table of some records, asked by the whole suite of manipulations and judged as a run is."""

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, load
from sklearn.datasets import load_wine

from memaudit import seeds
from memaudit.attacks.context_manipulations import parsed
from memaudit.data.matched_splits import Sizes, add_labels, draw_split
from memaudit.models.tabicl import TabICLBranch
from memaudit.studies.iclmem.probe_inputs import Prober, Table
from memaudit.studies.iclmem.run_outcomes import DETECTABLE
from memaudit.studies.iclmem.run_results import Run, draw, judge_run
from memaudit.studies.iclmem.setting_results import describe, ruled

pytestmark = pytest.mark.usefixtures("one_thread")

SIZES, ASKED = Sizes([16], [20]), 16
RULES = {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}
ARM = {"model": "m", "learning_rate": 1e-3, "queries": ASKED, "context": 20, "labels": "normal", "pairs": "fixed"}
ARM |= {"joint": False, "adapter": None, "private": None, "placebo": False}


class Remembers:
    """A model that knows the labels of some records by heart, and says of others what `model` says.

    It finds a record by its cells as its network reads them, in any order, also when two of them are left out and
    others were added.
    """

    def __init__(self, model, cells, labels):
        self.model, self.cells, self.labels = model, cells, labels

    def __getattr__(self, name):
        return getattr(self.model, name)

    def without_scaling(self):
        return Remembers(self.model.without_scaling(), self.cells, self.labels)

    def logits(self, context_x, context_y, query_x):
        said = self.model.logits(context_x, context_y, query_x).clone()
        known = (query_x[..., None, :, None] == self.cells[:, None, :]).any(-1).sum(-1) >= self.cells.shape[1] - 2
        for batch, query, record in known.nonzero().tolist():
            said[batch, query, self.labels[record]] += 5
        return said


@pytest.fixture(scope="module")
def world():
    """The shipped classifier, a split of the wines, and who asks it the suite of the default run."""
    x, y = load_wine(return_X_y=True, as_frame=True)
    records = x.assign(target=np.array(list("abc"))[y])
    records.insert(0, "id", [f"wine{i:03}" for i in range(len(x))])
    rng = seeds.generator(0, "planted")
    split = add_labels(draw_split(records, SIZES, rng), records.target, SIZES, rng).assign(split=0)
    target = {"name": "target", "type": "categorical", "categories": ["a", "b", "c"]}
    schema = {"task": "classification", "target": target}
    schema |= {"columns": [{"name": name, "type": "numeric"} for name in x.columns]}
    file = PROJECT / "resources/tabicl-small/tabicl-small.ckpt"
    model = TabICLBranch.of_file(file, {"task": "classification", "version": None, "options": {"clip": 6.0}}, "cpu")
    prober = Prober(parsed(load("config")["iclmem"]["manipulations"]), 3, 1, 0, 512)
    return model, Table("wine", records.set_index("id", drop=False), schema, split, 0).split(0, "normal"), prober


@pytest.fixture(scope="module")
def judged(world):
    """Facts of the run of a model that remembers the records of chosen places among its targets."""
    model, split, prober = world
    rows = split.targets(ASKED, 0)
    member = np.arange(len(rows)) < ASKED
    cells = model.scale(split.x[rows], split.reference.x)
    effective = prober.effective(split)
    reference = prober.probe(model, split, rows)[:, effective]
    base = prober.vanilla(model, split, rows, 20, split.true)
    ids = split.facts.id.to_numpy(str)[rows]
    draws = draw(ids, split.pairs(rows), "wine", 0, seed=0, permutations=199, replicates=10)

    def of(places):
        planted = Remembers(model, cells[places], split.y[rows[places]])
        tuned = prober.probe(planted, split, rows)[:, effective]
        usual = (prober.vanilla(planted, split, rows, 20, split.true), base) * 2
        facts, _ = judge_run(Run(tuned, reference, *usual, member, ~member & member, ~member), draws, (0.1,))
        named = {"dataset": "wine", "arm": "a", **describe(ARM), "task": "classification", "chance": 0.4}
        return ruled(pd.DataFrame([named | {"split": 0, "epoch": 1} | facts]), RULES).iloc[0]

    return of


def test_a_lookup_table_of_the_members_is_found_by_every_rule(judged):
    found = judged(np.arange(ASKED))
    assert found.query_loss_auc > 0.99
    assert found.larger_p == 1 / 200
    assert {found[f"outcome_{rule}"] for rule in (*RULES, "null_calibrated")} == {DETECTABLE}


def test_one_that_knows_as_many_non_members_is_not_found(judged):
    found = judged(np.arange(0, 2 * ASKED, 2))
    assert found.query_loss_auc == pytest.approx(0.5, abs=0.15)
    assert found.larger_p > 0.05
    assert found.outcome_null_calibrated != DETECTABLE

"""Probing: the whole suite detects a model with a lookup table of some records, and canaries among numbers."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import PROJECT, load
from sklearn.datasets import load_wine
from wine_probes import SUITE, call, log_probabilities, make_tuned, make_world, split_of

from memaudit.attacks.context_manipulations import parsed
from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.data.matched_splits import Sizes, add_labels, draw_split
from memaudit.models.predictive_distributions import Binned
from memaudit.models.tabicl import TabICLBranch
from memaudit.studies.iclmem.model_probing import Prober
from memaudit.studies.iclmem.outcome_rules import DETECTABLE
from memaudit.studies.iclmem.run_metrics import RunSignals, judge_run, split_draws
from memaudit.studies.iclmem.setting_summaries import apply_rules, describe
from memaudit.studies.iclmem.table_splits import Split, Table

pytestmark = pytest.mark.usefixtures("one_thread")
SIZES, QUERIES = Sizes([16], [20]), 16
RULES = {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}
ARM = {"model": "m", "learning_rate": 1e-3, "queries": QUERIES, "context": 20, "labels": "normal", "pairs": "fixed"}
ARM |= {"joint": False, "adapter": None, "private": None, "placebo": False}
ARM |= {"copies": None, "label_smoothing": None, "planted": False, "control": None, "against": None}


class Memorizer:
    """A model with the labels of some records stored, which predicts the others as `model` does.

    It identifies a record by its features as the network reads them, in any order, also when two of them are left out
    and others were added.
    """

    def __init__(self, model, cells, labels):
        self.model, self.cells, self.labels = model, cells, labels

    def __getattr__(self, name):
        return getattr(self.model, name)

    def without_scaling(self):
        return Memorizer(self.model.without_scaling(), self.cells, self.labels)

    def logits(self, context_x, context_y, query_x, *counts):
        predicted = self.model.logits(context_x, context_y, query_x, *counts).clone()
        known = (query_x[..., None, :, None] == self.cells[:, None, :]).any(-1).sum(-1) >= self.cells.shape[1] - 2
        for batch, query, record in known.nonzero().tolist():
            predicted[batch, query, self.labels[record]] += 5
        return predicted


@pytest.fixture(scope="module")
def world():
    """The shipped classifier, a split of the wines, and a prober with the suite of the default run."""
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
    """Facts of the run of a model that has memorized the records at given places among its targets."""
    model, split, prober = world
    rows = split.targets(QUERIES, 0)
    member = np.arange(len(rows)) < QUERIES
    cells = model.scale(split.x[rows], split.reference.x)
    effective = prober.effective(split)
    reference = prober.probe(model, split, rows)[:, effective]
    base, _ = prober.vanilla(model, split, rows, 20, split.true)
    bits = np.zeros(len(rows))
    ids = split.facts.id.to_numpy(str)[rows]
    draws = split_draws(ids, split.pairs(rows), "wine", 0, seed=0, permutations=199, replicates=10)

    def of(places):
        planted = Memorizer(model, cells[places], split.y[rows[places]])
        tuned = prober.probe(planted, split, rows)[:, effective]
        with_context = (prober.vanilla(planted, split, rows, 20, split.true)[0], base) * 2
        groups = (member, ~member & member, ~member)
        facts, _ = judge_run(RunSignals(tuned, reference, *with_context, *groups, bits, bits), draws, (0.1,))
        named = {"dataset": "wine", "arm": "a", **describe(ARM), "task": "classification", "chance": 0.4}
        return apply_rules(pd.DataFrame([named | {"split": 0, "epoch": 1} | facts]), RULES).iloc[0]

    return of


def test_a_lookup_table_of_the_members_is_detected_by_every_rule(judged):
    observed = judged(np.arange(QUERIES))
    assert observed.query_loss_auc > 0.99
    assert observed.larger_p == 1 / 200
    assert {observed[f"outcome_{rule}"] for rule in (*RULES, "null_calibrated")} == {DETECTABLE}


def test_a_lookup_table_of_equally_many_non_members_is_not_detected(judged):
    observed = judged(np.arange(0, 2 * QUERIES, 2))
    assert observed.query_loss_auc == pytest.approx(0.5, abs=0.15)
    assert observed.larger_p > 0.05
    assert observed.outcome_null_calibrated != DETECTABLE


def test_a_canary_among_numbers_is_the_choice_that_is_farthest_from_the_prediction():
    numbers = np.arange(20, dtype=np.float32)
    facts = pd.DataFrame({"id": [f"r{i}" for i in range(20)], "side": "members", "role": "context", "order": range(20)})
    split = Split(
        "towns", 0, facts, torch.zeros(20, 1), torch.from_numpy(numbers), torch.from_numpy(numbers), numbers, 0
    )
    normal = Binned.from_normal(torch.full((1, 1), 3.0), torch.ones(1, 1))

    def distribution(context_x, context_y, query_x):
        return normal.each(lambda part: part.expand(len(context_x), query_x.shape[1], -1))

    model = SimpleNamespace(task="regression", alone=True, module=None, distribution=distribution)
    prober = Prober(parsed(SUITE), 5, 1, 0, 100)
    rows = np.arange(6)
    choices = prober.choices(split, rows, split.true[rows])
    farthest = [max(row, key=lambda value: abs(value - 3)) for row in choices]
    assert choices.shape == (6, 5)
    assert prober.canaries(model, split, rows).tolist() == farthest


def test_vanilla_signals_are_those_of_the_context_of_the_fine_tuning(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    folder, tuned = make_world(base), make_tuned(base)
    split = split_of(folder, 0)
    rows, in_context = split.targets(8, 4), split.rows("context")
    logs = log_probabilities(folder, split, rows, in_context).numpy()
    labels = split.y[rows].numpy()
    loss = -logs[np.arange(20), labels]
    expected = np.stack([loss, -(np.exp(logs) * logs).sum(1), np.exp(-loss), logs.argmax(1) != labels], -1)
    np.testing.assert_allclose(tuned.vanilla.values[0, 0], expected, atol=1e-4)
    np.testing.assert_array_equal(tuned.relabelled.values, tuned.vanilla.values)  # fine-tuned on the true labels


def test_more_labels_than_the_model_takes_are_an_error(tmp_path_factory, tmp_path, monkeypatch):
    monkeypatch.setattr(Table, "classes", 11)
    with pytest.raises(AuditError, match="iclmem, data set wine: 11 classes, the model takes at most 10"):
        call(make_world(tmp_path_factory.getbasetemp()), tmp_path / "0.nc")

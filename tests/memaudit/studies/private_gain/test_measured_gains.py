"""Scores of methods on a small table: chance and full gain where the truth is known, and the rule of class shares."""

from dataclasses import replace

import numpy as np
import pytest
from private_records import CLASSES, KEY, by_first_column

from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.teacher_shards import Private
from memaudit.statistics.private_gains import RULES
from memaudit.studies.private_gain import measured_gains
from memaudit.studies.private_gain.gain_tables import GainTable
from memaudit.studies.private_gain.measured_gains import EPSILONS, METHODS, PARTS, Student, balanced_accuracy, tuned


def student(rare=0.5, predict=by_first_column, size=400):
    """A test of 400 records whose class is whether the first column is above 5."""
    rng = np.random.default_rng(0)
    high = rng.random(size) < rare
    x = rng.uniform(0, 10, (size, 2)).astype(np.float32)
    x[:, 0] = np.where(high, rng.uniform(6, 10, size), rng.uniform(0, 4, size))
    table = GainTable(CLASSES, x, high.astype(np.int64))
    return Student(table, 0, np.arange(100), np.arange(100, size), predict)


def private(one):
    x, y = one.table.x[one.drawn], one.table.y[one.drawn]
    return Private(x, y, [str(place) for place in one.drawn], KEY, replace(CLASSES, records=len(y)))


def test_a_right_model_has_the_full_balanced_accuracy_and_a_constant_one_has_chance():
    one = student()
    right = one.judged(one.logits((one.table.x, one.table.y)), one.table.y)
    assert (right[RULES[0]], right["accuracy"]) == (1.0, 1.0)
    constant = one.judged(one.logits((one.table.x[:3], np.zeros(3, dtype=np.int64))), np.zeros(3, dtype=np.int64))
    assert constant[RULES[0]] == 0.5
    assert one.judged(one.logits((one.table.x[:0], one.table.y[:0])), one.table.y[:0])[RULES[0]] == 0.5


def test_dividing_by_class_shares_finds_a_rare_class_that_the_largest_probability_misses():
    one = student(rare=0.1)
    truth = one.table.y[one.tested]
    # Probabilities of the rare class of .3 where it is right, and .05 elsewhere.
    share = np.where(truth == 1, 0.3, 0.05)
    found = one.judged(np.log(np.column_stack([1 - share, share])), one.table.y[one.drawn])
    assert (found["largest"], found["by share"]) == (0.5, 1.0)
    assert found["accuracy"] == pytest.approx((truth == 0).mean(), abs=1e-4)


@pytest.mark.parametrize(("name", "epsilon", "good"), [("class_moments", 10.0, True), ("class_moments", 0.01, False)])
def test_a_method_keeps_all_with_much_budget_and_nothing_with_little(name, epsilon, good):
    def nearest(contexts, queries):
        means = [[x[y == label].mean(0) for label in (0, 1)] for x, y in contexts]
        return -np.array([[((queries - mean) ** 2).sum(1) for mean in pair] for pair in means]).transpose(0, 2, 1)

    one = student(predict=nearest)
    entry = {"method": "class-moments", "settings": {"queries": 200, "narrowed": True}}
    scores = [one.scores(entry, private(one), epsilon, name)["largest"] for _ in range(3)]
    assert (np.mean(scores) > 0.95) == good


def test_every_method_has_settings_of_the_tuned_file_at_each_epsilon():
    found = tuned()
    assert found.keys() == METHODS.keys()
    assert all(set(one) == {f"{epsilon:g}" for epsilon in EPSILONS} for one in found.values())
    assert found["as_published"]["1"]["teachers"] > 1
    assert found["learned, equal classes"]["1"]["labels"] == "learned"


def test_a_part_is_measured_with_every_method_and_known_by_its_settings(monkeypatch):
    columns = (Column("a", (-3.0, 3.0)), Column("b", (-3.0, 3.0)))
    public = Public("credit-g", "made up", 400, "classification", columns, Column("target", ("no", "yes")))
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1000, 2)).astype(np.float32)
    made = GainTable(public, x, (x[:, 0] > 0.3).astype(np.int64))
    monkeypatch.setattr(measured_gains, "gain_table", lambda name, folder: made)
    monkeypatch.setattr(GainTable, "sizes", [250])
    monkeypatch.setattr(measured_gains, "EPSILONS", (10.0,))
    few = {name: METHODS[name] for name in ("learned, equal classes", "as_published", "dp_linear")}
    monkeypatch.setattr(measured_gains, "METHODS", few)
    monkeypatch.setattr(
        measured_gains.Student, "of", lambda table, repeat: Student(table, repeat, *table.split(repeat), _teacher)
    )
    found = measured_gains.measure(PARTS[-1], "nowhere")
    assert {cell["method"] for cell in found["cells"]} == {"non-private", *few, "without noise"}
    assert measured_gains.is_current(found)
    assert not measured_gains.is_current(found | {"settings": {}})
    scores = {cell["method"]: cell["largest"] for cell in found["cells"]}
    assert scores["non-private"] > 0.95
    assert scores["learned, equal classes"] > 0.8


def _teacher(contexts, queries):
    """Logits of a nearest-mean model."""
    means = [[x[y == label].mean(0) for label in (0, 1)] for x, y in contexts]
    return -np.array([[((queries - mean) ** 2).sum(1) for mean in pair] for pair in means]).transpose(0, 2, 1)


def test_balanced_accuracy_is_the_mean_over_classes_that_occur():
    assert balanced_accuracy(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 2])) == 0.5

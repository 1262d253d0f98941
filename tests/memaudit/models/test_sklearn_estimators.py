"""Estimators as models: scikit-learn's own answers, fitted on one context alone, with errors that name the cause."""

import sys

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.models.sklearn_estimators import EstimatorBranch

pytestmark = pytest.mark.usefixtures("one_thread")

FOREST = ("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 5})
LOGISTIC = ("sklearn.linear_model.LogisticRegression", {})
SCHEMA = {
    "columns": [{"name": "size", "type": "numeric"}, {"name": "town", "type": "categorical", "categories": ["a", "b"]}],
    "target": {"name": "y", "type": "categorical", "categories": ["p", "q", "r", "s", "t"]},
}


@pytest.fixture
def opened(tmp_path):
    """Load a model folder's weights, as the fetch rule leaves them."""

    def load(name, params=(), task="classification", schema=None, options=()):
        (tmp_path / "weights").mkdir(exist_ok=True)
        write_json({"class": name, "params": dict(params)}, tmp_path / "weights/estimator.json")
        card = {"name": "rival", "task": task, "mode": "raw", "options": dict(options)}
        return EstimatorBranch.load(tmp_path / "weights", card, "cpu", schema)

    return load


@pytest.fixture
def tables():
    """Two contexts of 30 rows with four features, class codes, numbers, and seven queries each."""
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(2, 37, 4)).astype(np.float32))
    y = (x[..., 0] > 0).long() + (x[..., 1] > 0)
    numbers = 10 + x @ torch.tensor([3.0, -2, 1, 0]) + torch.from_numpy(rng.normal(size=(2, 37)).astype(np.float32))
    return x[:, :30], y[:, :30], numbers[:, :30], x[:, 30:]


def test_a_classifier_is_scikit_learns(opened, tables):
    x, y, _, queries = tables
    logits = opened(*LOGISTIC).logits(x, y, queries)
    for table in range(2):
        by_hand = LogisticRegression().fit(x[table].double().numpy(), y[table].numpy())
        expected = by_hand.predict_log_proba(queries[table].double().numpy())
        np.testing.assert_allclose(logits[table], expected, atol=1e-5)
    assert logits.dtype == torch.float32


def test_the_seed_is_the_random_state_of_every_context(opened, tables):
    x, y, _, queries = tables
    twice = torch.cat([x[:1], x[:1]]), torch.cat([y[:1], y[:1]]), torch.cat([queries[:1], queries[:1]])
    logits = opened(*FOREST, options={"seed": 7}).logits(*twice)
    assert torch.equal(logits[0], logits[1])
    by_hand = RandomForestClassifier(5, random_state=7).fit(x[0].numpy(), y[0].numpy()).predict_proba(queries[0])
    np.testing.assert_allclose(logits[0].exp(), by_hand, atol=1e-6)
    stated = opened(FOREST[0], FOREST[1] | {"random_state": 3}, options={"seed": 7}).logits(*twice)
    assert not torch.equal(stated, logits), "a random state in the parameters wins"


def test_a_class_that_the_context_lacks_is_impossible_and_one_without_a_vote_is_not(opened, tables):
    x, y, _, queries = tables
    codes = torch.tensor([0, 2, 3])[y]
    logits = opened(*FOREST, schema=None).logits(x, codes, queries)
    assert logits.shape == (2, 7, 4)
    assert (logits[..., 1] == -torch.inf).all()
    assert logits[..., [0, 2, 3]].isfinite().all()
    assert opened(*FOREST, schema=SCHEMA).logits(x[..., :2], codes, queries[..., :2]).shape == (2, 7, 5)


def test_a_context_of_one_class_is_certain_and_not_fitted(opened, tables):
    x, y, _, queries = tables
    codes = y.clone()
    codes[1] = 2
    logits = opened(*LOGISTIC).logits(x, codes, queries)
    assert torch.equal(logits[1], torch.tensor([-torch.inf, -torch.inf, 0]).expand(7, 3))
    assert logits[0].isfinite().all()


def test_other_queries_and_contexts_do_not_change_my_answer(opened, tables):
    x, y, _, queries = tables
    model = opened(*FOREST)
    logits = model.logits(x, y, queries)
    assert torch.equal(model.logits(x, y, queries.flip(1)).flip(1), logits)
    assert torch.equal(model.logits(x[1:], y[1:], queries[1:, :1]), logits[1:, :1])


def test_a_warm_start_does_not_carry_one_context_into_the_next(opened, tables):
    x, y, _, queries = tables
    model = opened(FOREST[0], FOREST[1] | {"warm_start": True})
    assert torch.equal(model.logits(x, y, queries), opened(*FOREST).logits(x, y, queries))


def test_the_number_of_processes_changes_no_answer(opened, tables):
    x, y, _, queries = tables
    alone = opened(*FOREST)
    torch.set_num_threads(2)
    assert torch.equal(opened(*FOREST).logits(x, y, queries), alone.logits(x, y, queries))


def test_missing_numbers_become_the_median_and_missing_categories_a_category(opened):
    rng = np.random.default_rng(1)
    size, town = rng.normal(size=40), rng.integers(0, 2, 40).astype(float)
    y = (size + town > 0.5).astype(int)
    size[3], town[:6] = np.nan, np.nan
    x = torch.from_numpy(np.column_stack([size, town]).astype(np.float32))
    asked = torch.tensor([[torch.nan, 0], [0.5, torch.nan], [0.5, 1]])
    logits = opened(*LOGISTIC, schema=SCHEMA).logits(x[None], torch.from_numpy(y)[None], asked[None])[0, :, :2]

    def by_hand(rows):
        numbers = np.nan_to_num(rows[:, 0].numpy(), nan=np.nanmedian(x[:, 0].numpy()))
        return np.column_stack([rows[:, 1] == 0, rows[:, 1] == 1, rows[:, 1].isnan(), numbers])

    expected = LogisticRegression().fit(by_hand(x), y).predict_log_proba(by_hand(asked))
    np.testing.assert_allclose(logits, expected, atol=1e-5)


def test_a_category_that_the_context_lacks_and_an_empty_column_are_no_error(opened, tables):
    x, y, _, queries = tables
    x, queries = x[..., :2].clone(), queries[..., :2].clone()
    x[..., 0], x[..., 1], queries[..., 1] = torch.nan, 0, 1
    assert opened(*FOREST, schema=SCHEMA).logits(x, y, queries)[..., :3].isfinite().all()


def test_scale_standardises_numbers(opened, tables):
    x, y, _, queries = tables
    scaler = StandardScaler().fit(x[0].double())
    logits = opened(*LOGISTIC, options={"scale": True}).logits(x[:1], y[:1], queries[:1])
    by_hand = LogisticRegression().fit(scaler.transform(x[0]), y[0]).predict_log_proba(scaler.transform(queries[0]))
    np.testing.assert_allclose(logits[0], by_hand, atol=1e-4)


def test_a_regressor_predicts_a_normal_distribution_with_the_error_of_cross_validation(opened, tables):
    x, _, y, queries = tables
    answer = opened("sklearn.linear_model.Ridge", {"alpha": 0.1}, task="regression").distribution(x, y, queries)
    for table in range(2):
        rows, targets = x[table].double().numpy(), y[table].double().numpy()
        mean = Ridge(0.1).fit(rows, targets).predict(queries[table].double().numpy())
        np.testing.assert_allclose(answer.mean()[table], mean, rtol=1e-4)
        folds = KFold(5, shuffle=True, random_state=0)
        error = targets - cross_val_predict(Ridge(0.1), rows, targets, cv=folds)
        entropy = np.log(np.sqrt(np.mean(error**2))) + 0.5 * np.log(2 * np.pi * np.e)
        np.testing.assert_allclose(answer.entropy()[table], entropy, atol=1e-3)


def test_large_targets_keep_their_own_deviation(opened, tables):
    x, _, y, queries = tables
    y = (4 * y).round() / 4  # a step of float32 at 2^20
    model = opened("sklearn.linear_model.LinearRegression", {}, task="regression")
    near, far = (model.distribution(x, y + shift, queries) for shift in (0, 2**20))
    torch.testing.assert_close(far.entropy(), near.entropy(), atol=1e-4, rtol=0)
    torch.testing.assert_close(far.mean() - 2**20, near.mean(), atol=1e-4, rtol=0)


def test_a_regressors_own_deviation_is_taken(opened, tables):
    x, _, y, queries = tables
    answer = opened("sklearn.linear_model.BayesianRidge", task="regression").distribution(x, y, queries)
    rows, targets, asked = (part[0].double().numpy() for part in (x, y, queries))
    mean, deviation = BayesianRidge().fit(rows, targets).predict(asked, return_std=True)
    np.testing.assert_allclose(answer.mean()[0], mean, rtol=1e-4)
    np.testing.assert_allclose(answer.entropy()[0], np.log(deviation) + 0.5 * np.log(2 * np.pi * np.e), atol=1e-3)


def test_a_regressor_that_interpolates_has_a_finite_density_at_its_own_records(opened, tables):
    x, _, y, _ = tables
    answer = opened("sklearn.gaussian_process.GaussianProcessRegressor", task="regression").distribution(x, y, x)
    _, deviation = GaussianProcessRegressor(random_state=0).fit(x[0], y[0]).predict(x[0], return_std=True)
    assert deviation.max() < 1e-4
    assert answer.log_density(y[..., None]).isfinite().all()
    assert answer.entropy().isfinite().all()


def test_predicted_distributions_cover_new_records(opened):
    rng = np.random.default_rng(2)
    x = torch.from_numpy(rng.normal(size=(1, 500, 3)).astype(np.float32))
    y = x.sum(-1) + torch.from_numpy(rng.normal(size=(1, 500)).astype(np.float32))
    params = {"n_estimators": 20, "max_features": 2}
    answer = opened("sklearn.ensemble.RandomForestRegressor", params, task="regression").distribution(
        x[:, :100], y[:, :100], x[:, 100:]
    )
    forest = RandomForestRegressor(**params, random_state=0).fit(x[0, :100], y[0, :100])
    np.testing.assert_allclose(answer.mean()[0], forest.predict(x[0, 100:]), atol=1e-4)
    grid = torch.linspace(-12, 12, 2001).expand(1, 400, -1)
    mass = answer.log_density(grid).exp() * 24 / 2000
    below = torch.where(grid <= y[:, 100:, None], mass, 0).sum(-1)
    assert 0.72 < ((below > 0.1) & (below < 0.9)).float().mean() < 0.88
    assert answer.log_density(y[:, 100:, None]).isfinite().all()


OWN = """
import numpy as np
from sklearn.base import BaseEstimator

class Prior(BaseEstimator):
    def __init__(self, weight=1.0):
        self.weight = weight

    def fit(self, x, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares = (counts + self.weight) / (counts + self.weight).sum()
        return self

    def predict(self, x):
        return self.classes_[self.predict_proba(x).argmax(1)]

    def predict_proba(self, x):
        return np.tile(self.shares, (len(x), 1))
"""


def test_a_class_of_ones_own_comes_from_pythonpath(opened, tables, tmp_path, monkeypatch):
    x, y, _, queries = tables
    (tmp_path / "my_prior.py").write_text(OWN)
    with pytest.raises(AuditError, match=r"my_prior\.Prior: cannot be imported .* on PYTHONPATH"):
        opened("my_prior.Prior")
    monkeypatch.syspath_prepend(tmp_path)
    logits = opened("my_prior.Prior", {"weight": 2.0}).logits(x, y, queries)
    shares = (torch.bincount(y[0]) + 2) / (30 + 2 * 3)
    torch.testing.assert_close(logits[0].exp(), shares.expand(7, 3))
    sys.modules.pop("my_prior")


FAULTS = {
    "no module": ("sklearn.forest.Forest", {}, "classification", r"^sklearn\.forest\.Forest: cannot be imported"),
    "no class": ("sklearn.ensemble.Forest", {}, "classification", r"cannot be imported .*no attribute 'Forest'"),
    "no path": ("Forest", {}, "classification", "^Forest: cannot be imported"),
    "not an estimator": (
        "pathlib.Path",
        {},
        "classification",
        "^pathlib.Path: not an estimator; name a class with fit",
    ),
    "a function": ("sklearn.base.clone", {}, "classification", "not an estimator"),
    "parameter": (FOREST[0], {"n_trees": 5}, "classification", "params: got an unexpected keyword argument 'n_trees'"),
    "regressor": (
        "sklearn.linear_model.Ridge",
        {},
        "classification",
        "a regressor, but the task is classification; name a class",
    ),
    "classifier": (*LOGISTIC, "regression", "a classifier, but the task is regression; name a regressor"),
    "clusterer": ("sklearn.cluster.KMeans", {}, "regression", "a clusterer, but the task is regression"),
    "no probabilities": ("sklearn.svm.LinearSVC", {}, "classification", "no probabilities; name a classifier with"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported_in_one_line(opened, fault):
    name, params, task, message = FAULTS[fault]
    with pytest.raises(AuditError, match=message) as raised:
        opened(name, params, task)
    assert "\n" not in str(raised.value)


def test_an_unknown_option_is_named(opened):
    with pytest.raises(AuditError, match="rival: unknown option 'scaled'; known: scale, seed"):
        opened(*LOGISTIC, options={"scaled": True})


def test_a_fit_that_fails_names_the_context_and_the_reason(opened, tables):
    x, y, _, queries = tables
    y = y.clone()
    y[1] = torch.arange(30)
    params = {"estimator": None, "cv": 2}
    with pytest.raises(AuditError, match=r"context 1 of the batch: the estimator fails .*; change"):
        opened("sklearn.calibration.CalibratedClassifierCV", params).logits(x, y, queries)
    with pytest.raises(AuditError, match=r"context 0 .*'n_estimators' parameter"):
        opened(FOREST[0], {"n_estimators": -1}).logits(x, y, queries)

"""Estimators that were given as objects: the user's frames, classes and answers, and files that are refused."""

import sys

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.data.record_encoding import encode
from memaudit.models import given_estimator
from memaudit.models.given_estimator import GivenEstimator
from memaudit.models.sklearn_estimators import EstimatorBranch
from memaudit.models.user_frames import UserFrame

pytestmark = pytest.mark.usefixtures("one_thread")

COLUMNS = {"c0": "Age of owner", "c1": "town", "c2": "insured", "c3": "since"}
SCHEMA = {
    "task": "classification",
    "columns": [
        {"name": "c0", "type": "numeric"},
        {"name": "c1", "type": "categorical", "categories": ["Bath", "Ely", "Wells"]},
        {"name": "c2", "type": "categorical", "categories": ["false", "true"]},
        {"name": "c3", "type": "date"},
    ],
    "target": {"name": "target", "type": "categorical", "categories": ["no", "yes"]},
}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    age, town = rng.integers(20, 70, 90), rng.choice(["Bath", "Ely", "Wells"], 90)
    return pd.DataFrame(
        {
            "Age of owner": age,
            "town": pd.Categorical(town),
            "insured": rng.random(90) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 90), unit="D"),
            "churn": np.where(age + 9 * (town == "Ely") + rng.normal(0, 9, 90) > 45, "yes", "no"),
        }
    )


@pytest.fixture
def opened(frame, tmp_path):
    """The branch of a given estimator, and the codes and classes that it reads."""

    def load(estimator, schema=SCHEMA, target="churn"):
        content = given_estimator.given(estimator, form_of(frame, target))
        params = {"path": str(tmp_path / "own.pkl"), "sha256": given_estimator.write(content, tmp_path / "own.pkl")}
        write_json(
            {"class": "memaudit.models.given_estimator.GivenEstimator", "params": params}, tmp_path / "estimator.json"
        )
        card = {"name": "own", "task": schema["task"], "mode": "raw", "options": {}}
        return EstimatorBranch.load(tmp_path, card, "cpu", schema)

    stored = frame.rename(columns={name: stored for stored, name in COLUMNS.items()} | {"churn": "target"})
    x, y = encode(stored.astype({"c1": str}).assign(c2=stored.c2.map({True: "true", False: "false"})), SCHEMA)
    return load, torch.from_numpy(x), torch.from_numpy(y)


def form_of(frame, target="churn", array=False):
    return UserFrame.of(frame[list(COLUMNS.values())], frame[target], list(COLUMNS), array)


def pipeline(last):
    parts = make_column_transformer(
        (StandardScaler(), ["Age of owner"]), (OneHotEncoder(), ["town"]), ("passthrough", ["insured"])
    )
    return make_pipeline(parts, last)


def test_a_pipeline_reads_the_users_columns_and_gives_its_own_answers(opened, frame):
    load, x, y = opened
    model = pipeline(LogisticRegression(class_weight={"yes": 3, "no": 1}))
    logits = load(model.fit(frame, frame.churn)).logits(x[None, :60], y[None, :60], x[None, 60:])[0]
    by_hand = model.fit(frame[:60], frame.churn[:60]).predict_log_proba(frame[60:])
    np.testing.assert_allclose(logits, by_hand, atol=1e-5)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is given."""

    def fit(self, X, y):
        self.seen_, self.labels_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_the_frame_is_the_users(opened, frame):
    load, x, y = opened
    model = load(Recorder())._model[-1].fit(x.numpy(), y.numpy())
    pd.testing.assert_frame_equal(model.model_.seen_, frame[list(COLUMNS.values())])
    assert model.model_.labels_.tolist() == frame.churn.tolist()
    assert set(model.predict(x.numpy())) == {0}


def test_texts_with_gaps_keep_the_type_of_their_column(opened, frame):
    frame["town"] = pd.Series(frame["town"].astype(object).where(frame.index > 2, None), dtype=object)
    load, x, y = opened
    x = x.clone()
    x[:3, 1] = torch.nan
    seen = load(Recorder())._model[-1].fit(x.numpy(), y.numpy()).model_.seen_
    assert seen["town"].dtype == object
    assert seen["town"].isna().tolist() == [True] * 3 + [False] * 87
    assert seen["town"][3:].tolist() == frame["town"][3:].tolist()


class WithoutClasses(ClassifierMixin, BaseEstimator):
    """Probabilities of the labels in their order, which it does not keep as `classes_`."""

    def __init__(self, columns=2):
        self.columns = columns

    def fit(self, X, y):
        self.share_ = np.mean(np.asarray(y) == "yes")
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.share_, *[self.share_ / (self.columns - 1)] * (self.columns - 1)], (len(X), 1))


def test_an_estimator_without_classes_orders_its_labels_as_sorted(opened, frame):
    load, x, y = opened
    answers = load(WithoutClasses()).logits(x[None, :60], y[None, :60], x[None, 60:])[0].exp()
    np.testing.assert_allclose(answers[:, 1], (frame.churn[:60] == "yes").mean(), atol=1e-6)


def test_as_many_columns_as_classes_are_needed(opened):
    load, x, y = opened
    with pytest.raises(AuditError, match=r"WithoutClasses: predict_proba gives the shape \(30, 3\) for 30 rows, fit"):
        load(WithoutClasses(3)).logits(x[None, :60], y[None, :60], x[None, 60:])


def test_missing_values_are_missing_and_noisy_copies_of_whole_numbers_are_numbers(opened):
    load, x, y = opened
    x = x.clone()
    x[0, 1] = torch.nan
    x[1, 0] += 0.5
    seen = load(Recorder())._model[-1].fit(x.numpy(), y.numpy()).model_.seen_
    assert seen["town"].isna().tolist() == [True] + [False] * 89
    assert seen["Age of owner"].dtype == float
    assert isinstance(seen["town"].dtype, pd.CategoricalDtype)


def test_a_regressor_predicts_numbers(opened, frame):
    load, x, _ = opened
    frame["rent"] = frame["Age of owner"] * 2.0
    schema = SCHEMA | {"task": "regression", "target": {"name": "target", "type": "numeric"}}
    y = torch.from_numpy(frame["rent"].to_numpy())
    mean = load(pipeline(Ridge(1e-6)), schema, "rent").points(x[None, :60], y[None, :60], x[None, 60:])[0]
    np.testing.assert_allclose(mean, y[60:], atol=1e-3)


def test_random_states_that_are_open_are_set_at_any_depth(frame):
    inner = pipeline(LogisticRegression())
    content = given_estimator.given(inner, form_of(frame), seed=3)
    assert content.estimator.get_params()["logisticregression__random_state"] == 3
    assert inner.get_params()["logisticregression__random_state"] is None
    fixed = given_estimator.given(GaussianProcessRegressor(random_state=5), form_of(frame), seed=3)
    assert fixed.estimator.random_state == 5


def test_a_class_of_the_running_program_goes_by_value(opened, monkeypatch):
    load, x, y = opened
    main = sys.modules["__main__"]
    own = type("Own", (Recorder,), {"__module__": "__main__", "__qualname__": "Own"})
    monkeypatch.setattr(main, "Own", own, raising=False)
    branch = load(own())
    monkeypatch.delattr(main, "Own")
    given_estimator._read.cache_clear()
    assert branch.logits(x[None, :60], y[None, :60], x[None, 60:]).exp()[0].numpy() == pytest.approx(0.5)


def test_another_file_than_the_one_written_is_not_opened(opened, tmp_path):
    load, x, y = opened
    branch = load(Recorder())
    given_estimator._read.cache_clear()
    (tmp_path / "own.pkl").write_bytes(b"cos\nsystem\n(S'exit'\ntR.")
    with pytest.raises(AuditError, match="not the estimator that this audit was given"):
        branch.logits(x[None, :60], y[None, :60], x[None, 60:])


def test_an_estimator_that_cannot_be_pickled_is_refused(frame, tmp_path):
    content = given_estimator.given(Recorder(), form_of(frame))
    content.estimator.file_ = open(tmp_path / "open", "w")  # noqa: SIM115
    with pytest.raises(AuditError, match="Recorder: cannot be pickled"):
        given_estimator.write(content, tmp_path / "own.pkl")
    assert not (tmp_path / "own.pkl").exists()
    content.estimator.file_.close()


@pytest.mark.parametrize(
    "wrap",
    [
        FrozenEstimator,
        lambda model: CalibratedClassifierCV(FrozenEstimator(model)),
        lambda model: make_pipeline(FrozenEstimator(model)),
    ],
)
def test_an_estimator_that_keeps_its_fit_is_refused(frame, wrap):
    fitted = LogisticRegression().fit(frame[["Age of owner"]], frame.churn)
    with pytest.raises(AuditError, match="a part of it is frozen"):
        given_estimator.given(wrap(fitted), form_of(frame))


def test_an_error_of_a_users_class_is_one_line(opened):
    class Failing(Recorder):
        def fit(self, X, y):
            raise KeyError("salary")

    load, x, y = opened
    with pytest.raises(AuditError, match=r"context 0 of the batch: the estimator fails \(.*salary"):
        load(Failing()).logits(x[None, :60], y[None, :60], x[None, 60:])


def test_modules_of_the_working_folder_are_found_from_another_one(frame, tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text("from sklearn.linear_model import Ridge\nclass Own(Ridge): pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    sha256 = given_estimator.write(
        given_estimator.given(__import__("beside").Own(), form_of(frame)), tmp_path / "own.pkl"
    )
    monkeypatch.delitem(sys.modules, "beside")
    monkeypatch.setattr(sys, "path", sys.path[1:])
    monkeypatch.chdir("/")
    assert given_estimator._read(str(tmp_path / "own.pkl"), sha256).estimator.alpha == 1


def test_a_given_estimator_is_what_the_users_is(frame, tmp_path):
    for estimator, kind, proba in ((Ridge(), "regressor", False), (pipeline(LogisticRegression()), "classifier", True)):
        content = given_estimator.given(estimator, form_of(frame))
        own = GivenEstimator(str(tmp_path / "own.pkl"), given_estimator.write(content, tmp_path / "own.pkl"))
        assert own.__sklearn_tags__().estimator_type == kind
        assert hasattr(own, "predict_proba") == proba

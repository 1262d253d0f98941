"""Benchmark of the shipped TabICL models on real tables, with scikit-learn's usual estimators for comparison."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from tabicl import TabICLClassifier, TabICLRegressor
from torch import Tensor

from memaudit.common import seeds
from memaudit.models.model_protocol import TabularModel

Predict = Callable[[pd.DataFrame, pd.Series, pd.DataFrame], np.ndarray]
BUNDLED = {
    "classification": {"breast_cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits},
    "regression": {"diabetes": load_diabetes},
}
TABLES = {
    "classification": ("credit-g", "diabetes", "blood-transfusion-service-center", "phoneme", "kc1", "adult"),
    "regression": ("abalone", "wine_quality_red", "cpu_small", "bike_sharing_day", "california_housing"),
}
# Counters of days, and the two parts whose sum is the target.
NO_FEATURES = {"bike_sharing_day": ["instant", "dteday", "casual", "registered"]}


def real_tables(task: str, folder: str | Path) -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    """Name, features and target of each table of a task; the target is the last column of NAME.csv.gz in the folder."""
    for name, loader in BUNDLED[task].items():
        yield name, *loader(return_X_y=True, as_frame=True)
    for name in TABLES[task]:
        table = pd.read_csv(Path(folder) / f"{name}.csv.gz").drop(columns=NO_FEATURES.get(name, []))
        target = table.iloc[:, -1]
        if task == "classification":
            target = pd.Series(pd.factorize(target, sort=True)[0])
        yield name, table.iloc[:, :-1], target.astype(float if task == "regression" else int)


def encoder(one_hot: bool) -> ColumnTransformer:
    """Categories as one-hot columns or as ordinal codes; missing numbers become the mean."""
    code = (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        if one_hot
        else OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    )
    return make_column_transformer(
        (code, make_column_selector(dtype_exclude="number")), remainder=SimpleImputer(), verbose_feature_names_out=False
    )


def classifiers(model: TabularModel, checkpoint: str | Path, seed: int) -> dict[str, Predict]:
    """Name -> function(x, y, query_x) -> class probabilities."""
    deployed = TabICLClassifier(**_deployed(checkpoint, seed))
    linear, boosted = LogisticRegression(max_iter=5000), GradientBoostingClassifier(random_state=seed)

    def raw(x: pd.DataFrame, y: pd.Series, query: pd.DataFrame) -> np.ndarray:
        logits = model.logits(*_tensors(x, query, torch.tensor(y.to_numpy())))[0, :, : y.max() + 1]
        return torch.softmax(logits, 1).numpy()

    return {
        "TabICL small, raw": raw,
        "TabICL small, as deployed": lambda x, y, query: deployed.fit(x, y).predict_proba(query),
        "logistic regression": _fitted("predict_proba", encoder(True), StandardScaler(), linear),
        "gradient boosting": _fitted("predict_proba", encoder(False), boosted),
        "5 nearest neighbours": _fitted("predict_proba", encoder(True), StandardScaler(), KNeighborsClassifier(5)),
    }


def regressors(model: TabularModel, checkpoint: str | Path, seed: int) -> dict[str, Predict]:
    """Name -> function(x, y, query_x) -> predicted means."""
    deployed = TabICLRegressor(**_deployed(checkpoint, seed))
    linear, boosted = RidgeCV(np.logspace(-3, 3, 13)), GradientBoostingRegressor(random_state=seed)

    def raw(x: pd.DataFrame, y: pd.Series, query: pd.DataFrame) -> np.ndarray:
        return model.distribution(*_tensors(x, query, torch.tensor(y.to_numpy()).float())).mean()[0].numpy()

    return {
        "TabICL small, raw": raw,
        "TabICL small, as deployed": lambda x, y, query: deployed.fit(x, y).predict(query),
        "ridge": _fitted("predict", encoder(True), StandardScaler(), linear),
        "gradient boosting": _fitted("predict", encoder(False), boosted),
        "5 nearest neighbours": _fitted("predict", encoder(True), StandardScaler(), KNeighborsRegressor(5)),
    }


def compare(
    name: str,
    x: pd.DataFrame,
    y: pd.Series,
    predictors: Mapping[str, Predict],
    score: Callable[[pd.Series, np.ndarray], float],
    params: Any,
) -> dict[str, list[float]]:
    """Score each method on each split of one table: half of at most `params.rows` rows is context or training set."""
    stratify = y if y.dtype.kind == "i" else None
    if len(x) > params.rows:
        state = seeds.integer(params.seed, "benchmark", name, "rows")
        x, _, y, _ = train_test_split(x, y, train_size=params.rows, stratify=stratify, random_state=state)
    scores: dict[str, list[float]] = {method: [] for method in predictors}
    for split in range(params.splits):
        state = seeds.integer(params.seed, "benchmark", name, "split", split)
        stratify = y if y.dtype.kind == "i" else None
        context_x, query_x, context_y, query_y = train_test_split(
            x, y, test_size=0.5, stratify=stratify, random_state=state
        )
        for method, predict in predictors.items():
            scores[method].append(round(score(query_y, predict(context_x, context_y, query_x)), 6))
    return scores


def _deployed(checkpoint: str | Path, seed: int) -> dict[str, Any]:
    own = {"model_path": checkpoint, "allow_auto_download": False, "device": "cpu"}
    return own | {"use_amp": False, "use_fa3": False, "random_state": seed}


def _fitted(method: str, *steps: Any) -> Predict:
    return lambda x, y, query: getattr(make_pipeline(*steps).fit(x, y), method)(query)


def _tensors(x: pd.DataFrame, query: pd.DataFrame, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    codes = encoder(one_hot=False).fit(x)
    context, rest = (torch.tensor(codes.transform(part), dtype=torch.float32)[None] for part in (x, query))
    return context, y[None], rest

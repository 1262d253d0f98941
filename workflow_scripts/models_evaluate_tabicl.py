"""Benchmark the small TabICL against scikit-learn's defaults on real tables, and write its model card.

python workflow_scripts/models_evaluate_tabicl.py --input resources/tabicl-small/{tabicl-small.ckpt,model.json} \
    --output benchmark.json README.md --params '{"csv_folder": "FOLDER", "seed": 0, "splits": 5, "rows": 1000}'

Params: csv_folder holds NAME.csv.gz of each of TABLES, last column the class; rows: at most so many are sampled.
"""

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from tabicl import TabICLClassifier

from memaudit import seeds
from memaudit.evaluation.roc import auc
from memaudit.io import read_json, replacing, write_json
from memaudit.job import run
from memaudit.models.card import card
from memaudit.models.preprocess import standardize
from memaudit.models.pretrain import load

BUNDLED = {"breast_cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
TABLES = ("credit-g", "diabetes", "blood-transfusion-service-center", "phoneme", "kc1", "adult")


def real_tables(folder):
    """Yield name, features and integer classes of each data set."""
    for name, loader in BUNDLED.items():
        yield name, *loader(return_X_y=True, as_frame=True)
    for name in TABLES:
        table = pd.read_csv(Path(folder) / f"{name}.csv.gz")
        yield name, table.iloc[:, :-1], pd.Series(pd.factorize(table.iloc[:, -1], sort=True)[0])


def encoder(one_hot):
    """Categories as one-hot columns or as ordinal codes; missing numbers become the mean."""
    code = (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        if one_hot
        else OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    )
    return make_column_transformer(
        (code, make_column_selector(dtype_exclude="number")), remainder=SimpleImputer(), verbose_feature_names_out=False
    )


def methods(checkpoint, seed, clip):
    """Name -> function(x, y, query_x) -> class probabilities."""

    def sklearn(*steps):
        return lambda x, y, query: make_pipeline(*steps).fit(x, y).predict_proba(query)

    model = load(checkpoint)

    def raw(x, y, query):
        codes = encoder(one_hot=False).fit(x)
        context, rest = (torch.tensor(codes.transform(part), dtype=torch.float32)[None] for part in (x, query))
        scaled = torch.cat(standardize(context, rest, clip), 1)
        with torch.no_grad():
            logits = model(scaled, torch.tensor(y.to_numpy(), dtype=torch.float32)[None])[0, :, : y.max() + 1]
        return torch.softmax(logits, 1).numpy()

    deployed = TabICLClassifier(
        model_path=checkpoint, allow_auto_download=False, device="cpu", use_amp=False, use_fa3=False, random_state=seed
    )
    return {
        "TabICL small, raw": raw,
        "TabICL small, as deployed": lambda x, y, query: deployed.fit(x, y).predict_proba(query),
        "logistic regression": sklearn(encoder(True), StandardScaler(), LogisticRegression(max_iter=5000)),
        "gradient boosting": sklearn(encoder(False), GradientBoostingClassifier(random_state=seed)),
        "5 nearest neighbours": sklearn(encoder(True), StandardScaler(), KNeighborsClassifier(5)),
    }


def macro_auc(y, probability):
    """Mean over classes of the AUC of one against the rest; with two classes both are the same."""
    return float(np.mean([auc(probability[:, label], y.to_numpy() == label) for label in range(probability.shape[1])]))


def compare(name, x, y, rivals, params):
    """Each method's AUC on each split of one data set, with the table's size."""
    if len(x) > params.rows:
        state = seeds.integer(params.seed, "benchmark", name, "rows")
        x, _, y, _ = train_test_split(x, y, train_size=params.rows, stratify=y, random_state=state)
    scores = {method: [] for method in rivals}
    for split in range(params.splits):
        state = seeds.integer(params.seed, "benchmark", name, "split", split)
        context_x, query_x, context_y, query_y = train_test_split(x, y, test_size=0.5, stratify=y, random_state=state)
        for method, predict in rivals.items():
            scores[method].append(round(macro_auc(query_y, predict(context_x, context_y, query_x)), 6))
    print(name, {method: round(float(np.mean(values)), 3) for method, values in scores.items()}, flush=True)
    return {"rows": len(x), "features": x.shape[1], "classes": int(y.nunique()), "auc": scores}


def main(job):
    torch.set_num_threads(1)
    params, (checkpoint, facts) = job.params, job.input[:2]
    model = read_json(facts)
    rivals = methods(checkpoint, params.seed, model["clip"])
    data = {name: compare(name, x, y, rivals, params) for name, x, y in real_tables(params.csv_folder)}
    mean = {name: round(float(np.mean([entry["auc"][name] for entry in data.values()])), 6) for name in rivals}
    print("mean", mean, flush=True)
    benchmark = {
        "data": data,
        "mean_auc": mean,
        "metric": "area under the ROC curve; several classes: mean of one against the rest",
        "splits": params.splits,
        "seed": params.seed,
        "checkpoint_sha256": model["sha256"],
        "versions": {name: version(name) for name in ("torch", "tabicl", "numpy", "pandas", "scikit-learn")},
    }
    write_json(benchmark, job.output[0])
    with replacing(job.output[1]) as temporary:
        # Read back, so that the card is the same text as one made from the files.
        temporary.write_text(card(read_json(facts), read_json(job.output[0]), Path(checkpoint).stem), encoding="utf-8")


if __name__ == "__main__":
    run(main, globals())

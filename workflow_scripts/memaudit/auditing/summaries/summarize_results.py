"""Parts of an audit's summary, looked up in tidy results; no number is computed here."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.auditing.summaries import score_curves
from memaudit.auditing.summaries.mitigation_parts import METHODS, Mitigation, PrivateContext
from memaudit.auditing.summaries.score_curves import Curves
from memaudit.auditing.summaries.summary import (
    STRONGEST,
    Adversary,
    Deployment,
    Exposed,
    Extrapolated,
    Measured,
    Tuned,
    Utility,
    Value,
)
from memaudit.common import tidy

PLACEBO = "placebo"
QUALITIES = ("accuracy", "balanced accuracy", "r2", "rmse")
CONTEXTS = list(METHODS)
ATTACK = ["model", "threat", "attack", "poison", "records"]


def value(rows: pd.DataFrame, metric: str) -> Value | None:
    """The estimate of a metric in the rows of one setting, None if there is none."""
    matches = rows[rows["metric"] == metric]
    if matches.empty:
        return None
    one = matches.iloc[0]
    detected = rows.loc[rows["metric"] == f"{metric} detected", "estimate"]
    return Value(
        **{key: None if pd.isna(one[key]) else float(one[key]) for key in ("estimate", "low", "high", "null")},
        detected=bool(detected.iloc[0]) if len(detected) else None,
    )


def adversaries(threats: pd.DataFrame) -> list[Adversary]:
    """Results of every attack."""
    table = tidy.expand(threats)
    attacks = []
    for keys, rows in table[table["attack"].notna()].groupby(ATTACK, sort=False):
        named = dict(zip(ATTACK, keys, strict=True)) | {"poison": int(keys[ATTACK.index("poison")])}
        tprs = [metric for metric in rows["metric"] if metric.startswith("tpr@") and " " not in metric]
        precisions = rows[rows["metric"] == "precision"]
        rates = {f"{rate:g}": value(part, "precision") for rate, part in _by(precisions, "base rate")}
        queries = rows.loc[rows["metric"] == "queries", "estimate"]
        attacks.append(
            Adversary(
                **named,
                cells=int(rows.loc[rows["metric"] == "auc", "n"].iloc[0]),
                queries=float(queries.iloc[0]),
                auc=value(rows, "auc"),
                tpr={metric.removeprefix("tpr@"): value(rows, metric) for metric in tprs},
                precision=rates,
                chosen=_chosen(rows),
            )
        )
    return attacks


def _chosen(rows: pd.DataFrame) -> dict[str, dict[str, float]]:
    shares = rows[rows["metric"] == "chosen"]
    return {
        criterion: dict(zip(part["score"], part["estimate"], strict=True))
        for criterion, part in _by(shares, "criterion")
    }


def deployments(threats: pd.DataFrame) -> list[Deployment]:
    """Precision of the strongest score by false positive rate and base rate, the nominal rate first."""
    table = _of_headline(threats)
    return [
        Deployment(
            fpr=fpr,
            base_rate=rate,
            mean=value(rows, "mean precision"),
            one_context=value(rows, "precision in one context"),
            level=value(rows, "predictive level").estimate,
            contexts=int(rows.loc[rows["metric"] == "precision in one context", "n"].iloc[0]),
        )
        for (fpr, rate), rows in sorted(
            table[table["fpr"].notna()].groupby(["fpr", "base rate"]), key=lambda one: (-one[0][0], one[0][1])
        )
    ]


def uneven(threats: pd.DataFrame) -> Value:
    """Share of records, or persons, whose own false positive rate is above twice the nominal one."""
    return value(_of_headline(threats), "own fpr above twice the nominal")


def curves(threats: pd.DataFrame) -> Curves | None:
    """ROC and scores of the headline, to be drawn."""
    return score_curves.curves(_of_headline(threats))


def growth(threats: pd.DataFrame) -> Extrapolated:
    """AUC of the score that the headline chose most often, by number of contexts."""
    table = tidy.expand(threats)
    rows, limit = (table[table["metric"] == name] for name in ("auc by contexts", "auc with many contexts"))
    measured = [
        Measured(number=int(number), auc=value(part, "auc by contexts")) for number, part in _by(rows, "contexts")
    ]
    return Extrapolated(
        score=limit["score"].iloc[0], contexts=measured[-1].number, measured=measured, to=None, **_told(limit)
    )


def deployed(threats: pd.DataFrame, score: str) -> Extrapolated:
    """AUC by size of a context, and as deployed; score: by which sizes are compared."""
    table = tidy.expand(threats)
    rows, limit = (table[table["metric"] == name] for name in ("auc by size", "auc as deployed"))
    measured = [Measured(number=int(number), auc=value(part, "auc by size")) for number, part in _by(rows, "context")]
    records = table.loc[table["metric"] == "deployed records", "estimate"].iloc[0]
    facts = {"contexts": int(limit["contexts"].iloc[0]), "measured": measured, "to": int(records)}
    return Extrapolated(score=score, **facts, **_told(limit))


def _told(limit: pd.DataFrame) -> dict[str, Any]:
    """The extrapolated value of one row, or the reason why there is none."""
    found = value(limit, limit["metric"].iloc[0])
    known = found.estimate is not None
    return {"auc": found if known else None, "reason": "" if known else limit["method"].iloc[0]}


def _of_headline(threats: pd.DataFrame) -> pd.DataFrame:
    table = tidy.expand(threats)
    table = table[(table["attack"] == STRONGEST) & (table["model"] == "main") & ~_white_box(table["threat"])]
    persons = table[table["records"] == "persons"]
    return table[table["records"] == "members"] if persons.empty else persons


def _white_box(threats: pd.Series) -> pd.Series:
    """Which threat models are white-box: their strongest score is a headline of its own."""
    return threats.str.startswith(WHITE_BOX, na=False)


def _by(rows: pd.DataFrame, key: str) -> Iterator[tuple[Any, pd.DataFrame]]:
    return iter(rows.groupby(key, sort=False) if len(rows) else ())


def utilities(threats: pd.DataFrame) -> list[Utility]:
    """Accuracies, or errors, of each model."""
    table = tidy.expand(threats)
    return [
        Utility(model=model, **{name.replace(" ", "_"): value(rows, name) for name in QUALITIES})
        for model, rows in table[table["records"] == "non-members"].groupby("model", sort=False)
    ]


def stability(threats: pd.DataFrame) -> dict[str, Value]:
    """Agreement between two halves of the shadow contexts, by measure."""
    table = tidy.expand(threats)
    names = [f"{measure}{part}" for measure in ("spearman", "overlap_listed") for part in ("", " extrapolated")]
    return {name: value(table, name) for name in names if (table["metric"] == name).any()}


def calibration(threats: pd.DataFrame) -> dict[str, Value]:
    """Calibration error of the posteriors, by kind."""
    table = tidy.expand(threats)
    errors = table[table["metric"] == "calibration error"]
    return {kind: value(rows, "calibration error") for kind, rows in errors.groupby("posterior", sort=False)}


def mitigations(results: pd.DataFrame, fpr: float) -> list[Mitigation]:
    """Leakage with each mitigation, and the accuracy of the same contexts; fpr: the strict false positive rate."""
    table, tpr = tidy.expand(results), f"tpr@{fpr:g}"
    mitigated = []
    for (name, attack), rows in table.groupby(["mitigation", "attack"], sort=False):
        refused, chosen = (rows[rows["metric"] == metric] for metric in ("tested", "chosen"))
        mitigated.append(
            Mitigation(
                name=name,
                attack=attack,
                score=chosen["score"].iloc[0] if len(chosen) else None,
                auc=value(rows, "auc"),
                auc_difference=value(rows, "auc difference"),
                tpr=value(rows, tpr),
                tpr_difference=value(rows, f"{tpr} difference"),
                balanced_accuracy=value(rows, "balanced accuracy"),
                balanced_accuracy_difference=value(rows, "balanced accuracy difference"),
                r2=value(rows, "r2"),
                r2_difference=value(rows, "r2 difference"),
                reason=refused["method"].iloc[0] if len(refused) else "",
            )
        )
    return mitigated


def private_contexts(utility: pd.DataFrame, attack: pd.DataFrame) -> list[PrivateContext]:
    """Results of each private context, then those of the records themselves and of the majority class."""
    accuracies, leakage = tidy.expand(utility), tidy.expand(attack)
    leakage = leakage[(leakage["attack"] == "lira") & (leakage["records"] == "members")]
    contexts = []
    for (arm, epsilon), rows in accuracies[accuracies["arm"].isin(CONTEXTS)].groupby(["arm", "epsilon"], sort=True):
        if (accuracy := value(rows, "balanced accuracy")) is None:
            continue
        difference = accuracies[(accuracies["arm"] == f"{arm} - non_private") & (accuracies["epsilon"] == epsilon)]
        contexts.append(
            PrivateContext(
                method=arm,
                epsilon=None if math.isinf(epsilon) else epsilon,
                balanced_accuracy=accuracy,
                balanced_accuracy_difference=value(difference, "balanced accuracy difference"),
                auc=value(leakage[(leakage["arm"] == arm) & (leakage["epsilon"] == epsilon)], "auc"),
            )
        )
    return sorted(contexts, key=lambda one: (CONTEXTS.index(one.method), one.epsilon or 0.0))


def tuned(results: pd.DataFrame, outcomes: pd.DataFrame) -> list[Tuned]:
    """Results of each probed epoch of each condition, for the signal `loss`."""
    judged, tests = tidy.expand(results), tidy.expand(outcomes)
    judged = judged[(judged["records"] == "query") & judged["signal"].isin(["loss", "in-context loss"])]
    tests = tests[(tests["signal"] == "loss") & (tests["metric"] == "auc detected")]
    probed = []
    for (arm, epoch), rows in judged.groupby(["arm", "epoch"], sort=True):
        detections = tests.loc[(tests["arm"] == arm) & (tests["epoch"] == epoch), "estimate"]
        if (auc := value(rows[rows["signal"] == "loss"], "auc")) is None:
            continue
        detected = bool(detections.iloc[0]) if len(detections) else None
        probed.append(
            Tuned(
                epoch=int(epoch),
                placebo=arm == PLACEBO,
                auc=auc.model_copy(update={"detected": detected}),
                auc_in_context=value(rows[rows["signal"] == "in-context loss"], "auc"),
            )
        )
    return probed


def exposed(risk: pd.DataFrame, most: int) -> list[Exposed]:
    """The most vulnerable records; most: their number."""
    rates = [column for column in risk if column.startswith("posterior_")]
    return [
        Exposed(
            row=int(line["row"]),
            id=line["id"],
            vulnerability=Value(
                **{"estimate": line["vulnerability"], "null": 0.0}
                | {key: None if pd.isna(line[key]) else line[key] for key in ("low", "high")}
            ),
            posteriors={rate.removeprefix("posterior_"): float(line[rate]) for rate in rates},
            shows=bool(line["shows"]),
        )
        for line in _lines(risk.head(most))
    ]


def _lines(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.to_dict("records")

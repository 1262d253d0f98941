"""What the prediction, its baseline and the ground truth cost on one setting, in passes and seconds, as tidy rows.

"Predicting memorization within LLMs fine-tuned for classification", Section 5.2.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from memaudit.common import tidy
from memaudit.statistics.bootstrap import t_interval
from memaudit.studies.predict.prediction_checkpoints import MeasuredSetting

FORWARD, TRAINED = 1, 3  # passes of a queried record, and of one that is trained on (Section 5.2)


def cost_rows(study: str, setting: MeasuredSetting, seconds: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Passes over a training set, and seconds, of the prediction, the baseline and the ground truth.

    seconds: measured, of training on one record (`trained`), of querying one (`queried`), and of `scoring` all
    records. Section 5.2 counts a forward pass as a third of an epoch; shadow models are queried with all records. The
    `training ratio` is as the paper counts: of shadow models their training alone, of the prediction the query, too.
    Intervals are those of the epoch of the interruption, over the models whose loss falls far enough.
    """
    reached = [place for place in setting.places(setting.rule) if place is not None]
    epochs = setting.epochs[reached]
    mean, *ends = (_spent(setting, epoch, seconds) for epoch in (epochs.mean(), *t_interval(epochs)))
    for (way, metric), estimate in mean.items():
        low, high = sorted(end[way, metric] for end in ends)
        unit = "times" if metric.endswith("ratio") else metric
        facts = {"n": len(setting.gap), "method": "by the epoch of the interruption, Student's t over models"}
        yield tidy.row(
            study, {"case": setting.name, "way": way}, metric, estimate, unit=unit, low=low, high=high, **facts
        )


def _spent(setting: MeasuredSetting, epoch: float, seconds: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """Cost of each way if training is interrupted at an epoch, absolute and relative to the prediction."""
    models, records = setting.membership.shape
    size, end = setting.membership.sum(1).mean(), float(setting.epochs[-1])
    work = {
        "prediction": (epoch * size, size),
        "baseline": (models * epoch * size, models * records),
        "ground truth": (models * end * size, models * records),
    }
    costs = {
        ("baseline", "training ratio"): models * epoch / (epoch + FORWARD / TRAINED),
        ("ground truth", "training ratio"): models * end / (epoch + FORWARD / TRAINED),
    }
    for way, (trained, queried) in work.items():
        costs[way, "passes"] = (TRAINED * trained + FORWARD * queried) / size
        costs[way, "seconds"] = trained * seconds["trained"] + queried * seconds["queried"]
        costs[way, "seconds"] += seconds["scoring"] if way == "prediction" else 0.0
        for metric in ("passes", "seconds"):
            costs[way, f"{metric} ratio"] = costs[way, metric] / costs["prediction", metric]
    return costs

"""Results about the truth of a setting: who is memorized, how sure that is, and when training is interrupted.

"Predicting memorization within LLMs fine-tuned for classification", Sections 5.7 and 5.8, Appendices A.3 and E.
"""

from typing import Any

import numpy as np

from memaudit.studies.predict import ground_truth, prediction_metrics, predictor_contrasts
from memaudit.studies.predict.judged_setting import JudgedSetting, Rows


def truth_rows(judged: JudgedSetting) -> Rows:
    """All tidy rows about the truth of a setting."""
    yield from shares(judged)
    yield from drops(judged)
    options = {"groups": judged.setting.unit, "replicates": judged.replicates}
    models = judged.final, judged.setting.membership, judged.setting.second_half
    found = ground_truth.agreement(*models, judged.rng("agreement"), **options)
    yield from judged.rows({"with": "counterfactual memorization"}, found)


def shares(judged: JudgedSetting) -> Rows:
    """Share of memorized records by threshold (Figure 5, right), of natural ones; and how far both can be trusted.

    At the threshold of memorization: of all records, too; the share beyond what chance may explain; agreement of the
    truths of two halves of the models. And records that look like another class to models without them.
    """
    setting, truth, least = judged.setting, judged.natural_truth, judged.memorized
    for threshold in judged.all_thresholds:
        yield from judged.rows({"threshold": f"{threshold:g}", "records": "natural"}, [truth.share(threshold)])
    keys = {"threshold": f"{least:g}", "records": "natural"}
    yield from judged.rows(keys, [truth.beyond_chance])
    if halves := ground_truth.halves(judged.final, setting.membership, setting.second_half, setting.targets):
        yield from judged.rows(keys, [predictor_contrasts.truth_agreement(halves, judged.entries, least)])
    if judged.planted:
        others = judged.cells(judged.truth, ~setting.member)
        share = prediction_metrics.memorized_share(truth.lira, judged.with_planted, others, least)
        yield from judged.rows(keys | {"records": "all"}, [share])
    ambiguous = ground_truth.ambiguity(judged.final, setting.membership, setting.natural)
    yield from judged.rows({"records": "natural"}, [ambiguous])


def drops(judged: JudgedSetting) -> Rows:
    """Fall of the median training loss by epoch (Table 2), and epoch and fall at the interruption by either rule.

    The latter are of the models whose loss falls far enough.
    """
    fallen = np.array([one.drops for one in judged.setting.interruptions])
    for epoch, values in zip(judged.setting.epochs, fallen.T, strict=True):
        yield judged.mean("median loss drop", values, {"epoch": f"{epoch:g}"}, "fraction")
    for rule in ("first", "closest"):
        places = enumerate(judged.setting.places(rule))
        if reached := [(model, place) for model, place in places if place is not None]:
            models, stops = np.array(reached).T
            keys = {"rule": rule if rule == judged.setting.rule else f"{rule} instead"}
            yield judged.mean("interruption", judged.setting.epochs[stops], keys, "epochs")
            yield judged.mean("median loss drop", fallen[models, stops], keys, "fraction")


def circumstances(judged: JudgedSetting) -> dict[str, Any]:
    """The conditions of the measurement that `predict_rank_own` reports.

    Fall of the targets' median loss, number of models behind the ground truth, share of natural records that are
    memorized, by chance, and (`beyond_chance`) the low end of what is more than five times chance.
    """
    setting = judged.setting
    own = setting.interruptions[: setting.targets]
    fallen = [float(one.drops[place]) for one, place in zip(own, setting.stopped, strict=True)]
    share, beyond = judged.natural_truth.share(), judged.natural_truth.beyond_chance
    rates = {part: getattr(share, part) for part in ("estimate", "low", "high", "null")}
    drop = {"drop": float(np.mean(fallen)), "least_drop": min(fallen), "most_drop": max(fallen)}
    sizes = {"targets": setting.targets, "models": len(setting.membership)}
    return {"case": setting.name, "memorized": rates | {"beyond_chance": beyond.low}} | drop | sizes

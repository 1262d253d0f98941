"""Settings, facts and results of an audit with hostile names, for tests of its modules, page and scripts."""

from memaudit.auditing.findings import recommendations
from memaudit.auditing.page.annex import Annex
from memaudit.auditing.summaries.group_parts import Group
from memaudit.auditing.summaries.inference_parts import Inference, InferredQuestion, Inferring
from memaudit.auditing.summaries.mitigation_parts import Mitigation, PrivateContext
from memaudit.auditing.summaries.score_curves import Curves, Histogram, RocPoint, ScoreBin
from memaudit.auditing.summaries.strength_parts import AttackControl
from memaudit.auditing.summaries.summary import (
    Adversary,
    Deployment,
    Exposed,
    Extrapolated,
    Measured,
    Strength,
    Summary,
    Table,
    Tuned,
    Utility,
    Value,
)
from memaudit.statistics.mitigation_verdicts import verdicts

HOSTILE = "</td><script>alert('x')</script>{{ 7*7 }}"
FACTS = {
    "name": HOSTILE, "sha256": "0" * 64, "rows": 500, "without_target": 0, "taken": 500, "target": HOSTILE,
    "group": None, "by": ["c0"], "infer": [], "task": "2 classes", "kind": "classification", "classes": 2,
    "left_out": {"note": "free text"}, "readings": {}, "models": ["tabicl-small"],
    "columns": {
        "c0": {"name": HOSTILE, "type": "categorical", "use": True},
        "c1": {"name": "note", "type": "text", "use": False},
    },
}  # fmt: skip

CHOSEN = {
    "threats": ["labels", "probabilities"], "seed": 1, "base_rates": [0.1], "shown": 5, "show_values": False,
    "epsilons": [], "finetune": False, "context_rows": None, "owner": "", "review_by": "", "records": "",
    "quick": False, "model_labels": ["tabicl-small"],
}  # fmt: skip

ATTACKS = {"sets": 32, "fpr": [0.1, 0.01], "replicates": 20, "permutations": 19}
ATTACKS |= {"perturbation": {"count": 20, "scale": 0.1}, "rmia": {"gamma": 1.0, "offline_a": 0.3}}
AUDIT = {
    "dataset": "wine", "fpr": 0.01, "base_rates": [0.1, 0.5], "threats": ["labels", "probabilities", "poison"],
    "models": {"main": "tabicl-small", "model_2": "forest"}, "by": ["c0", "c9"], "groups": 3, "permutations": 19,
    "shown": 5, "show_values": True, "context_rows": 400, "complete": True, "plan": {"sets": 32}, "facts": "facts.json",
    "smallest": True,
    "owner": HOSTILE, "review_by": "", "records": "",
}  # fmt: skip


def value(estimate, low, high, null=0.5, detected=None):
    return Value(estimate=estimate, low=low, high=high, null=null, detected=detected)


def adversary(records="members", detected=True, attack="lira", model="main", inside=False):
    auc = value(0.7, 0.65, 0.75, detected=detected)
    facts = {"model": model, "threat": "probabilities passive", "attack": attack, "poison": 0, "cells": 100}
    tpr, worth = value(0.1, 0.05, 0.15, 0.01, detected), value(0.6, 0.5, 0.7, 0.1)
    chosen = {"auc": {"rmia": 0.75, "lira": 0.25}, "tpr": {"lira": 1.0}} if attack == "strongest" else {}
    if inside:
        facts["threat"] = "white-box passive"
    facts |= {"tpr": {"0.01": tpr}, "precision": {"0.1": worth}, "chosen": chosen}
    return Adversary(**facts, queries=1, records=records, auc=auc)


def stability(whole, beyond_chance=True):
    """Agreement of two halves on the list, and as much as `whole` between two sets of contexts."""
    halves = {"spearman": value(0.3, 0.2, 0.4, 0.0), "overlap_listed": value(0.4, 0.2, 0.6, 0.05, beyond_chance)}
    again = {"overlap_listed extrapolated": value(whole, whole - 0.15, None, 0.05)}
    return halves | {"spearman extrapolated": value(0.46, None, None, 0.0)} | again


STRENGTH = Strength(
    lookup=value(1.0, 0.9, 1.0, detected=True), lookup_changed=1.0,
    innocents=3, innocents_found=0, innocent_failed=False, units=400,
    smallest_auc=0.52, auc_effect=0.1, smallest_tpr=0.019, tpr_effect=0.3,
)  # fmt: skip


CURVES = Curves(
    roc=[RocPoint(fpr=fpr, tpr=fpr**0.5, low=0.8 * fpr**0.5, high=min(1, 1.2 * fpr**0.5)) for fpr in (0.01, 0.1, 1)],
    distinct=100,
    scores=Histogram(
        bins=[ScoreBin(low=low, high=low + 1, members=0.1 * low + 0.25, nonmembers=0.25) for low in (-1.0, 0.0, 1.0)],
        threshold=1.5, members=50, nonmembers=50,
    ),
)  # fmt: skip


def measured(**aucs):
    return [Measured(number=int(name[1:]), auc=value(auc, auc - 0.05, auc + 0.05)) for name, auc in aucs.items()]


GROWTH = Extrapolated(
    score="rmia",
    contexts=64,
    to=None,
    auc=value(0.74, 0.7, 0.78),
    reason="",
    measured=measured(n16=0.66, n32=0.69, n64=0.7),
)
DEPLOYED = Extrapolated(
    score="lira",
    contexts=32,
    measured=measured(n50=0.8, n100=0.75, n200=0.7),
    to=500,
    auc=value(0.64, 0.58, 0.7),
    reason="",
)


def mitigation(
    name="bags 4", auc=(-0.1, -0.15, -0.05), tpr=(-0.05, -0.08, -0.02), cost=(-0.005, -0.015, 0.005),
    attack="strongest", reason="",
):  # fmt: skip
    """A mitigation with the changes (estimate, low, high) of AUC, TPR and balanced accuracy; with a reason: none."""
    changes = {"auc_difference": auc, "tpr_difference": tpr, "balanced_accuracy_difference": cost}
    changes = {key: None if reason else value(*change, 0.0) for key, change in changes.items()}
    own = {"auc": value(0.6, 0.55, 0.65), "tpr": value(0.03, 0.02, 0.04), "balanced_accuracy": value(0.9, 0.8, 1.0)}
    own = {key: None if reason else one for key, one in own.items()}
    return Mitigation(name=name, attack=attack, score=None if reason else "rmia", **own, **changes, reason=reason)


def a_summary(leak=True, showing=3, placebo=False, stable=0.8, helps=True, excess=0.1, cost=None, memory=None):
    protected = mitigation(auc=(-0.1, -0.15, -0.05) if helps else (-0.01, -0.1, 0.08))
    group = Group(
        column=HOSTILE, number=1, name=None, records=40, auc=value(0.8, 0.7, 0.9), q_value=0.02,
        excess=value(excess, excess - 0.05, excess + 0.05, 0.0, excess > 0.05),
    )  # fmt: skip
    exposed = Exposed(row=17, id="f" * 32, vulnerability=value(3, 2, 4, 0.0), posteriors={"0.1": 0.8}, shows=True)
    utility = Utility(model="main", accuracy=value(0.9, 0.8, 1), balanced_accuracy=value(0.9, 0.8, 1))
    private = PrivateContext(
        method="class_moments", epsilon=1.0, balanced_accuracy=value(0.9, 0.8, 1.0),
        balanced_accuracy_difference=cost and value(cost, cost - 0.1, cost + 0.1, 0.0), auc=value(0.5, 0.45, 0.55),
    )  # fmt: skip
    without = value(*(memory or (0.5, 0.4, 0.6)), detected=bool(memory and memory[1] > 0.5))
    in_context = value(0.8, 0.7, 0.9) if memory else value(0.5, 0.4, 0.6)
    probed = Tuned(epoch=50, placebo=False, auc=without, auc_in_context=in_context)
    deployment = Deployment(
        fpr=0.01, base_rate=0.1, mean=value(0.6, 0.5, 0.7, 0.1), one_context=value(0.62, 0.3, 0.9, 0.1), level=0.93,
        contexts=31,
    )  # fmt: skip
    table = {"rows": 500, "without_target": 0, "taken": 500, "duplicates": 0, "disputed": 0, "records": 500}
    best = adversary(detected=leak, attack="strongest")
    found = Summary(
        stage="full",
        table=Table(**table, columns=1, task="2 classes", kind="classification", sha256="0" * 64),
        shadow_sets=32, context=200, fpr=0.01, models={"main": HOSTILE},
        adversaries=[best, adversary(detected=leak), adversary("placebo", placebo)],
        deployments=[deployment], uneven=value(0.18, 0.1, 0.25, 0.0), strength=STRENGTH, curves=CURVES,
        growth=GROWTH, deployed=DEPLOYED, utilities=[utility],
        groups=[group], mitigations=[protected], stability=stability(stable),
        calibration={"lira": value(0.1, None, None), "calibrated": value(0.01, None, None)},
        private=[private] if cost else [], tuned=[probed] if memory else [],
        showing=showing, rated=400, exposed=[exposed], advice=[],
    )  # fmt: skip
    return advised(found)


def advised(summary, **update):
    """The summary with these parts replaced, mitigations judged, and its recommendations."""
    summary = summary.model_copy(update=update)
    found = zip(summary.mitigations, verdicts(summary.mitigations, summary.strict_leak()), strict=True)
    judged = [one.model_copy(update=verdict._asdict()) for one, verdict in found]
    summary = summary.model_copy(update={"mitigations": judged})
    return summary.model_copy(update={"advice": recommendations.advise(summary)})


def annex():
    rows = [(HOSTILE, HOSTILE)]
    return Annex(rows, rows, rows, rows)


def many_queries(summary, attack="strongest labels", detected=True, lookup=True, leaking=False):
    """The summary with an attack of many queries on some records, and its control."""
    more = adversary("targets", detected, attack)
    return advised(
        summary,
        adversaries=[*summary.adversaries, more],
        controls=[controlled(attack, lookup, innocents_found=3 * leaking, innocent_failed=leaking)],
    )


def controlled(attack, lookup=True, **facts):
    """The control of an attack; lookup: whether the planted one is detected."""
    found = {"innocents": 3, "innocents_found": 0, "innocent_failed": False} | facts
    looked_up = value(0.98 if lookup else 0.55, 0.5, 1.0, detected=lookup)
    return AttackControl(attack=attack, lookup=looked_up, **found)


def seen_inside(summary, detected=True, control=False):
    """The summary with results of an adversary who sees attention; control: whether its placebo is detected."""
    more = [adversary("members", detected, "strongest", inside=True), adversary(attack="attention", inside=True)]
    more += [adversary("placebo", control, "strongest", inside=True)]
    more += [adversary("companions", False, "strongest", inside=True)]
    held = controlled("white-box", innocents=0)
    found = {"adversaries": [*summary.adversaries, *more], "controls": [*summary.controls, held]}
    return summary.model_copy(update=found)


def inferred(summary, detected=True, failed=False):
    """The summary with a column whose values are inferred, and with joined halves."""

    def adversary(name, excess):
        accuracies = {key: value(0.6, 0.5, 0.7, 0.25) for key in ("members", "nonmembers", "without_model")}
        differences = {
            key: value(excess, excess - 0.1, excess + 0.1, 0.0, detected) for key in ("excess", "probability")
        }
        gain = value(0.0, -0.1, 0.1, 0.0)
        return Inferring(adversary=name, **accuracies, gain=gain, lookup_found=True, **differences)

    adversaries = [adversary("calibrated", 0.2), adversary("without target", 0.3)]
    facts = {"answers": 4, "targets": 128, "adversaries": adversaries, "lookup": value(0.7, 0.6, 0.8, 0.0, True)}
    questions = [InferredQuestion(column=column, **facts) for column in (HOSTILE, None)]
    found = {"innocents": 3, "innocents_found": 3 * failed, "innocent_failed": failed}
    return summary.model_copy(update={"inference": Inference(questions=questions, contexts=32, **found)})

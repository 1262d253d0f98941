"""Registry of the attacks that are compared: label, threat model, inputs, scoring method and colour of each.

`attacks.calibrate` holds the scoring methods. A new attack is one more entry here (docs/add-an-attack.md).
"""

from collections.abc import Mapping
from typing import Any

from memaudit.attacks.attack_entry import (
    CLASSES,
    LABELS,
    NUMBERS,
    ONE_QUERY,
    PER_CLASS,
    WHITE_BOX,
    Attack,
    Entry,
)
from memaudit.common.arrays import Array, Codes

POISONS = "adds mislabelled copies to the context"
CHOSEN = "adds copies with a chosen label to the context, of several records at once"
CONFIDENCE = "logit-scaled confidence in the true label"
DOMINATION = "probability of the true label, and of population records"
CORRECT = "whether the predicted label is the true one"
PREDICTED = "predicted minus true number"
ESTIMATED = "estimated"  # RMIA's a, by `rmia.estimated_a`
MEAN = {"convention": "mean"}
REGISTRY: Mapping[str, Entry] = {
    "signal alone": Entry("Signal", CONFIDENCE, "raw", tasks=CLASSES),
    "lira": Entry("LiRA", CONFIDENCE, options=MEAN, colour="BLUE"),
    "lira as published": Entry("LiRA, the target alone left out", CONFIDENCE, options={**MEAN, "leave": "self"}),
    "lira median": Entry("LiRA, medians", CONFIDENCE, options={"convention": "median"}),
    "lira ddof1": Entry("LiRA, one degree of freedom less", CONFIDENCE, options={"convention": "ddof1"}),
    "lira fixed variance": Entry("LiRA, one variance", CONFIDENCE, options={"spread": "pooled"}),
    "lira shrunk variance": Entry("LiRA, shrunken variances", CONFIDENCE, "lira_shrunk"),
    "lira shared variance": Entry(
        "LiRA, one shrunken variance for IN and OUT", CONFIDENCE, "lira_shrunk", {"shared": True}
    ),
    "lira offline": Entry("LiRA, OUT models alone", CONFIDENCE, "lira_offline"),
    "post-processed": Entry("Post-processed signal", CONFIDENCE, "postprocessed"),
    "rmia": Entry("RMIA", DOMINATION, "rmia"),
    "rmia offline": Entry("RMIA, OUT models alone", DOMINATION, "rmia", tasks=CLASSES),
    "rmia offline estimated": Entry(
        "RMIA, OUT models alone, a estimated", DOMINATION, "rmia", {"offline": ESTIMATED}, tasks=CLASSES
    ),
    "combined": Entry("LiRA and RMIA combined", f"{CONFIDENCE}, and that of population records", "combined"),
    "loss": Entry("Loss", "loss of the true label, negated", "raw"),
    "confidence": Entry("Confidence", "largest probability", "raw", tasks=CLASSES),
    "prediction gap": Entry(
        "Prediction gap", "probability of the true label less the largest other one", "raw", tasks=CLASSES
    ),
    "entropy": Entry("Entropy", "entropy of the prediction, negated", "raw", tasks=CLASSES),
    "modified entropy": Entry("Modified entropy", "modified entropy of the true label, negated", "raw", tasks=CLASSES),
    "correctness": Entry("Correctness", CORRECT, "raw", tasks=CLASSES, reads=LABELS),
    "lira correctness": Entry("LiRA on correctness", CORRECT, tasks=CLASSES, reads=LABELS),
    "lira correctness shrunk": Entry(
        "LiRA on correctness, shrunken variances", CORRECT, "lira_shrunk", tasks=CLASSES, reads=LABELS
    ),
    "absolute error": Entry("Absolute error", "absolute error, negated", "raw", tasks=NUMBERS, reads=LABELS),
    "lira error": Entry("LiRA on the error", PREDICTED, tasks=NUMBERS, reads=LABELS),
    "lira error shrunk": Entry(
        "LiRA on the error, shrunken variances", PREDICTED, "lira_shrunk", tasks=NUMBERS, reads=LABELS
    ),
    "attention": Entry(
        "Attention, uncalibrated",
        "largest less second-largest log attention weight on a context row",
        "raw",
        reads=WHITE_BOX,
        colour="GREEN",
    ),
    "lira attention": Entry(
        "LiRA on attention",
        "largest log attention weight on a context row",
        "lira_shrunk",
        reads=WHITE_BOX,
        colour="GREEN",
    ),
    "attention combined": Entry(
        "Attention, LiRA and RMIA combined",
        f"attention weights, {CONFIDENCE}, and that of population records",
        "white_box",
        reads=WHITE_BOX,
        colour="GREEN",
    ),
    "perturbation": Entry(
        "Perturbation",
        "share of noisy copies that keep the label",
        tasks=CLASSES,
        reads=LABELS,
        action="queries noisy copies",
        colour="SKY",
    ),
    "boundary": Entry(
        "Boundary distance",
        "distance to the decision boundary, negative on the wrong side",
        "lira_shrunk",
        tasks=CLASSES,
        reads=LABELS,
        action="queries points on lines to own records",
        colour="SKY",
    ),
    "copies correct": Entry(
        "Correct noisy copies",
        "share of noisy copies that get the true label",
        "lira_shrunk",
        tasks=CLASSES,
        reads=LABELS,
        action="queries noisy copies",
        colour="SKY",
    ),
    "brainwash": Entry(
        "Brainwash",
        "fewest mislabelled copies that change the label",
        tasks=CLASSES,
        reads=LABELS,
        active=True,
        action=POISONS,
        colour="ORANGE",
    ),
    "strongest labels": Entry(
        "Strongest of the attacks on labels",
        "distance to the decision boundary, answers to noisy copies, or to the record",
        "lira_shrunk",
        tasks=CLASSES,
        reads=LABELS,
        action="queries noisy copies, and points on lines to own records",
        colour="SKY",
    ),
    "chosen poisons on labels": Entry(
        "Poisons with a chosen label, on labels",
        f"{CORRECT}, copies with a chosen label in context",
        "lira_shrunk",
        tasks=CLASSES,
        reads=LABELS,
        active=True,
        action=CHOSEN,
        colour="ORANGE",
    ),
    "chosen poisons": Entry(
        "Poisons with a chosen label",
        f"{CONFIDENCE}, copies with a chosen label in context",
        "lira_shrunk",
        tasks=CLASSES,
        active=True,
        action=CHOSEN,
        colour="RED",
    ),
    "lira poisoned": Entry(
        "LiRA + {k:g} poisons",
        f"{CONFIDENCE}, mislabelled copies in context",
        options=MEAN,
        tasks=CLASSES,
        active=True,
        action=POISONS,
        colour="RED",
    ),
}
# Attacks of the study of LiRA's reliability, by their names in its results.
ON_ONE_MATRIX = {
    "signal alone": "signal alone",
    "lira mean": "lira",
    "lira mean (as published)": "lira as published",
    "lira median": "lira median",
    "lira ddof1": "lira ddof1",
    "lira fixed variance": "lira fixed variance",
    "lira shrunk variance": "lira shrunk variance",
    "lira shared variance": "lira shared variance",
    "lira offline (cdf)": "lira offline",
    "post-processed": "post-processed",
    "rmia": "rmia",
    "rmia offline": "rmia offline",
    "rmia offline estimated": "rmia offline estimated",
    "combined": "combined",
}
# Calibrated attacks of a passive adversary who reads probabilities.
PASSIVE = ("lira", "lira fixed variance", "lira offline", "rmia", "rmia offline")


def of_one_query(reads: str, task: str = "classification") -> list[str]:
    """Names of the passive attacks on the answer to one query of a model of a task.

    reads: what the adversary reads, labels (of regressors: predicted numbers) or all of the answer.

    Left out is a calibration that leaves out the target alone: it scores members too low (`shadow_sides.Leave`).
    """
    return [
        name
        for name, entry in REGISTRY.items()
        if not entry.active
        and entry.action == ONE_QUERY
        and entry.reads in (LABELS, reads)
        and task in entry.tasks
        and "leave" not in entry.options
    ]


def attack(name: str, signals: Array, **options: Any) -> Attack:
    """An attack of the registry on signals (model, record), with these options beside its own."""
    entry = REGISTRY[name]
    return Attack(signals, entry.method, {**entry.options, **options})


def threat(name: str) -> str:
    """Threat model of an attack, a threshold per class being that of the threshold."""
    return REGISTRY[name.removesuffix(PER_CLASS)].threat


def is_active(name: str) -> bool:
    """Whether the adversary adds records to the context."""
    return REGISTRY[name.removesuffix(PER_CLASS)].active


def on_confidence(
    names: Mapping[str, str], signals: Array, population: Array, rmia: Mapping[str, float]
) -> dict[str, Attack]:
    """Attacks by name, all on the same queries.

    names: what each is called -> its entry; signals: (model, record) log p / (1 - p) of the true label p; population:
    (model, z) the same of records that are in no context; rmia: gamma and offline_a of the config.
    """
    # Imported where it is called: who reads the facts alone needs no SciPy.
    from scipy.special import expit

    inputs = {"combined": (signals, {"population": population, "gamma": rmia["gamma"]})}
    if any(name.startswith("rmia") for name in names.values()):
        # The logistic function of the signal is the probability that RMIA compares.
        dominated = expit(signals), {"population": expit(population), "gamma": rmia["gamma"]}
        inputs |= dict.fromkeys(("rmia", "rmia offline", "rmia offline estimated"), dominated)
        inputs["rmia offline"] = dominated[0], {**dominated[1], "offline": rmia["offline_a"]}
    found = {}
    for called, name in names.items():
        values, options = inputs.get(name, (signals, {}))
        found[called] = attack(name, values, **options)
    return found


def thresholds(signals: Mapping[str, Array], labels: Codes) -> dict[str, Attack]:
    """Threshold attacks by name: one threshold for all records, and one per class of the true label.

    signals: (model, record) by entry, higher = more likely a member; labels: (record,) codes of the true classes.
    """
    plain = {name: attack(name, values) for name, values in signals.items()}
    return plain | {
        name + PER_CLASS: Attack(values, "per_class", {"labels": labels}) for name, values in signals.items()
    }

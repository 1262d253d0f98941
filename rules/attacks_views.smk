"""What readers see of the attacks on in-context learning: question, tables, figures, claims and headlines; no rule here.

INPUT   <results>/scores/attacks/**.parquet                          tidy results
OUTPUT  <results>/tables/attacks_*, <results>/figures/attacks_*      views of them, by the rules of `views.smk`
"""

OLD_STUDIES["attacks"] = {
    "title": "Attacks on in-context learning",
    "question": "What does a record in the context leak, for whom, and at what cost?",
    "paper": {
        "title": "TabPATE: Differentially Private Tabular In-Context Learning Without Public Data",
        "address": None,
    },
    "thresholds": [
        "attacks/sets",
        "attacks/fpr",
        "attacks/replicates",
        "attacks/permutations",
        "attacks/layer",
        "attacks/rmia/gamma",
        "attacks/rmia/offline_a",
        "attacks/perturbation/targets",
        "attacks/perturbation/sets",
        "attacks/active/targets",
        "attacks/active/sets",
        "attacks/active/most",
        "attacks/inference/trials",
    ],
    "facts": [models_facts(ATTACKS_MODELS)],
}
ATTACKS_METRICS = ["auc", *(f"tpr@{fpr:g}" for fpr in ATTACKS["fpr"])]
ATTACKS_THREATS = ["perturbation", "lira", "brainwash", "lira poisoned"]
# Published numbers stand beside ours: `source` tells them apart, `table` says where the paper prints them.
ATTACKS_SOURCES = "Lines of source paper are what the paper prints, for TabPFN 2.5 on its own data sets."


def attacks_beside(*rows, **where):
    """Layout of attacks, ours and the paper's."""
    where = {"metric": ATTACKS_METRICS} | where
    return {"rows": list(rows), "columns": ["metric"], "where": where, "null": True}


TABLES |= {
    "attacks_threat_models": {
        "title": "Attacks by threat model",
        "caption": "AUC and TPR of one attack for each threat model with 95 % intervals, and in parentheses what the same "
        "attack gives where membership is permuted. Compare lines of targets: they have the same shadow sets; members "
        "are all records. The placebo attacks records that are in no context: it must find nothing. Mean: over the data "
        f"sets of this run, taken as given. {ATTACKS_SOURCES} Table 1 of the paper.",
        "files": attacks_scores("average", "attacks"),
        "layout": attacks_beside(
            *("attack", "poison", "records", "dataset", "source", "table"),
            arm="main",
            attack=ATTACKS_THREATS,
            dataset=["mean", *ATTACKS["datasets"]],
        ),
    },
    "attacks_perturbation": {
        "title": "Labels alone, passive: stability under noise",
        "caption": "LiRA on the share of noisy copies that keep a record's label. "
        f"{ATTACKS_SOURCES} Table 5 of the paper.",
        "files": attacks_scores("average", "attacks"),
        "layout": attacks_beside("dataset", "source", "table", "model", attack="perturbation"),
    },
    "attacks_poisoning": {
        "title": "Probabilities, active: LiRA with mislabelled copies in the context",
        "caption": "k copies of the target with the runner-up label are put into the context before it is asked; k = 0 is "
        "plain LiRA on the same targets and shadow sets. "
        f"{ATTACKS_SOURCES} Table 6 of the paper.",
        "files": attacks_scores("average", "attacks"),
        "layout": attacks_beside(
            "dataset", "arm", "source", "table", "model", "poison", attack=["lira", "lira poisoned"], records="targets"
        ),
    },
    "attacks_thresholds": {
        "title": "Calibrated attacks and thresholds",
        "caption": "LiRA and RMIA know shadow sets; a threshold on one signal does not, per class has one for each class. "
        "With two classes modified entropy is a function of the loss and must have its AUC. "
        f"{ATTACKS_SOURCES} Table 7 of the paper.",
        "files": attacks_scores("average", "attacks"),
        "layout": attacks_beside("dataset", "source", "table", "attack", arm="main", records="members"),
    },
    "attacks_perturbation_count": {
        "title": "How many noisy copies?",
        "caption": f"The perturbation attack with N copies. {ATTACKS_SOURCES} Table 8 of the paper.",
        "files": attacks_scores("average", "ablations"),
        "layout": attacks_beside("dataset", "source", "value", ablation="perturbations"),
    },
    "attacks_perturbation_scale": {
        "title": "How much noise?",
        "caption": "The perturbation attack by the scale of its noise, in standard deviations of a column. "
        f"{ATTACKS_SOURCES} Table 9 of the paper.",
        "files": attacks_scores("average", "ablations"),
        "layout": attacks_beside("dataset", "source", "value", ablation="perturbation scale"),
    },
    "attacks_text": {
        "title": "Text against table: the same records, read by a language model",
        "caption": "The same records, columns and contexts, given to a tabular model and, as sentences, to a language model. "
        "Utility stands in the table of settings: a model that has not learnt the task has little to leak. "
        f"{ATTACKS_SOURCES} Table 10 of the paper.",
        "files": attacks_scores("average", "attacks"),
        "layout": attacks_beside("attack", "poison", "dataset", "arm", "model", "source", arm=["tabular", "text"]),
    },
    "attacks_datasets": {
        "title": "Passive LiRA by data set",
        "caption": f"All members of each data set. {ATTACKS_SOURCES} Table 16 of the paper has the larger ones.",
        "files": attacks_scores("average", "attacks"),
        "layout": attacks_beside("dataset", "source", "table", "model", arm="main", attack="lira", records="members"),
    },
    "attacks_cost": {
        "title": "What an attack asks for",
        "caption": "Queries for one target and one context, and how Brainwash searched: the share of records that resist all "
        "copies (censored), that are wrong without any, of scanned searches whose response was monotone, and that bisection "
        "finds as the scan does. Forward passes are those of all its targets and contexts, poisoning included.",
        "files": attacks_scores("attacks"),
        "layout": {
            "rows": ["dataset", "arm", "attack", "poison"],
            "columns": ["metric"],
            "where": {
                "metric": ["queries", "censored", "already wrong", "monotone", "bisection agrees", "forward passes"],
                "records": "targets",
                "attack": ATTACKS_THREATS,
            },
        },
    },
    "attacks_settings": {
        "title": "What shapes the leak",
        "caption": "LiRA on the members of other contexts: smaller, with fewer columns, with copies of a record, of another "
        "population, with the model as deployed, with text; and the accuracy on records that no context has. Lines with the "
        "same number of sets compare. A line a - b is a difference on the same records.",
        "files": attacks_scores("settings"),
        "layout": {
            "rows": ["dataset", "arm", "model", "mode", "variant", "sets", "records"],
            "columns": ["metric"],
            "where": {"metric": [*ATTACKS_METRICS, "accuracy", "balanced accuracy", "auc difference"]},
            "null": True,
        },
    },
    "attacks_risk": {
        "title": "Who leaks?",
        "caption": "Rank correlation of a record's exposure with what might foretell it, and in parentheses with the predictor "
        "permuted; LiRA by quarter of the distance to the neighbours, 4 being outliers. Not in the paper.",
        "files": attacks_scores("risk"),
        "layout": {
            "rows": ["dataset", "predictor", "quartile"],
            "columns": ["metric"],
            "null": True,
        },
    },
    "attacks_inference": {
        "title": "Three more questions of an adversary",
        "caption": "Attribute: a sensitive column, guessed from the model and the rest of the record; what counts is the "
        "difference between records inside and outside. Data set: was this corpus in the context, one p-value from many "
        "records. Property: which of two shares does the context have? In parentheses the null. Not in the paper.",
        "files": attacks_scores("inference"),
        "layout": {
            "rows": ["dataset", "question", "cells", "corpus", "variant"],
            "columns": ["metric"],
            "where": {"metric": [*ATTACKS_METRICS, "auc p-value", "accuracy", "power", "size"]},
            "null": True,
        },
    },
    "attacks_mitigations": {
        "title": "Mitigations without training, attacked again",
        "caption": "Leakage and accuracy before and after. First layer: the most exposed records, chosen on other contexts; "
        "next layer: as many that come after them. If dropping the first layer exposes the next one more than dropping random "
        "records does, risk has moved (the privacy onion). Not in the paper.",
        "files": attacks_scores("mitigations"),
        "layout": {
            "rows": ["dataset", "mitigation", "attack", "records"],
            "columns": ["metric"],
            "where": {
                "metric": ["auc", "auc difference", "accuracy", "balanced accuracy", "balanced accuracy difference"]
            },
            "null": True,
        },
    },
}
FIGURES |= {
    "attacks_roc": {
        "title": "ROC curves of the four threat models on logarithmic axes",
        "caption": "TPR against FPR of one attack for each threat model, with 95 % bands; the grey diagonal is guessing. What "
        "counts for privacy is the left end. The active attacks have fewer targets and shadow sets, and wider bands.",
        "files": attacks_scores("roc"),
        "where": {"arm": ["main"]},
    },
    "attacks_features": {
        "title": "AUC against the number of columns",
        "caption": "LiRA on contexts that keep some of the columns, in two random orders, and (hollow) on all of them. The "
        "paper's Figure 2 compares data sets; columns of one data set have the rest equal.",
        "files": attacks_scores("settings"),
        "where": {},
    },
    "attacks_poison": {
        "title": "Leakage against the poison budget",
        "caption": "LiRA with k mislabelled copies of the target in the context; k = 0 is passive. The paper's Table 6 as a "
        "curve.",
        "files": attacks_scores("ablations"),
        "where": {"ablation": ["poison budget"]},
    },
    "attacks_shadow_sets": {
        "title": "Leakage against the number of shadow sets",
        "caption": "LiRA calibrated on the first 8, 16, ... shadow sets. Where the lines are flat, more sets would not tell "
        "more.",
        "files": attacks_scores("ablations"),
        "where": {"ablation": ["shadow sets"]},
    },
    "attacks_risk_map": {
        "title": "Per-record risk",
        "caption": "Each point is a member: how far it is from its neighbours (percentile), and how far its signals inside and "
        "outside lie apart, in standard deviations. Look at the upper right corner: outliers that leak.",
        "files": attacks_scores("map"),
        "where": {},
    },
    "attacks_settings": {
        "title": "Copies of a record, and records in the context",
        "caption": "LiRA where the target stands once or several times in its contexts, and in contexts of different size, on "
        "the same records.",
        "files": attacks_scores("settings"),
        "where": {},
    },
    "attacks_inference": {
        "title": "Attribute, data-set and property inference",
        "caption": "ROC curves on logarithmic axes with 95 % bands; the grey diagonal is guessing. The curve of "
        "the attribute is that of members; what membership adds stands in the table. Property inference judges whole "
        "contexts, of which there are few: its curve has steps.",
        "files": attacks_scores("inference_roc"),
        "where": {},
    },
    "attacks_mitigations": {
        "title": "What a mitigation without training buys, and what it costs",
        "caption": "Leakage (AUC of the attack, lower is better) against balanced accuracy on records that no context has.",
        "files": attacks_scores("mitigations"),
        "where": {},
    },
}
HEADLINES["attacks"] = {
    "files": attacks_scores("attacks", "settings", "inference", "mitigations"),
    "sentences": [
        {
            "answers": "memorized",
            "per": ["dataset", "model"],
            "where": {"arm": "main", "attack": "lira", "records": "members"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "{dataset}: with probabilities alone, LiRA tells whether a record is in the context of {model} with "
            "AUC {auc}; where membership is permuted it is {auc.null:.3g}.",
        },
        {
            "answers": "memorized",
            "per": ["dataset", "poison"],
            "where": {"arm": "main", "attack": "lira poisoned", "records": "targets", "poison": "largest"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "{dataset}: who may add {poison:g} mislabelled copies to the context raises that to AUC {auc}; where "
            "membership is permuted it is {auc.null:.3g}.",
        },
        {
            "answers": "memorized",
            "per": ["dataset"],
            "where": {"arm": "main", "records": "targets"},
            "values": {
                "passive": {"metric": "auc", "where": {"attack": "perturbation"}},
                "active": {"metric": "auc", "where": {"attack": "brainwash"}},
            },
            "sentence": "{dataset}: with labels alone the AUC is {passive} for a passive adversary and {active} for one who "
            "adds mislabelled copies; where membership is permuted it is {active.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["dataset"],
            "where": {"arm": "main", "attack": "lira", "records": "placebo"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "{dataset}: the same attack on records that are in no context has AUC {auc}, as it must: chance gives "
            "{auc.null:.3g}.",
        },
        {
            "answers": "defence",
            "per": ["dataset", "mitigation"],
            "where": {"attack": "lira", "records": "all that remain", "mitigation": ["bags 4", "decimals 1"]},
            "values": {"change": {"metric": "auc difference"}},
            "sentence": "{dataset}, {mitigation}: the AUC of LiRA changes by {change}; chance alone would change it by {change.null:.3g}.",
        },
    ],
}
CLAIMS["attacks"] = attacks_scores("attacks", "average", "ablations", "settings")

"""What readers see of private in-context learning: question, methods, tables, figures, claims and headlines; no rule here.

INPUT   <results>/scores/tabpate/**.parquet                          tidy results
OUTPUT  <results>/tables/tabpate_*, <results>/figures/tabpate_*      views of them, by the rules of `views.smk`
"""

TABPATE_METRICS = ["auc", *(f"tpr@{fpr:g}" for fpr in TABPATE["shadows"]["fpr"])]
# Arms that are not private, and what the paper calls DP-Synthetic: it does not say which of the two.
TABPATE_OPEN = ["non_private", "non_private_shared", "majority", "mean"]
TABPATE_SHOWN = [*TABPATE["arms"], "aim or mst", *TABPATE_OPEN]
# Arms whose labels a budget pays for one by one, or all at once.
TABPATE_LABELLED = [
    name for name, arm in TABPATE["arms"].items() if arm["method"] in ("tabpate", "tabpate-tuned", "prompt-pate")
]
# Arms that differ in where their queries come from, and those of the ablation of it.
TABPATE_PRIORS = [
    name
    for name, arm in TABPATE_ARMS.items()
    if arm["method"] == "tabpate" and not arm["held_out"]
    if name in TABPATE["arms"] or name.split()[1] in ("prior", "alpha")
]
TABPATE_NOISE = "The noise has no seed: made again, numbers differ."
TABPATE_LEDGER = "The tables are public, so no ledger is charged."
# Published numbers stand beside ours: `table` says where the paper prints them.
TABPATE_SOURCES = "Lines that name a table are what the paper prints there, for TabPFN."
# Table 11: what a method is called, whether it needs public data, what it releases, and what its privacy is spent on.
TABPATE_DEFENSES = {
    "tabpate": ("TabPATE", "no", "a context"),
    "tabpate-tuned": ("TabPATE, its alpha chosen at a price", "no", "a context"),
    "prompt-pate": ("PromptPATE", "unlabelled records of the same distribution", "a context"),
    "query-time": ("Query-Time", "no", "answers only"),
    "dp-tabicl": ("DP-TabICL", "no", "a context"),
    "dp-sgd": ("DP-SGD (RealMLP)", "no", "a network"),
    "mst": ("DP-Synthetic (MST)", "no", "a context"),
    "aim": ("DP-Synthetic (AIM)", "no", "a context"),
}
TABPATE_COSTS = {
    "tabpate-tuned": "moments and labels of every candidate and the choice",
    "prompt-pate": "labels",
    "query-time": "every answer",
    "dp-tabicl": "means of records",
    "dp-sgd": "steps of training",
    "mst": "marginals",
    "aim": "marginals",
}


def tabpate_cost(arm):
    """What an arm's budget is spent on."""
    if arm["method"] != "tabpate":
        return TABPATE_COSTS[arm["method"]]
    spent = ["moments"] if arm["settings"]["alpha"] else []
    return " and ".join(spent + (["labels"] if arm["settings"]["labels"] == "votes" else []))


def tabpate_defense(name, arm):
    """A line of the overview: what an arm is, needs, releases and pays for, and its settings."""
    settings = ", ".join(f"{key} {value}" for key, value in arm["settings"].items() if value not in (None, False))
    return [name, *TABPATE_DEFENSES[arm["method"]], tabpate_cost(arm), settings]


def tabpate_layout(*rows, columns="metric", **where):
    """Layout of results by method, ours and the paper's."""
    return {"rows": list(rows), "columns": [columns], "where": where, "null": True}


OLD_STUDIES["tabpate"] = {
    "title": "Private in-context learning",
    "question": "What does a private context cost, and does it protect?",
    "paper": {
        "title": "TabPATE: Differentially Private Tabular In-Context Learning Without Public Data",
        "address": None,
    },
    "thresholds": [
        "tabpate/epsilons",
        "tabpate/delta",
        "tabpate/repeats",
        "tabpate/roles/test",
        "tabpate/roles/held_out",
        "tabpate/replicates",
        "tabpate/shadows/sets",
        "tabpate/shadows/fpr",
        "tabpate/shadows/permutations",
        "tabpate/audit",
    ],
    "facts": [
        {
            "title": "Defences of this run",
            "caption": "What each arm needs and releases, and what its budget is spent on; compare arms of one method by their "
            "settings. Arms whose names end in shared have the records that PromptPATE has, without those that are public for "
            f"it. {TABPATE_LEDGER} Table 11 of the paper.",
            "columns": ["arm", "method", "public data", "releases", "privacy is spent on", "settings"],
            "rows": [tabpate_defense(name, arm) for name, arm in TABPATE["arms"].items()],
        }
    ],
}
TABLES |= {
    "tabpate_utility": {
        "title": "What private contexts are worth",
        "caption": "Balanced and plain accuracy on test records, means over the classification tables of this run, and in "
        "parentheses what needs no model; compare arms of one epsilon, and all with non_private (epsilon inf). "
        f"{TABPATE_NOISE} {TABPATE_LEDGER} {TABPATE_SOURCES} Tables 2 and 12 of the paper, which print the same numbers "
        "for three methods.",
        "files": tabpate_scores("average"),
        "layout": tabpate_layout(
            *("approach", "arm", "epsilon", "table"),
            arm=TABPATE_SHOWN,
            dataset="mean",
            metric=["balanced accuracy", "accuracy"],
        ),
    },
    "tabpate_datasets": {
        "title": "What private contexts are worth, by table",
        "caption": "Balanced accuracy on test records, and in parentheses what guessing gives; look for tables on which an "
        f"arm does no better than that. {TABPATE_NOISE} {TABPATE_SOURCES} Tables 13 and 15 of the paper; the means of "
        "its Table 13 are not those of its Table 2.",
        "files": tabpate_scores("utility", "average"),
        "layout": tabpate_layout(
            *("approach", "arm", "epsilon", "table"),
            columns="dataset",
            arm=TABPATE_SHOWN,
            dataset=tabpate_tasks("classification"),
            metric="balanced accuracy",
            table=["Table 13", "Table 15", None],
        ),
    },
    "tabpate_regression": {
        "title": "What private contexts are worth where the target is a number",
        "caption": "Root mean square error on test records over the standard deviation of their targets; lower is better, "
        "and 1 is what the mean of all gives: look for arms below it. The paper has alpha 0 (as_published) and, "
        "for all tables but two, 0.05 (published_moments); tuned_alpha chooses one, and pays for that and for all that it "
        "chooses from. "
        f"{TABPATE_NOISE} {TABPATE_SOURCES} Table 3 of the paper.",
        "files": tabpate_scores("utility", "average"),
        "layout": tabpate_layout(
            *("approach", "arm", "epsilon", "table"),
            columns="dataset",
            arm=TABPATE_SHOWN,
            dataset=[*tabpate_tasks("regression"), "mean"],
            metric="nrmse",
        ),
    },
    "tabpate_queries": {
        "title": "Where should queries come from?",
        "caption": "Balanced accuracy by the source of the queries that are labelled: drawn evenly or as a Gaussian from "
        "public bounds (as_published, and it with prior gaussian), or from noisy moments, of all records or of each class; "
        "compare arms of one epsilon and table, above all where classes are imbalanced. "
        f"{TABPATE_NOISE} {TABPATE_SOURCES} Table 14 of the paper has Wilt.",
        "files": tabpate_scores("utility", "average"),
        "layout": tabpate_layout(
            *("dataset", "arm", "epsilon", "table"),
            arm=TABPATE_PRIORS,
            dataset=[*dict.fromkeys([*tabpate_tasks("classification"), "wilt"])],
            metric="balanced accuracy",
            table=["Table 14", None],
        ),
    },
    "tabpate_ablations": {
        "title": "What each setting of the published mechanism does",
        "caption": "The base arm with one setting changed: number of teachers K, noise sigma1 of the check and sigma2 of the "
        "votes, threshold T, number of queries M, share alpha of epsilon for moments, prior. Compare with the base in the "
        f"line of its name alone, and look how many labels were paid for. {TABPATE_NOISE} Not in the paper.",
        "files": tabpate_scores("utility"),
        "layout": tabpate_layout(
            *("dataset", "arm", "epsilon"),
            arm=[TABPATE["ablations"]["base"], *(name for name in TABPATE_ARMS if name not in TABPATE["arms"])],
            dataset=TABPATE["ablations"]["datasets"],
            epsilon=TABPATE["ablations"]["epsilons"],
            metric=["balanced accuracy", "accuracy", "nrmse", "asked", "answered", "agreement"],
        ),
    },
    "tabpate_answers": {
        "title": "Labels that a budget pays for",
        "caption": "Queries that were asked and answered, means over repeats, and the share of released labels that are "
        "those of the model without privacy; look how few labels epsilon 1 pays for, and how many of them are wrong. Arms "
        f"whose labels are the class that a query was drawn from ask no teacher. {TABPATE_NOISE} Not in the paper.",
        "files": tabpate_scores("utility"),
        "layout": tabpate_layout(
            *("dataset", "arm", "epsilon"), arm=TABPATE_LABELLED, metric=["asked", "answered", "agreement"]
        ),
    },
    "tabpate_attack": {
        "title": "Private students, attacked",
        "caption": "AUC and TPR of attacks on students, each calibrated by students of other shadow sets on which the whole "
        "mechanism ran, and in parentheses the same where membership is permuted; look whether the intervals of private "
        "arms leave that out. A line a - b is a difference on the same records and sets. The placebo attacks records that "
        "are in no set: it must find nothing. The adversary knows all queries and the split among teachers. "
        f"{TABPATE_NOISE} Section 5.3 of the paper.",
        "files": tabpate_scores("attack"),
        "layout": tabpate_layout(
            *("dataset", "arm", "epsilon", "attack", "records"),
            metric=[*TABPATE_METRICS, "auc difference"],
        ),
    },
    "tabpate_audit": {
        "title": "Empirical against stated privacy",
        "caption": "Lower bounds, 95 % sure, on the epsilon of released students, beside the epsilon that is stated; and on "
        "the mu of one noisy label, by who knows all votes but one, with the stated noise and with half of it. A bound "
        "above what is stated would refute it: that must happen with halved noise, and with the stated one at most once "
        f"in twenty runs. {TABPATE_NOISE} Not in the paper.",
        "files": tabpate_scores("attack", "audit"),
        "layout": {
            "rows": [*(["dataset", "arm", "epsilon", "fpr"] if TABPATE_ATTACKED else []), "noise"],
            "columns": ["metric"],
            "where": {"metric": ["epsilon lower bound", "mu lower bound", "mu stated", "refuted"]},
        },
    },
}
FIGURES |= {
    "tabpate_roc": {
        "title": "ROC curves of LiRA on students, on logarithmic axes",
        "caption": "TPR against FPR of LiRA on released students, with 95 % bands; black: the model that is shown the private "
        "records themselves; the grey diagonal is guessing. Look at the left end, and whether coloured bands leave the "
        f"diagonal. {TABPATE_NOISE} Figure 1 of the paper.",
        "files": tabpate_scores("roc"),
        "where": {"attack": ["lira"], "records": ["members"]},
    },
    "tabpate_utility": {
        "title": "Balanced accuracy against the privacy budget",
        "caption": "Balanced accuracy on test records with 95 % intervals, arms side by side at each epsilon; black, with its "
        "band: without privacy; dashed: guessing. Look which arms rise above guessing at the smallest epsilon. "
        f"{TABPATE_NOISE} Tables 2 and 13 of the paper.",
        "files": tabpate_scores("utility"),
        "where": {"arm": [*TABPATE["arms"], "non_private"]},
    },
    "tabpate_answers": {
        "title": "Labels that a budget pays for, against epsilon",
        "caption": "Labels in released contexts, means over repeats, on a logarithmic axis that begins with 0. What is not "
        "paid for at small epsilon is why few, clean labels and labels by group win there. "
        f"{TABPATE_NOISE} Not in the paper.",
        "files": tabpate_scores("utility"),
        "where": {"arm": TABPATE_LABELLED},
    },
    "tabpate_queries": {
        "title": "Balanced accuracy by the source of queries",
        "caption": "Each line is an arm that differs from the others in where its queries come from, with 95 % intervals; "
        "black: without privacy; dashed: guessing. Compare the lines of one panel. "
        f"{TABPATE_NOISE} Table 14 of the paper as a figure.",
        "files": tabpate_scores("utility"),
        "where": {"arm": [*TABPATE_PRIORS, "non_private"]},
    },
    "tabpate_regression": {
        "title": "Error against the privacy budget",
        "caption": "Root mean square error over the deviation of the targets with 95 % intervals, which may go on beyond the "
        "panel; lower is better. Black, with its band: without privacy; dashed: the mean of all. Look which arms stay below "
        f"that. {TABPATE_NOISE} Table 3 of the paper.",
        "files": tabpate_scores("utility"),
        "where": {"arm": [*TABPATE["arms"], "non_private"]},
    },
}
# A run without such tables has no such views.
if not tabpate_tasks("classification"):
    for name in ("tabpate_utility", "tabpate_queries"):
        del TABLES[name], FIGURES[name]
    del TABLES["tabpate_datasets"]
if not tabpate_tasks("regression"):
    del TABLES["tabpate_regression"], FIGURES["tabpate_regression"]
if not TABPATE_ATTACKED:
    del TABLES["tabpate_attack"], FIGURES["tabpate_roc"]


def tabpate_price(epsilon, metric, guessing):
    """A headline: what a private context costs at one epsilon."""

    def less(arm):
        return {"metric": f"{metric} difference", "where": {"arm": f"{arm} - non_private", "epsilon": epsilon}}

    return {
        "answers": "defence",
        "per": ["dataset"],
        "values": {
            "whole": {"metric": metric, "where": {"arm": "non_private"}},
            "ours": less("class_moments"),
            "published": less("as_published"),
        },
        "sentence": f"{{dataset}}: shown the private records, the model reaches {metric} {{whole}}; a context released "
        f"with epsilon {epsilon:g} changes it by {{ours}} (class_moments) or {{published}} (as_published); {guessing} has "
        "{whole.null:.3g}.",
    }


HEADLINES["tabpate"] = {
    "files": tabpate_scores("utility", "attack", "audit"),
    "sentences": [
        *(
            tabpate_price(epsilon, *told)
            for told in (("balanced accuracy", "guessing"), ("nrmse", "guessing the mean"))
            for epsilon in TABPATE["epsilons"]
        ),
        *(
            {
                "answers": "defence",
                "per": ["dataset"],
                "where": {"attack": "lira", "records": "members"},
                "values": {
                    "whole": {"metric": "auc", "where": {"arm": "non_private"}},
                    "ours": {"metric": "auc", "where": {"arm": "class_moments", "epsilon": epsilon}},
                    "published": {"metric": "auc", "where": {"arm": "as_published", "epsilon": epsilon}},
                },
                "sentence": "{dataset}: LiRA tells whether a record is in a context with AUC {whole}; behind a context "
                f"released with epsilon {epsilon:g}, with AUC {{ours}} (class_moments) or {{published}} (as_published); "
                "where membership is permuted it is {published.null:.3g}.",
            }
            for epsilon in TABPATE["shadows"]["epsilons"]
        ),
        {
            "answers": "trust",
            "per": ["dataset"],
            "where": {"attack": "lira", "records": "placebo", "arm": "non_private"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "{dataset}: the same attack on records that are in no context has AUC {auc}, as it must: chance "
            "gives {auc.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["noise"],
            "values": {"bound": {"metric": "mu lower bound"}, "stated": {"metric": "mu stated"}},
            "sentence": "One private label, its noise {noise}: who knows all votes but one measures a mu of {bound} "
            "of Gaussian differential privacy, where {stated.estimate:.3g} is stated; a label that tells nothing leaves "
            "such an audit with chance, {bound.null:.3g}.",
        },
    ],
}
CLAIMS["tabpate"] = tabpate_scores("average", "utility", "attack", "audit")
# A run without tables does not have the study.
if not TABPATE["datasets"]:
    forget("tabpate")

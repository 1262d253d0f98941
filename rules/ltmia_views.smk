"""What readers see of the learned attack on language models: question, tables, figures, claims and headlines; no rule here.

INPUT   <results>/scores/ltmia/*.parquet                         tidy results
OUTPUT  <results>/tables/ltmia_*, <results>/figures/ltmia_*      views of them, by the rules of `views.smk`
"""

LTMIA_SOURCES = "Lines that name a table are what the paper prints there, for models of up to 7 billion parameters."
LTMIA_METRICS = ["auc", *(f"tpr@{fpr:.3g}" for fpr in LTMIA_FPRS)]
LTMIA_RATES = LTMIA_METRICS[1:]
# The paper's rates stand beside ours although ours may be others: the header says which.
LTMIA_PRINTED = [name for name in ("tpr@0.01", "tpr@0.001") if name not in LTMIA_RATES]
LTMIA_UNRESOLVED = (
    "A rate below 1 / non-members is not resolved: the smallest that is takes its place, as the metric says."
)

LTMIA_EACH = ["role", "family", "model", "dataset", "tuning", "fit", "table"]
LTMIA_FIT = ["yes", "no", "not asked"]
LTMIA_SHOWN = [
    *(
        "shuffled membership",
        "text",
        "code",
        "code after text alone",
        "text less code",
        "other families less transformers",
    ),
    *("other families less transformers of their size", "full less lora tuning", "full less private tuning"),
    *(f"{third} third of reference likelihood" for third in ("low", "middle", "high")),
    "AUC against mean reference likelihood",
]


def ltmia_layout(*rows, columns="attack", **where):
    """Layout of results, ours and the paper's."""
    columns = columns if isinstance(columns, list) else [columns]
    return {"rows": list(rows), "columns": columns, "where": where, "null": True}


OLD_STUDIES["ltmia"] = {
    "title": "A learned attack on language models",
    "question": "Does a classifier that has seen other models memorize know it again in an architecture it never saw?",
    "paper": {
        "title": "Learning the Signature of Memorization in Autoregressive Language Models",
        "address": "https://arxiv.org/abs/2604.03199",
    },
    "thresholds": [
        "ltmia/texts/parts",
        "ltmia/texts/size",
        "ltmia/texts/likeness",
        "ltmia/validation",
        "ltmia/test",
        "ltmia/diversity/samples",
        "ltmia/fpr",
        "ltmia/replicates",
    ],
    "facts": [
        {
            "title": "Models and corpora of this run",
            "caption": "What classifiers learn from, and what they are judged on: no model and no corpus is in both. Every pair "
            "of a line is fine-tuned for itself, from a base that has not seen its texts. Table 10 of the paper.",
            "columns": ["part", "models", "families", "corpora", "tuning"],
            "rows": [
                [
                    part,
                    ", ".join(group["models"]),
                    ", ".join(dict.fromkeys(LTMIA_FAMILIES[name] for name in group["models"])),
                    ", ".join(group["corpora"]),
                    group["tuning"],
                ]
                for part, groups in (
                    ("training", LTMIA["training"]),
                    ("held out", LTMIA["held_out"]),
                    *((name, [LTMIA["controls"][name]]) for name in LTMIA_CONTROLS),
                )
                for group in groups
                if LTMIA_TRAINING
            ],
        },
    ],
}
TABLES |= {
    "ltmia_auc": {
        "title": "Attacks on models and corpora never seen",
        "caption": "AUC by attack and family of models, means over held-out combinations and over families, in parentheses "
        "guessing. Only lt_mia is trained, on other models and corpora; compare it with ez, EZ-MIA mended, and ez_published, "
        f"as its authors have it. {LTMIA_SOURCES} Table 1 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout("attack", "table", columns="family", role="held out", metric="auc", dataset=[None]),
    },
    "ltmia_tpr": {
        "title": "Attacks at low false positive rates",
        "caption": f"TPR by attack and family, as in the table of AUCs. {LTMIA_UNRESOLVED} {LTMIA_SOURCES} Table 2 of the "
        "paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(
            *("metric", "attack", "table"),
            columns="family",
            role="held out",
            metric=LTMIA_RATES + LTMIA_PRINTED,
            dataset=[None],
        ),
    },
    "ltmia_differences": {
        "title": "What the learned attack has more",
        "caption": "AUC and TPR of lt_mia less those of each other attack on the same texts, with intervals that resample texts "
        "and combinations in common; the last column tests the differences of AUC over combinations by signed ranks, as "
        "the paper does. The attack is ahead where an interval lies above 0. Section 4.2 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(
            *("family", "attack"),
            columns="metric",
            role="held out",
            metric=[*(f"{name} difference" for name in LTMIA_METRICS), "wilcoxon p-value"],
        ),
    },
    "ltmia_combinations": {
        "title": "AUC of every attack on every combination",
        "caption": "Held-out combinations and controls, with intervals that resample texts; fit: whether the corpus passes the "
        f"blind check, without which an AUC says nothing of memory. {LTMIA_SOURCES} Tables 4 and 7 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(*LTMIA_EACH, metric="auc", fit=LTMIA_FIT),
    },
    "ltmia_rates": {
        "title": "TPR of every attack on every combination",
        "caption": f"As the table of AUCs. {LTMIA_UNRESOLVED} Look for combinations with a large AUC of an attack and next to no "
        f"TPR: its scores are not comparable between texts there. {LTMIA_SOURCES} Tables 5, 6, 8, 9 and 13 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(*LTMIA_EACH, "metric", metric=LTMIA_RATES + LTMIA_PRINTED, fit=LTMIA_FIT),
    },
    "ltmia_classifiers": {
        "title": "What kind of classifier it takes",
        "caption": "The same features read as a sequence, flattened, as their mean, or linearly; on new texts of the "
        "combinations that were trained on, and on held-out combinations. Compare the held-out columns. "
        f"{LTMIA_SOURCES} Tables 3 and 11 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(
            *("classifier", "table"),
            columns=["records", "metric"],
            classifier=[*LTMIA["classifiers"]],
            metric=[*LTMIA_METRICS, "tpr@0.1", *LTMIA_PRINTED],
        ),
    },
    "ltmia_diversity": {
        "title": "What many combinations are worth",
        "caption": "The attack's classifier, trained on more and more combinations with as many texts in all, means over "
        "random choices of the combinations. Look whether the gap between training and held-out combinations closes. "
        f"{LTMIA_SOURCES} Table 12 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(
            *("combinations", "samples", "table"),
            columns=["records", "metric"],
            samples=[LTMIA["diversity"]["samples"], 18000],
            metric=[*LTMIA_METRICS, "tpr@0.1", *LTMIA_PRINTED],
        ),
    },
    "ltmia_importance": {
        "title": "What the learned attack lives on",
        "caption": "AUC that it loses when a group of features is dealt to other texts: of the target alone, of the reference "
        "alone, or those that compare the two. Look which loses most, and whether that is so in every family. "
        f"{LTMIA_SOURCES} Figure 3 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(
            *("family", "table"), columns="features", features=["comparison", "target", "reference"], metric="auc drop"
        ),
    },
    "ltmia_controls": {
        "title": "Nulls and controls",
        "caption": "Where membership is shuffled every attack must be at one half. Thirds: texts by how likely the base finds "
        "them. Differences are between means over groups of combinations, of adapters over the same ones; in parentheses "
        f"no effect. {LTMIA_SOURCES} Section 4.2 of the paper.",
        "files": ltmia_scores("results"),
        "layout": ltmia_layout(
            *("control", "metric", "table"), metric=["auc", "auc difference", "spearman"], control=LTMIA_SHOWN
        ),
    },
    "ltmia_corpora": {
        "title": "Can members be told without a model?",
        "caption": "AUC of a classifier that sees words alone and no model; a corpus whose interval lies above one half is "
        "unfit for attacks (0) and in no mean. Corpora with non-members from elsewhere must be found unfit. Not in the paper.",
        "files": ltmia_scores("corpora"),
        "layout": {"rows": ["dataset"], "columns": ["metric"], "where": {}, "null": True},
    },
}
FIGURES |= {
    "ltmia_transfer": {
        "title": "The learned attack, family by family",
        "caption": "AUC of the learned attack on each held-out corpus, by family of models, with 95 % intervals that resample "
        "texts; bars are means over the models of a family, dashed: guessing. It was trained on transformers alone: "
        "look whether the other families fall behind. Figure 1 of the paper.",
        "files": ltmia_scores("results"),
        "where": {"role": ["held out"], "source": ["here"]},
    },
    "ltmia_roc": {
        "title": "ROC curves on logarithmic axes",
        "caption": "TPR against FPR, means over the held-out combinations of a family, with 95 % bands that resample texts and "
        "combinations; the grey diagonal is guessing. Curves begin at 1 / non-members. Look at the left end.",
        "files": ltmia_scores("roc"),
        "where": {},
    },
    "ltmia_importance": {
        "title": "AUC lost without a group of features",
        "caption": "What the learned attack loses when a group of features is dealt to other texts, with 95 % intervals. Look "
        "whether comparison comes first in every family. Figure 3 of the paper.",
        "files": ltmia_scores("results"),
        "where": {"source": ["here"]},
    },
    "ltmia_diversity": {
        "title": "More combinations, as many texts",
        "caption": "AUC by the number of combinations that a classifier learnt from, with as many texts in all and 95 % bands: "
        "on new texts of these combinations, and on held-out ones; dashed: guessing. Figure 4 of the paper.",
        "files": ltmia_scores("results"),
        "where": {"source": ["here"]},
    },
}
HEADLINES["ltmia"] = {
    "files": ltmia_scores("results", "corpora"),
    "sentences": [
        {
            "answers": "memorized",
            "per": ["family"],
            "where": {"role": "held out", "source": "here", "dataset": None},
            "values": {
                "ours": {"metric": "auc", "where": {"attack": "lt_mia"}},
                "ez": {"metric": "auc", "where": {"attack": "ez"}},
                "loss": {"metric": "auc", "where": {"attack": "loss"}},
            },
            "sentence": "Language models ({family}): a classifier that learnt from other models and other corpora tells which "
            "texts they were fine-tuned on with AUC {ours}; EZ-MIA has {ez}, the loss {loss}, and guessing {ours.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["attack"],
            "where": {"role": "held out", "source": "here", "family": "mean"},
            "values": {"gap": {"metric": "auc difference"}},
            "sentence": "Over all families of held-out language models the AUCs of {attack} differ by {gap}, by chance "
            "by {gap.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["control"],
            "where": {"source": "here", "control": "shuffled membership", "attack": "lt_mia"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "Language models with {control}: the learned attack has AUC {auc}; it must "
            "find nothing, and guessing gives {auc.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["model", "dataset"],
            "where": {"source": "here", "role": "untrained", "attack": "lt_mia"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "{model} on {dataset}, not fine-tuned at all: the learned attack has AUC "
            "{auc.estimate:.3g} [{auc.low:.3g}, {auc.high:.3g}], and guessing {auc.null:.3g}.",
        },
    ],
}
CLAIMS["ltmia"] = ltmia_scores("results", "corpora")
# A run without combinations does not have the study.
if not LTMIA_TRAINING:
    forget("ltmia")

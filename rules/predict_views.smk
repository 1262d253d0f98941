"""What readers see of the study of prediction: question, settings, tables, figures, claims and headlines; no rule here.

INPUT   <results>/scores/predict/**.parquet                          tidy results
OUTPUT  <results>/tables/predict_*, <results>/figures/predict_*      views of them, by the rules of `views.smk`
"""

# Where no more is memorized than chance lets pass, nothing can be foretold.
PREDICT_BEYOND_CHANCE = {"metric": "memorized", "where": {"threshold": PREDICT["memorized"]}}

OLD_STUDIES["predict"] = {
    "title": "Predicting memorization",
    "question": "Which records will be memorized, and who can tell early in training?",
    "paper": {
        "title": "Predicting memorization within Large Language Models fine-tuned for classification",
        "address": None,
    },
    "thresholds": [
        *(f"predict/{key}" for key in ("drop", "memorized", "thresholds", "fpr", "tpr", "replicates")),
        *(f"predict/scoring/{key}" for key in ("directions", "accuracy", "dimensions")),
    ],
    "facts": [
        {
            "title": "Settings of this run",
            "caption": "What is trained on what. Models: shadow models, each on a random half of the records; every one but the "
            "target is a shadow model of a target. Noise: share of records with another label. Canaries have columns and "
            "labels drawn on their own. Interrupted: at the first checkpoint beyond the drop, or the closest to it. The paper "
            "has 100 shadow models, one target, PSMI on 2000 directions and language models of 7 billion weights.",
            "columns": [
                *("setting", "data", "network", "records", "models", "targets", "epochs", "batch", "learning rate"),
                *("noise", "canaries", "interrupted"),
            ],
            "rows": [predict_facts(name, setting) for name, setting in PREDICT_SETTINGS.items()],
        },
    ],
}
TABLES |= {
    "predict_predictors": {
        "title": "What foretells memorization",
        "caption": "Predictors at the interruption, with 95 % intervals over targets and records: AUC, TPR at low FPRs, FPR at "
        "high TPRs, and how much more than the baseline (lira: LiRA on the partly trained model) each has. Truth: memorized "
        "in the end; only then (memorized later); or planted, canaries and wrong labels. Natural: without what was planted. "
        "Non-members: early and final LiRA share their shadow models, and so the one foretells the other where there is "
        f"nothing to memorize; with that AUC a baseline's is to be compared. In parentheses guessing. {PREDICT_SOURCES} Section 5.3 and Figure 3 of the paper.",
        "files": predict_scores("predictors", "average"),
        "layout": predict_layout(
            *("case", "truth", "records", "rule", "predictor", "table"),
            truth=["memorized", "memorized later", "canary", "mislabelled"],
            metric=[*PREDICT_METRICS, *(f"{metric} difference" for metric in PREDICT_METRICS)],
        ),
    },
    "predict_recommended": {
        "title": "Recommended settings, as measured",
        "caption": "What the paper recommends: interrupt where the median training loss has fallen by "
        f"{PREDICT['drop']:.0%}; practitioners flag records whose PSMI at the last layer is at most 0, researchers those whose "
        "loss reaches an optimised threshold, chosen here on one half of the records and judged on the other. tau: least "
        "score that is flagged, which is minus PSMI, or the loss. In parentheses what a blind flag of as many has. Table 1 of "
        "the paper.",
        "files": predict_scores("predictors"),
        "layout": predict_layout(
            *("case", "profile", "predictor", "tau", "chosen"),
            profile=["practitioners", "researchers"],
            metric=["tpr", "fpr"],
        ),
    },
    "predict_thresholds": {
        "title": "Fixed thresholds",
        "caption": "PSMI at most 0, and early LiRA at the threshold of memorization: TPR and FPR, precision and prevalence, "
        "and the FPR that follows from precision and recall, as the paper converts what the baseline's authors print: it "
        f"must be the measured one. In parentheses what a blind flag has. {PREDICT_SOURCES} Section 5.4 and Appendix D.",
        "files": predict_scores("predictors", "average"),
        "layout": predict_layout(
            *("case", "predictor", "tau", "table"),
            profile=[None],
            truth=[None],
            metric=["tpr", "fpr", "precision", "prevalence", "fpr by precision"],
        ),
    },
    "predict_drops": {
        "title": "Fall of the median training loss",
        "caption": "Fall since before training, of every model on its own records, means over models with 95 % intervals; below, "
        "by either rule, the epoch of the interruption and the fall there, of the models whose loss falls so far. n in the "
        f"CSV file: models. {PREDICT_SOURCES} Table 2 of the paper.",
        "files": predict_scores("predictors", "average"),
        "layout": predict_layout(
            *("case", "rule", "epoch", "table"), null=False, metric=["median loss drop", "interruption"]
        ),
    },
    "predict_cost": {
        "title": "What prediction costs",
        "caption": "Passes over a target's training set, a training step counting three, and CPU seconds as measured; then how "
        "many times what the prediction costs: training up to the interruption and one look at each record, against the "
        "baseline and the ground truth, which train and ask all shadow models. n in the CSV file: models. "
        f"{PREDICT_SOURCES} Section 5.2 of the paper.",
        "files": predict_scores("predictors", "average"),
        "layout": predict_layout(
            *("case", "way", "table"), null=False, metric=["passes", "passes ratio", "seconds", "seconds ratio"]
        ),
    },
    "predict_memorized": {
        "title": "How much is memorized, and do two definitions agree?",
        "caption": "Share of a target's training records whose log-LiRA reaches each threshold, and in parentheses the same of "
        "records that it was not trained on, which fits on few models let pass; below, the rank correlation over records of "
        f"global LiRA with counterfactual memorization. {PREDICT_SOURCES} Section 5.7 and Appendix A.3.",
        "files": predict_scores("predictors", "average"),
        "layout": predict_layout(*("case", "threshold", "with", "table"), metric=["memorized", "spearman"]),
    },
    "predict_theorem": {
        "title": "Theorem 1, simulated",
        "caption": "Mean PSMI of outliers and of the rest by the rate of outliers and the distance of the classes' centres, "
        "under the true density where outliers are known (0 for them, as the theorem says) and where they are not, and as "
        "estimated (at most 0, but for about one over the number of records, since a record is held against itself, too).",
        "files": predict_scores("theorem"),
        "layout": predict_layout("rate", "separation", "density", null=False, metric=["psmi_outliers", "psmi_rest"]),
    },
}
FIGURES |= {
    "predict_roc": {
        "title": "Memorization foretold: TPR against FPR",
        "caption": "Each predictor at the interruption, with 95 % bands; dashed: guessing. Look at high TPRs, where missing few "
        "costs least false alarms. Figures 3 (left), 6 (left) and 8 of the paper.",
        "files": predict_scores("roc"),
        "where": {},
    },
    "predict_planted": {
        "title": "Planted records foretold: TPR against FPR",
        "caption": "The same for canaries, and for records with a wrong label, in place of memorized ones. Their truth is known "
        "without a shadow model. Figure 6 (centre) of the paper.",
        "files": predict_scores("roc"),
        "where": {},
    },
    "predict_auc": {
        "title": "AUC by setting",
        "caption": "AUC of each predictor at the interruption, with 95 % intervals over targets and records; dashed: guessing. "
        "Look whether the three that the paper recommends lie beside each other, and right of the baseline. Figure 3 "
        "(centre) of the paper.",
        "files": predict_scores("predictors"),
        "where": {},
    },
    "predict_threshold": {
        "title": "PSMI at most 0",
        "caption": "TPR and FPR of records whose PSMI is at most 0, with 95 % intervals; hollow: early LiRA at the threshold of "
        "memorization. Up and to the left is better; dashed: a blind flag. Figure 3 (right) of the paper.",
        "files": predict_scores("predictors"),
        "where": {},
    },
    "predict_timing": {
        "title": "When to predict",
        "caption": "By checkpoint: AUC of each predictor; mean PSMI of records that are memorized in the end, and of others; the "
        "share of both whose log-LiRA says memorized already. The line marks the interruption: predictors should be good "
        "there, and few of the records memorized yet. Figures 4 and 9 of the paper.",
        "files": predict_scores("predictors"),
        "where": {},
    },
    "predict_layers": {
        "title": "Which layer?",
        "caption": "AUC of PSMI and of the Mahalanobis distance by layer at the interruption, with 95 % bands; dotted: guessing. "
        "Look whether the last layer is about as good as the best. Figure 5 (left and centre) of the paper.",
        "files": predict_scores("predictors"),
        "where": {},
    },
    "predict_lira_threshold": {
        "title": "What counts as memorized",
        "caption": "AUC of each predictor, and the share of records that is memorized, by the log-LiRA from which a record is; "
        "dotted: guessing, and below the share among records that were not trained on. Figures 5 (right), 6 (right), 10 and "
        "11 of the paper.",
        "files": predict_scores("predictors"),
        "where": {},
    },
    "predict_early": {
        "title": "Log-LiRA at the interruption and in the end",
        "caption": "Training records of the first target. Above the horizontal and left of the vertical line are those that are "
        "memorized in the end and were not at the interruption. What lies below -10 or beyond 20 nats stands at the edge. "
        "Figure 2 of the paper.",
        "files": predict_scores("by_record", "predictors"),
        "where": {},
    },
    "predict_definitions": {
        "title": "LiRA against counterfactual memorization",
        "caption": "Training records of the first target: the share of models for which LiRA tells right, against the mean logit "
        "gap of models that knew the record less that of others; above each panel their rank correlation over all records. "
        "Figure 7 of the paper.",
        "files": predict_scores("by_record", "predictors"),
        "where": {},
    },
    "predict_theorem": {
        "title": "Theorem 1, simulated",
        "caption": "Mean PSMI of outliers and of the rest against the distance of the classes, with 95 % bands. Under the true "
        "density outliers that are known as such have 0; the estimator gives them less. Not a figure of the paper.",
        "files": predict_scores("theorem"),
        "where": {},
    },
}
HEADLINES["predict"] = {
    "files": predict_scores("predictors"),
    "sentences": [
        {
            "answers": "memorized",
            "per": ["case"],
            "values": {"share": {"metric": "memorized", "where": {"threshold": PREDICT["memorized"]}}},
            "sentence": f"{{case}}: {{share}} of a target's training records are memorized, with a log-LiRA of at least "
            f"{PREDICT['memorized']:g}; of records that it was not trained on, chance lets {{share.null:.3g}} pass.",
        },
        {
            "answers": "memorized",
            "per": ["case"],
            "where": {"truth": "memorized", "records": "all", "rule": ["first", "closest"]},
            "provided": PREDICT_BEYOND_CHANCE,
            "values": {
                name: {"metric": "auc", "where": {"predictor": name}} for name in ("psmi", "loss", "logit_gap", "lira")
            },
            "sentence": f"{{case}}: where the median loss has fallen by {PREDICT['drop']:.0%}, or is closest to it, PSMI foretells "
            "what will be memorized with AUC {psmi}, the loss with {loss}, the logit gap with {logit_gap}; the baseline, LiRA at "
            "that time, with {lira}; guessing has {psmi.null:.3g}.",
        },
        {
            "answers": "memorized",
            "per": ["case"],
            "where": {"profile": "practitioners"},
            "provided": PREDICT_BEYOND_CHANCE,
            "values": {"tpr": {"metric": "tpr"}, "fpr": {"metric": "fpr"}},
            "sentence": "{case}: a PSMI of at most 0 flags {tpr} of the records that will be memorized and {fpr} of the others; "
            "a flag by chance of as many has {tpr.null:.3g} of both.",
        },
        {
            "answers": "trust",
            "per": ["case"],
            "values": {"found": {"metric": "spearman"}},
            "sentence": "{case}: over records, LiRA and counterfactual memorization have a rank correlation of {found}; by "
            "chance it is {found.null:.3g}.",
        },
    ],
}
CLAIMS["predict"] = predict_scores("predictors", "average", "theorem")
if not any(setting["canaries"] or setting["label_noise"] for setting in PREDICT_SETTINGS.values()):
    FIGURES.pop("predict_planted")
# A run without settings does not have the study.
if not PREDICT_SETTINGS:
    forget("predict")

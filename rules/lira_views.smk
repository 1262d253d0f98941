"""What readers see of the study of LiRA's reliability: its question, tables, figures, claims and headlines; no rule here.

INPUT   <results>/scores/lira/*.parquet                        tidy results
OUTPUT  <results>/tables/lira_*, <results>/figures/lira_*      views of them, by the rules of `views.smk`
"""

STUDIES["lira"] = {
    "title": "LiRA",
    "question": "How far can a LiRA evaluation be trusted?",
    "paper": {
        "title": "On Reliability of Efficient Membership Inference Vulnerability Evaluation",
        "address": "https://arxiv.org/abs/2605.25819",
    },
    "thresholds": [
        "lira/models",
        "lira/fpr",
        "lira/replicates",
        "lira/permutations",
        "lira/population_check/fpr",
        "lira/audit/delta",
        "lira/rmia/gamma",
        "lira/rmia/offline_a",
    ],
    "facts": [models_facts([LIRA["model"]])],
}
TABLES |= {
    "lira_strategies": {
        "title": "TPR by aggregation strategy",
        "caption": "True positive rate at each target FPR, for every number of shadow models and every way to "
        "aggregate the same scores, with 95 % two-way bootstrap intervals; chance gives the FPR itself. Compare along "
        "a line: what differs there is the reading, not the model. Efficient access fits each record's scores on the M "
        "models compared, oracle access on all of them. The numbers behind the paper's Figures 1 and A1.",
        "files": lira_scores("strategies"),
        "layout": {
            "rows": ["dataset", "access", "models", "fpr"],
            "columns": ["strategy"],
            "where": {"metric": "tpr"},
        },
    },
    "lira_attacks": {
        "title": "Attacks, permutation nulls and a placebo",
        "caption": "AUC and TPR of each attack with their intervals, and in parentheses what the same attack gives "
        "where membership is permuted. Detected is 1 where p is at most .05 and the interval lies above that "
        "null. The placebo attacks records that are in no context: it must find nothing. Not in the paper.",
        "files": lira_scores("attacks"),
        "layout": {"rows": ["dataset", "records", "attack"], "columns": ["metric"], "null": True},
    },
    "lira_fpr_calibration": {
        "title": "The FPR that is really paid",
        "caption": "Realised FPR over all records, its spread over single records (95th less 5th percentile), and the "
        "share of records whose own FPR is more than twice the target. A strategy whose realised FPR is above the "
        "target buys its TPR with false alarms. The numbers behind Figure A2 and Section 6.1 of the paper.",
        "files": lira_scores("calibration"),
        "layout": {
            "rows": ["dataset", "models", "fpr", "metric"],
            "columns": ["strategy"],
            "where": {"access": "efficient"},
        },
    },
    "lira_fpc": {
        "title": "Finite populations: bias and correction",
        "caption": "Simulation: ratio of the empirical to the analytic sigma before and after the finite population "
        "correction, as printed and exact. Real models: TPR predicted from a small superset, with and without the "
        "correction, beside the TPR that is measured on a large population. Figures 2 and A3, Section 5.1.",
        "files": lira_scores("simulation", "population"),
        "layout": None,
    },
    "lira_dp_audit": {
        "title": "Epsilon that the attack refutes",
        "caption": "Lower 95 % bounds on epsilon, with the rates that they come from, for pooled thresholds and for "
        "the record that looks most exposed on held-out models. The Gaussian toy has a known epsilon: no bound on it "
        "may be larger. A bound of 0 refutes nothing and proves nothing. Section 4.1 of the paper.",
        "files": lira_scores("audit"),
        "layout": {"rows": ["dataset", "true_epsilon", "models", "fpr", "metric"], "columns": ["score"]},
    },
    "lira_variances": {
        "title": "Where the one-sided test loses power",
        "caption": "Records whose IN and OUT signals have unequal variances, and the TPR that the one-sided "
        "post-processed test gives away against the best test of each record; in parentheses the value without a "
        "leak, where there is one. Section 4.2.2 of the paper.",
        "files": lira_scores("variances"),
        "layout": {"rows": ["dataset", "models", "fpr"], "columns": ["metric"], "null": True},
    },
    "lira_reliability": {
        "title": "Would the same people be named again?",
        "caption": "Agreement between two random halves of the shadow models on who is exposed: rank correlation, "
        "overlap of the most exposed, and the share of records detected on their own; in parentheses the same for a "
        "permuted design. Low agreement means that a list of exposed records would change with the next shadow "
        "models. Not in the paper.",
        "files": lira_scores("reliability"),
        "layout": {"rows": ["dataset", "models"], "columns": ["metric"], "null": True},
    },
}
FIGURES |= {
    "lira_strategies": {
        "title": "TPR against the number of shadow models, by aggregation strategy",
        "caption": "The same attack scores read in seven ways: a line per strategy, a row of panels per data set, a "
        "column per FPR; bands are 95 % two-way bootstrap intervals, the dashed line is guessing. Look for lines that "
        "part although they read the same scores, and for those that have not settled at the right end. The paper's "
        "Figure 1.",
        "files": lira_scores("strategies"),
        "where": {},
    },
    "lira_oracle": {
        "title": "TPR against the number of shadow models under oracle access",
        "caption": "As lira_strategies, but each record's scores are fitted on all shadow models, however few are compared: "
        "what remains is the error of the reading alone. Look for naive lines that stay above the per-sample ones. The "
        "paper's Figure A1.",
        "files": lira_scores("strategies"),
        "where": {},
    },
    "lira_sample_fpr": {
        "title": "FPR that single records really get",
        "caption": "Share of records whose own FPR is at least the value on the horizontal axis, by strategy; the "
        "grey line is the target. A fair threshold falls steeply at the line; a long tail to the right are records "
        "that are accused far too often. The paper's Figure A2.",
        "files": lira_scores("sample_fpr"),
        "where": {"access": ["oracle"]},
    },
    "lira_roc": {
        "title": "ROC curves on logarithmic axes",
        "caption": "TPR against FPR for naive and post-processed scores, with 95 % bands; the grey diagonal is "
        "guessing. What counts for privacy is the left end: how many members are named when almost nobody may be "
        "accused wrongly. Not in the paper.",
        "files": lira_scores("roc"),
        "where": {},
    },
    "lira_fpc_sigma": {
        "title": "Sigma of each record: empirical, corrected, analytic",
        "caption": "A Gaussian mean whose sigma is known. Red dots lie below the black line: shadow models drawn from "
        "a finite population vary too little. Blue dots, after the correction, lie on it. The paper's Figure 2a.",
        **lira_fpc_figure(LIRA_SIZES[0]),
    },
    "lira_fpc_ratio": {
        "title": "Empirical over analytic sigma, before and after the correction",
        "caption": "Distribution over records of the ratio of both, for IN and OUT models. Before the correction it "
        "should gather at the root of the correction, afterwards at 1. The paper's Figure 2b.",
        **lira_fpc_figure(LIRA_SIZES[0]),
    },
    "lira_fpc_fraction": {
        "title": "The bias grows with the share of the population that is drawn",
        "caption": "As lira_fpc_sigma, at other shares of the population. With a small share the dots are near "
        "the line without any correction; with a large one they are far below it. The paper's Figure A3.",
        **lira_fpc_figure(*LIRA_SIZES[1:]),
    },
}
HEADLINES["lira"] = {
    "files": lira_scores("attacks", "strategies", "reliability"),
    "sentences": [
        {
            "answers": "memorized",
            "per": ["dataset"],
            "where": {"records": "members", "attack": "lira mean"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "{dataset}: LiRA ranks a member above a non-member with AUC {auc}; where membership is "
            "permuted it is {auc.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["dataset", "fpr"],
            "where": {"access": "efficient", "models": "largest"},
            "values": {
                "naive": {"metric": "tpr", "where": {"strategy": "naive"}},
                "calibrated": {"metric": "tpr", "where": {"strategy": "pp"}},
            },
            "sentence": "{dataset}: at FPR {fpr:g} the same scores give a TPR of {naive} read naively and of "
            "{calibrated} calibrated per record; guessing gives {calibrated.null:.3g}.",
            "scale": "log",
        },
        {
            "answers": "trust",
            "per": ["dataset"],
            "where": {"models": "largest"},
            "values": {"agreement": {"metric": "spearman"}},
            "sentence": "{dataset}: two halves of the shadow models agree on who is exposed with rank correlation "
            "{agreement.estimate:.3g}, 95 % of the splits within [{agreement.low:.3g}, {agreement.high:.3g}]; where "
            "membership is permuted it is {agreement.null:.2g}.",
        },
    ],
}
CLAIMS["lira"] = lira_scores(
    "strategies",
    "calibration",
    "attacks",
    "simulation",
    "population",
    "audit",
    "reliability",
)

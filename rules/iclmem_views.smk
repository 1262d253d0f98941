"""What readers see of the study of memorization: question, settings, tables, figures, claims and headlines; no rule here.

INPUT   <results>/scores/iclmem/**.parquet, <results>/signals/iclmem/{dataset}/splits.checks.parquet     tidy results
OUTPUT  <results>/tables/iclmem_*, <results>/figures/iclmem_*      views of them, by the rules of `views.smk`
"""

OLD_STUDIES["iclmem"] = {
    "title": "Memorization of a fine-tuned in-context model",
    "question": "Does a tabular in-context model that was fine-tuned on records remember them?",
    "paper": {"title": "Probing Memorization of Tabular In-Context Learning", "address": None},
    "thresholds": [
        *(f"iclmem/{key}" for key in ("splits", "queries", "context", "epochs", "targets/queries", "targets/context")),
        *(f"iclmem/{key}" for key in ("candidates", "copies", "fpr", "permutations", "replicates")),
    ],
    "facts": [
        iclmem_facts(
            "Arms of this run",
            "How each arm fine-tunes, with AdamW; the base model, which is the reference, is as fetched. Q: query members of a "
            "step. Random pairs are drawn anew in every epoch. Table 2 of the paper; what all arms share stands among the "
            "settings.",
            [
                *("arm", "tables", "learning rate", "Q", "context", "labels", "probed epochs", "pairs"),
                *("models", "trains", "privacy"),
            ],
            [iclmem_arm_facts(arm, settings) for arm, settings in ICLMEM_USED.items()],
        ),
        iclmem_facts(
            "Outcomes of a run, in order of priority",
            "What each outcome asks for, and the threshold of each rule; the first that holds is taken. The published tables "
            "begin higher than the published rule. The null-calibrated rule is the first with a permutation test in place of "
            "the threshold on the AUC. g_k: members' mean probe loss under manipulation k less that of non-members. Table 3 "
            "and Appendix A.4 of the paper.",
            ["outcome", "criterion", *ICLMEM_RULES],
            [
                [outcome, criterion, *(f"{ICLMEM['rules'][rule][key]:g}" if key else "" for rule in ICLMEM_RULES)]
                for outcome, criterion, key in ICLMEM_CRITERIA
            ],
        ),
        iclmem_facts(
            "Pitfalls of such evaluations, and what is done about them",
            "The five of Table 4 of the paper, then two that it does not name. The last column names the tables of this run "
            "that measure what is left of each.",
            ["pitfall", "countermeasure", "measured in"],
            ICLMEM_PITFALLS,
        ),
        iclmem_facts(
            "Tables that are fine-tuned on",
            "Target and task of each, and the base model that is tuned on it. Records, labels and the share of the majority "
            "are counted in iclmem_datasets. Table 5 of the paper has ten tables of CARTE.",
            ["data set", "target", "task", "base model"],
            [
                [name, entry["target"] or "as in its source", entry["task"], iclmem_model(name)]
                for name, entry in config["datasets"].items()
                if name in ICLMEM["datasets"]
            ],
        ),
        iclmem_facts(
            "The suite of manipulations",
            f"{ICLMEM_SUITE} changes of the context that shows every candidate label once, by category; the baseline has no "
            "step. With few labels some build the same contexts as others and are left out: iclmem_datasets counts what is "
            "left. Table 7 of the paper, which does not name all of its combinations.",
            ["manipulation", "category", "steps"],
            [
                [one["name"], one["category"].replace("_", " "), ", ".join(map(iclmem_told, one["steps"]))]
                for one in ICLMEM["manipulations"]
            ],
        ),
    ],
}


TABLES |= {
    "iclmem_survival": {
        "title": "How many detections stand?",
        "caption": "Runs and settings that each rule finds detectable, and the share of them that stands up to each check: "
        "their own p under permuted memberships, q among all runs, whether their setting is detected (q at most .05 over "
        "all settings, interval over splits above chance), and whether the AUC weakens where labels are shuffled. Look how "
        "much the published rule keeps. Last, settings detected by themselves. Not in the paper.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("rule", "of", "signal", "check"),
            labels=["all", None],
            metric=["criterion share", "detections", "surviving share", "detected settings"],
        ),
    },
    "iclmem_placebos": {
        "title": "What each rule finds where nothing can be found",
        "caption": "Permutation: what the published criterion finds in the same runs where memberships are permuted. Run: what "
        "each rule finds in models that were fine-tuned on other records than those that are judged; setting: the same of "
        "means over splits. No rule should find memory in more than its nominal rate of them, in parentheses. Criterion: the "
        "AUC alone, on runs that did not diverge; outcome: the whole table of outcomes, on runs that did not collapse. Not in "
        "the paper.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout("of", "stage", "model", "regime", "rule", "signal", metric="placebo rate"),
    },
    "iclmem_decisions": {
        "title": "Every setting, against permuted memberships",
        "caption": "AUC and TPR of dS with 95 % intervals over splits, the deviation between splits, and p under permuted "
        "memberships, q over all settings, p of max-T over the epochs of the arm; detected is 1 where q is at most .05 and "
        "the interval above chance. Larger: of both signals, as the published rule takes it. Lines normal - shuffled are "
        "differences on the same records."
        f"{ICLMEM_CONFOUNDED} Not in the paper.",
        "files": iclmem_scores("results", "outcomes"),
        "layout": iclmem_layout(
            *("dataset", "arm", "labels", "learning_rate", "queries", "epoch", "signal"),
            records="query",
            metric=[
                *("auc", "auc deviation between splits", *ICLMEM_TPR, "auc p-value", "auc q-value"),
                *("auc max-T p-value", "auc detected", "auc difference"),
            ],
        ),
    },
    "iclmem_peaks": {
        "title": "The largest AUC of each data set",
        "caption": "The setting of each data set whose AUC on loss or entropy is largest, its most frequent outcome, and the "
        f"p-value of an AUC {ICLMEM_PEAKED}: the interval alone knows nothing of the choice."
        f"{ICLMEM_CONFOUNDED} {ICLMEM_SOURCES} Tables 1 and 8 of the paper.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("dataset", "labels", "learning_rate", "epoch", "queries", "signal", "outcome", "table"),
            peak="regime",
            regime=ICLMEM_MAIN,
            metric=["auc", *ICLMEM_TPR, "auc max-T p-value"],
        ),
    },
    "iclmem_grid": {
        "title": "Every learning rate and number of queries, at its best epoch",
        "caption": "Change of the vanilla loss of members and non-members, AUC by labels at the same epoch, mean and "
        "deviation of the gap of probe losses over the manipulations, TPRs, most frequent outcome, and the p-value of an "
        f"AUC {ICLMEM_PEAKED}. {ICLMEM_SOURCES} Tables 10 (Q = 50) and 11 (Q = 512) of the paper.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("dataset", "arm", "learning_rate", "queries", "labels", "epoch", "signal", "outcome", "table"),
            dataset=ICLMEM["datasets"],
            peak="arm",
            regime=ICLMEM_MAIN,
            metric=[
                *("vanilla loss change members", "vanilla loss change nonmembers"),
                *(f"auc {labels}" for labels in ICLMEM_LABELS),
                *("mu_gap", "sigma_gap", *ICLMEM_TPR, "auc max-T p-value"),
            ],
        ),
    },
    "iclmem_regimes": {
        "title": "Closer to how such models are trained",
        "caption": "The largest AUC of each data set and number of queries, by how models were tuned: on one table or jointly "
        "on all, with the same pairs of context and queries in every epoch or with new ones, all weights or adapters, "
        f"without privacy or with it; and the p-value of an AUC {ICLMEM_PEAKED}. Compare lines of one data set and Q. "
        f"{ICLMEM_SOURCES} Table 12 of the paper.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("dataset", "queries", "regime", "labels", "learning_rate", "epoch", "signal", "outcome", "table"),
            peak="queries",
            metric=["auc", *ICLMEM_TPR, "auc max-T p-value"],
        ),
    },
    "iclmem_outcomes": {
        "title": "Shares of the outcomes",
        "caption": "Share of runs that have each outcome, by rule, over all runs of a number of queries Q, and by learning "
        "rate, labels and epoch; intervals resample splits with all their runs. What the rules call detectable differs, the "
        f"other outcomes take the rest. {ICLMEM_SOURCES} The numbers behind Figures 2 and 5, Section 5 and Appendix B.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("model", "regime", "by", "queries", "learning_rate", "labels", "epoch", "rule", "table"),
            columns=["outcome"],
            metric="outcome share",
            by=["queries", "learning rate", "labels", "epoch"],
        ),
    },
    "iclmem_datasets": {
        "title": "Which data sets are remembered?",
        "caption": "Records n, different labels k, candidates to choose from, share of the majority, label density n / k and "
        "query coverage Q / n of each data set, and how many and which share of its runs each rule finds detectable; then, over data sets, the rank "
        f"correlation of that share with density and coverage. {ICLMEM_SOURCES} Table 9 and Section 5 of the paper.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("dataset", "k", "majority", "density", "coverage", "model", "regime", "queries", "rule", "table"),
            metric=[
                *("records", "candidates", "manipulations", "detectable runs", "detectable share"),
                *("spearman density", "spearman coverage"),
            ],
        ),
    },
    "iclmem_flags": {
        "title": "What calibration removes",
        "caption": "Runs that did not collapse and whose TPR at 10 % FPR is at least "
        + ICLMEM_FIRST["flag"]
        + ": raw, or after subtracting that of the base model on the same records. "
        "Placebo: the same where non-members are called members. A raw TPR of .1 at 10 % FPR is what guessing gives, so "
        f"about half of all runs must be flagged. {ICLMEM_SOURCES} Appendix A.4.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("model", "regime", "records", "table"),
            metric=["raw flags", "raw flag share", "calibrated flags", "calibrated flag share"],
        ),
    },
    "iclmem_context": {
        "title": "Records asked as queries against records shown as context",
        "caption": "AUC against the same non-members at the last epoch of each arm: of query members, whose labels the model "
        "was trained to predict, in parentheses guessing; and of context rows, whose labels it was shown. Of classes these have "
        "equally many each, and non-members do not: their AUC is no 0.5 without memory, and has no null. Random pairs ask and "
        "show all members in turn. Not in the paper.",
        "files": iclmem_scores("results"),
        "layout": iclmem_layout(
            *("dataset", "arm", "labels", "learning_rate", "queries", "epoch"),
            columns=["records", "signal"],
            metric="auc",
            signal=["loss", "entropy"],
            epoch=sorted({iclmem_arm(task, arm)["epochs"][-1] for task, arm in ICLMEM_RUNS}),
        ),
    },
    "iclmem_arms": {
        "title": "Canaries, adapters and privacy",
        "caption": "Canaries, those members that are probed, have the label that the base model finds least probable; adapters train beside frozen weights; "
        "private arms are tuned by DP-SGD on the queries. Beside them the plain arms of the same learning rate and Q. Look at "
        "the AUC; at the vanilla AUC, of the change of the loss in the context of the fine-tuning, of the labels that were "
        "taught: what is known there need not show without it; and at what the model is still worth on non-members. Not in the paper, which names canaries and "
        "differential privacy as future work.",
        "files": iclmem_scores("results", "outcomes"),
        "layout": iclmem_layout(
            *("dataset", "arm", "regime", "labels", "queries", "epoch", "signal"),
            arm=ICLMEM_TWINS + ICLMEM_SPECIAL,
            peak=[None],
            records=["query", None],
            metric=["auc", "vanilla auc", *ICLMEM_TPR, "auc q-value", "auc detected", "accuracy", "r2", "loss ratio"],
        ),
    },
    "iclmem_manipulations": {
        "title": "What each kind of manipulation adds",
        "caption": "Change of the AUC of one manipulation against the unperturbed context, means over the manipulations of a "
        "category and over runs: all that did not collapse, or those that a rule finds detectable. In parentheses what it is "
        "without an effect. The CSV file has each manipulation. "
        f"{ICLMEM_SOURCES} Figure 4 and Appendix A.3.",
        "files": iclmem_scores("outcomes"),
        "layout": iclmem_layout(
            *("model", "runs", "category", "table"),
            columns=["signal", "metric"],
            manipulation=[None],
            category=[None, *ICLMEM_CATEGORIES],
            metric=["auc of the baseline", "auc effect"],
        ),
    },
    "iclmem_splits": {
        "title": "Are members and non-members alike, and do runs of one split go together?",
        "caption": "Targets of query members against those of non-members in every split, by the number of queries: total "
        "variation distance of classes; Kolmogorov-Smirnov statistic with its p-value and Wasserstein distance, in standard "
        "deviations, of numbers; draws until the split passed. Below, by signal: the variance of AUCs between splits, in "
        "parentheses what independent runs would give, that within them, and the share that runs of one split have in "
        "common. Table 6 of the paper has one split.",
        "files": iclmem_scores("splits", "outcomes"),
        "layout": iclmem_layout(
            *("dataset", "queries", "split", "signal"),
            metric=[
                *("tvd", "ks", "ks_p", "wasserstein", "draws"),
                *("auc variance between splits", "auc variance within splits", "split share"),
            ],
        ),
    },
}
FIGURES |= {
    "iclmem_epochs": {
        "title": "Outcomes over the epochs",
        "caption": "Share of runs that have each outcome at each probed epoch, with 95 % intervals that resample splits; above "
        "by the published rule, below with detections by permutation test; arms that were probed at all epochs. Look whether what is detectable (red) grows with "
        "the epochs, and whether it does so in both rows. Figure 2 of the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"regime": [ICLMEM_MAIN], "rule": ICLMEM_BOTH},
    },
    "iclmem_outcomes": {
        "title": "Outcomes under every rule",
        "caption": "Share of runs that have each outcome, with 95 % intervals that resample splits. The rules differ in what "
        "they call detectable; what is not moves to the outcomes below it. Arms of another Q are other arms, see "
        "iclmem_grid. Figure 5 of the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"regime": [ICLMEM_MAIN], "rule": [*ICLMEM_RULES, "null_calibrated"]},
    },
    "iclmem_survival": {
        "title": "Share of detections that stand",
        "caption": "Of the runs and of the settings that each rule finds detectable, the share that passes each check, with 95 "
        "% intervals that resample splits; settings share splits and have none. Look how far left the published rules "
        "stand. Not in the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {},
    },
    "iclmem_placebos": {
        "title": "Placebo rate of each rule",
        "caption": "Share of permuted memberships, and of runs and settings that were fine-tuned on other records than those "
        "judged, in which each rule finds memory, with 95 % intervals that resample splits; dashed: the nominal rate. A rule "
        "that can be trusted lies at it or to its left. Not in the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"regime": [ICLMEM_MAIN, f"{ICLMEM_MAIN} placebo", None]},
    },
    "iclmem_flags": {
        "title": "Raw and calibrated flags",
        "caption": "Share of healthy runs that are flagged by their TPR at 10 % FPR, raw or less the base model's, with 95 % "
        "intervals, beside the same where memberships are permuted. Where both lie on each other a flag says nothing of memory. "
        "Appendix A.4 of the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"regime": [ICLMEM_MAIN]},
    },
    "iclmem_manipulations": {
        "title": "What each kind of manipulation adds",
        "caption": "Mean change of the AUC on the loss against the unperturbed context, by category, with 95 % intervals that "
        "resample splits: of all healthy runs, and of those that a rule finds detectable. Look which leave the dashed "
        "line, and how little the largest adds. Figure 4 of the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"runs": ["all", *ICLMEM_BOTH]},
    },
    "iclmem_spread": {
        "title": "Change of the loss, record by record",
        "caption": "How the change dS of the mean probe loss by fine-tuning is spread over query members and "
        "non-members of all splits, at the epoch with the largest AUC; the outermost bins hold what lies beyond. Memory "
        "moves members to the left of non-members. Not in the paper.",
        "files": iclmem_scores("results"),
        "where": {"arm": sorted({iclmem_shown(dataset) for dataset in ICLMEM["datasets"]} - {None})},
    },
    "iclmem_loss_ratios": {
        "title": "Vanilla loss against the base model's",
        "caption": "How the ratio of the vanilla loss to the base model's is spread over runs, by learning rate; the last bin "
        "holds what lies beyond, and runs that diverged. Above "
        + ICLMEM_FIRST["loss_ratio"]
        + " a run has collapsed; dashed: 1. Look for two heaps. Appendix "
        "B.1 of the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"regime": [ICLMEM_MAIN]},
    },
    "iclmem_density": {
        "title": "Detections against label density and query coverage",
        "caption": "Share of the runs of each data set that each rule finds detectable, with 95 % intervals, against records "
        "per label and the share of records in one step, for the Q that the most data sets have. The paper sees more at high density where Q is small, and at high "
        "coverage where labels are many. Section 5 of the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"regime": [ICLMEM_MAIN], "rule": ICLMEM_BOTH},
    },
    "iclmem_cardinality": {
        "title": "Outcome by number of labels and majority",
        "caption": "Each data set at the setting with the largest AUC of its Q, by the number of labels to choose from and the "
        "share of the majority, coloured by the outcome that most of its splits have under the published rule. Figure 6 of "
        "the paper.",
        "files": iclmem_scores("outcomes"),
        "where": {"regime": [ICLMEM_MAIN, None], "model": [*ICLMEM["models"].values(), None]},
    },
}
HEADLINES["iclmem"] = {
    "files": iclmem_scores("outcomes", "results"),
    "sentences": [
        {
            "answers": "memorized",
            "per": ["dataset", "labels", "learning_rate", "queries", "epoch"],
            "where": {"peak": "regime", "regime": ICLMEM_MAIN, "source": None},
            "values": {"auc": {"metric": "auc"}, "p": {"metric": "auc max-T p-value"}},
            "sentence": "{dataset}: the largest AUC of all settings is {auc} (labels {labels}, learning rate "
            "{learning_rate:g}, Q = {queries:g}, epoch {epoch:g}), where chance gives {auc.null:.3g}; permuted memberships "
            "have one as large among all settings with p = {p.estimate:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["rule"],
            "where": {"rule": ICLMEM_RULES, "of": "run"},
            "values": {
                "found": {"metric": "criterion share"},
                "stand": {"metric": "surviving share", "where": {"labels": "all", "check": "setting"}},
            },
            "sentence": "By the published criterion {rule}, {found} of the runs memorize, and {found.null:.3g} where "
            "memberships are permuted; the share of its detections whose setting stands is {stand}.",
        },
        {
            "answers": "trust",
            "per": ["model"],
            "where": {"stage": "criterion", "signal": "larger"},
            "values": {
                "published": {
                    "metric": "placebo rate",
                    "where": {"rule": ICLMEM_BOTH[0], "of": "permutation", "regime": ICLMEM_MAIN},
                },
                "ours": {
                    "metric": "placebo rate",
                    "where": {"rule": ICLMEM_BOTH[1], "of": "run", "regime": f"{ICLMEM_MAIN} placebo"},
                },
            },
            "sentence": "{model}: the published criterion finds memory in {published} of permuted memberships, and the "
            "null-calibrated rule in {ours} of runs that were fine-tuned on other records; chance should give {ours.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["model"],
            "where": {"regime": ICLMEM_MAIN, "records": "query"},
            "values": {name: {"metric": f"{name} flag share"} for name in ("raw", "calibrated")},
            "sentence": "{model}: raw TPRs flag {raw} of the healthy runs, and {raw.null:.3g} where memberships are permuted; "
            "calibrated ones {calibrated}, and {calibrated.null:.3g}.",
        },
        {
            "answers": "memorized",
            "per": ["dataset", "epoch"],
            "where": {
                "labels": "canaries",
                "regime": ICLMEM_MAIN,
                "records": "query",
                "signal": "loss",
                "source": None,
            },
            "values": {"auc": {"metric": "auc"}, "vanilla": {"metric": "vanilla auc"}},
            "sentence": "{dataset}: members whose labels are the least probable ones (canaries) are told from non-members with "
            "AUC {auc} after {epoch:g} epochs, and with AUC {vanilla} in the context that they were fine-tuned in; chance "
            "gives {auc.null:.3g}.",
        },
        {
            "answers": "trust",
            "per": ["dataset"],
            "where": {"signal": "loss"},
            "values": {"share": {"metric": "split share"}},
            "sentence": "{dataset}: a share of {share} of the variance of AUCs after each setting's mean is common to all runs "
            "of a split; of independent runs it would be 0 by chance.",
        },
        {
            "answers": "defence",
            "per": ["dataset", "arm", "epoch"],
            "where": {"arm": ICLMEM_PRIVATE, "records": "query", "signal": "loss"},
            "values": {"auc": {"metric": "auc"}},
            "sentence": "{dataset}: after {epoch:g} epochs of DP-SGD ({arm}) members are told from non-members with AUC "
            "{auc}; chance gives {auc.null:.3g}.",
        },
    ],
}
CLAIMS["iclmem"] = iclmem_scores("results", "outcomes")
# A run without such arms has no such views.
if not ICLMEM_SPECIAL:
    TABLES.pop("iclmem_arms")
if not FIGURES["iclmem_spread"]["where"]["arm"]:
    FIGURES.pop("iclmem_spread")
if not ICLMEM_PLAIN:
    for name in [name for name in FIGURES if name.startswith("iclmem") and "regime" in FIGURES[name]["where"]]:
        FIGURES.pop(name)
# A run without tables does not have the study.
if not ICLMEM["datasets"]:
    forget("iclmem")

"""What the views of `iclmem` show of its settings: arms that are compared, criteria, pitfalls; no rule stands here."""

ICLMEM_RULES = list(ICLMEM["rules"])
# Of the published rules the first is the study's; beside it stands ours.
ICLMEM_BOTH = [ICLMEM_RULES[0], "null_calibrated"]
ICLMEM_FIRST = {name: f"{value:g}" for name, value in ICLMEM["rules"][ICLMEM_RULES[0]].items()}
ICLMEM_SUITE = len(ICLMEM["manipulations"])
ICLMEM_CATEGORIES = list(dict.fromkeys(one["category"] for one in ICLMEM["manipulations"] if one["steps"]))
ICLMEM_TPR = [f"tpr@{fpr:g}" for fpr in ICLMEM["fpr"]]
ICLMEM_USED = {arm: settings for arm, settings in ICLMEM["arms"].items() if iclmem_datasets(arm)}
ICLMEM_LABELS = list(dict.fromkeys(settings["labels"] for settings in ICLMEM_USED.values()))
# The regime of the paper's main results: models of one table, fixed pairs, all weights.
ICLMEM_MAIN = "single fixed"
ICLMEM_PLAIN = [
    arm
    for arm, settings in ICLMEM_USED.items()
    if settings["pairs"] == "fixed"
    if not (settings["joint"] or settings["adapter"] or settings["private"])
]
ICLMEM_PRIVATE = [arm for arm, settings in ICLMEM_USED.items() if settings["private"]]
# Arms that need another to compare with: canaries, adapters, privacy.
ICLMEM_SPECIAL = [
    arm for arm, settings in ICLMEM_USED.items() if settings["labels"] == "canaries" or settings["adapter"]
] + ICLMEM_PRIVATE
# Published numbers stand beside ours: `table` says where the paper prints them.
ICLMEM_SOURCES = "Lines that name a table are what the paper prints there, for ConTextTab; it states no interval."
ICLMEM_CONFOUNDED = " Where members alone have shuffled labels they differ by these, too, not by memory alone."
ICLMEM_PEAKED = "so large among all that it is picked from (max-T over settings, epochs and both signals)"


def iclmem_same(first, second):
    """Whether two arms have one learning rate and one number of queries."""
    keys = [
        (settings["learning_rate"], settings["queries"] or ICLMEM["queries"])
        for settings in (ICLMEM["arms"][first], ICLMEM["arms"][second])
    ]
    return keys[0] == keys[1]


ICLMEM_TWINS = [
    arm
    for arm in ICLMEM_PLAIN
    if ICLMEM["arms"][arm]["labels"] == "normal"
    if any(iclmem_same(arm, other) for other in ICLMEM_SPECIAL)
]


def iclmem_shown(dataset):
    """The arm whose single records are drawn: few queries, and the largest learning rate that the paper calls typical."""

    def order(arm):
        rate, queries = ICLMEM["arms"][arm]["learning_rate"], ICLMEM["arms"][arm]["queries"] or ICLMEM["queries"]
        return (rate > 1e-3, queries, abs(rate - 1e-3))

    normal = [arm for arm in ICLMEM_PLAIN if ICLMEM["arms"][arm]["labels"] == "normal"]
    return min((arm for arm in normal if dataset in iclmem_datasets(arm)), key=order, default=None)


def iclmem_told(settings):
    """Settings of the config as a text: {"labels": 2, "factor": 3} is "labels 2 factor 3"."""
    if not isinstance(settings, dict):
        return str(settings)
    return " ".join(f"{key} {iclmem_told(value)}" for key, value in settings.items())


def iclmem_arm_facts(arm, settings):
    """A line of Table 2: how an arm fine-tunes."""
    tables, every = iclmem_datasets(arm), [iclmem_arm(task, arm) for task in iclmem_tasks(arm)]
    filled, contexts = every[0], sorted({one["context"] for one in every})
    told = "all" if tables == ICLMEM["datasets"] else ", ".join(tables)
    return [
        *(arm, told, filled["learning_rate"], filled["queries"], ", ".join(map(str, contexts))),
        *(settings["labels"], ", ".join(map(str, filled["epochs"])), settings["pairs"]),
        "one for all" if settings["joint"] else "one a table",
        iclmem_told(settings["adapter"]) if settings["adapter"] else "all weights",
        iclmem_told(settings["private"]) if settings["private"] else "none",
    ]


# Table 3: an outcome, what it asks for, and the threshold of each rule.
ICLMEM_CRITERIA = [
    ("collapse", "vanilla loss over the base model's above", "loss_ratio"),
    ("collapse", "or diverged, or accuracy (R2) fell below the majority's (mean's)", None),
    ("inversion", "mean of g_k above 0", None),
    ("detectable", "AUC(dS) on loss or entropy above; null-calibrated: p at most .05", "auc"),
    ("context overfitting", "absolute mean of g_k, in nats, below", "mu_gap"),
    ("context overfitting", "and deviation of g_k, in nats, below", "sigma_gap"),
    ("no signal", "none of these", None),
    ("flagged (A.4)", "TPR at 10 % FPR, raw or above the base model's, at least", "flag"),
]
# Table 4, and two pitfalls that it does not name: what is done about each, and where what is left is measured.
ICLMEM_PITFALLS = [
    [
        "base rate: a majority is taken for memory",
        "labels shuffled, canaries",
        "iclmem_grid, iclmem_survival, iclmem_arms",
    ],
    ["shift: the sides differ in distribution", "sides drawn as pairs, every split tested", "iclmem_splits"],
    ["contamination: copies on both sides", "deduplicated, who belongs together stays so", "data_dedup"],
    ["no calibration: easy records look remembered", "dS less the base model's, record by record", "iclmem_flags"],
    ["ground truth: who was trained on is unknown", "pairs are logged, context rows apart", "iclmem_context"],
    ["no error rate: one of two AUCs above .5", "permutations, max-T, placebos", "iclmem_placebos, iclmem_survival"],
    ["dependence: runs of a split share records", "the split is the unit", "iclmem_splits (split share)"],
]


def iclmem_facts(title, caption, columns, rows):
    return {"title": title, "caption": caption, "columns": columns, "rows": rows}


def iclmem_layout(*rows, columns=("metric",), null=True, **where):
    return {"rows": list(rows), "columns": list(columns), "where": where, "null": null}

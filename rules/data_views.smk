"""What readers see of the data: where each table comes from, what became of it, whether its splits are fair; no rule here.

INPUT   <results>/data/{dataset}/dedup.parquet, splits/{split}.checks.parquet     tidy results
OUTPUT  <results>/tables/data_*                                                   views of them, by `views.smk`
"""

STUDIES["data"] = {
    "title": "Data",
    "question": "Are the tables clean and the splits fair?",
    "paper": None,
    "thresholds": [f"datasets/<name>/limits/{limit}" for limit in ("tvd", "ks", "wasserstein", "p_value")],
    "facts": [
        {
            "title": "Data sets of this run",
            "caption": "Where each table comes from, what is predicted, and under which licence it may be used; the last "
            "column says what to know before its numbers are used.",
            "columns": ["data set", "task", "source", "rows in the catalogue", "licence", "take care"],
            "rows": [data_facts(dataset) for dataset in DATA["datasets"]],
        }
    ],
}
TABLES |= {
    "data_dedup": {
        "title": "Records behind every study",
        "caption": "Rows as fetched, and what became of them: rows without a target, equal rows, equal features with "
        "different targets. Records are what the studies see; units are the persons or households behind them. "
        "Duplicates across a split would be called memorization: look for conflicts that were kept.",
        "files": expand("<results>/data/{dataset}/dedup.parquet", dataset=DATA["datasets"]),
        "layout": {"rows": ["dataset"], "columns": ["metric"]},
    },
    "data_splits": {
        "title": "Are members and non-members alike?",
        "caption": "Checks of every split; a run stops where one passes its limit. Shared ids, copies and groups must "
        "be 0. tvd, ks and wasserstein compare the targets of both sides. covariate_auc: how well a classifier that "
        "never sees a model tells members from non-members; it should not lie above covariate_null, the same with "
        "sides permuted (covariate_p, one-sided): an attack may then find the difference between the sides instead of "
        "membership.",
        "files": expand(
            "<results>/data/{dataset}/splits/{split}.checks.parquet",
            dataset=DATA["datasets"],
            split=DATA["splits"],
        ),
        "layout": {"rows": ["dataset", "split"], "columns": ["metric"]},
    },
}
HEADLINES["data"] = {
    "files": TABLES["data_splits"]["files"],
    "sentences": [
        {
            "answers": "trust",
            "per": ["dataset", "split"],
            "values": {
                "auc": {"metric": "covariate_auc"},
                "permuted": {"metric": "covariate_null"},
                "p": {"metric": "covariate_p"},
            },
            "sentence": "{dataset}, split {split}: without any model, members are told from non-members with AUC {auc}; "
            "with the sides permuted it is {permuted.estimate:.3g}, 95 % of the time within [{permuted.low:.3g}, "
            "{permuted.high:.3g}] (one-sided test p = {p.estimate:.3g}).",
        },
    ],
}

"""Results, sidecars, headlines and claims of an invented study, with markup in texts, for tests of the report."""

import pandas as pd

from memaudit.claims.claim_predicates import Claim
from memaudit.claims.headlines import Headline
from memaudit.common import tidy

EVIL = "<script>alert(1)</script>"
SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" width="9pt">
 <metadata><date/></metadata><defs><style>*{stroke: red}</style><clipPath id="c"/><path id="m"/></defs>
 <!-- a name from data --><g id="axes_1" clip-path="url(#c)"><use xlink:href="#m" style="fill: url(#c)"/></g></svg>"""


def record(rule, inputs, outputs, **facts):
    common = {"git": {"commit": "a" * 40, "dirty": False}, "python": "3.11", "platform": "Linux", "packages": {}}
    costs = {"cpu_seconds": 2.0, "wall_seconds": 1.0, "peak_memory_mib": 10}
    hashes = {"inputs": dict.fromkeys(inputs, "0" * 64), "outputs": dict.fromkeys(outputs, "1" * 64)}
    return {"rule": rule, **hashes, **common, **costs, **facts}


SIDECARS = [
    record("data_fetch", ["raw.csv"], ["table"], packages={"numpy": {"version": "1"}}),
    record("demo_query", ["table"], ["0.nc"], packages={"numpy": {"version": "2"}}, peak_memory_mib=30),
    record("demo_query", ["table"], ["1.nc"], git={"commit": "a" * 40, "dirty": True}),
    record("demo_judge", ["0.nc", "1.nc", "table"], ["scores"]),
    record("views_draw", ["scores"], ["results/r/figures/demo_roc.svg"]),
    record("views_draw", ["older"], ["left over"], python="2.7"),
]


def headline(**changes):
    entry = {
        "answers": "memorized",
        "per": ["dataset"],
        "where": {"models": "largest"},
        "values": {"auc": {"metric": "auc"}},
        "sentence": "{dataset}: AUC {auc}; by chance {auc.null:.3g}",
    }
    return Headline.model_validate(entry | changes)


def results():
    return tidy.frame(
        [
            tidy.row("demo", {"dataset": name, "models": m}, "auc", 0.6, low=low, high=0.7, null=0.5)
            for name, low in (("wine", 0.55), ("iris", 0.45))
            for m in (8, 16)
        ]
    )


CLAIM = Claim.model_validate(
    {
        "id": "one",
        "paper": "p",
        "place": "Figure 1",
        "text": "A is larger.",
        "value": 0.7,
        "study": "demo",
        "relation": "close",
        "left": {"metric": "auc", "where": {"models": [8, 16]}},
        "right": {"value": 0.5},
        "tolerance": 0.1,
        "where": {"fpr": {"at_most": 0.1}},
    }
)
JUDGED = pd.DataFrame(
    [
        ["one", "p", "Figure 1", EVIL, 0.7, "dataset=wine: 0.6", "reproduced", "holds in 1 of 1"],
        ["two", "p", "Figure 2", EVIL, 0.8, None, "not testable at this scale", "no results"],
    ],
    columns=["id", "paper", "place", "claim", "paper_value", "ours", "verdict", "reason"],
)

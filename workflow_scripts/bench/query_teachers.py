"""CPU time of the PATE teachers' votes and their accounting, against the packaged classifier teacher by teacher.

python workflow_scripts/bench/query_teachers.py --output results/bench/query_teachers.json \
    --params '{"teachers": 100, "queries": 5000, "timed": 5, "accounted": 100000}'

The breast cancer table's first eight columns, uniform queries between their bounds. The study: one view, one forward
pass per teacher. `one_view`: TabICLClassifier with one view and no scaling; `defaults`: its ensemble of eight. Each
classifier is timed on `timed` teachers, with its weights read once. Accounting: confident labels of `accounted`
queries, without the noise, which is OpenDP's.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from memaudit.common.seeds import generator
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.privacy.accounting import Filter
from memaudit.privacy.gnmax import Confident, label
from memaudit.privacy.pate_teachers import predictor
from memaudit.privacy.teacher_shards import shards_of
from memaudit.privacy.teacher_votes import votes
from memaudit.workflow.bench_card import (
    ONE_VIEW,
    cpu_seconds,
    one_thread,
    packaged_classifier,
    write_card,
)
from memaudit.workflow.job import run

SETTINGS = {"defaults": {}, "one_view": ONE_VIEW}
COLUMNS, CLASSES = 8, 2


def main(job):
    one_thread()
    params, rng = job.params, generator(0, "bench", "ask teachers")
    x, y = load_breast_cancer(return_X_y=True)
    x = x[:, :COLUMNS].astype(np.float32)
    drawn = rng.uniform(x.min(0), x.max(0), (params.queries, COLUMNS)).astype(np.float32)
    shards = shards_of([str(record) for record in range(len(x))], b"bench", params.teachers)
    contexts = [(x[shards == shard], y[shards == shard]) for shard in range(params.teachers)]
    predict = predictor(TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"), CLASSES)
    votes(contexts[:1], drawn[:100], CLASSES, predict)  # a module's first call is slower
    counts, ours = cpu_seconds(lambda: votes(contexts, drawn, CLASSES, predict))
    report = {"teachers": params.teachers, "queries": params.queries, "timed": params.timed}
    report["ours"] = {"cpu_seconds": ours, "seconds_per_teacher": ours / params.teachers}
    both = [context for context in contexts if len(np.unique(context[1])) > 1][: params.timed]
    for name, options in SETTINGS.items():
        classifier = packaged_classifier(*both[0], drawn[:2], **options)
        seconds = [cpu_seconds(lambda c=context, p=classifier: p.fit(*c).predict_proba(drawn))[1] for context in both]
        report[name] = {"seconds_per_teacher": float(np.median(seconds))}
        print(name, report[name], flush=True)
    many = np.tile(counts, (-(-params.accounted // len(counts)), 1))[: params.accounted]
    settings = Confident(params.teachers / 2, params.teachers / 4, 1e4)
    silent = cpu_seconds(lambda: label(many, settings, Filter(float(len(many))), lambda center, sigma: center))[1]
    report["accounting"] = {"queries": len(many), "cpu_seconds": silent}
    report["ratio"] = {
        f"package_over_votes_{name}": report[name]["seconds_per_teacher"] / report["ours"]["seconds_per_teacher"]
        for name in SETTINGS
    }
    write_card(report, job.output[0], ("tabicl", "torch", "numpy", "opendp"))


if __name__ == "__main__":
    run(main, globals())

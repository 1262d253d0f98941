"""CPU time of thousands of tiny contexts in batches, against the packaged classifier called for each.

python workflow_scripts/bench/probe_contexts.py --output results/bench/probe_contexts.json \
    --params '{"queries": 100, "features": 8, "sample": 300, "runs": 3, "manipulations":
               [{"name": "uniform_2", "category": "uniform_scaling", "steps": [{"uniform": 2}]}]}'

`manipulations` is the list of that name in the config of iclmem: all 48 are timed by `make bench`. Multiple-choice
questions of one query each, as memorisation probes ask them (iclmem, Section 4.2):

`distinct`: no two contexts are equal; 2 to 10 near duplicates of a row, with 2 to 5 candidates; as many contexts as the
queries have manipulations. Contexts are built beforehand.
`manipulations`: the probe itself, from records to signals, with two candidates; `manipulations_of_5` with five. Equal
contexts of a query are computed once.
The package: one `TabICLClassifier` of the same weights with one view, no scaling methods, no shuffles and fp32; its
weights are read once. It refuses a table of exact duplicates, so it is given near ones. A random sample of the contexts
is timed, and the rest is assumed to cost the same on average.
"""

import numpy as np
import torch

from memaudit.attacks.context_manipulations import parsed
from memaudit.attacks.multiple_choice_probe import Reference, probe, questions_of
from memaudit.common.seeds import generator
from memaudit.models.batched_queries import TABLES, Question, answer
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.workflow.bench_card import (
    ONE_VIEW,
    median_cpu_seconds,
    one_thread,
    packaged_classifier,
    write_card,
)
from memaudit.workflow.job import run

NEAR = 1e-3  # deviation of a near duplicate from its row: the package refuses exact ones
CANDIDATES = {"manipulations": 2, "manipulations_of_5": 5}


def main(job):
    one_thread()
    params = job.params
    suite = parsed(params.manipulations)
    model = TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu")
    report = {"features": params.features, "deviation_of_copies": NEAR, "tables_per_pass": TABLES, "runs": params.runs}
    rng = generator(0, "bench", "probe")
    contexts = distinct(params.queries * len(suite), params.features, rng)
    sets = {"distinct": (contexts, lambda: answer(model, contexts))}
    rows = torch.from_numpy(rng.normal(size=(params.queries, params.features)).astype(np.float32))
    for name, candidates in CANDIDATES.items():
        sets[name] = probed(model, rows, candidates, suite)
    for name, (questions, work) in sets.items():
        report[name] = compared(questions, work, params.sample, params.runs, rng)
        print(name, report[name])
    report["ratio"] = {f"package_over_ours_{name}": report[name]["package_over_ours"] for name in sets}
    write_card(report, job.output[0], ("tabicl", "torch", "numpy", "scikit-learn"))


def distinct(count, features, rng):
    return [near_copies(rng.normal(size=features), some_labels(rng), rng) for _ in range(count)]


def some_labels(rng):
    rows = rng.integers(2, 11)
    candidates = rng.integers(2, min(rows, 5) + 1)
    return np.r_[np.arange(candidates), rng.integers(0, candidates, rows - candidates)]


def near_copies(row, labels, rng):
    context = row + NEAR * rng.normal(size=(len(labels), len(row)))
    context, row = (torch.from_numpy(part.astype(np.float32)) for part in (context, row[None]))
    return Question(context, torch.from_numpy(np.asarray(labels, dtype=np.int64)), row)


def probed(model, rows, candidates, suite):
    """The questions that a probe asks about the rows, and the probe itself."""
    labels, known = np.arange(len(rows)) % candidates, np.arange(candidates)
    reference = Reference(rows, torch.from_numpy(labels))

    def rngs():
        return [generator(0, "bench", "probe", candidates, query) for query in range(len(rows))]

    cells = model.scale(rows, reference.x)
    questions = [
        question
        for row, label, rng in zip(cells, labels, rngs(), strict=True)
        for question in questions_of(row, label, known, suite, rng, orderless=True)
    ]
    return questions, lambda: probe(model, rows, labels, known, suite, reference=reference, rngs=rngs())


def compared(questions, work, sample, runs, rng):
    sizes = [len(question.context_x) for question in questions]
    work()  # the first call is slower
    ours = median_cpu_seconds(work, runs) / len(questions)
    chosen = [questions[at] for at in rng.choice(len(questions), min(sample, len(questions)), replace=False)]
    near = [near_copies(one.query_x[0].numpy(), one.context_y, rng) for one in chosen]
    package = median_cpu_seconds(packaged(near), runs) / len(near)
    return {
        "contexts": len(questions),
        "contexts_unlike": len({tuple(part.tobytes() for part in arrays_of(one)) for one in questions}),
        "context_rows": [min(sizes), max(sizes)],
        "ours_seconds_per_context": ours,
        "package_seconds_per_context": package,
        "package_timed_on": len(near),
        "package_over_ours": package / ours,
    }


def arrays_of(question):
    return tuple(part.numpy() for part in (question.context_x, question.context_y, question.query_x))


def packaged(questions):
    """Fit and predict_proba of the packaged classifier for every context in turn."""
    tables = [arrays_of(question) for question in questions]
    classifier = packaged_classifier(*tables[0], **ONE_VIEW)
    return lambda: [classifier.fit(x, y).predict_proba(query) for x, y, query in tables]


if __name__ == "__main__":
    run(main, globals())

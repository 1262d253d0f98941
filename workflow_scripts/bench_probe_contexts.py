"""CPU time of thousands of tiny contexts asked together, beside the packaged classifier called for each.

python workflow_scripts/bench_probe_contexts.py --output results/bench/probe_contexts.json \
    --params '{"queries": 100, "manipulations": 48, "features": 8, "sample": 300, "runs": 3}'

Two sets of multiple-choice questions of one query each, as memorisation probes ask them (iclmem, Section 4.2): near
copies of the query's row, each with a candidate for its label.
`distinct`: no two contexts are equal; 2 to 10 rows, 2 to 5 candidates.
`manipulations`: two candidates, and the 48 changes of Table 7 as far as they turn on labels, counts and columns: copies
of a candidate's row are copies, so some changes make one context, which is asked once. 2 to 20 rows.
The package: one `TabICLClassifier` of the same weights with one view, no scaling methods, no shuffles and fp32; its
weights are read once. A random sample of the contexts is timed, and the rest is taken to cost the same on average.
"""

import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from tabicl import TabICLClassifier

from memaudit.io import write_json
from memaudit.job import run
from memaudit.models.batching import TABLES, Question, answer
from memaudit.models.tabicl import TabICLBranch
from memaudit.seeds import generator

WEIGHTS = Path(__file__).resolve().parents[1] / "resources/tabicl-small/tabicl-small.ckpt"
CARD = {"task": "classification", "version": None, "options": {"clip": 6.0}}
NEAR = 1e-3  # deviation of a near copy from its row: the package refuses a table of exact copies


def main(job):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    params = job.params
    model = TabICLBranch.of_file(WEIGHTS, CARD, "cpu")
    report = {"features": params.features, "deviation_of_copies": NEAR, "tables_per_pass": TABLES, "runs": params.runs}
    report["versions"] = {name: version(name) for name in ("tabicl", "torch", "numpy", "scikit-learn")}
    rng = generator(0, "bench", "probe")
    sets = {
        "distinct": distinct(params.queries * params.manipulations, params.features, rng),
        "manipulations": manipulated(params.queries, params.manipulations, params.features, rng),
    }
    for name, questions in sets.items():
        report[name] = compared(model, questions, params.sample, params.runs, rng)
        print(name, report[name])
    report["ratio"] = {f"package_over_ours_{name}": report[name]["package_over_ours"] for name in sets}
    write_json(report, job.output[0])


def distinct(count, features, rng):
    return [near_copies(rng.normal(size=features), some_labels(rng), rng) for _ in range(count)]


def some_labels(rng):
    rows = rng.integers(2, 11)
    candidates = rng.integers(2, min(rows, 5) + 1)
    return np.r_[np.arange(candidates), rng.integers(0, candidates, rows - candidates)]


def near_copies(row, labels, rng):
    return question(row, row + NEAR * rng.normal(size=(len(labels), len(row))), labels)


def question(row, context, labels):
    context, row = (torch.from_numpy(part.astype(np.float32)) for part in (context, row[None]))
    return Question(context, torch.from_numpy(np.asarray(labels, dtype=np.int64)), row)


def manipulated(queries, most, features, rng):
    """Contexts of two candidates, 1 being the true one, under the changes of Table 7."""
    questions = []
    for _ in range(queries):
        row = rng.normal(size=features)
        copies = row + NEAR * rng.normal(size=(2, features))
        noise = rng.normal(size=(20, 2))
        for labels, columns in changes(rng)[:most]:
            x, asked = copies[labels], row
            if columns < 0:
                x, asked = x[:, :columns], row[:columns]
            elif columns > 0:
                x, asked = np.c_[x, noise[: len(x), :columns]], np.r_[row, noise[-1, :columns]]
            questions.append(question(asked, x, labels))
    return questions


def changes(rng):
    """Of one query: labels of the context's rows, in order, and columns added or (negative) dropped; 48 of them."""

    def counts(false, true):
        return [0] * false + [1] * true

    def shuffled(labels):
        return list(rng.permutation(labels))

    made = [([0, 1], 0), (shuffled([0, 1]), 0), ([1, 0], 0), ([0, 1], 0)]
    made += [([0, 1], -2), ([0, 1], 1), ([0, 1], 2)]
    made += [(counts(k, k), 0) for k in (2, 5, 10)]
    made += [(counts(*rng.integers(1, k + 1, 2)), 0) for k in (2, 5, 10)]
    made += [(counts(1, k), 0) for k in (2, 3, 5)]
    made += [(counts(k, 1), 0) for k in (2, 3, 5) for _ in range(3)]
    made += [(counts(*pair), 0) for pair in ((2, 2), (2, 3), (3, 2), (3, 3), (3, 5), (5, 3), (5, 5))]
    skews = [(2, 2), (5, 5), (1, 2), (1, 5), (2, 1), (5, 1), tuple(rng.integers(1, 6, 2))]
    made += [(shuffled(counts(*pair)), 0) for pair in skews] + [([1, 0], -2), (shuffled([0, 1]), -2)]
    return made + [(shuffled(counts(*pair)), -2) for pair in skews]


def compared(model, questions, sample, runs, rng):
    sizes = [len(question.context_x) for question in questions]
    answer(model, questions[:200])
    ours = np.median([cpu_seconds(lambda: answer(model, questions)) for _ in range(runs)]) / len(questions)
    asked = [questions[at] for at in rng.choice(len(questions), min(sample, len(questions)), replace=False)]
    package = np.median([packaged(asked) for _ in range(runs)]) / len(asked)
    return {
        "contexts": len(questions),
        "contexts_unlike": len({tuple(part.numpy().tobytes() for part in vars(one).values()) for one in questions}),
        "context_rows": [min(sizes), max(sizes)],
        "ours_seconds_per_context": ours,
        "package_seconds_per_context": package,
        "package_timed_on": len(asked),
        "package_over_ours": package / ours,
    }


def packaged(questions):
    """CPU seconds of fit and predict_proba for every context in turn, after a first that reads the weights."""
    plain = {"n_estimators": 1, "norm_methods": "none", "feat_shuffle_method": "none", "class_shuffle_method": "none"}
    plain |= {"device": "cpu", "use_amp": False, "use_fa3": False, "allow_auto_download": False}
    classifier = TabICLClassifier(model_path=WEIGHTS, **plain)
    ask(classifier, questions[0])
    classifier._load_model = lambda: None
    return cpu_seconds(lambda: [ask(classifier, question) for question in questions])


def ask(classifier, question):
    context_x, context_y, query_x = (part.numpy() for part in vars(question).values())
    return classifier.fit(context_x, context_y).predict_proba(query_x)


def cpu_seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    run(main, globals())

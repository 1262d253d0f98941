"""CPU time of LiRA with poisoning and Brainwash, beside the packaged classifier fitted anew for every context.

python workflow_scripts/bench/attack_contexts.py --output results/bench/attack_contexts.json \
    --params '{"sets": 4, "targets": 12, "timed": 5, "runs": 2}'

The breast cancer table; shadow contexts of about 228 rows. One pair is a shadow set and a target: logits at 0, 5, 10
and 20 mislabelled copies, and the fewest of at most 32 copies that make the answer wrong. The study: equal contexts
once, bisection, contexts of one size in one forward pass. The package: a loop over budgets, then copy by copy.
`defaults`: TabICLClassifier with its defaults, an ensemble of eight views. `one_view`: one view, no scaling methods, no
shuffles: nearly what the study asks, so most pairs have the same copies. Both read their weights once, and in fp32.
`timed` pairs of a random order are timed with `defaults`, and four times as many with `one_view`.
"""

import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from tabicl import TabICLClassifier

from memaudit.attacks.brainwash import search
from memaudit.attacks.poisoning import Counted, Poisoned, mislabelled
from memaudit.data import membership_matrices
from memaudit.io import write_json
from memaudit.models.tabicl import TabICLBranch
from memaudit.seeds import generator
from memaudit.workflow.job import run

WEIGHTS = Path(__file__).resolve().parents[2] / "resources/tabicl-small/tabicl-small.ckpt"
CARD = {"task": "classification", "version": None, "options": {"clip": 6.0}}
OWN = {"device": "cpu", "use_amp": False, "use_fa3": False, "allow_auto_download": False}
PLAIN = {"n_estimators": 1, "norm_methods": "none", "feat_shuffle_method": "none", "class_shuffle_method": "none"}
SETTINGS = {"defaults": ({}, 1), "one_view": (PLAIN, 4)}
BUDGETS, MOST = (0, 5, 10, 20), 32


def main(job):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    params, rng = job.params, generator(0, "bench", "attack contexts")
    model = Counted(TabICLBranch.of_file(WEIGHTS, CARD, "cpu"))
    x, y = load_breast_cancer(return_X_y=True)
    x, y = torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)
    members = rng.permutation(len(x))[: int(0.8 * len(x))]
    design = membership_matrices.balanced(params.sets, len(members), rng)

    def shadow_sets():
        """Without any memory of what has been asked."""
        targets = members[: params.targets]
        about = x[targets], y[targets].numpy(), 1 - y[targets].numpy(), 2
        return [Poisoned(model, x[rows], y[rows], *about) for rows in (members[shown] for shown in design)]

    studied(shadow_sets()[:1])  # a module's first call is slower
    model.contexts = 0
    runs = [cpu_seconds(lambda: studied(shadow_sets())) for _ in range(params.runs)]
    pairs = rng.permutation(list(np.ndindex(params.sets, params.targets)))
    ours = float(np.median([seconds for _, seconds in runs])) / len(pairs)
    report = {"sets": params.sets, "targets": params.targets, "runs": params.runs, "most": MOST}
    report["versions"] = {name: version(name) for name in ("tabicl", "torch", "numpy", "scikit-learn")}
    report["ours"] = {"seconds_per_pair": ours, "contexts_per_pair": model.contexts / params.runs / len(pairs)}
    for name, (options, times) in SETTINGS.items():
        report[name] = packaged(shadow_sets(), pairs[: times * params.timed], options, runs[0][0], ours)
        print(name, report[name], flush=True)
    report["ratio"] = {f"package_over_ours_{name}": report[name]["package_over_ours"] for name in SETTINGS}
    write_json(report, job.output[0])


def studied(sets):
    """Fewest copies (set, target), by the study's way, after the logits at all budgets."""
    found = []
    for asked in sets:
        every = np.arange(len(asked.labels))
        asked.logits(np.repeat(every, len(BUDGETS)), np.tile(BUDGETS, len(every)))
        known = {copies: asked.wrong(every, np.full(len(every), copies)) for copies in BUDGETS}
        found.append(search(asked.wrong, len(every), MOST, known).copies)
    return np.array(found)


def packaged(sets, pairs, options, found, ours):
    """What the package takes for each pair, and whether it finds what we have."""
    classifier = TabICLClassifier(model_path=WEIGHTS, **OWN, **options)
    fitted(classifier, sets[0], 0, 0)
    classifier._load_model = lambda: None
    results = [cpu_seconds(lambda pair=pair: looped(classifier, sets[pair[0]], pair[1])) for pair in pairs]
    seconds = np.array([took for _, took in results])
    copies = np.array([copies for copies, _ in results])
    same = copies == found[tuple(np.transpose(pairs))]
    return {
        "pairs": len(pairs),
        "seconds_per_pair": float(seconds.mean()),
        "seconds_per_pair_median": float(np.median(seconds)),
        "contexts_per_pair": float(np.mean(np.minimum(copies, MOST) + 1 + len(BUDGETS))),
        "same_copies": float(same.mean()),
        "package_over_ours": float(seconds.mean()) / ours,
    }


def looped(classifier, asked, target):
    for copies in BUDGETS:
        fitted(classifier, asked, target, copies)
    for copies in range(MOST + 1):
        if fitted(classifier, asked, target, copies).argmax() != asked.labels[target]:
            return copies
    return MOST + 1


def fitted(classifier, asked, target, copies):
    x = asked.x[target]
    context = mislabelled(asked.context_x, asked.context_y, x, asked.poison[target], copies)
    return classifier.fit(*(part.numpy() for part in context)).predict_proba(x[None].numpy())


def cpu_seconds(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


if __name__ == "__main__":
    run(main, globals())

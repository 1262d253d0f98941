"""CPU time of LiRA with poisoning and Brainwash, against the packaged classifier fitted again for every context.

python workflow_scripts/bench/attack_contexts.py --output results/bench/attack_contexts.json \
    --params '{"sets": 4, "targets": 12, "timed": 5, "runs": 2}'

The breast cancer table; shadow contexts of about 228 rows. One pair is a shadow context and a target: logits at 0, 5,
10 and 20 poisons, and the minimum number of poisons, of at most 32, that make the prediction wrong. The study: equal
contexts once, bisection, contexts of one size in one forward pass. The package: a loop over budgets, then over poisons.
`defaults`: TabICLClassifier with its defaults, an ensemble of eight views. `one_view`: one view, no scaling methods, no
shuffles: nearly the study's model, so most pairs have the same number of poisons. Both read their weights once, and in
fp32. `timed` pairs of a random order are timed with `defaults`, and four times as many with `one_view`.
"""

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer

from memaudit.attacks.brainwash import search
from memaudit.attacks.poisoning import Counted, Poisoned, mislabelled
from memaudit.common.seeds import generator
from memaudit.data import membership_matrices
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.workflow.bench_card import (
    ONE_VIEW,
    cpu_seconds,
    one_thread,
    packaged_classifier,
    write_card,
)
from memaudit.workflow.job import run

SETTINGS = {"defaults": ({}, 1), "one_view": (ONE_VIEW, 4)}
BUDGETS, MOST = (0, 5, 10, 20), 32


def main(job):
    one_thread()
    params, rng = job.params, generator(0, "bench", "attack contexts")
    model = Counted(TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"))
    x, y = load_breast_cancer(return_X_y=True)
    x, y = torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)
    members = rng.permutation(len(x))[: int(0.8 * len(x))]
    member = membership_matrices.balanced(params.sets, len(members), rng)

    def shadow_contexts():
        """Contexts without any cached prediction."""
        targets = members[: params.targets]
        about = x[targets], y[targets].numpy(), 1 - y[targets].numpy(), 2
        return [Poisoned(model, x[rows], y[rows], *about) for rows in (members[own] for own in member)]

    studied(shadow_contexts()[:1])  # a module's first call is slower
    model.contexts = 0
    runs = [cpu_seconds(lambda: studied(shadow_contexts())) for _ in range(params.runs)]
    pairs = rng.permutation(list(np.ndindex(params.sets, params.targets)))
    ours = float(np.median([seconds for _, seconds in runs])) / len(pairs)
    report = {"sets": params.sets, "targets": params.targets, "runs": params.runs, "most": MOST}
    report["ours"] = {"seconds_per_pair": ours, "contexts_per_pair": model.contexts / params.runs / len(pairs)}
    for name, (options, times) in SETTINGS.items():
        report[name] = packaged(shadow_contexts(), pairs[: times * params.timed], options, runs[0][0], ours)
        print(name, report[name], flush=True)
    report["ratio"] = {f"package_over_ours_{name}": report[name]["package_over_ours"] for name in SETTINGS}
    write_card(report, job.output[0], ("tabicl", "torch", "numpy", "scikit-learn"))


def studied(contexts):
    """Minimum number of poisons (context, target) as the study computes it, after the logits at all budgets."""
    poisons = []
    for one in contexts:
        every = np.arange(len(one.labels))
        one.logits(np.repeat(every, len(BUDGETS)), np.tile(BUDGETS, len(every)))
        known = {budget: one.wrong(every, np.full(len(every), budget)) for budget in BUDGETS}
        poisons.append(search(one.wrong, len(every), MOST, known).copies)
    return np.array(poisons)


def packaged(contexts, pairs, options, expected, ours):
    """CPU time of the package for each pair, and how often it gives the same number of poisons."""
    classifier = packaged_classifier(*table(contexts[0], 0, 0), **options)
    results = [cpu_seconds(lambda pair=pair: looped(classifier, contexts[pair[0]], pair[1])) for pair in pairs]
    seconds = np.array([took for _, took in results])
    copies = np.array([copies for copies, _ in results])
    same = copies == expected[tuple(np.transpose(pairs))]
    return {
        "pairs": len(pairs),
        "seconds_per_pair": float(seconds.mean()),
        "seconds_per_pair_median": float(np.median(seconds)),
        "contexts_per_pair": float(np.mean(np.minimum(copies, MOST) + 1 + len(BUDGETS))),
        "same_copies": float(same.mean()),
        "package_over_ours": float(seconds.mean()) / ours,
    }


def looped(classifier, contexts, target):
    for poisons in BUDGETS:
        predicted(classifier, contexts, target, poisons)
    for poisons in range(MOST + 1):
        if predicted(classifier, contexts, target, poisons) != contexts.labels[target]:
            return poisons
    return MOST + 1


def predicted(classifier, contexts, target, poisons):
    *context, query = table(contexts, target, poisons)
    return classifier.fit(*context).predict_proba(query).argmax()


def table(contexts, target, poisons):
    """Context with so many poisons of a target, and the target as its query."""
    x = contexts.x[target]
    context = mislabelled(contexts.context_x, contexts.context_y, x, contexts.poison[target], poisons)
    return *(part.numpy() for part in context), x[None].numpy()


if __name__ == "__main__":
    run(main, globals())

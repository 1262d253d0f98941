"""CPU time and memory of the features of a batch of texts, against ranks by argsort of argsort.

python workflow_scripts/bench/extract_features.py --output results/bench/extract_features.json \
    --params '{"vocabulary": 50257, "texts": 16, "tokens": 128, "plain_texts": 2}'

Each measurement runs in a process of its own, on one thread; its peak is the kernel's (ru_maxrss), minus that of
the imports and of the logits. The compared work differs on purpose: ours computes all 154 channels, the naive ways only
the ranks of all tokens in both models. They read `plain_texts` of the texts; their arrays grow with the texts.
"""

import numpy as np
import torch

from memaudit.attacks.token_features import extract
from memaudit.common.io import MEBIBYTE
from memaudit.common.seeds import integer
from memaudit.workflow.bench_card import cpu_seconds, in_own_process, one_thread, peak_mib, write_card
from memaudit.workflow.job import run


def main(job):
    vocabulary, texts, tokens = job.params.vocabulary, job.params.texts, job.params.tokens
    few = job.params.plain_texts
    ours = measure(features, texts, tokens, vocabulary)
    report = {
        "vocabulary": vocabulary,
        "texts": texts,
        "tokens": tokens,
        "logits_mib": 2 * texts * tokens * vocabulary * 4 / MEBIBYTE,
        "features": ours,
        "ratio": {},
    }
    for way in (torch_ranks, numpy_ranks):
        measured = measure(way, few, tokens, vocabulary)
        full = {f"{name}_at_full_size": value * texts / few for name, value in measured.items()}
        report[way.__name__] = measured | full | {"texts": few}
        for name in ("cpu_seconds", "peak_mib"):
            report["ratio"][f"{way.__name__}_{name}_over_ours"] = full[f"{name}_at_full_size"] / ours[name]
    write_card(report, job.output[0], ("torch", "numpy"))
    print(report)


def measure(step, texts, tokens, vocabulary):
    """CPU seconds of a step in a fresh process, and what its peak adds to the logits."""
    return in_own_process(timed, step, texts, tokens, vocabulary)


def timed(step, texts, tokens, vocabulary):
    one_thread()
    target, reference, ids = batch(texts, tokens, vocabulary)
    step(target[:1, :3], reference[:1, :3], ids[:1, :3])  # the first call is slower
    before = peak_mib()
    _, seconds = cpu_seconds(lambda: step(target, reference, ids))
    return {"cpu_seconds": seconds, "peak_mib": peak_mib() - before}


def batch(texts, tokens, vocabulary):
    """Logits of two models that differ a little, and tokens. Made text by text: nothing larger enters the peak."""
    draw = torch.Generator().manual_seed(integer(1, "bench", "extract features"))
    target, reference = torch.empty(2, texts, tokens, vocabulary)
    for text in range(texts):
        target[text].normal_(0, 3, generator=draw)
        reference[text].normal_(0, 0.3, generator=draw).add_(target[text])
    return target, reference, torch.randint(vocabulary, (texts, tokens), generator=draw)


def features(target, reference, ids):
    return extract(target, reference, ids, torch.ones_like(ids))


def torch_ranks(target, reference, ids):
    """The rank of every token in both models, the naive way."""
    return [model.argsort(-1, descending=True).argsort(-1) for model in (target, reference)]


def numpy_ranks(target, reference, ids):
    return [np.argsort(np.argsort(-model.numpy(), -1), -1) for model in (target, reference)]


if __name__ == "__main__":
    run(main, globals())

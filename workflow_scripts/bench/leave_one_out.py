"""CPU time of leave-one-out answers for all rows of one context, beside two loops over the contexts.

python workflow_scripts/bench/leave_one_out.py --output results/bench/leave_one_out.json \
    --params '{"rows": [16, 64, 256], "repeats": 3}'

The same model and the same view of the table in all three: ours, our raw branch asked context by context, and the
package's classifier fitted context by context, whose weights are read once. Beside them, counted: what share of the
loop's arithmetic are the rows that the last block computes and nobody reads, and what share the one attention that all
contexts could have in common if their scaling were the same. Neither is saved.
"""

import statistics
import time
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from tabicl import TabICLClassifier

from memaudit.io import write_json
from memaudit.models import flops
from memaudit.models.leave_one_out import leave_one_out
from memaudit.models.tabicl import TabICLBranch
from memaudit.seeds import generator
from memaudit.workflow.job import run

CHECKPOINT = Path(__file__).resolve().parents[2] / "resources/tabicl-small/tabicl-small.ckpt"
CARD = {"task": "classification", "version": None, "options": {}}  # the package's scaling
ONE_VIEW = {"n_estimators": 1, "norm_methods": "none", "feat_shuffle_method": "none"}
ONE_VIEW |= {"class_shuffle_method": "none", "softmax_temperature": 1.0}
PLAIN = {"allow_auto_download": False, "device": "cpu", "use_amp": False, "use_fa3": False}


def main(job):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    x, y = load_breast_cancer(return_X_y=True)
    order = generator(0, "bench").permutation(len(x))
    x, y = x[order].astype(np.float32), y[order]
    model = TabICLBranch.of_file(CHECKPOINT, CARD, "cpu")
    package = TabICLClassifier(model_path=CHECKPOINT, **PLAIN, **ONE_VIEW)
    methods = {
        "ours": lambda *rows: leave_one_out(model, *map(torch.from_numpy, rows)).softmax(-1)[:, :2].numpy(),
        "branch_loop": lambda *rows: branch_loop(model, *map(torch.from_numpy, rows)).softmax(-1)[:, :2].numpy(),
        "packaged_loop": lambda *rows: packaged_loop(package, *rows),
    }
    for method in methods.values():
        method(x[:16], y[:16])
    package._load_model = lambda: None  # else every fit reads them again
    sizes = [measure(methods, x[:count], y[:count], job.params.repeats) for count in job.params.rows]
    for size in sizes:
        size["share_of_arithmetic"] = shares(model.module, size["rows"], x.shape[1])
    report = {"features": x.shape[1], "repeats": job.params.repeats, "sizes": sizes}
    Path(job.output[0]).parent.mkdir(parents=True, exist_ok=True)
    write_json(report, job.output[0])
    print(Path(job.output[0]).read_text())


def measure(methods, x, y, repeats):
    """Median CPU seconds of each method, in turns, and how far its probabilities are from ours."""
    seconds, answers = {name: [] for name in methods}, {}
    for _ in range(repeats):
        for name, method in methods.items():
            began = time.process_time()
            answers[name] = method(x, y)
            seconds[name].append(time.process_time() - began)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    loops = [name for name in methods if name != "ours"]
    return {
        "rows": len(x),
        "cpu_seconds": medians,
        "ratio": {f"{name}_over_ours": medians[name] / medians["ours"] for name in loops},
        "largest_difference": {name: float(abs(answers[name] - answers["ours"]).max()) for name in loops},
    }


@torch.no_grad()
def branch_loop(model, x, y):
    kept = [torch.arange(len(x)) != left for left in range(len(x))]
    return torch.cat([model.logits(x[keep][None], y[keep][None], x[~keep][None])[0] for keep in kept])


def packaged_loop(package, x, y):
    kept = [np.arange(len(x)) != left for left in range(len(x))]
    return np.concatenate([package.fit(x[keep], y[keep]).predict_proba(x[~keep]) for keep in kept])


def shares(module, rows, columns):
    shape = {name: getattr(module, name) for name in flops.TABICL}
    whole = flops.tabicl(rows - 1, 1, columns, **shape)
    width, ff = shape["embed_dim"] * shape["row_num_cls"], shape["ff_factor"]
    unread = flops.block(rows, rows - 1, width, ff) - flops.block(1, rows - 1, width, ff)
    groups = -(-columns // shape["col_feature_group_size"]) if shape["col_feature_group"] == "valid" else columns
    keys = flops.block(0, rows - 1, shape["embed_dim"], ff)
    scores = 4 * shape["embed_dim"] * shape["col_num_inds"] * (rows - 1)
    return {"unread_rows_of_the_last_block": unread / whole, "first_attention": groups * (keys + scores) / whole}


if __name__ == "__main__":
    run(main, globals())

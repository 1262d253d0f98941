"""CPU time of a fine-tuning step, against a bare loop of forward, loss, backward and AdamW, and of a probe.

python workflow_scripts/bench/finetune_step.py --output results/bench/finetune_step.json \
    --params '{"steps": 30, "context": 412, "queries": 50, "epochs": 500, "runs": 3,
               "wide": {"steps": 5, "context": 512, "queries": 512, "probed": 50}, "manipulations":
               [{"name": "uniform_2", "category": "uniform_scaling", "steps": [{"uniform": 2}]}]}'

One process, one thread, fp32, the shipped model. Ours is a whole epoch: it draws and logs the pair and scales the rows;
the bare loop has them prepared. Neither writes to disk. Steps of the two alternate, so that a busy machine slows both.
The probe evaluates the queries and as many others under `manipulations`, as iclmem does at an epoch; it is compared
with fine-tuning up to the epoch `epochs`. Breast cancer has 569 records: a context of 412, not the paper's 512.

`wide` are the paper's largest Q and its context, on a made-up table of two classes and 30 features; `probed` query
members and as many non-members are probed, as `iclmem/targets/queries` has it, and all of them beside.
"""

import tempfile
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, make_classification

from memaudit.attacks.context_manipulations import parsed
from memaudit.attacks.multiple_choice_probe import Reference, probe
from memaudit.common.seeds import generator
from memaudit.models.context_query_pairs import Task, batch
from memaudit.models.context_scaling import standardize
from memaudit.models.fine_tuning import Run, Settings
from memaudit.models.model_folder import set_up
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.workflow.bench_card import cpu_seconds, median_cpu_seconds, write_card
from memaudit.workflow.job import run

RATE = 1e-4


def bare_step(module, x, context_y, query_y):
    """Yield after each step of the shortest loop."""
    optimizer = torch.optim.AdamW(module.parameters(), RATE, fused=True)
    while True:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(x, context_y).flatten(0, 1), query_y.flatten()).backward()
        optimizer.step()
        yield


def probing(model, x, y, suite):
    """A probe of records x (target, d) with classes y."""
    rngs = [generator(0, "bench", "probe", record) for record in range(len(x))]
    return lambda: probe(model, x, y.numpy(), [0, 1], suite, reference=Reference(x, y), rngs=rngs)


def at_large_queries(model, params):
    """CPU seconds of a step and of two probes at the sizes of `wide`."""
    sizes = params.wide
    x, y = make_classification(sizes["context"] + 2 * sizes["queries"], 30, n_informative=10, random_state=0)
    task = Task(torch.from_numpy(x).float(), torch.from_numpy(y), np.arange(len(x)))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(0, sizes["steps"] + 1, RATE, sizes["context"], sizes["queries"])
        run = Run(model, {"wide": task}, settings, Path(folder))
        run.advance()  # the first step warms up
        steps = [cpu_seconds(run.advance)[1] for _ in range(sizes["steps"])]
    seconds, suite = {"step": float(np.median(steps))}, parsed(params.manipulations)
    for name, count in (("probe", 2 * sizes["probed"]), ("probe_of_all", 2 * sizes["queries"])):
        seconds[name] = cpu_seconds(probing(model, task.x[:count], task.y[:count], suite))[1]
    return {"cpu_seconds": seconds}


def shares(wide, epochs):
    """CPU seconds of each probe over those of the fine-tuning."""
    seconds = wide["cpu_seconds"]
    return {
        f"{name}_over_wide_finetuning": seconds[name] / (epochs * seconds["step"]) for name in ("probe", "probe_of_all")
    }


def main(job):
    params = job.params
    set_up(1)  # as the workflow sets it
    x, y = load_breast_cancer(return_X_y=True)
    task = Task(torch.from_numpy(x).float(), torch.from_numpy(y), np.arange(len(x)))
    model = TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu")
    settings = Settings(0, params.steps + 1, RATE, params.context, params.queries)
    with tempfile.TemporaryDirectory() as folder:
        ours = Run(model, {"breast_cancer": task}, settings, Path(folder))
        context_x, context_y, query_x, query_y = batch(task, ours.pairs("breast_cancer", 1))
        rows = torch.cat(standardize(context_x, query_x), 1)
        bare = bare_step(deepcopy(model.module), rows, context_y.float(), query_y)
        next(bare), ours.advance()  # the first steps warm up
        pairs = [(cpu_seconds(ours.advance)[1], cpu_seconds(lambda: next(bare))[1]) for _ in range(params.steps)]
    step, loop = np.median(pairs, axis=0)
    queries = task.x[: 2 * params.queries], task.y[: 2 * params.queries]
    probed = median_cpu_seconds(probing(model, *queries, parsed(params.manipulations)), params.runs)
    share, wide = probed / (params.epochs * step), at_large_queries(model, params)
    report = {
        "steps": params.steps,
        "context": params.context,
        "queries": params.queries,
        "epochs": params.epochs,
        "cpu_seconds": {"step": step, "bare_loop": loop, "probe": probed},
        "wide": params.wide | wide,
        "ratio": {"step_over_bare_loop": step / loop, "probe_over_finetuning": share} | shares(wide, params.epochs),
    }
    write_card(report, job.output[0], ("tabicl", "torch", "numpy"))
    print(f"a step takes {step:.3f} CPU-seconds, {step / loop:.3f} times that of a bare loop")
    print(f"a probe takes {probed:.2f} CPU-seconds, {share:.3f} times {params.epochs} epochs of fine-tuning")


if __name__ == "__main__":
    run(main, globals())

"""Query one shard of shadow contexts about targets with poisons in the context (TabPATE, Appendix A.1, A.3).

python workflow_scripts/attacks/query_poisoned.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json weights=weights --output 0.nc --wildcards '{"dataset": "wine", "arm": "main", "shard": "0"}' \
    --params '{"seed": 1, "sets": 512, "code": "by hand", "active": {"targets": 16, "sets": 32, "shard": 16,
        "budgets": [5, 10, 20], "most": 32, "scanned": 0.05, "grouped": 64, "together": 8, "copies": [1, 4]}}'

LiRA with poisoning takes the logits at each budget of copies, Brainwash the fewest copies that make the answer wrong.
The poison label is the likeliest wrong class by a context of non-members, which the adversary owns. A share of the
searches is made copy by copy as well, to check bisection. Each shadow context is kept as it is finished.
"""

import numpy as np
import torch
import xarray as xr

from memaudit.attacks.brainwash import scan, search
from memaudit.attacks.poisoning import Counted, Poisoned, poisoned_together, reference_rows, runner_up
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.common.seeds import generator
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.model_folder import device
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

MAIN = "main"  # the arm whose contexts are also poisoned with chosen labels, several records at once


def main(job, scratch):
    active, memory = job.params.active, job.resources.get("forward_mb", MEMORY)
    stream = (job.params.seed, "attacks", job.wildcards.dataset)
    files, drawn_sets = job.input, job.params.sets
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads, drawn_sets)
    drawn, base, targets = contexts.drawn, contexts.first(active["sets"]), contexts.targets(active["targets"])
    budgets, rows = [0, *active["budgets"]], int(drawn.counts[base].sum("record").max())
    model = contexts.model(base[0])
    model.limits.check(f"attacks/active, data set {job.wildcards.dataset}", rows + max(*budgets, active["most"]))

    *poison, reference_passes = scratch.part(
        "poison", lambda: poison_labels(contexts, base[0], targets, rows, generator(*stream, "reference"), memory)
    )
    scanned = generator(*stream, "scanned", job.wildcards.arm).random((active["sets"], len(targets)))
    first = int(job.wildcards.shard) * active["shard"]
    sets = range(first, min(first + active["shard"], len(base)))
    parts = [
        scratch.part(
            f"{number:06d}",
            lambda number=number: attacked(
                contexts, base[number], targets, np.array(poison), scanned[number] < active["scanned"], active, memory
            ),
        )
        for number in steps(sets, "shadow contexts")
    ]
    results = np.stack(parts)
    # Every shard queries the reference, the attack only once: the sum does not depend on the number of shards.
    passes = int(results["forward_passes"].sum() + (reference_passes if first == 0 else 0))
    print(f"{passes} forward passes; {results['passes'].sum()} queries of Brainwash, {results['passes'].size} searches")
    counts = drawn.counts[base[list(sets)], targets]
    searches = {name: (counts.dims, results[name]) for name in ("copies", "passes", "monotone", "scanned")}
    grid = xr.Dataset(
        {"logits": ((*counts.dims, "budget", "class"), results["logits"]), **searches, "design": counts > 0},
        {"budget": budgets, "poison_label": ("record", np.array(poison))},
        {**drawn.attrs, "arm": job.wildcards.arm, "mode": model.mode, "most": active["most"], "forward_passes": passes},
    )
    if job.wildcards.arm == MAIN:
        chosen = base[list(sets)], (rows, generator(*stream, "reference"))
        grid = grid.assign(_chosen_labels(contexts, base[0], *chosen, active, memory, scratch))
    write_grid(grid, job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def poison_labels(
    contexts: Contexts, row: int, targets: np.ndarray, size: int, rng: np.random.Generator, memory: int
) -> np.ndarray:
    """Poison label of each target, and last the number of contexts that the model was queried with."""
    others = np.flatnonzero(~contexts.drawn.member.values)
    reference = others[reference_rows(contexts.y[others].numpy(), size, rng)]
    x, y, model = contexts.x[:, contexts.columns(row)], contexts.y, Counted(contexts.model(row))
    (logits,) = answer(model, [Question(x[reference], y[reference], x[targets])], memory)
    labels = runner_up(as_wide(logits, contexts.classes).numpy(), y[targets].numpy(), y[reference].numpy())
    return np.append(labels, model.contexts)


def _chosen_labels(
    contexts: Contexts, first: int, sets: np.ndarray, reference: tuple, active: dict, memory: int, scratch
) -> xr.Dataset:
    """Answers with copies of several records in a context, with a wrong label or the true one."""
    drawn, targets = contexts.drawn, contexts.targets(active["grouped"])
    *wrong, _ = scratch.part("chosen", lambda: poison_labels(contexts, first, targets, *reference, memory))
    labels = {"wrong": np.array(wrong), "true": contexts.y[targets].numpy()}
    logits = [
        scratch.part(
            f"chosen {row:06d}", lambda row=row: poisoned_in_groups(contexts, row, targets, labels, active, memory)
        )
        for row in steps(sets.tolist(), "contexts with several poisoned records")
    ]
    design = drawn.counts.values[sets][:, targets] > 0
    facts = {f"target_{name}": ("target", drawn[name].values[targets]) for name in ("label", "unit")}
    return xr.Dataset(
        {
            "chosen_logits": (("model", "target", "poisons", "copy", "class"), np.stack(logits)),
            "chosen_design": (("model", "target"), design),
        },
        {"target": drawn.record.values[targets], "poisons": list(labels), "copy": active["copies"], **facts},
    )


def poisoned_in_groups(
    contexts: Contexts, row: int, targets: np.ndarray, labels: dict[str, np.ndarray], active: dict, memory: int
) -> np.ndarray:
    """Logits (target, label of the poisons, number of copies, class) with several records poisoned at once."""
    rows, x = contexts.rows(row), contexts.x[:, contexts.columns(row)]
    logits = np.empty((len(targets), len(labels), len(active["copies"]), contexts.classes), np.float32)
    for choice, poison in enumerate(labels.values()):
        for number, copies in enumerate(active["copies"]):
            tables = x[rows], contexts.y[rows], x[targets], torch.from_numpy(poison)
            made = poisoned_together(*tables, copies, active["together"])
            asked = [Question(context, label, x[targets[places]]) for places, context, label in made]
            for (places, *_), found in zip(made, answer(contexts.model(row), asked, memory), strict=True):
                logits[places, choice, number] = as_wide(found, contexts.classes).numpy()
    return logits


def attacked(
    contexts: Contexts,
    row: int,
    targets: np.ndarray,
    poison: np.ndarray,
    scanned: np.ndarray,
    active: dict,
    memory: int,
) -> np.ndarray:
    """Results of both attacks on one shadow context: one structured value."""
    rows, x = contexts.rows(row), contexts.x[:, contexts.columns(row)]
    model, labels = Counted(contexts.model(row)), contexts.y[targets].numpy()
    poisoned = Poisoned(model, x[rows], contexts.y[rows], x[targets], labels, poison, contexts.classes, memory)
    every, budgets, most = np.arange(len(targets)), [0, *active["budgets"]], active["most"]
    shape = (len(targets), len(budgets), contexts.classes)
    logits = poisoned.logits(np.repeat(every, len(budgets)), np.tile(budgets, len(targets))).reshape(shape)
    searched = search(poisoned.wrong, len(targets), most, {k: poisoned.wrong(every, [k] * len(every)) for k in budgets})
    monotone, copies = np.full((2, len(targets)), -1)
    copies[scanned], monotone[scanned] = scan(poisoned.wrong, every[scanned], most)

    counts = {"copies": searched.copies, "passes": searched.passes, "monotone": monotone, "scanned": copies}
    kinds = [(name, "i1" if name == "monotone" else "i4", len(targets)) for name in counts]
    fields = np.dtype([("logits", "f4", shape), *kinds, ("forward_passes", "i8")])
    return np.array((logits, *counts.values(), model.contexts), dtype=fields)


if __name__ == "__main__":
    run(resumable(main), globals())

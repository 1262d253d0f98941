"""What the rules of `iclmem*.smk` share: arms of the config, splits, files, how large jobs are; no rule stands here."""

ICLMEM = config["iclmem"]
ICLMEM_SHARDS = shards(ICLMEM["splits"], ICLMEM["splits_per_job"])


def iclmem_datasets(arm):
    """Tables of an arm; none of a joint one whose tables are not all in the study."""
    named = ICLMEM["arms"][arm]["datasets"] or ICLMEM["datasets"]
    there = [name for name in ICLMEM["datasets"] if name in named]
    return there if len(there) == len(named) or not ICLMEM["arms"][arm]["joint"] else []


def iclmem_tasks(arm):
    """What the models of an arm are called: by their table, or joint."""
    datasets = iclmem_datasets(arm)
    return ["joint"][: len(datasets)] if ICLMEM["arms"][arm]["joint"] else datasets


ICLMEM_RUNS = [(task, arm) for arm in ICLMEM["arms"] for task in iclmem_tasks(arm)]


def iclmem_tables(task, arm):
    return iclmem_datasets(arm) if task == "joint" else [task]


def iclmem_context(dataset, arm):
    return ICLMEM["arms"][arm]["context"] or ICLMEM["contexts"].get(dataset, ICLMEM["context"])


def iclmem_model(dataset):
    return ICLMEM["models"][config["datasets"][dataset]["task"]]


def iclmem_arm(task, arm):
    """Settings of an arm for one of its tasks, all filled in."""
    settings, tables = ICLMEM["arms"][arm], iclmem_tables(task, arm)
    filled = {key: settings[key] or ICLMEM[key] for key in ("queries", "epochs")}
    # Pairs of a joint run have one size.
    filled |= {"context": min(iclmem_context(name, arm) for name in tables), "model": iclmem_model(tables[0])}
    return {key: value for key, value in settings.items() if key != "datasets"} | filled


def iclmem_arms_of(dataset):
    """Tasks and arms that a table is in."""
    return [(task, arm) for task, arm in ICLMEM_RUNS if dataset in iclmem_tables(task, arm)]


def iclmem_labels(dataset):
    """Conditions of a table's labels."""
    return list(dict.fromkeys(ICLMEM["arms"][arm]["labels"] for _, arm in iclmem_arms_of(dataset)))


def iclmem_queries(dataset):
    """Numbers of query members that are used, increasing: those of the arms, and those that are probed."""
    used = {iclmem_arm(task, arm)["queries"] for task, arm in iclmem_arms_of(dataset)}
    return sorted(used | {min(ICLMEM["targets"]["queries"] or count, count) for count in used})


def iclmem_placebos(dataset):
    """Most records of a split that placebo arms are fine-tuned on instead of query members."""
    settings = [iclmem_arm(task, arm) for task, arm in iclmem_arms_of(dataset)]
    return max((one["queries"] for one in settings if one["placebo"]), default=0)


def iclmem_contexts(dataset):
    """Numbers of context rows that are used, increasing."""
    return sorted({iclmem_arm(task, arm)["context"] for task, arm in iclmem_arms_of(dataset)})


def iclmem_probed(dataset):
    """Most query members of a split that are probed."""
    return min(filter(None, (ICLMEM["targets"]["queries"], iclmem_queries(dataset)[-1])))


def iclmem_files(pattern):
    """Files of the tables of an arm's models."""
    return lambda wildcards: expand(pattern, dataset=iclmem_tables(wildcards.task, wildcards.arm))


def iclmem_model_file(file):
    """A file of the base model, for one table or an arm's."""

    def of(wildcards):
        dataset = wildcards.get("dataset") or iclmem_tables(wildcards.task, wildcards.arm)[0]
        return f"<results>/models/{iclmem_model(dataset)}/{file}"

    return of


def iclmem_canaries(wildcards):
    """Grids that have chosen the labels of canaries, where an arm has them."""
    chosen = ICLMEM["arms"][wildcards.arm]["labels"] == "canaries"
    tables = iclmem_tables(wildcards.task, wildcards.arm) if chosen else []
    return expand("<results>/signals/iclmem/{dataset}/reference_canaries.nc", dataset=tables)


def iclmem_shard_files(task, arm):
    """Shards of an arm's models."""
    return expand("<results>/signals/iclmem/{task}/{arm}/{shard}.nc", task=task, arm=arm, shard=ICLMEM_SHARDS)


# What both kinds of probes have in common.
ICLMEM_PROBE = {
    "seed": config["seed"],
    "splits": ICLMEM["splits"],
    "context": ICLMEM["targets"]["context"],
    "candidates": ICLMEM["candidates"],
    "replicates": ICLMEM["copies"],
    "free_text": ICLMEM["free_text"],
    "manipulations": ICLMEM["manipulations"],
}
ICLMEM_CHECKPOINTS = ["<results>/models/iclmem/{task}/{arm}/{shard}.zip"] if ICLMEM["keep_checkpoints"] else []
ICLMEM_REFERENCES = [(dataset, labels) for dataset in ICLMEM["datasets"] for labels in iclmem_labels(dataset)]
ICLMEM_TASKS = list(dict.fromkeys(task for task, _ in ICLMEM_RUNS))


def iclmem_asked(*keys):
    """These leaves of the study, as params."""
    return {key: ICLMEM[key] for key in keys}


def iclmem_arms(task):
    """Arms that have models of a task."""
    return [arm for one, arm in ICLMEM_RUNS if one == task]


def iclmem_judged(wildcards):
    """Shards of the arms of a task, by arm."""
    return {arm: iclmem_shard_files(wildcards.task, arm) for arm in iclmem_arms(wildcards.task)}


def iclmem_references(wildcards):
    """What base models said of the tables of a task, under every label condition that its arms have."""
    wanted = [
        (dataset, ICLMEM["arms"][arm]["labels"])
        for arm in iclmem_arms(wildcards.task)
        for dataset in iclmem_tables(wildcards.task, arm)
    ]
    return [f"<results>/signals/iclmem/{dataset}/reference_{labels}.nc" for dataset, labels in dict.fromkeys(wanted)]


def iclmem_scores(*kinds):
    """Files of tidy results: one for each task or table that is asked, or one for the study."""
    files = {
        "results": expand("<results>/scores/iclmem/{task}/results.parquet", task=ICLMEM_TASKS),
        "splits": expand("<results>/signals/iclmem/{dataset}/splits.checks.parquet", dataset=ICLMEM["datasets"]),
        "outcomes": ["<results>/scores/iclmem/outcomes.parquet"],
    }
    return [path for kind in kinds for path in files[kind]]


def iclmem_probe_work(dataset, queries):
    """Operations of one probe of a split's targets: contexts of about seven rows each; those that repeat are few."""
    targets = 2 * queries + ICLMEM["targets"]["context"]
    asked = targets * len(ICLMEM["manipulations"]) * ICLMEM["copies"]
    return asked * flops.tabicl(7, 1, table_size(dataset)["columns"], **architecture(iclmem_model(dataset)))


def iclmem_reference_size(dataset, labels):
    queries = iclmem_probed(dataset)
    cells = ICLMEM["splits"] * (2 * queries + ICLMEM["targets"]["context"]) * len(ICLMEM["manipulations"])
    return size(ICLMEM["splits"] * iclmem_probe_work(dataset, queries), cells, 0)


def iclmem_tuned_size(task, arm, shard):
    """Steps, each a forward pass and twice as much backward, and the probes."""
    settings, work, held, cells = iclmem_arm(task, arm), 0, 0, 0
    probed = min(filter(None, (ICLMEM["targets"]["queries"], settings["queries"])))
    for dataset in iclmem_tables(task, arm):
        model, columns = architecture(settings["model"]), table_size(dataset)["columns"]
        shape = (settings["context"], settings["queries"], columns)
        work += 3 * settings["epochs"][-1] * flops.tabicl(*shape, **model)
        work += len(settings["epochs"]) * iclmem_probe_work(dataset, probed)
        held = max(held, flops.tabicl_bytes(*shape, **model))
        cells += len(settings["epochs"]) * (2 * probed + ICLMEM["targets"]["context"])
    here = min(ICLMEM["splits_per_job"], ICLMEM["splits"] - int(shard) * ICLMEM["splits_per_job"])
    # A step keeps what the backward pass needs of every block.
    return size(here * work, here * cells * len(ICLMEM["manipulations"]), 0, 2 * held)


def iclmem_judge_size(task):
    """Runs of a task, each with its permutations and replicates over the targets."""
    runs = [len(iclmem_arm(task, arm)["epochs"]) * len(iclmem_tables(task, arm)) for arm in iclmem_arms(task)]
    draws = ICLMEM["permutations"] + ICLMEM["replicates"]
    return size(sum(runs) * ICLMEM["splits"] * draws, sum(runs) * ICLMEM["splits"], 0)


def iclmem_decide_size():
    sizes = [iclmem_judge_size(task) for task in ICLMEM_TASKS]
    return size(sum(one.work for one in sizes), sum(one.written for one in sizes), 0)


def iclmem_uses(task):
    """What the study asks of a model: the rows of its contexts."""

    def of():
        for dataset in ICLMEM["datasets"]:
            if config["datasets"][dataset]["task"] == task:
                table = table_size(dataset)
                features = table["columns"] if table["known"] else None
                rows = max(iclmem_contexts(dataset))
                yield {"where": f"iclmem, data set {dataset}", "rows": rows, "features": features}

    return of


data_costs(ICLMEM["datasets"], [])
for task in ICLMEM["models"]:
    if any(config["datasets"][dataset]["task"] == task for dataset in ICLMEM["datasets"]):
        uses(ICLMEM["models"][task], iclmem_uses(task))
        costs("models_fetch_checkpoint", [ICLMEM["models"][task]], no_size)
costs("iclmem_draw_splits", ICLMEM["datasets"], data_size)
costs("iclmem_probe_reference", [f"{name}/{labels}" for name, labels in ICLMEM_REFERENCES], iclmem_reference_size)
costs(
    "iclmem_probe_tuned",
    [f"{task}/{arm}/{shard}" for task, arm in ICLMEM_RUNS for shard in ICLMEM_SHARDS],
    iclmem_tuned_size,
)
costs("iclmem_judge_runs", ICLMEM_TASKS, iclmem_judge_size)
costs("iclmem_decide_outcomes", [""] if ICLMEM_TASKS else [], iclmem_decide_size)

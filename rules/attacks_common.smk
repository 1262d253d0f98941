"""What the rules of `attacks*.smk` share: arms of the config, files, and how large the jobs are; no rule stands here."""

import yaml

ATTACKS = config["attacks"]
ATTACKS_MEMORY = grows(3000)
ATTACKS_RUNTIME = grows(60)
with open(in_project("config/published.yaml"), encoding="utf-8") as file:
    ATTACKS_PUBLISHED = yaml.safe_load(file)["attacks"]


def attacks_arms(dataset, names=ATTACKS["arms"]):
    """Arms that a table has."""
    of_table = {arm: entry["datasets"] or ATTACKS["datasets"] for arm, entry in ATTACKS["arms"].items()}
    return [arm for arm in names if dataset in of_table[arm]]


def attacks_rows(arm):
    return ATTACKS["arms"][arm]["sets"] * len(ATTACKS["arms"][arm]["variants"])


def attacks_ranks(wildcards):
    """Who is most exposed, for arms that do something about it."""
    layered = any(variant["layer"] for variant in ATTACKS["arms"][wildcards.arm]["variants"])
    return f"<results>/scores/attacks/{wildcards.dataset}/ranks.parquet" if layered else []


def attacks_model(arm, file):
    return f"<results>/models/{ATTACKS['arms'][arm]['model']}/{file}"


def attacks_grid(arm):
    """Files of an arm's grid, by table."""
    return lambda wildcards: [
        f"<results>/signals/attacks/{wildcards.dataset}/{arm}/{shard}.nc"
        for shard in shards(attacks_rows(arm), ATTACKS["shard"])
        if arm in attacks_arms(wildcards.dataset)
    ]


def attacks_perturbed(wildcards):
    numbers = shards(ATTACKS["perturbation"]["sets"], ATTACKS["perturbation"]["shard"])
    return expand("<results>/signals/attacks/{{dataset}}/perturbed/{shard}.nc", shard=numbers)


def attacks_attribute(wildcards):
    numbers = shards(ATTACKS["inference"]["sets"], ATTACKS["shard"])
    return expand("<results>/signals/attacks/{{dataset}}/attribute/{shard}.nc", shard=numbers)


def attacks_poisoned(arm):
    """Files of an arm's poisoned grid, by table."""
    return lambda wildcards: [
        f"<results>/signals/attacks/{wildcards.dataset}/poisoned/{arm}/{shard}.nc"
        for shard in shards(ATTACKS["active"]["sets"], ATTACKS["active"]["shard"])
        if arm in attacks_arms(wildcards.dataset)
    ]


def attacks_kinds(names):
    """Model and mode of each arm that a table has."""

    def of(wildcards):
        models = {arm: ATTACKS["arms"][arm]["model"] for arm in attacks_arms(wildcards.dataset, names)}
        return {arm: {"model": name, "mode": config["models"][name]["mode"]} for arm, name in models.items()}

    return of


def attacks_settings(*keys):
    """Leaves of the study's config, as params."""
    return {key: ATTACKS[key] for key in keys}


def attacks_scores(*kinds):
    """Files of tidy results: one for each table that is asked, or one for the study."""
    tables = {"average": [""]}
    attacked = [f"{name}/" for name in ATTACKS["datasets"]]
    return [
        f"<results>/scores/attacks/{folder}{kind}.parquet" for kind in kinds for folder in tables.get(kind, attacked)
    ]


def attacks_contexts(dataset, arm):
    """Rows and columns of a context of each variant of an arm, parts that are asked one by one, records asked about."""
    members, nonmembers = side_sizes(dataset, ATTACKS["split"])
    columns = table_size(dataset)["columns"]
    for variant in ATTACKS["arms"][arm]["variants"]:
        rows = variant["context"] or members // 2
        copies = (variant["copies"] - 1) * ATTACKS["perturbation"]["targets"] // 2
        asked = nonmembers if variant["shares"] else min(members, 2 * rows) + min(nonmembers, 2 * rows)
        yield rows + copies, min(variant["features"] or columns, columns), variant["bags"], asked


def attacks_size(arm, shapes):
    """Size of a job that asks a model: shapes of (contexts, rows, columns, queries, bytes written for each)."""
    model = architecture(ATTACKS["arms"][arm]["model"])
    shapes = list(shapes)
    work = sum(times * flops.tabicl(rows, asked, columns, **model) for times, rows, columns, asked, _ in shapes)
    written = sum(times * each for times, *_, each in shapes)
    most = max(flops.tabicl_bytes(rows, asked, columns, **model) for _, rows, columns, asked, _ in shapes)
    return size(work, written, 0, most)


def attacks_query_size(dataset, arm, shard):
    here = min(ATTACKS["shard"], attacks_rows(arm) - int(shard) * ATTACKS["shard"]) / attacks_rows(arm)
    sets = ATTACKS["arms"][arm]["sets"]
    shapes = attacks_contexts(dataset, arm)
    return attacks_size(
        arm, ((here * sets * bags, rows // bags, columns, asked, asked) for rows, columns, bags, asked in shapes)
    )


def attacks_perturbed_size(dataset, shard):
    wanted = ATTACKS["perturbation"]
    rows, columns, *_ = next(attacks_contexts(dataset, "main"))
    copies = wanted["targets"] * (1 + max(wanted["counts"]) + (len(wanted["scales"]) - 1) * wanted["count"])
    return attacks_size("main", [(min(wanted["shard"], wanted["sets"]), rows, columns, copies, wanted["targets"])])


def attacks_attribute_size(dataset, shard):
    wanted = ATTACKS["inference"]
    rows, columns, *_ = next(attacks_contexts(dataset, "main"))
    asked = side_sizes(dataset, ATTACKS["split"])[0] * wanted["levels"]
    return attacks_size("main", [(min(ATTACKS["shard"], wanted["sets"]), rows, columns, asked, asked)])


def attacks_poisoned_size(dataset, arm, shard):
    wanted = ATTACKS["active"]
    rows, columns, *_ = next(attacks_contexts(dataset, arm))
    # Bisection asks log2(most) + 2 times, and every budget once.
    passes = wanted["targets"] * (len(wanted["budgets"]) + wanted["most"].bit_length() + 2)
    return attacks_size(
        arm, [(min(wanted["shard"], wanted["sets"]) * passes, rows + max(wanted["budgets"]), columns, 1, 1)]
    )


def attacks_cells(times):
    """The size of jobs that go so often over the grid of one table's members."""

    def of(dataset):
        cells = ATTACKS["sets"] * side_sizes(dataset, ATTACKS["split"])[0]
        return size(times * cells, cells, attacks_rows("main") * sum(side_sizes(dataset, ATTACKS["split"])))

    return of


def attacks_uses(model):
    """What the study asks of a model: a list of contexts by table."""

    def of():
        for arm in (arm for arm, entry in ATTACKS["arms"].items() if entry["model"] == model):
            for dataset in (name for name in ATTACKS["datasets"] if arm in attacks_arms(name)):
                known = table_size(dataset)["known"]
                rows, columns, *_ = zip(*attacks_contexts(dataset, arm), strict=True)
                poison = ATTACKS["active"]["most"] if arm in ATTACKS["active"]["arms"] else 0
                where = f"attacks/arms/{arm}, data set {dataset}"
                yield {"where": where, "rows": max(rows) + poison, "features": max(columns) if known else None}

    return of


def attacks_shadows():
    records = {dataset: side_sizes(dataset, ATTACKS["split"])[0] for dataset in ATTACKS["datasets"]}
    return {"models": ATTACKS["sets"], "fpr": ATTACKS["fpr"], "records": records}


def attacks_jobs(names, rows, shard):
    return [
        f"{dataset}/{arm}/{number}"
        for dataset in ATTACKS["datasets"]
        for arm in attacks_arms(dataset, names)
        for number in shards(rows(arm), shard)
    ]


ATTACKS_MODELS = list(dict.fromkeys(arm["model"] for arm in ATTACKS["arms"].values()))
for model in ATTACKS_MODELS:
    uses(model, attacks_uses(model))
data_costs(ATTACKS["datasets"], [ATTACKS["split"]])
costs("models_fetch_checkpoint", ATTACKS_MODELS, no_size)
costs("attacks_draw_designs", ATTACKS["datasets"], attacks_cells(len(ATTACKS["arms"])))
costs("attacks_query_contexts", attacks_jobs(ATTACKS["arms"], attacks_rows, ATTACKS["shard"]), attacks_query_size)
costs(
    "attacks_query_perturbed",
    [
        f"{name}/{shard}"
        for name in ATTACKS["datasets"]
        for shard in shards(*map(ATTACKS["perturbation"].get, ("sets", "shard")))
    ],
    attacks_perturbed_size,
)
costs(
    "attacks_query_attribute",
    [
        f"{name}/{shard}"
        for name in ATTACKS["datasets"]
        for shard in shards(ATTACKS["inference"]["sets"], ATTACKS["shard"])
    ],
    attacks_attribute_size,
)
costs(
    "attacks_query_poisoned",
    attacks_jobs(ATTACKS["active"]["arms"], lambda arm: ATTACKS["active"]["sets"], ATTACKS["active"]["shard"]),
    attacks_poisoned_size,
)
for rule in (
    "compare_attacks",
    "ablate_attacks",
    "compare_settings",
    "compare_mitigations",
    "rank_records",
    "infer_more",
):
    costs(f"attacks_{rule}", ATTACKS["datasets"], attacks_cells(ATTACKS["replicates"] + ATTACKS["permutations"]))
costs("attacks_average_datasets", [""], no_size)
SHADOWS["attacks"] = attacks_shadows

"""What the rules of `attacks*.smk` share: arms of the config, files, and how large the jobs are; no rule stands here."""

ATTACKS = config["attacks"]


def attacks_arms(dataset, names=ATTACKS["arms"]):
    """Arms that a table has."""
    of_table = {arm: entry["datasets"] or ATTACKS["datasets"] for arm, entry in ATTACKS["arms"].items()}
    return [arm for arm in names if dataset in of_table[arm]]


def attacks_defended():
    """Tables that have the arms of which mitigations are compared."""
    return [name for name in ATTACKS["datasets"] if {"settings", "defended"} <= {*attacks_arms(name)}]


def attacks_rows(arm):
    return ATTACKS["arms"][arm]["sets"] * len(ATTACKS["arms"][arm]["variants"])


def attacks_active_sets(arm):
    """Shadow sets of an arm that are poisoned: all of them, if it has fewer."""
    return min(ATTACKS["active"]["sets"], ATTACKS["arms"][arm]["sets"])


def attacks_layered(arm):
    return any(variant["layer"] for variant in ATTACKS["arms"][arm]["variants"])


def attacks_ranks(wildcards):
    """Who is most exposed, for arms that do something about it."""
    return f"<results>/scores/attacks/{wildcards.dataset}/ranks.parquet" if attacks_layered(wildcards.arm) else []


def attacks_layer(wildcards):
    return ATTACKS["layer"] if attacks_layered(wildcards.arm) else None


def attacks_arm(key):
    """A leaf of an arm's entry, as param."""
    return lambda wildcards: ATTACKS["arms"][wildcards.arm][key]


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
        for shard in shards(attacks_active_sets(arm), ATTACKS["active"]["shard"])
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
    tables = {"average": [""], "mitigations": [f"{name}/" for name in attacks_defended()]}
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
        copies = (variant["copies"] - 1) * min(ATTACKS["active"]["targets"], 2 * rows) // 2
        asked = nonmembers if variant["shares"] else min(members, 2 * rows) + min(nonmembers, 2 * rows)
        yield rows + copies, min(variant["features"] or columns, columns), variant["bags"], asked


def attacks_size(arm, shapes):
    """Size of a job that asks a model: shapes of (contexts, rows, columns, queries, bytes written for each)."""
    model = architecture(ATTACKS["arms"][arm]["model"])
    shapes = list(shapes)
    work = sum(times * flops.tabicl(rows, asked, columns, **model) for times, rows, columns, asked, _ in shapes)
    written = sum(times * each for times, *_, each in shapes)
    # A forward pass is cut to the memory that it may have, to a quarter as many queries as rows at the least.
    allowed = [flops.tabicl_bytes(rows, max(1, rows // 4), columns, **model) for _, rows, columns, *_ in shapes]
    needed = [flops.tabicl_bytes(rows, asked, columns, **model) for _, rows, columns, asked, _ in shapes]
    bound = config["memory_mb"] * 2**20
    most = max(min(whole, max(bound, part)) for whole, part in zip(needed, allowed, strict=True))
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
    targets = min(wanted["targets"], 2 * rows)
    copies = targets * (1 + max(wanted["counts"]) + (len(wanted["scales"]) - 1) * wanted["count"])
    return attacks_size("main", [(min(wanted["shard"], wanted["sets"]), rows, columns, copies, targets)])


def attacks_attribute_size(dataset, shard):
    wanted = ATTACKS["inference"]
    rows, columns, *_ = next(attacks_contexts(dataset, "main"))
    asked = side_sizes(dataset, ATTACKS["split"])[0] * wanted["levels"]
    return attacks_size("main", [(min(ATTACKS["shard"], wanted["sets"]), rows, columns, asked, asked)])


def attacks_poisoned_size(dataset, arm, shard):
    wanted = ATTACKS["active"]
    rows, columns, *_ = next(attacks_contexts(dataset, arm))
    # Every budget once, log2(most) + 1 questions of bisection beside the unpoisoned one, and a share copy by copy.
    questions = len(wanted["budgets"]) + wanted["most"].bit_length() + 1 + wanted["scanned"] * wanted["most"]
    passes = min(wanted["targets"], 2 * rows) * questions
    return attacks_size(
        arm, [(min(wanted["shard"], attacks_active_sets(arm)) * passes, rows + max(wanted["budgets"]), columns, 1, 1)]
    )


def attacks_design_size(dataset, arm):
    return size(attacks_rows(arm) * sum(side_sizes(dataset, ATTACKS["split"])))


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
                most = max(ATTACKS["active"]["most"], *ATTACKS["active"]["budgets"])
                poison = most if arm in ATTACKS["active"]["arms"] else 0
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
costs(
    "attacks_draw_designs",
    [f"{name}/{arm}" for name in ATTACKS["datasets"] for arm in attacks_arms(name)],
    attacks_design_size,
)
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
    attacks_jobs(ATTACKS["active"]["arms"], attacks_active_sets, ATTACKS["active"]["shard"]),
    attacks_poisoned_size,
)
for rule in (
    "compare_attacks",
    "ablate_attacks",
    "compare_settings",
    "rank_records",
    "infer_more",
):
    costs(f"attacks_{rule}", ATTACKS["datasets"], attacks_cells(ATTACKS["replicates"] + ATTACKS["permutations"]))
costs("attacks_compare_mitigations", attacks_defended(), attacks_cells(ATTACKS["replicates"] + ATTACKS["permutations"]))
costs("attacks_average_datasets", [""], no_size)
SHADOWS["attacks"] = attacks_shadows

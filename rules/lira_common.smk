"""What the rules of `lira*.smk` share: arms of the config, files, and how large the jobs are; no rule stands here."""

LIRA = config["lira"]
# An evaluation holds up to 19 float64 copies of its grid: at the paper's 8,192 x 10,000 some 0.7 GB each.
LIRA_MEMORY = grows(2000 + 2 * LIRA["models"])
LIRA_RUNTIME = grows(30 + LIRA["models"] // 10)
LIRA_SUPERSETS = [f"superset{i}" for i in range(LIRA["population_check"]["supersets"])]
LIRA_GRIDS = [
    *expand("{dataset}/efficient", dataset=LIRA["datasets"]),
    *expand("{dataset}/{grid}", dataset=LIRA["population_check"]["datasets"], grid=["population", *LIRA_SUPERSETS]),
]


def lira_grid(wildcards):
    """How the contexts of a grid are drawn: the leaves of the config that the draw depends on."""
    if wildcards.grid == "efficient":
        return {"draw": LIRA["design"], "models": LIRA["models"], "block": LIRA["sizes"][0]}
    check = LIRA["population_check"]
    models = check["population_models"] if wildcards.grid == "population" else check["models"]
    shared = {key: check[key] for key in ("context", "supersets", "targets")}
    return shared | {"draw": "fixed_size", "models": models}


def lira_shard(wildcards):
    return LIRA["shard"] if wildcards.grid == "efficient" else LIRA["population_check"]["shard"]


def lira_shard_files(wildcards):
    numbers = shards(lira_grid(wildcards)["models"], lira_shard(wildcards))
    return expand("<results>/signals/lira/{{dataset}}/{{grid}}/{shard}.nc", shard=numbers)


def lira_scores(*kinds):
    """Files of tidy results: one for each table that is asked, or one for the study."""
    folders = {
        **dict.fromkeys(["simulation", "simulation_records", "audit"], [""]),
        "population": [f"{name}/" for name in LIRA["population_check"]["datasets"]],
    }
    attacked = [f"{name}/" for name in LIRA["datasets"]]
    return [f"<results>/scores/lira/{folder}{kind}.parquet" for kind in kinds for folder in folders.get(kind, attacked)]


def lira_fpc_figure(*sizes):
    return {
        "files": lira_scores("simulation_records"),
        "where": {"draw": ["fixed_size"], "size": list(sizes)},
    }


# The paper's Figure 2 has N/N+ = .5, its Figure A3 the other fractions.
LIRA_SIZES = sorted(
    LIRA["simulation"]["sizes"],
    key=lambda size: abs(size - LIRA["simulation"]["population"] / 2),
)


def lira_shape(dataset, grid):
    """Models of a grid, records of a context, records asked about, records of the design."""
    members, nonmembers = side_sizes(dataset, LIRA["split"])
    arm = lira_grid(SimpleNamespace(grid=grid))
    if grid == "efficient":
        return arm["models"], members // 2, members + nonmembers, members + nonmembers
    asked = arm["targets"] * (arm["supersets"] if grid == "population" else 1)
    return arm["models"], arm["context"], asked, members + nonmembers


def lira_shard_names():
    return [
        f"{name}/{shard}"
        for name in LIRA_GRIDS
        for grid in [SimpleNamespace(grid=name.split("/")[1])]
        for shard in shards(lira_grid(grid)["models"], lira_shard(grid))
    ]


def lira_design_size(dataset, grid):
    models, _, _, records = lira_shape(dataset, grid)
    return size(models * records)


def lira_grid_size(dataset, grid):
    models, _, asked, _ = lira_shape(dataset, grid)
    return size(models * asked)


def lira_shard_size(dataset, grid, shard):
    models, context, asked, _ = lira_shape(dataset, grid)
    most = lira_shard(SimpleNamespace(grid=grid))
    here = min(most, models - int(shard) * most)
    shape = (context, asked, table_size(dataset)["columns"])
    model = architecture(LIRA["model"])
    return size(here * flops.tabicl(*shape, **model), here * asked, 0, flops.tabicl_bytes(*shape, **model))


def lira_passes(passes):
    """The size of jobs that go so often over one model's scores of all members, and hold those of all models."""

    def of(dataset):
        members, _ = side_sizes(dataset, LIRA["split"])
        return size(passes * members, members, LIRA["models"] * members)

    return of


def lira_population_size(dataset):
    return size(sum(lira_grid_size(dataset, grid).work for grid in ("population", *LIRA_SUPERSETS)))


def lira_simulation_size():
    study = LIRA["simulation"]
    populations = study["repeats"] * len(study["sizes"]) * len(study["draws"])
    grid = study["models"] * study["population"]
    return size(populations * grid * study["dimensions"], study["population"], grid)


def lira_shadows():
    records = {dataset: side_sizes(dataset, LIRA["split"])[0] for dataset in LIRA["datasets"]}
    return {"models": LIRA["models"], "fpr": LIRA["fpr"], "records": records}


def lira_audit_size():
    audit = LIRA["audit"]
    grids = [LIRA["models"] * side_sizes(dataset, LIRA["split"])[0] for dataset in LIRA["datasets"]]
    toys = [audit["toy_models"] * audit["toy_records"]] * len(audit["toy_epsilons"])
    return size(sum(grids + toys) * len(LIRA["fpr"]), len(grids + toys), max(grids + toys))


def lira_uses():
    """What the study asks of its model: a list of contexts by table."""
    for name in LIRA_GRIDS:
        dataset, grid = name.split("/")
        table = table_size(dataset)
        features = table["columns"] if table["known"] else None
        yield {"where": f"lira, data set {dataset}", "rows": lira_shape(dataset, grid)[1], "features": features}


uses(LIRA["model"], lira_uses)
data_costs(LIRA["datasets"], [LIRA["split"]])
costs("models_fetch_checkpoint", [LIRA["model"]], no_size)
costs("lira_draw_designs", LIRA_GRIDS, lira_design_size)
costs("lira_query_shadows", lira_shard_names(), lira_shard_size)
costs("lira_gather_grid", LIRA_GRIDS, lira_grid_size)
costs("lira_evaluate_strategies", LIRA["datasets"], lira_passes(sum(LIRA["sizes"]) * LIRA["replicates"]))
costs("lira_compare_attacks", LIRA["datasets"], lira_passes(LIRA["models"] * (LIRA["permutations"] + 1)))
costs("lira_rank_records", LIRA["datasets"], lira_passes(sum(LIRA["sizes"]) * LIRA["replicates"]))
costs("lira_compare_tests", LIRA["datasets"], lira_passes(LIRA["models"] * len(LIRA["fpr"])))
costs("lira_predict_population", LIRA["population_check"]["datasets"], lira_population_size)
costs("lira_simulate_population", [""], lira_simulation_size)
costs("lira_audit_privacy", [""], lira_audit_size)
SHADOWS["lira"] = lira_shadows

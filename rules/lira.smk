"""How far can a LiRA evaluation be trusted? (papers: On Reliability of Efficient Membership Inference Evaluation)

INPUT   <results>/data/{dataset}/records.parquet, schema.json, splits/{split}.parquet and its .ok; a model folder
OUTPUT  <results>/signals/lira/{dataset}/{grid}.nc    who was in which context, and what each model answered
        <results>/scores/lira/*.parquet               tidy results
        <results>/tables/lira_*, <results>/figures/lira_*
"""

LIRA = config["lira"]
LIRA_SUPERSETS = [f"superset{i}" for i in range(LIRA["population_check"]["supersets"])]


def lira_scores(*kinds):
    """Files of tidy results: one for each table that is asked, or one for the study."""
    folders = {
        **dict.fromkeys(["simulation", "simulation_records", "audit"], [""]),
        "population": [f"{name}/" for name in LIRA["population_check"]["datasets"]],
    }
    attacked = [f"{name}/" for name in LIRA["datasets"]]
    return [
        f"<results>/scores/lira/{folder}{kind}.parquet"
        for kind in kinds
        for folder in folders.get(kind, attacked)
    ]


def lira_fpc_figure(*sizes):
    return {
        "files": lira_scores("simulation_records"),
        "where": {"draw": ["fixed_size"], "size": sizes},
    }


# The paper's Figure 2 has N/N+ = .5, its Figure A3 the other fractions.
LIRA_SIZES = sorted(
    LIRA["simulation"]["sizes"],
    key=lambda size: abs(size - LIRA["simulation"]["population"] / 2),
)

TABLES |= {
    "lira_strategies": {
        "files": lira_scores("strategies"),
        "layout": {
            "rows": ["dataset", "access", "fpr", "models"],
            "columns": ["strategy"],
        },
    },
    "lira_attacks": {
        "files": lira_scores("attacks"),
        "layout": {
            "rows": ["dataset", "records", "attack"],
            "columns": ["metric"],
        },
    },
    "lira_fpr_calibration": {
        "files": lira_scores("calibration"),
        "layout": {
            "rows": ["dataset", "access", "fpr", "models", "metric"],
            "columns": ["strategy"],
            "where": {"access": "efficient"},
        },
    },
    "lira_fpc": {"files": lira_scores("simulation", "population"), "layout": None},
    "lira_dp_audit": {
        "files": lira_scores("audit"),
        "layout": {
            "rows": ["dataset", "true_epsilon", "models", "fpr", "metric"],
            "columns": ["score"],
        },
    },
    "lira_reliability": {
        "files": lira_scores("reliability"),
        "layout": {"rows": ["dataset", "models"], "columns": ["metric"]},
    },
}
FIGURES |= {
    "lira_strategies": {"files": lira_scores("strategies"), "where": {}},
    "lira_oracle": {"files": lira_scores("strategies"), "where": {}},
    "lira_sample_fpr": {
        "files": lira_scores("sample_fpr"),
        "where": {"access": ["oracle"]},
    },
    "lira_roc": {"files": lira_scores("roc"), "where": {}},
    "lira_fpc_sigma": lira_fpc_figure(LIRA_SIZES[0]),
    "lira_fpc_ratio": lira_fpc_figure(LIRA_SIZES[0]),
    "lira_fpc_fraction": lira_fpc_figure(*LIRA_SIZES[1:]),
}
CLAIMS["lira"] = lira_scores(
    "strategies",
    "calibration",
    "attacks",
    "simulation",
    "population",
    "audit",
    "reliability",
)


def lira_grid(wildcards):
    """How the contexts of a grid are drawn: the leaves of the config that the draw depends on."""
    check = LIRA["population_check"]
    arm = {
        "block": LIRA["sizes"][0],
        "supersets": check["supersets"],
        "targets": check["targets"],
    }
    if wildcards.grid == "efficient":
        return arm | {"draw": LIRA["design"], "models": LIRA["models"], "context": None}
    models = (
        check["population_models"]
        if wildcards.grid == "population"
        else check["models"]
    )
    return arm | {"draw": "fixed_size", "models": models, "context": check["context"]}


def lira_shard(wildcards):
    return (
        LIRA["shard"]
        if wildcards.grid == "efficient"
        else LIRA["population_check"]["shard"]
    )


def lira_shard_files(wildcards):
    numbers = shards(lira_grid(wildcards)["models"], lira_shard(wildcards))
    return expand(
        "<results>/signals/lira/{{dataset}}/{{grid}}/{shard}.nc", shard=numbers
    )


wildcard_constraints:
    grid=r"efficient|population|superset\d+",


rule lira_draw_designs:
    input:
        records="<results>/data/{dataset}/records.parquet",
        split=f"<results>/data/{{dataset}}/splits/{LIRA['split']}.parquet",
        ok=f"<results>/data/{{dataset}}/splits/{LIRA['split']}.ok",
    output:
        "<results>/signals/lira/{dataset}/{grid}/design.nc",
        sidecar="<results>/provenance/lira_draw_designs/{dataset}/{grid}.json",
    log:
        "<results>/logs/lira_draw_designs/{dataset}/{grid}.log",
    conda:
        "../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime="10m",
    params:
        code=digest("lira_draw_designs", env="tabular"),
        seed=config["seed"],
        grid=lira_grid,
    script:
        "../workflow_scripts/lira_draw_designs.py"


rule lira_query_shadows:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/lira/{dataset}/{grid}/design.nc",
        model=f"<results>/models/{LIRA['model']}/model.json",
        weights=f"<results>/models/{LIRA['model']}/weights.ckpt",
    output:
        "<results>/signals/lira/{dataset}/{grid}/{shard}.nc",
        sidecar="<results>/provenance/lira_query_shadows/{dataset}/{grid}/{shard}.json",
    log:
        "<results>/logs/lira_query_shadows/{dataset}/{grid}/{shard}.log",
    benchmark:
        "<results>/benchmarks/lira_query_shadows/{dataset}/{grid}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime="4h",
        gpu=1,
    params:
        code=digest("lira_query_shadows", env="tabular"),
        shard=lira_shard,
    script:
        "../workflow_scripts/lira_query_shadows.py"


rule lira_gather_grid:
    input:
        "<results>/signals/lira/{dataset}/{grid}/design.nc",
        lira_shard_files,
    output:
        "<results>/signals/lira/{dataset}/{grid}.nc",
        sidecar="<results>/provenance/lira_gather_grid/{dataset}/{grid}.json",
    log:
        "<results>/logs/lira_gather_grid/{dataset}/{grid}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime="10m",
    params:
        code=digest("lira_gather_grid", env="statistics"),
    script:
        "../workflow_scripts/lira_gather_grid.py"


rule lira_evaluate_strategies:
    input:
        "<results>/signals/lira/{dataset}/efficient.nc",
    output:
        strategies="<results>/scores/lira/{dataset}/strategies.parquet",
        calibration="<results>/scores/lira/{dataset}/calibration.parquet",
        sample_fpr="<results>/scores/lira/{dataset}/sample_fpr.parquet",
        sidecar="<results>/provenance/lira_evaluate_strategies/{dataset}.json",
    log:
        "<results>/logs/lira_evaluate_strategies/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_evaluate_strategies/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime="30m",
    params:
        code=digest("lira_evaluate_strategies", env="statistics"),
        seed=config["seed"],
        lira={key: LIRA[key] for key in ("sizes", "fpr", "replicates")},
    script:
        "../workflow_scripts/lira_evaluate_strategies.py"


rule lira_compare_attacks:
    input:
        "<results>/signals/lira/{dataset}/efficient.nc",
    output:
        tidy="<results>/scores/lira/{dataset}/attacks.parquet",
        roc="<results>/scores/lira/{dataset}/roc.parquet",
        sidecar="<results>/provenance/lira_compare_attacks/{dataset}.json",
    log:
        "<results>/logs/lira_compare_attacks/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_compare_attacks/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime="30m",
    params:
        code=digest("lira_compare_attacks", env="statistics"),
        seed=config["seed"],
        lira={key: LIRA[key] for key in ("fpr", "replicates", "permutations", "rmia")},
    script:
        "../workflow_scripts/lira_compare_attacks.py"


rule lira_rank_records:
    input:
        "<results>/signals/lira/{dataset}/efficient.nc",
    output:
        "<results>/scores/lira/{dataset}/reliability.parquet",
        sidecar="<results>/provenance/lira_rank_records/{dataset}.json",
    log:
        "<results>/logs/lira_rank_records/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_rank_records/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime="30m",
    params:
        code=digest("lira_rank_records", env="statistics"),
        seed=config["seed"],
        # Halves of fewer models leave some record without enough models on one side.
        sizes=[size for size in LIRA["sizes"] if size >= 64],
        splits=LIRA["replicates"],
    script:
        "../workflow_scripts/lira_rank_records.py"


rule lira_predict_population:
    input:
        population="<results>/signals/lira/{dataset}/population.nc",
        supersets=expand(
            "<results>/signals/lira/{{dataset}}/{grid}.nc", grid=LIRA_SUPERSETS
        ),
    output:
        "<results>/scores/lira/{dataset}/population.parquet",
        sidecar="<results>/provenance/lira_predict_population/{dataset}.json",
    log:
        "<results>/logs/lira_predict_population/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_predict_population/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime="30m",
    params:
        code=digest("lira_predict_population", env="statistics"),
        seed=config["seed"],
        context=LIRA["population_check"]["context"],
        fpr=LIRA["population_check"]["fpr"],
        replicates=LIRA["replicates"],
    script:
        "../workflow_scripts/lira_predict_population.py"


rule lira_simulate_population:
    output:
        tidy="<results>/scores/lira/simulation.parquet",
        records="<results>/scores/lira/simulation_records.parquet",
        sidecar="<results>/provenance/lira_simulate_population.json",
    log:
        "<results>/logs/lira_simulate_population.log",
    benchmark:
        "<results>/benchmarks/lira_simulate_population.jsonl"
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime="30m",
    params:
        code=digest("lira_simulate_population", env="statistics"),
        seed=config["seed"],
        simulation=LIRA["simulation"],
    script:
        "../workflow_scripts/lira_simulate_population.py"


rule lira_audit_privacy:
    input:
        expand(
            "<results>/signals/lira/{dataset}/efficient.nc", dataset=LIRA["datasets"]
        ),
    output:
        "<results>/scores/lira/audit.parquet",
        sidecar="<results>/provenance/lira_audit_privacy.json",
    log:
        "<results>/logs/lira_audit_privacy.log",
    benchmark:
        "<results>/benchmarks/lira_audit_privacy.jsonl"
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime="30m",
    params:
        code=digest("lira_audit_privacy", env="statistics"),
        seed=config["seed"],
        fpr=LIRA["fpr"],
        audit=LIRA["audit"],
    script:
        "../workflow_scripts/lira_audit_privacy.py"

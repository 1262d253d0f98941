"""Reliability of a LiRA evaluation (paper: On Reliability of Efficient Membership Inference Evaluation)

INPUT   <results>/data/{dataset}/records.parquet, schema.json, splits/{split}.parquet; a model folder
OUTPUT  <results>/signals/lira/{dataset}/{grid}.nc    who was in which context, and what each model answered
        <results>/scores/lira/*.parquet               tidy results: strategies, attacks, calibration, populations, epsilon
"""

LIRA = STUDIES["lira"]


wildcard_constraints:
    grid=r"efficient|population|superset\d+",


rule lira_draw_designs:
    input:
        records="<results>/data/{dataset}/records.parquet",
        split=LIRA.split,
    output:
        "<results>/signals/lira/{dataset}/{grid}/design.nc",
        sidecar="<results>/provenance/lira_draw_designs/{dataset}/{grid}.json",
    log:
        "<results>/logs/lira_draw_designs/{dataset}/{grid}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="10m",
    params:
        code=digest("lira_draw_designs", env="data"),
        seed=config["seed"],
        grid=LIRA.grid,
    script:
        "../workflow_scripts/lira/draw_designs.py"


rule lira_query_shadows:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/lira/{dataset}/{grid}/design.nc",
        model=f"<results>/models/{LIRA.config['model']}/model.json",
        weights=f"<results>/models/{LIRA.config['model']}/weights",
    output:
        "<results>/signals/lira/{dataset}/{grid}/{shard}.nc",
        sidecar="<results>/provenance/lira_query_shadows/{dataset}/{grid}/{shard}.json",
    log:
        "<results>/logs/lira_query_shadows/{dataset}/{grid}/{shard}.log",
    benchmark:
        "<results>/benchmarks/lira_query_shadows/{dataset}/{grid}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("lira_query_shadows", env="tabular"),
        shard=LIRA.shard,
    script:
        "../workflow_scripts/lira/query_shadows.py"


rule lira_gather_grid:
    input:
        "<results>/signals/lira/{dataset}/{grid}/design.nc",
        LIRA.shard_files,
    output:
        "<results>/signals/lira/{dataset}/{grid}.nc",
        sidecar="<results>/provenance/lira_gather_grid/{dataset}/{grid}.json",
    log:
        "<results>/logs/lira_gather_grid/{dataset}/{grid}.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="10m",
    params:
        code=digest("lira_gather_grid", env="statistics"),
    script:
        "../workflow_scripts/lira/gather_grid.py"


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
    resources:
        mem_mb=grows(LIRA.memory),
        runtime=grows(LIRA.minutes),
    params:
        code=digest("lira_evaluate_strategies", env="statistics"),
        seed=config["seed"],
        lira=LIRA.keys("sizes", "fpr", "replicates", "oracle_models"),
    script:
        "../workflow_scripts/lira/evaluate_strategies.py"


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
    resources:
        mem_mb=grows(LIRA.memory),
        runtime=grows(LIRA.minutes),
    params:
        code=digest("lira_compare_attacks", env="statistics"),
        seed=config["seed"],
        lira=LIRA.keys("fpr", "replicates", "permutations", "rmia"),
    script:
        "../workflow_scripts/lira/compare_attacks.py"


rule lira_compare_scores:
    input:
        "<results>/signals/lira/{dataset}/efficient.nc",
    output:
        "<results>/scores/lira/{dataset}/scores.parquet",
        sidecar="<results>/provenance/lira_compare_scores/{dataset}.json",
    log:
        "<results>/logs/lira_compare_scores/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_compare_scores/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(LIRA.memory),
        runtime=grows(LIRA.minutes),
    params:
        code=digest("lira_compare_scores", env="statistics"),
        seed=config["seed"],
        lira=LIRA.keys("sizes", "fpr", "replicates", "rmia"),
    script:
        "../workflow_scripts/lira/compare_scores.py"


rule lira_rank_records:
    input:
        "<results>/signals/lira/{dataset}/efficient.nc",
    output:
        reliability="<results>/scores/lira/{dataset}/reliability.parquet",
        variances="<results>/scores/lira/{dataset}/variances.parquet",
        sidecar="<results>/provenance/lira_rank_records/{dataset}.json",
    log:
        "<results>/logs/lira_rank_records/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_rank_records/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(LIRA.memory),
        runtime=grows(LIRA.minutes),
    params:
        code=digest("lira_rank_records", env="statistics"),
        seed=config["seed"],
        sizes=LIRA.sizes_of_halves(),
        fpr=LIRA.config["fpr"],
        replicates=LIRA.config["replicates"],
    script:
        "../workflow_scripts/lira/rank_records.py"


rule lira_predict_population:
    input:
        population="<results>/signals/lira/{dataset}/population.nc",
        supersets=expand("<results>/signals/lira/{{dataset}}/{grid}.nc", grid=LIRA.supersets),
    output:
        "<results>/scores/lira/{dataset}/population.parquet",
        sidecar="<results>/provenance/lira_predict_population/{dataset}.json",
    log:
        "<results>/logs/lira_predict_population/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_predict_population/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(LIRA.memory),
        runtime=grows(LIRA.minutes),
    params:
        code=digest("lira_predict_population", env="statistics"),
        seed=config["seed"],
        context=LIRA.config["population_check"]["context"],
        fpr=LIRA.config["population_check"]["fpr"],
        replicates=LIRA.config["replicates"],
    script:
        "../workflow_scripts/lira/predict_population.py"


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
    resources:
        mem_mb=grows(2000),
        runtime="30m",
    params:
        code=digest("lira_simulate_population", env="statistics"),
        seed=config["seed"],
        simulation=LIRA.config["simulation"],
    script:
        "../workflow_scripts/lira/simulate_population.py"


rule lira_audit_privacy:
    input:
        expand("<results>/signals/lira/{dataset}/efficient.nc", dataset=LIRA.config["datasets"]),
    output:
        "<results>/scores/lira/audit.parquet",
        sidecar="<results>/provenance/lira_audit_privacy.json",
    log:
        "<results>/logs/lira_audit_privacy.log",
    benchmark:
        "<results>/benchmarks/lira_audit_privacy.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(LIRA.memory),
        runtime=grows(LIRA.minutes),
    params:
        code=digest("lira_audit_privacy", env="statistics"),
        seed=config["seed"],
        fpr=LIRA.config["fpr"],
        audit=LIRA.config["audit"],
        rmia=LIRA.config["rmia"],
    script:
        "../workflow_scripts/lira/audit_privacy.py"

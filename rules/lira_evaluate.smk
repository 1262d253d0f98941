"""What the grids of `lira.smk` say: strategies, attacks, calibration, finite populations, epsilon, reliability.

INPUT   <results>/signals/lira/{dataset}/{grid}.nc
OUTPUT  <results>/scores/lira/*.parquet     tidy results; `lira_views.smk` says how they are shown
"""


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
        mem_mb=LIRA_MEMORY,
        runtime=LIRA_RUNTIME,
    params:
        code=digest("lira_evaluate_strategies", env="statistics"),
        seed=config["seed"],
        lira={key: LIRA[key] for key in ("sizes", "fpr", "replicates")},
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
    threads: 1
    resources:
        mem_mb=LIRA_MEMORY,
        runtime=LIRA_RUNTIME,
    params:
        code=digest("lira_compare_attacks", env="statistics"),
        seed=config["seed"],
        lira={key: LIRA[key] for key in ("fpr", "replicates", "permutations", "rmia")},
    script:
        "../workflow_scripts/lira/compare_attacks.py"


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
        mem_mb=LIRA_MEMORY,
        runtime=LIRA_RUNTIME,
    params:
        code=digest("lira_rank_records", env="statistics"),
        seed=config["seed"],
        # Halves of fewer models leave some record without enough models on one side.
        sizes=[size for size in LIRA["sizes"] if size >= 64],
        splits=LIRA["replicates"],
    script:
        "../workflow_scripts/lira/rank_records.py"


rule lira_compare_tests:
    input:
        "<results>/signals/lira/{dataset}/efficient.nc",
    output:
        "<results>/scores/lira/{dataset}/variances.parquet",
        sidecar="<results>/provenance/lira_compare_tests/{dataset}.json",
    log:
        "<results>/logs/lira_compare_tests/{dataset}.log",
    benchmark:
        "<results>/benchmarks/lira_compare_tests/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=LIRA_MEMORY,
        runtime=LIRA_RUNTIME,
    params:
        code=digest("lira_compare_tests", env="statistics"),
        seed=config["seed"],
        fpr=LIRA["fpr"],
        replicates=LIRA["replicates"],
    script:
        "../workflow_scripts/lira/compare_tests.py"


rule lira_predict_population:
    input:
        population="<results>/signals/lira/{dataset}/population.nc",
        supersets=expand("<results>/signals/lira/{{dataset}}/{grid}.nc", grid=LIRA_SUPERSETS),
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
        mem_mb=LIRA_MEMORY,
        runtime=LIRA_RUNTIME,
    params:
        code=digest("lira_predict_population", env="statistics"),
        seed=config["seed"],
        context=LIRA["population_check"]["context"],
        fpr=LIRA["population_check"]["fpr"],
        replicates=LIRA["replicates"],
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
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime="30m",
    params:
        code=digest("lira_simulate_population", env="statistics"),
        seed=config["seed"],
        simulation=LIRA["simulation"],
    script:
        "../workflow_scripts/lira/simulate_population.py"


rule lira_audit_privacy:
    input:
        expand("<results>/signals/lira/{dataset}/efficient.nc", dataset=LIRA["datasets"]),
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
        mem_mb=LIRA_MEMORY,
        runtime=LIRA_RUNTIME,
    params:
        code=digest("lira_audit_privacy", env="statistics"),
        seed=config["seed"],
        fpr=LIRA["fpr"],
        audit=LIRA["audit"],
    script:
        "../workflow_scripts/lira/audit_privacy.py"

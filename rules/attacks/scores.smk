"""Scores of the grids of contexts.smk: threat models, ablations, settings, per-record risk, mitigations, inference.

INPUT   <results>/signals/attacks/{dataset}/**.nc
OUTPUT  <results>/scores/attacks/**.parquet     tidy results; config/views/attacks.yaml says how they are shown
"""


rule attacks_compare_attacks:
    input:
        **ATTACKS.poisoned_grids(),
        main=ATTACKS.grid("main"),
        perturbed=ATTACKS.perturbed,
        attention=ATTACKS.attention("main"),
    output:
        tidy="<results>/scores/attacks/{dataset}/attacks.parquet",
        roc="<results>/scores/attacks/{dataset}/roc.parquet",
        ablations="<results>/scores/attacks/{dataset}/ablations.parquet",
        sidecar="<results>/provenance/attacks_compare_attacks/{dataset}.json",
    log:
        "<results>/logs/attacks_compare_attacks/{dataset}.log",
    benchmark:
        "<results>/benchmarks/attacks_compare_attacks/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("attacks_compare_attacks", env="statistics"),
        seed=config["seed"],
        arms=ATTACKS.attacked_arms,
        attacks=ATTACKS.keys("sets", "sizes", "fpr", "replicates", "permutations", "rmia", "perturbation", "detectable"),
    script:
        "../../workflow_scripts/attacks/compare_attacks.py"


rule attacks_rank_records:
    input:
        main=ATTACKS.grid("main"),
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
    output:
        tidy="<results>/scores/attacks/{dataset}/risk.parquet",
        ranks="<results>/scores/attacks/{dataset}/ranks.parquet",
        map="<results>/scores/attacks/{dataset}/map.parquet",
        sidecar="<results>/provenance/attacks_rank_records/{dataset}.json",
    log:
        "<results>/logs/attacks_rank_records/{dataset}.log",
    benchmark:
        "<results>/benchmarks/attacks_rank_records/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("attacks_rank_records", env="statistics"),
        seed=config["seed"],
        attacks=ATTACKS.keys("sets", "fpr", "replicates", "permutations", "neighbours"),
    script:
        "../../workflow_scripts/attacks/rank_records.py"


rule attacks_compare_settings:
    input:
        **ATTACKS.grids(ATTACKS.config["arms"]),
    output:
        "<results>/scores/attacks/{dataset}/settings.parquet",
        sidecar="<results>/provenance/attacks_compare_settings/{dataset}.json",
    log:
        "<results>/logs/attacks_compare_settings/{dataset}.log",
    benchmark:
        "<results>/benchmarks/attacks_compare_settings/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("attacks_compare_settings", env="statistics"),
        seed=config["seed"],
        arms=ATTACKS.arm_models(ATTACKS.config["arms"]),
        attacks=ATTACKS.keys("sets", "fpr", "replicates", "permutations"),
    script:
        "../../workflow_scripts/attacks/compare_settings.py"


rule attacks_compare_mitigations:
    input:
        main=ATTACKS.grid("main"),
        settings=ATTACKS.grid("settings"),
        defended=ATTACKS.grid("defended"),
        perturbed=ATTACKS.perturbed,
        attention=ATTACKS.attention("defended"),
        ranks="<results>/scores/attacks/{dataset}/ranks.parquet",
    output:
        "<results>/scores/attacks/{dataset}/mitigations.parquet",
        sidecar="<results>/provenance/attacks_compare_mitigations/{dataset}.json",
    log:
        "<results>/logs/attacks_compare_mitigations/{dataset}.log",
    benchmark:
        "<results>/benchmarks/attacks_compare_mitigations/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("attacks_compare_mitigations", env="statistics"),
        seed=config["seed"],
        attacks=ATTACKS.keys("sets", "fpr", "replicates", "permutations", "decimals", "layer", "perturbation"),
    script:
        "../../workflow_scripts/attacks/compare_mitigations.py"


rule attacks_compare_families:
    input:
        **ATTACKS.family_grids(),
        families=ATTACKS.fits,
    output:
        "<results>/scores/attacks/{dataset}/families.parquet",
        sidecar="<results>/provenance/attacks_compare_families/{dataset}.json",
    log:
        "<results>/logs/attacks_compare_families/{dataset}.log",
    benchmark:
        "<results>/benchmarks/attacks_compare_families/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("attacks_compare_families", env="statistics"),
        seed=config["seed"],
        arms=ATTACKS.arm_models(ATTACKS.family_grids()),
        sets=ATTACKS.config["families"]["sets"],
        attacks=ATTACKS.keys("fpr", "replicates", "permutations", "rmia"),
    script:
        "../../workflow_scripts/attacks/compare_families.py"


rule attacks_evaluate_inference:
    input:
        main=ATTACKS.grid("main"),
        settings=ATTACKS.grid("settings"),
        attribute=ATTACKS.attribute,
    output:
        tidy="<results>/scores/attacks/{dataset}/inference.parquet",
        roc="<results>/scores/attacks/{dataset}/inference_roc.parquet",
        sidecar="<results>/provenance/attacks_evaluate_inference/{dataset}.json",
    log:
        "<results>/logs/attacks_evaluate_inference/{dataset}.log",
    benchmark:
        "<results>/benchmarks/attacks_evaluate_inference/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("attacks_evaluate_inference", env="statistics"),
        seed=config["seed"],
        attacks=ATTACKS.keys("sets", "fpr", "replicates", "permutations", "inference"),
    script:
        "../../workflow_scripts/attacks/evaluate_inference.py"


rule attacks_average_datasets:
    input:
        attacks=ATTACKS.results["attacks"],
        families=ATTACKS.results["families"],
    output:
        **ATTACKS.family_means,
        average="<results>/scores/attacks/average.parquet",
        sidecar="<results>/provenance/attacks_average_datasets.json",
    log:
        "<results>/logs/attacks_average_datasets.log",
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("attacks_average_datasets", env="statistics"),
        published=RUN.published("attacks"),
        records={name: RUN.config["datasets"][name]["rows"] for name in ATTACKS.config["datasets"]},
    script:
        "../../workflow_scripts/attacks/average_datasets.py"

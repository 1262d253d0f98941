"""Memorization of rows by fine-tuned in-context models (paper: Probing Memorization of Tabular In-Context Learning)

INPUT   <results>/data/{dataset}/records.parquet, schema.json; a model folder
OUTPUT  <results>/signals/iclmem/{dataset}/splits.parquet           roles of the records in each numbered split
        <results>/signals/iclmem/{dataset}/reference_{labels}.nc    answers of the base model to every manipulation
        <results>/signals/iclmem/{task}/{arm}/{shard}.nc            answers of fine-tuned models; task: a table, or joint
        <results>/scores/iclmem/{task}/results.parquet              scores of every run and setting of a task
        <results>/scores/iclmem/outcomes.parquet                    decisions about all tasks together
        <results>/signals/iclmem/ground_truth/{dataset}/{arm}/{shard}.nc    answers of shadow models on random halves
        <results>/scores/iclmem/ground_truth.parquet                who is memorized, and what the probe sees of it
"""

ICLMEM = STUDIES["iclmem"]


rule iclmem_draw_splits:
    input:
        records="<results>/data/{dataset}/records.parquet",
    output:
        splits="<results>/signals/iclmem/{dataset}/splits.parquet",
        checks="<results>/signals/iclmem/{dataset}/splits.checks.parquet",
        sidecar="<results>/provenance/iclmem_draw_splits/{dataset}.json",
    log:
        "<results>/logs/iclmem_draw_splits/{dataset}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="30m",
    params:
        code=digest("iclmem_draw_splits", env="data"),
        seed=config["seed"],
        splits=ICLMEM.config["splits"],
        queries=lambda wildcards: ICLMEM.arms.query_counts(wildcards.dataset),
        context=lambda wildcards: ICLMEM.arms.context_counts(wildcards.dataset),
        placebos=lambda wildcards: ICLMEM.arms.control_count(wildcards.dataset),
        limits=lambda wildcards: config["datasets"][wildcards.dataset]["limits"],
    script:
        "../workflow_scripts/iclmem/draw_splits.py"


rule iclmem_probe_reference:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        splits="<results>/signals/iclmem/{dataset}/splits.parquet",
        model=ICLMEM.model_file("model.json"),
        weights=ICLMEM.model_file("weights"),
    output:
        "<results>/signals/iclmem/{dataset}/reference_{labels}.nc",
        sidecar="<results>/provenance/iclmem_probe_reference/{dataset}/{labels}.json",
    log:
        "<results>/logs/iclmem_probe_reference/{dataset}/{labels}.log",
    benchmark:
        "<results>/benchmarks/iclmem_probe_reference/{dataset}/{labels}.jsonl"
    wildcard_constraints:
        labels="normal|shuffled_members|shuffled_all|canaries",
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **ICLMEM.probe,
        code=digest("iclmem_probe_reference", env="tabular"),
        queries=lambda wildcards: ICLMEM.arms.probed_count(wildcards.dataset),
    script:
        "../workflow_scripts/iclmem/probe_reference.py"


rule iclmem_probe_tuned:
    input:
        records=ICLMEM.table_files("<results>/data/{dataset}/records.parquet"),
        schema=ICLMEM.table_files("<results>/data/{dataset}/schema.json"),
        splits=ICLMEM.table_files("<results>/signals/iclmem/{dataset}/splits.parquet"),
        canaries=ICLMEM.canaries,
        model=ICLMEM.model_file("model.json"),
        weights=ICLMEM.model_file("weights"),
    output:
        "<results>/signals/iclmem/{task}/{arm}/{shard}.nc",
        *ICLMEM.checkpoints,
        sidecar="<results>/provenance/iclmem_probe_tuned/{task}/{arm}/{shard}.json",
    log:
        "<results>/logs/iclmem_probe_tuned/{task}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/iclmem_probe_tuned/{task}/{arm}/{shard}.jsonl"
    wildcard_constraints:
        task="|".join(["joint", *config["datasets"]]),
        arm="|".join(ICLMEM.config["arms"]),
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="24h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **ICLMEM.probe,
        code=digest("iclmem_probe_tuned", env="tabular"),
        splits_per_job=ICLMEM.splits_per_job,
        queries=ICLMEM.config["targets"]["queries"],
        datasets=lambda wildcards: ICLMEM.arms.tables(wildcards.task, wildcards.arm),
        arm=lambda wildcards: ICLMEM.arms.settings(wildcards.task, wildcards.arm),
        keep_checkpoints=ICLMEM.config["keep_checkpoints"],
    script:
        "../workflow_scripts/iclmem/probe_tuned.py"


rule iclmem_judge_runs:
    input:
        unpack(ICLMEM.shards_by_arm),
        reference=ICLMEM.references,
    output:
        runs="<results>/scores/iclmem/{task}/runs.parquet",
        results="<results>/scores/iclmem/{task}/results.parquet",
        null="<results>/scores/iclmem/{task}/null.nc",
        sidecar="<results>/provenance/iclmem_judge_runs/{task}.json",
    log:
        "<results>/logs/iclmem_judge_runs/{task}.log",
    benchmark:
        "<results>/benchmarks/iclmem_judge_runs/{task}.jsonl"
    wildcard_constraints:
        task="|".join(["joint", *config["datasets"]]),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
    params:
        code=digest("iclmem_judge_runs", env="statistics"),
        seed=config["seed"],
        arms=ICLMEM.settings_by_arm,
        iclmem=ICLMEM.keys("fpr", "replicates", "permutations", "bins", "rules"),
    script:
        "../workflow_scripts/iclmem/judge_runs.py"


rule iclmem_decide_outcomes:
    input:
        runs=expand("<results>/scores/iclmem/{task}/runs.parquet", task=ICLMEM.arms.all_tasks),
        null=expand("<results>/scores/iclmem/{task}/null.nc", task=ICLMEM.arms.all_tasks),
    output:
        tidy="<results>/scores/iclmem/outcomes.parquet",
        sidecar="<results>/provenance/iclmem_decide_outcomes.json",
    log:
        "<results>/logs/iclmem_decide_outcomes.log",
    benchmark:
        "<results>/benchmarks/iclmem_decide_outcomes.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000, ICLMEM.decision_memory),
        runtime="4h",
    params:
        code=digest("iclmem_decide_outcomes", env="statistics"),
        seed=config["seed"],
        iclmem=ICLMEM.keys("fpr", "replicates", "rules", "doses"),
        published=RUN.published("iclmem"),
    script:
        "../workflow_scripts/iclmem/decide_outcomes.py"


rule iclmem_probe_shadows:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        splits="<results>/signals/iclmem/{dataset}/splits.parquet",
        model=ICLMEM.model_file("model.json"),
        weights=ICLMEM.model_file("weights"),
    output:
        "<results>/signals/iclmem/ground_truth/{dataset}/{arm}/{shard}.nc",
        sidecar="<results>/provenance/iclmem_probe_shadows/{dataset}/{arm}/{shard}.json",
    log:
        "<results>/logs/iclmem_probe_shadows/{dataset}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/iclmem_probe_shadows/{dataset}/{arm}/{shard}.jsonl"
    wildcard_constraints:
        arm="|".join(ICLMEM.config["arms"]),
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **ICLMEM.probe,
        code=digest("iclmem_probe_shadows", env="tabular"),
        ground_truth=ICLMEM.config["ground_truth"],
        arm=lambda wildcards: ICLMEM.arms.shadow_settings(wildcards.dataset, wildcards.arm),
    script:
        "../workflow_scripts/iclmem/probe_shadows.py"


rule iclmem_judge_shadows:
    input:
        ICLMEM.ground_truth.shards,
    output:
        tidy="<results>/scores/iclmem/ground_truth.parquet",
        sidecar="<results>/provenance/iclmem_judge_shadows.json",
    log:
        "<results>/logs/iclmem_judge_shadows.log",
    benchmark:
        "<results>/benchmarks/iclmem_judge_shadows.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000, ICLMEM.ground_truth.judging_memory),
        runtime="2h",
    params:
        **ICLMEM.keys("permutations", "replicates"),
        code=digest("iclmem_judge_shadows", env="statistics"),
        seed=config["seed"],
        arms=ICLMEM.ground_truth.arms,
    script:
        "../workflow_scripts/iclmem/judge_shadows.py"

"""Does a fine-tuned in-context model memorize rows? Splits, the base model's answers and those of fine-tuned ones
(paper: Probing Memorization of Tabular In-Context Learning, Section 4, Appendices A and D).

INPUT   <results>/data/{dataset}/records.parquet, schema.json; a model folder
OUTPUT  <results>/signals/iclmem/{dataset}/splits.parquet           who is fine-tuned on, in each numbered split
        <results>/signals/iclmem/{dataset}/reference_{labels}.nc    what the base model says under every manipulation
        <results>/signals/iclmem/{task}/{arm}/{shard}.nc            what fine-tuned models say; task: a table, or joint
"""


include: "iclmem_common.smk"


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
        splits=ICLMEM["splits"],
        queries=lambda wildcards: iclmem_queries(wildcards.dataset),
        context=lambda wildcards: iclmem_contexts(wildcards.dataset),
        placebos=lambda wildcards: iclmem_placebos(wildcards.dataset),
        limits=lookup("datasets/{dataset}/limits", within=config),
    script:
        "../workflow_scripts/iclmem/draw_splits.py"


rule iclmem_probe_reference:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        splits="<results>/signals/iclmem/{dataset}/splits.parquet",
        model=iclmem_model_file("model.json"),
        weights=iclmem_model_file("weights"),
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
        **ICLMEM_PROBE,
        code=digest("iclmem_probe_reference", env="tabular"),
        queries=lambda wildcards: iclmem_probed(wildcards.dataset),
    script:
        "../workflow_scripts/iclmem/probe_reference.py"


rule iclmem_probe_tuned:
    input:
        records=iclmem_files("<results>/data/{dataset}/records.parquet"),
        schema=iclmem_files("<results>/data/{dataset}/schema.json"),
        splits=iclmem_files("<results>/signals/iclmem/{dataset}/splits.parquet"),
        canaries=iclmem_canaries,
        model=iclmem_model_file("model.json"),
        weights=iclmem_model_file("weights"),
    output:
        "<results>/signals/iclmem/{task}/{arm}/{shard}.nc",
        *ICLMEM_CHECKPOINTS,
        sidecar="<results>/provenance/iclmem_probe_tuned/{task}/{arm}/{shard}.json",
    log:
        "<results>/logs/iclmem_probe_tuned/{task}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/iclmem_probe_tuned/{task}/{arm}/{shard}.jsonl"
    wildcard_constraints:
        task="|".join(["joint", *config["datasets"]]),
        arm="|".join(ICLMEM["arms"]),
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **ICLMEM_PROBE,
        code=digest("iclmem_probe_tuned", env="tabular"),
        splits_per_job=ICLMEM["splits_per_job"],
        queries=ICLMEM["targets"]["queries"],
        datasets=lambda wildcards: iclmem_tables(wildcards.task, wildcards.arm),
        arm=lambda wildcards: iclmem_arm(wildcards.task, wildcards.arm),
        keep_checkpoints=ICLMEM["keep_checkpoints"],
    script:
        "../workflow_scripts/iclmem/probe_tuned.py"


include: "iclmem_evaluate.smk"
include: "iclmem_shown.smk"
include: "iclmem_views.smk"

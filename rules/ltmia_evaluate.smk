"""Classifiers that learn what membership looks like, and how well they and the baselines do elsewhere.

INPUT   <results>/signals/ltmia/{model}/{shard}.npy, .parquet
OUTPUT  <results>/models/ltmia_attack/{classifier}.safetensors, .json     a classifier with its card
        <results>/scores/ltmia/*.parquet                                  scores and tidy results
        <results>/ltmia_attack/verdicts.csv                               `snakemake ltmia_attack`: texts of one's own
"""


localrules:
    ltmia_attack,


rule ltmia_train_attack:
    input:
        rows=ltmia_files("npy"),
        scores=ltmia_files("parquet"),
    output:
        weights="<results>/models/ltmia_attack/{classifier}.safetensors",
        card="<results>/models/ltmia_attack/{classifier}.json",
        scores="<results>/scores/ltmia/classifiers/{classifier}.parquet",
        sidecar="<results>/provenance/ltmia_train_attack/{classifier}.json",
    log:
        "<results>/logs/ltmia_train_attack/{classifier}.log",
    benchmark:
        "<results>/benchmarks/ltmia_train_attack/{classifier}.jsonl"
    wildcard_constraints:
        classifier="|".join(LTMIA["classifiers"]),
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
        gpu=1,
    params:
        **LTMIA_FITTING,
        code=digest("ltmia_train_attack", env="tabular"),
        arm=lambda wildcards: ltmia_fitting(wildcards.classifier)["arm"],
        architecture=lambda wildcards: ltmia_fitting(wildcards.classifier)["architecture"],
        fitting=lambda wildcards: ltmia_fitting(wildcards.classifier)["fitting"],
    script:
        "../workflow_scripts/ltmia/train_attack.py"


rule ltmia_measure_diversity:
    input:
        rows=ltmia_files("npy"),
        scores=ltmia_files("parquet"),
    output:
        "<results>/scores/ltmia/diversity_scores.parquet",
        sidecar="<results>/provenance/ltmia_measure_diversity.json",
    log:
        "<results>/logs/ltmia_measure_diversity.log",
    benchmark:
        "<results>/benchmarks/ltmia_measure_diversity.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
        gpu=1,
    params:
        **LTMIA_FITTING,
        **ltmia_diverse(),
        code=digest("ltmia_measure_diversity", env="tabular"),
        samples=LTMIA["diversity"]["samples"],
        combinations=LTMIA["diversity"]["combinations"],
        draws=LTMIA["diversity"]["draws"],
        held_out=LTMIA_HELD_OUT,
    script:
        "../workflow_scripts/ltmia/measure_diversity.py"


rule ltmia_permute_features:
    input:
        weights=f"<results>/models/ltmia_attack/{LTMIA_ATTACK}.safetensors",
        card=f"<results>/models/ltmia_attack/{LTMIA_ATTACK}.json",
        rows=ltmia_files("npy", LTMIA_HELD_OUT),
        scores=ltmia_files("parquet", LTMIA_HELD_OUT),
    output:
        "<results>/scores/ltmia/permuted_scores.parquet",
        sidecar="<results>/provenance/ltmia_permute_features.json",
    log:
        "<results>/logs/ltmia_permute_features.log",
    benchmark:
        "<results>/benchmarks/ltmia_permute_features.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="4h",
        gpu=1,
    params:
        **LTMIA["importance"],
        code=digest("ltmia_permute_features", env="tabular"),
        seed=config["seed"],
        combinations=LTMIA_HELD_OUT,
    script:
        "../workflow_scripts/ltmia/permute_features.py"


rule ltmia_judge_attacks:
    input:
        targets=ltmia_files("parquet"),
        facts=ltmia_files("json"),
        corpora="<results>/scores/ltmia/corpora.parquet",
        classifiers=expand("<results>/scores/ltmia/classifiers/{name}.parquet", name=LTMIA["classifiers"]),
        diversity="<results>/scores/ltmia/diversity_scores.parquet",
        permuted="<results>/scores/ltmia/permuted_scores.parquet",
    output:
        results="<results>/scores/ltmia/results.parquet",
        roc="<results>/scores/ltmia/roc.parquet",
        sidecar="<results>/provenance/ltmia_judge_attacks.json",
    log:
        "<results>/logs/ltmia_judge_attacks.log",
    benchmark:
        "<results>/benchmarks/ltmia_judge_attacks.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
    params:
        code=digest("ltmia_judge_attacks", env="statistics"),
        seed=config["seed"],
        replicates=LTMIA["replicates"],
        fpr=LTMIA_FPRS,
        training=LTMIA_TRAINING,
        held_out=LTMIA_HELD_OUT,
        controls=LTMIA_CONTROLS,
        families=LTMIA_FAMILIES,
        contents={name: config["datasets"][name]["content"] for name in LTMIA_CORPORA},
        ways={name: ltmia_way(name) for name in LTMIA["tunings"]},
        samples=LTMIA["diversity"]["samples"],
        classifiers=list(LTMIA["classifiers"]),
        published=PUBLISHED["ltmia"],
    script:
        "../workflow_scripts/ltmia/judge_attacks.py"


rule ltmia_attack_texts:
    input:
        target=ltmia_own("target", "config.json"),
        base=ltmia_own("base", "config.json"),
        texts=ltmia_own("texts", ""),
        weights=f"<results>/models/ltmia_attack/{LTMIA_ATTACK}.safetensors",
        card=f"<results>/models/ltmia_attack/{LTMIA_ATTACK}.json",
        held_out=f"<results>/scores/ltmia/classifiers/{LTMIA_ATTACK}.parquet",
    output:
        "<results>/ltmia_attack/verdicts.csv",
        sidecar="<results>/provenance/ltmia_attack_texts.json",
    log:
        "<results>/logs/ltmia_attack_texts.log",
    benchmark:
        "<results>/benchmarks/ltmia_attack_texts.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="4h",
        gpu=1,
    params:
        code=digest("ltmia_attack_texts", env="tabular"),
        columns=(LTMIA["attack"] or {}).get("columns"),
        held_out=LTMIA_HELD_OUT,
    script:
        "../workflow_scripts/ltmia/attack_texts.py"


rule ltmia_attack:
    input:
        ltmia_attack_target,

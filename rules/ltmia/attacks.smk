"""Classifiers that learn what membership looks like, and how well they and the baselines do elsewhere.

INPUT   <results>/signals/ltmia/{model}/{shard}.npy, .parquet
OUTPUT  <results>/models/ltmia_attack/{classifier}.safetensors, .json     a classifier with its card
        <results>/scores/ltmia/*.parquet                                  scores and tidy results
        <results>/ltmia_attack/verdicts.csv, .txt                         `snakemake ltmia_attack`: texts of one's own
"""


localrules:
    ltmia_attack,


rule ltmia_train_attack:
    input:
        rows=LTMIA.files("npy", LTMIA.training),
        scores=LTMIA.files("parquet", LTMIA.training),
        other_rows=LTMIA.other_files("npy"),
        other_scores=LTMIA.other_files("parquet"),
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
        classifier="|".join(LTMIA.config["classifiers"]),
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(LTMIA.beside, LTMIA.null_memory),
        runtime="24h",
        gpu=1,
    params:
        **LTMIA.fitting(),
        code=digest("ltmia_train_attack", env="tabular"),
        arm=LTMIA.arm,
        architecture=LTMIA.architecture,
        fitting=LTMIA.classifier_training,
        choice=LTMIA.choice,
        seeds=LTMIA.config["seeds"],
        shuffles=LTMIA.shuffles,
        held_out=LTMIA.held_out,
    script:
        "../../workflow_scripts/ltmia/train_attack.py"


rule ltmia_measure_diversity:
    input:
        rows=LTMIA.files("npy"),
        scores=LTMIA.files("parquet"),
    output:
        "<results>/scores/ltmia/diversity_scores.parquet",
        sidecar="<results>/provenance/ltmia_measure_diversity.json",
    log:
        "<results>/logs/ltmia_measure_diversity.log",
    benchmark:
        "<results>/benchmarks/ltmia_measure_diversity.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
        gpu=1,
    params:
        **LTMIA.fitting(),
        **LTMIA.diverse(),
        code=digest("ltmia_measure_diversity", env="tabular"),
        samples=LTMIA.config["diversity"]["samples"],
        combinations=LTMIA.config["diversity"]["combinations"],
        draws=LTMIA.config["diversity"]["draws"],
        held_out=LTMIA.held_out,
    script:
        "../../workflow_scripts/ltmia/measure_diversity.py"


rule ltmia_permute_features:
    input:
        weights=f"<results>/models/ltmia_attack/{LTMIA.attack}.safetensors",
        card=f"<results>/models/ltmia_attack/{LTMIA.attack}.json",
        rows=LTMIA.files("npy", LTMIA.held_out),
        scores=LTMIA.files("parquet", LTMIA.held_out),
    output:
        "<results>/scores/ltmia/importance_scores.parquet",
        sidecar="<results>/provenance/ltmia_permute_features.json",
    log:
        "<results>/logs/ltmia_permute_features.log",
    benchmark:
        "<results>/benchmarks/ltmia_permute_features.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="4h",
        gpu=1,
    params:
        **LTMIA.config["importance"],
        code=digest("ltmia_permute_features", env="tabular"),
        seed=config["seed"],
        combinations=LTMIA.held_out,
    script:
        "../../workflow_scripts/ltmia/permute_features.py"


rule ltmia_judge_attacks:
    input:
        targets=LTMIA.files("parquet"),
        facts=LTMIA.files("json"),
        bases=expand("<results>/models/ltmia/{model}/training.json", model=LTMIA.models),
        texts="<results>/data/ltmia/texts.parquet",
        classifiers=expand("<results>/scores/ltmia/classifiers/{name}.parquet", name=LTMIA.config["classifiers"]),
    output:
        results="<results>/scores/ltmia/results.parquet",
        roc="<results>/scores/ltmia/roc.parquet",
        sidecar="<results>/provenance/ltmia_judge_attacks.json",
    log:
        "<results>/logs/ltmia_judge_attacks.log",
    benchmark:
        "<results>/benchmarks/ltmia_judge_attacks.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000, LTMIA.judging_memory),
        runtime="4h",
    params:
        code=digest("ltmia_judge_attacks", env="statistics"),
        seed=config["seed"],
        replicates=LTMIA.config["replicates"],
        fpr=LTMIA.fprs,
        models=LTMIA.models,
        training=LTMIA.training,
        held_out=LTMIA.held_out,
        controls=LTMIA.controls,
        families=LTMIA.families,
        contents=LTMIA.contents(),
        ways=LTMIA.ways(),
        classifiers=list(LTMIA.config["classifiers"]),
        size=LTMIA.setting(),
        published=RUN.published("ltmia"),
    script:
        "../../workflow_scripts/ltmia/judge_attacks.py"


rule ltmia_judge_sensitivity:
    input:
        scores="<results>/scores/ltmia/{part}_scores.parquet",
        results="<results>/scores/ltmia/results.parquet",
    output:
        "<results>/scores/ltmia/{part}.parquet",
        sidecar="<results>/provenance/ltmia_judge_sensitivity/{part}.json",
    log:
        "<results>/logs/ltmia_judge_sensitivity/{part}.log",
    benchmark:
        "<results>/benchmarks/ltmia_judge_sensitivity/{part}.jsonl"
    wildcard_constraints:
        part="diversity|importance",
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000, LTMIA.sensitivity_memory),
        runtime="4h",
    params:
        code=digest("ltmia_judge_sensitivity", env="statistics"),
        seed=config["seed"],
        replicates=LTMIA.config["replicates"],
        fpr=LTMIA.fprs,
        training=LTMIA.training,
        held_out=LTMIA.held_out,
        families=LTMIA.families,
        contents=LTMIA.contents(),
        ways=LTMIA.ways(),
        samples=LTMIA.config["diversity"]["samples"],
    script:
        "../../workflow_scripts/ltmia/judge_sensitivity.py"


rule ltmia_attack_texts:
    input:
        target=LTMIA.own("target", "config.json"),
        base=LTMIA.own("base", "config.json"),
        texts=LTMIA.own("texts"),
        nonmembers=LTMIA.own("nonmembers"),
        weights=f"<results>/models/ltmia_attack/{LTMIA.attack}.safetensors",
        card=f"<results>/models/ltmia_attack/{LTMIA.attack}.json",
        held_out=f"<results>/scores/ltmia/classifiers/{LTMIA.attack}.parquet",
    output:
        "<results>/ltmia_attack/verdicts.csv",
        "<results>/ltmia_attack/verdicts.txt",
        sidecar="<results>/provenance/ltmia_attack_texts.json",
    log:
        "<results>/logs/ltmia_attack_texts.log",
    benchmark:
        "<results>/benchmarks/ltmia_attack_texts.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="4h",
        gpu=1,
    params:
        **LTMIA.own_params(),
        code=digest("ltmia_attack_texts", env="tabular"),
        held_out=LTMIA.held_out,
    script:
        "../../workflow_scripts/ltmia/attack_texts.py"


rule ltmia_attack:
    input:
        LTMIA.verdicts,

"""Checkpoints: fetched once, the same folder for every origin; and the training of the one that is shipped.

INPUT   config/models.yaml, a local checkpoint, a hub, or the name of an estimator
OUTPUT  <results>/models/{model}/weights/, model.json
        <results>/pretrained/{model}/   (`make pretrain`; resources/{model} is a copy of it)
"""

MODELS = STUDIES["models"]


localrules:
    models_fetch_checkpoint,
    pretrain,


rule models_fetch_checkpoint:
    input:
        # A checkout gives every file a new mtime; the checksum says whether the weights changed.
        ancient(MODELS.checkpoint),
    output:
        card="<results>/models/{model}/model.json",
        weights=directory("<results>/models/{model}/weights"),
        sidecar="<results>/provenance/models_fetch_checkpoint/{model}.json",
    log:
        "<results>/logs/models_fetch_checkpoint/{model}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime="30m",
    params:
        code=digest("models_fetch_checkpoint", env="data"),
        entry=lambda wildcards: RUN.model_entry(wildcards.model),
        weights=MODELS.checksum,
    script:
        "../workflow_scripts/models/fetch_checkpoint.py"


rule models_pretrain_tabicl:
    output:
        "<results>/pretrained/{model}/{model}.ckpt",
        "<results>/pretrained/{model}/model.json",
        sidecar="<results>/provenance/models_pretrain_tabicl/{model}.json",
    log:
        "<results>/logs/models_pretrain_tabicl/{model}.log",
    benchmark:
        "<results>/benchmarks/models_pretrain_tabicl/{model}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
    params:
        code=digest("models_pretrain_tabicl", env="tabular"),
        settings=MODELS.pretraining,
    script:
        "../workflow_scripts/models/pretrain_tabicl.py"


rule models_evaluate_tabicl:
    input:
        "<results>/pretrained/{model}/{model}.ckpt",
        "<results>/pretrained/{model}/model.json",
    output:
        "<results>/pretrained/{model}/benchmark.json",
        "<results>/pretrained/{model}/README.md",
        sidecar="<results>/provenance/models_evaluate_tabicl/{model}.json",
    log:
        "<results>/logs/models_evaluate_tabicl/{model}.log",
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="1h",
    params:
        code=digest("models_evaluate_tabicl", env="tabular"),
        csv_folder=config["pretrain"]["tables"],
        seed=0,
        splits=5,
        rows=1000,
    script:
        "../workflow_scripts/models/evaluate_tabicl.py"


rule models_pretrain_text:
    output:
        directory("<results>/pretrained/text-small"),
        sidecar="<results>/provenance/models_pretrain_text.json",
    log:
        "<results>/logs/models_pretrain_text.log",
    benchmark:
        "<results>/benchmarks/models_pretrain_text.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
    params:
        code=digest("models_pretrain_text", env="tabular"),
        settings=config["pretrain"]["text"],
        contexts=8,
    script:
        "../workflow_scripts/models/pretrain_text.py"


rule pretrain:
    input:
        rules.models_pretrain_text.output,
        expand("<results>/pretrained/{model}/model.json", model=config["pretrain"]["models"]),
        expand(
            "<results>/pretrained/{model}/README.md",
            model=config["pretrain"]["models"] if config["pretrain"]["tables"] else [],
        ),

"""Checkpoints: fetched once, the same folder for every origin; and the training of the one that is shipped.

INPUT   config/models.yaml, a local checkpoint or a hub
OUTPUT  <results>/models/{model}/weights.ckpt, model.json
"""


def local_checkpoint(wildcards):
    path = config["models"][wildcards.model]["path"]
    # A checkout gives every file a new mtime; the checksum in params tells whether the weights changed.
    return ancient(Path(workflow.basedir, path)) if path else []


localrules:
    models_fetch_checkpoint,


rule models_fetch_checkpoint:
    input:
        local_checkpoint,
    output:
        card="<results>/models/{model}/model.json",
        weights="<results>/models/{model}/weights.ckpt",
        sidecar="<results>/provenance/models_fetch_checkpoint/{model}.json",
    log:
        "<results>/logs/models_fetch_checkpoint/{model}.log",
    retries: 3
    conda:
        "../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime="30m",
    params:
        code=digest("models_fetch_checkpoint", env="tabular"),
        entry=lookup("models/{model}", within=config),
    script:
        "../workflow_scripts/models_fetch_checkpoint.py"

"""Which records will be memorized, and who can tell early in training? Models of every setting, and their predictors
(paper: Predicting memorization within Large Language Models fine-tuned for classification, Sections 3 to 5).

INPUT   <results>/data/{dataset}/records.parquet, schema.json; or a user's images or questions; a model folder
OUTPUT  <results>/signals/predict/{case}/records.nc             what is read of each record, flags, who trains on it
        <results>/signals/predict/{case}/{shard}.signals.nc     losses and logit gaps of every model and checkpoint
        <results>/signals/predict/{case}/{shard}.states.nc      hidden states of the targets, every layer
        <results>/signals/predict/{case}/scores.nc              what foretells memorization
"""


include: "predict_common.smk"


rule predict_prepare_setting:
    input:
        records=predict_table("records.parquet"),
        schema=predict_table("schema.json"),
        key=predict_key,
        source=predict_source,
        model=predict_tokenizer("model.json"),
        checkpoint=predict_tokenizer("weights"),
    output:
        records="<results>/signals/predict/{case}/records.nc",
        weights="<results>/signals/predict/{case}/base.safetensors",
        sidecar="<results>/provenance/predict_prepare_setting/{case}.json",
    log:
        "<results>/logs/predict_prepare_setting/{case}.log",
    benchmark:
        "<results>/benchmarks/predict_prepare_setting/{case}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("predict_prepare_setting", env="tabular"),
        seed=config["seed"],
        setting=predict_setting("data", "network", "max_records", "label_noise", "canaries", "models", "targets"),
    script:
        "../workflow_scripts/predict/prepare_setting.py"


rule predict_train_shadows:
    input:
        records="<results>/signals/predict/{case}/records.nc",
        weights="<results>/signals/predict/{case}/base.safetensors",
        model=predict_model("model.json"),
        checkpoint=predict_model("weights"),
    output:
        signals="<results>/signals/predict/{case}/{shard}.signals.nc",
        states="<results>/signals/predict/{case}/{shard}.states.nc",
        sidecar="<results>/provenance/predict_train_shadows/{case}/{shard}.json",
    log:
        "<results>/logs/predict_train_shadows/{case}/{shard}.log",
    benchmark:
        "<results>/benchmarks/predict_train_shadows/{case}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(PREDICT_MEMORY),
        runtime="24h",
        gpu=1,
    params:
        code=digest("predict_train_shadows", env="tabular"),
        seed=config["seed"],
        setting=predict_setting("network", "training", "models", "targets", "shard"),
    script:
        "../workflow_scripts/predict/train_shadows.py"


rule predict_score_records:
    input:
        records="<results>/signals/predict/{case}/records.nc",
        signals=predict_signals("signals.nc", of_targets=True),
        states=predict_signals("states.nc", of_targets=True),
    output:
        "<results>/signals/predict/{case}/scores.nc",
        sidecar="<results>/provenance/predict_score_records/{case}.json",
    log:
        "<results>/logs/predict_score_records/{case}.log",
    benchmark:
        "<results>/benchmarks/predict_score_records/{case}.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="12h",
    params:
        **predict_leaves("drop", "scoring"),
        code=digest("predict_score_records", env="statistics"),
        seed=config["seed"],
        targets=predict_leaf("targets"),
        interrupt=predict_leaf("interrupt"),
    script:
        "../workflow_scripts/predict/score_records.py"


include: "predict_evaluate.smk"
include: "predict_views.smk"

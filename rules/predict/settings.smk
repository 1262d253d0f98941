"""Early prediction of the records that a model will memorize: models of every setting, and their predictors
(paper: Predicting memorization within Large Language Models fine-tuned for classification, Sections 3 to 5).

INPUT   <results>/data/{dataset}/records.parquet, schema.json; or a user's images or questions; a model folder
OUTPUT  <results>/signals/predict/{case}/records.nc             what models read of each record, flags, training members
        <results>/signals/predict/{case}/{shard}.signals.nc     losses and logit gaps of every model and checkpoint
        <results>/signals/predict/{case}/{shard}.states.nc      hidden states of the targets, every layer
        <results>/signals/predict/{case}/scores.nc              predictors of memorization
"""

PREDICT = STUDIES["predict"]


wildcard_constraints:
    case="|".join(PREDICT.settings) or "-",


rule predict_prepare_setting:
    input:
        records=PREDICT.table("records.parquet"),
        schema=PREDICT.table("schema.json"),
        key=PREDICT.key,
        source=PREDICT.source,
        model=PREDICT.tokenizer("model.json"),
        checkpoint=PREDICT.tokenizer("weights"),
    output:
        records="<results>/signals/predict/{case}/records.nc",
        weights="<results>/signals/predict/{case}/base.safetensors",
        sidecar="<results>/provenance/predict_prepare_setting/{case}.json",
    log:
        "<results>/logs/predict_prepare_setting/{case}.log",
    benchmark:
        "<results>/benchmarks/predict_prepare_setting/{case}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("predict_prepare_setting", env="tabular"),
        seed=config["seed"],
        setting=PREDICT.setting("data", "network", "max_records", "label_noise", "canaries", "models", "targets"),
    script:
        "../../workflow_scripts/predict/prepare_setting.py"


rule predict_train_shadows:
    input:
        records="<results>/signals/predict/{case}/records.nc",
        weights="<results>/signals/predict/{case}/base.safetensors",
        model=PREDICT.model("model.json"),
        checkpoint=PREDICT.model("weights"),
    output:
        signals="<results>/signals/predict/{case}/{shard}.signals.nc",
        states="<results>/signals/predict/{case}/{shard}.states.nc",
        sidecar="<results>/provenance/predict_train_shadows/{case}/{shard}.json",
    log:
        "<results>/logs/predict_train_shadows/{case}/{shard}.log",
    benchmark:
        "<results>/benchmarks/predict_train_shadows/{case}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(PREDICT.training_memory),
        runtime="24h",
        gpu=1,
    params:
        code=digest("predict_train_shadows", env="tabular"),
        seed=config["seed"],
        setting=PREDICT.setting("network", "training", "models", "targets", "shard"),
    script:
        "../../workflow_scripts/predict/train_shadows.py"


rule predict_score_records:
    input:
        records="<results>/signals/predict/{case}/records.nc",
        signals=PREDICT.target_signals,
        states=PREDICT.target_states,
    output:
        "<results>/signals/predict/{case}/scores.nc",
        sidecar="<results>/provenance/predict_score_records/{case}.json",
    log:
        "<results>/logs/predict_score_records/{case}.log",
    benchmark:
        "<results>/benchmarks/predict_score_records/{case}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(8000),
        runtime="12h",
    params:
        **PREDICT.keys("tolerance", "scoring"),
        code=digest("predict_score_records", env="statistics"),
        seed=config["seed"],
        targets=PREDICT.setting_value("targets"),
        drop=PREDICT.drop,
        interrupt=PREDICT.setting_value("interrupt"),
    script:
        "../../workflow_scripts/predict/score_records.py"

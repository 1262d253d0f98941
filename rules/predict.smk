"""Early prediction of the records that a model will memorize: models of every setting, and their predictors
(paper: Predicting memorization within Large Language Models fine-tuned for classification, Sections 3 to 5).

INPUT   <results>/data/{dataset}/records.parquet, schema.json; or a user's images or questions; a model folder
        for `snakemake predict_own` the section `own` and the user's files
OUTPUT  <results>/signals/predict/{case}/records.nc             what models read of each record, flags, training members
        <results>/signals/predict/{case}/{shard}.signals.nc     losses and logit gaps of every model and checkpoint
        <results>/signals/predict/{case}/{shard}.states.nc      hidden states of the targets, every layer
        <results>/signals/predict/{case}/scores.nc              predictors of memorization
        <results>/scores/predict/{case}/*.parquet, <results>/scores/predict/theorem.parquet    tidy results
        <results>/scores/predict/{case}/recommended.json        the paper's Table 1, as measured
        <results>/scores/predict/learned.parquet, recommended.json    a predictor learned from all settings
        <results>/own/{name}/risk.parquet, risk.csv, risk.md    a ranked list, for its owner alone
"""

PREDICT = STUDIES["predict"]


localrules:
    predict_own,


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
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("predict_prepare_setting", env="tabular"),
        seed=config["seed"],
        setting=PREDICT.setting("data", "network", "max_records", "label_noise", "canaries", "models", "targets"),
    script:
        "../workflow_scripts/predict/prepare_setting.py"


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
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(PREDICT.memory),
        runtime="24h",
        gpu=1,
    params:
        code=digest("predict_train_shadows", env="tabular"),
        seed=config["seed"],
        setting=PREDICT.setting("network", "training", "models", "targets", "shard"),
    script:
        "../workflow_scripts/predict/train_shadows.py"


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
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="12h",
    params:
        **PREDICT.keys("tolerance", "scoring"),
        code=digest("predict_score_records", env="statistics"),
        seed=config["seed"],
        targets=PREDICT.setting_value("targets"),
        drop=PREDICT.drop,
        interrupt=PREDICT.setting_value("interrupt"),
    script:
        "../workflow_scripts/predict/score_records.py"


rule predict_judge_predictors:
    input:
        records="<results>/signals/predict/{case}/records.nc",
        scores="<results>/signals/predict/{case}/scores.nc",
        signals=PREDICT.signals,
    output:
        tidy="<results>/scores/predict/{case}/predictors.parquet",
        roc="<results>/scores/predict/{case}/roc.parquet",
        records="<results>/scores/predict/{case}/by_record.parquet",
        recommended="<results>/scores/predict/{case}/recommended.json",
        sidecar="<results>/provenance/predict_judge_predictors/{case}.json",
    log:
        "<results>/logs/predict_judge_predictors/{case}.log",
    benchmark:
        "<results>/benchmarks/predict_judge_predictors/{case}.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(PREDICT.memory // 2),
        runtime="4h",
    params:
        **PREDICT.keys("tolerance", "memorized", "thresholds", "fpr", "tpr", "replicates"),
        code=digest("predict_judge_predictors", env="statistics"),
        seed=config["seed"],
        drop=PREDICT.drop,
        interrupt=PREDICT.setting_value("interrupt"),
    script:
        "../workflow_scripts/predict/judge_predictors.py"


rule predict_average_settings:
    input:
        PREDICT.results["predictors"],
    output:
        "<results>/scores/predict/average.parquet",
        sidecar="<results>/provenance/predict_average_settings.json",
    log:
        "<results>/logs/predict_average_settings.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        **PREDICT.keys("memorized"),
        code=digest("predict_average_settings", env="statistics"),
        published=RUN.published("predict"),
    script:
        "../workflow_scripts/predict/average_settings.py"


rule predict_learn_predictor:
    input:
        records=PREDICT.of_all_settings("records.nc"),
        scores=PREDICT.of_all_settings("scores.nc"),
        signals=PREDICT.all_signals,
    output:
        tidy="<results>/scores/predict/learned.parquet",
        recommended="<results>/scores/predict/recommended.json",
        sidecar="<results>/provenance/predict_learn_predictor.json",
    log:
        "<results>/logs/predict_learn_predictor.log",
    benchmark:
        "<results>/benchmarks/predict_learn_predictor.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(PREDICT.memory // 2),
        runtime="4h",
    params:
        **PREDICT.keys("memorized", "replicates"),
        code=digest("predict_learn_predictor", env="statistics"),
        sources=PREDICT.sources,
        seed=config["seed"],
    script:
        "../workflow_scripts/predict/learn_predictor.py"


rule predict_simulate_theorem:
    output:
        "<results>/scores/predict/theorem.parquet",
        sidecar="<results>/provenance/predict_simulate_theorem.json",
    log:
        "<results>/logs/predict_simulate_theorem.log",
    benchmark:
        "<results>/benchmarks/predict_simulate_theorem.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="1h",
    params:
        code=digest("predict_simulate_theorem", env="statistics"),
        seed=config["seed"],
        theorem=PREDICT.config["theorem"],
    script:
        "../workflow_scripts/predict/simulate_theorem.py"


rule predict_rank_own:
    input:
        records=PREDICT.own_file("records"),
        states=PREDICT.own_file("states"),
        results=PREDICT.own_recommendation,
    output:
        ranked="<results>/own/{name}/risk.parquet",
        csv="<results>/own/{name}/risk.csv",
        page="<results>/own/{name}/risk.md",
        sidecar="<results>/provenance/predict_rank_own/{name}.json",
    log:
        "<results>/logs/predict_rank_own/{name}.log",
    benchmark:
        "<results>/benchmarks/predict_rank_own/{name}.jsonl"
    wildcard_constraints:
        name=PREDICT.own_name,
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("predict_rank_own", env="statistics"),
        seed=config["seed"],
        directions=PREDICT.own_scoring("directions"),
        accuracy=PREDICT.own_scoring("accuracy"),
        dimensions=PREDICT.own_scoring("dimensions"),
        classes=PREDICT.own_classes,
        predictor=PREDICT.own_predictor,
    script:
        "../workflow_scripts/predict/rank_own.py"


rule predict_own:
    input:
        PREDICT.own_target,

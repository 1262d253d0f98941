"""What the predictors of settings.smk are worth, what is learned from all of them, and a ranking of own records.

INPUT   <results>/signals/predict/{case}/*.nc; for `snakemake predict_own` the section `own` and the user's files
OUTPUT  <results>/scores/predict/{case}/*.parquet, <results>/scores/predict/theorem.parquet    tidy results
        <results>/scores/predict/{case}/recommended.json        the paper's Table 1, as measured
        <results>/scores/predict/learned.parquet, recommended.json    a predictor learned from all settings
        <results>/own/{name}/risk.parquet, risk.csv, risk.md    a ranked list, for its owner alone
"""


localrules:
    predict_own,


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
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(PREDICT.judging_memory),
        runtime="4h",
    params:
        **PREDICT.keys("tolerance", "memorized", "thresholds", "fpr", "tpr", "replicates"),
        code=digest("predict_judge_predictors", env="statistics"),
        seed=config["seed"],
        drop=PREDICT.drop,
        interrupt=PREDICT.setting_value("interrupt"),
    script:
        "../../workflow_scripts/predict/judge_predictors.py"


rule predict_average_settings:
    input:
        PREDICT.results["predictors"],
    output:
        "<results>/scores/predict/average.parquet",
        sidecar="<results>/provenance/predict_average_settings.json",
    log:
        "<results>/logs/predict_average_settings.log",
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        **PREDICT.keys("memorized"),
        code=digest("predict_average_settings", env="statistics"),
        published=RUN.published("predict"),
    script:
        "../../workflow_scripts/predict/average_settings.py"


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
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(PREDICT.judging_memory),
        runtime="4h",
    params:
        **PREDICT.keys("memorized", "replicates"),
        code=digest("predict_learn_predictor", env="statistics"),
        sources=PREDICT.sources,
        seed=config["seed"],
    script:
        "../../workflow_scripts/predict/learn_predictor.py"


rule predict_simulate_theorem:
    output:
        "<results>/scores/predict/theorem.parquet",
        sidecar="<results>/provenance/predict_simulate_theorem.json",
    log:
        "<results>/logs/predict_simulate_theorem.log",
    benchmark:
        "<results>/benchmarks/predict_simulate_theorem.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(6000),
        runtime=grows(180),
    params:
        code=digest("predict_simulate_theorem", env="statistics"),
        seed=config["seed"],
        theorem=PREDICT.config["theorem"],
    script:
        "../../workflow_scripts/predict/simulate_theorem.py"


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
        "../../envs/statistics.yaml"
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
        "../../workflow_scripts/predict/rank_own.py"


rule predict_own:
    input:
        PREDICT.own_target,

"""Was memorization foretold, and whose records of your own will be? Judged settings, Theorem 1, and the product.

INPUT   <results>/signals/predict/{case}/*.nc; for `snakemake predict_own` the section `own` and the user's files
OUTPUT  <results>/scores/predict/{case}/*.parquet, <results>/scores/predict/theorem.parquet    tidy results
        <results>/scores/predict/{case}/recommended.json        the paper's Table 1, as measured
        <results>/own/{name}/risk.parquet, risk.csv, risk.md    a ranked list, for its owner alone
"""


localrules:
    predict_own,


rule predict_judge_predictors:
    input:
        records="<results>/signals/predict/{case}/records.nc",
        scores="<results>/signals/predict/{case}/scores.nc",
        signals=predict_signals("signals.nc"),
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
        mem_mb=grows(PREDICT_MEMORY // 2),
        runtime="4h",
    params:
        **predict_leaves("drop", "memorized", "thresholds", "fpr", "tpr", "replicates"),
        code=digest("predict_judge_predictors", env="statistics"),
        seed=config["seed"],
        targets=predict_leaf("targets"),
        interrupt=predict_leaf("interrupt"),
    script:
        "../workflow_scripts/predict/judge_predictors.py"


rule predict_average_settings:
    input:
        predict_scores("predictors"),
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
        **predict_leaves("memorized"),
        code=digest("predict_average_settings", env="statistics"),
        published=PUBLISHED["predict"],
    script:
        "../workflow_scripts/predict/average_settings.py"


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
        theorem=PREDICT["theorem"],
    script:
        "../workflow_scripts/predict/simulate_theorem.py"


rule predict_rank_own:
    input:
        records=own_file("records"),
        states=own_file("states"),
        results=lambda wildcards: f"<results>/scores/predict/{OWN['case']}/recommended.json",
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
        name=OWN["name"] if OWN else "-",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("predict_rank_own", env="statistics"),
        seed=config["seed"],
        directions=OWN["scoring"]["directions"] if OWN else None,
        accuracy=OWN["scoring"]["accuracy"] if OWN else None,
        dimensions=OWN["scoring"]["dimensions"] if OWN else None,
        classes=OWN["classes"] if OWN else None,
    script:
        "../workflow_scripts/predict/rank_own.py"


rule predict_own:
    input:
        own_target,

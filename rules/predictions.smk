"""The audit of a model that cannot be refitted, by its predictions about members and non-members.

INPUT   the files that the section `predictions` names: a copy of the predictions, and facts about it
OUTPUT  <results>/scores/audit/predictions.json                                     AUCs, accusations and controls
        <results>/audit/predictions/index.html, summary.json, risk.parquet          what the audit hands over
"""

PREDICTIONS = STUDIES["predictions"]


localrules:
    audit_show_predictions,
    predictions,


rule audit_attack_predictions:
    input:
        table=PREDICTIONS.table,
    output:
        scores="<results>/scores/audit/predictions.json",
        risk="<results>/audit/predictions/risk.parquet",
        sidecar="<results>/provenance/audit_attack_predictions.json",
    log:
        "<results>/logs/audit_attack_predictions.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("audit_attack_predictions", env="statistics"),
        seed=config["seed"],
        predictions=PREDICTIONS.section("fpr", "base_rates", "permutations", "replicates", "offline_a"),
    script:
        "../workflow_scripts/audit/attack_predictions.py"


rule audit_show_predictions:
    input:
        scores="<results>/scores/audit/predictions.json",
        risk="<results>/audit/predictions/risk.parquet",
        facts=PREDICTIONS.facts,
    output:
        page="<results>/audit/predictions/index.html",
        summary="<results>/audit/predictions/summary.json",
        sidecar="<results>/provenance/audit_show_predictions.json",
    log:
        "<results>/logs/audit_show_predictions.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime="10m",
    params:
        code=digest("audit_show_predictions", env="statistics"),
        seed=config["seed"],
        predictions=PREDICTIONS.section(),
    script:
        "../workflow_scripts/audit/show_predictions.py"


rule predictions:
    input:
        "<results>/audit/predictions/index.html",

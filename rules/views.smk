"""Tables, figures and verdicts: views of tidy results, the same three rules for every study.

INPUT   tidy results, as registered in TABLES, FIGURES and CLAIMS by the study
OUTPUT  <results>/tables/{table}.{csv,md,tex}, <results>/figures/{figure}.{svg,png,pdf}
"""

for study in CLAIMS:
    TABLES[f"{study}_claims"] = {
        "files": [f"<results>/scores/{study}/claims.parquet"],
        "layout": None,
    }


wildcard_constraints:
    table="|".join(TABLES),
    figure="|".join(FIGURES),
    study="|".join(CLAIMS),


rule views_judge_claims:
    input:
        claims=ancient(in_project("config/claims.yaml")),
        results=lambda wildcards: CLAIMS[wildcards.study],
    output:
        "<results>/scores/{study}/claims.parquet",
        sidecar="<results>/provenance/views_judge_claims/{study}.json",
    log:
        "<results>/logs/views_judge_claims/{study}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime="10m",
    params:
        code=digest("views_judge_claims", env="statistics"),
        claims=sha256(in_project("config/claims.yaml")),
    script:
        "../workflow_scripts/views_judge_claims.py"


rule views_tabulate_results:
    input:
        lambda wildcards: TABLES[wildcards.table]["files"],
    output:
        multiext("<results>/tables/{table}", ".csv", ".md", ".tex"),
        sidecar="<results>/provenance/views_tabulate_results/{table}.json",
    log:
        "<results>/logs/views_tabulate_results/{table}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime="10m",
    params:
        code=digest("views_tabulate_results", env="statistics"),
        layout=lambda wildcards: TABLES[wildcards.table]["layout"],
    script:
        "../workflow_scripts/views_tabulate_results.py"


rule views_draw_figure:
    input:
        lambda wildcards: FIGURES[wildcards.figure]["files"],
    output:
        multiext("<results>/figures/{figure}", ".svg", ".png", ".pdf"),
        sidecar="<results>/provenance/views_draw_figure/{figure}.json",
    log:
        "<results>/logs/views_draw_figure/{figure}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime="10m",
    params:
        code=digest("views_draw_figure", env="statistics"),
        where=lambda wildcards: FIGURES[wildcards.figure]["where"],
    script:
        "../workflow_scripts/views_draw_figure.py"

"""Tables, figures, verdicts and headlines: views of tidy results, the same four rules for every study.

INPUT   tidy results, as registered in TABLES, FIGURES, CLAIMS and HEADLINES by the study
OUTPUT  <results>/tables/{table}.{csv,md,tex}, <results>/figures/{figure}.{svg,png,pdf}
"""

for study in CLAIMS:
    TABLES[f"{study}_claims"] = {
        "title": "Claims of the paper, and what is found here",
        "caption": "Each claim as a predicate over the results above, its verdict and the comparisons that decide it "
        "most narrowly. Not testable means that the intervals cannot tell, or that the run is too small.",
        "files": [f"<results>/scores/{study}/claims.parquet"],
        "layout": None,
    }
for study in HEADLINES:
    TABLES[f"{study}_headlines"] = {
        "title": "Main results",
        "caption": "The study's main results in sentences, with the numbers that they name.",
        "files": [f"<results>/scores/{study}/headlines.parquet"],
        "layout": None,
    }

costs("views_judge_claims", CLAIMS, no_size)
costs("views_state_headlines", HEADLINES, no_size)
costs("views_tabulate_results", TABLES, no_size)
costs("views_draw_figure", FIGURES, no_size)

# A table of somebody who has registered no study is shown under the name that it begins with.
for name in (*TABLES, *FIGURES):
    study = name.split("_")[0]
    STUDIES.setdefault(study, {"title": study, "question": "", "paper": None, "thresholds": []})


wildcard_constraints:
    table="|".join(TABLES),
    figure="|".join(FIGURES),
    study="|".join(STUDIES),


rule views_state_headlines:
    input:
        lambda wildcards: HEADLINES[wildcards.study]["files"],
    output:
        "<results>/scores/{study}/headlines.parquet",
        sidecar="<results>/provenance/views_state_headlines/{study}.json",
    log:
        "<results>/logs/views_state_headlines/{study}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("views_state_headlines", env="statistics"),
        headlines=lambda wildcards: HEADLINES[wildcards.study]["sentences"],
    script:
        "../workflow_scripts/views_state_headlines.py"


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
        mem_mb=grows(1000),
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
        [view("<results>/tables/{table}", kind) for kind in ("csv", "md", "tex")],
        sidecar="<results>/provenance/views_tabulate_results/{table}.json",
    log:
        "<results>/logs/views_tabulate_results/{table}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("views_tabulate_results", env="statistics"),
        layout=lambda wildcards: TABLES[wildcards.table]["layout"],
        caption=lambda wildcards: TABLES[wildcards.table]["caption"],
    script:
        "../workflow_scripts/views_tabulate_results.py"


rule views_draw_figure:
    input:
        lambda wildcards: FIGURES[wildcards.figure]["files"],
    output:
        [view("<results>/figures/{figure}", kind) for kind in ("svg", "png", "pdf")],
        sidecar="<results>/provenance/views_draw_figure/{figure}.json",
    log:
        "<results>/logs/views_draw_figure/{figure}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("views_draw_figure", env="statistics"),
        where=lambda wildcards: FIGURES[wildcards.figure]["where"],
        caption=lambda wildcards: FIGURES[wildcards.figure]["caption"],
    script:
        "../workflow_scripts/views_draw_figure.py"

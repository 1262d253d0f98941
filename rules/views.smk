"""Tables, figures, verdicts and headlines: views of tidy results, the same four scripts for every study.

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

# A table of somebody who has registered no study is shown under the name that it begins with.
for name in (*TABLES, *FIGURES):
    study = name.split("_")[0]
    STUDIES.setdefault(study, {"title": study, "question": "", "paper": None, "thresholds": []})

# One job makes all tables of a study, and one all figures that show the same files: the start of such a job is most of
# it. Each file can be asked for by its path all the same.
TABULATED = together(TABLES, lambda table: None)
DRAWN = together(FIGURES, lambda figure: figure["files"])

costs("views_judge_claims", CLAIMS, no_size)
costs("views_state_headlines", HEADLINES, no_size)
costs("views_tabulate_results", TABULATED, lambda first: size(len(TABULATED[first])))
costs("views_draw_figures", DRAWN, lambda first: size(len(DRAWN[first])))


wildcard_constraints:
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
        "../workflow_scripts/views/state_headlines.py"


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
        "../workflow_scripts/views/judge_claims.py"


for first, names in TABULATED.items():

    rule:
        name:
            f"views_tabulate_results_{first}"
        input:
            **{name: TABLES[name]["files"] for name in names},
        output:
            **{name: [view("tables", name, kind) for kind in ("csv", "md", "tex")] for name in names},
            sidecar=f"<results>/provenance/views_tabulate_results/{first}.json",
        log:
            f"<results>/logs/views_tabulate_results/{first}.log",
        conda:
            "../envs/statistics.yaml"
        threads: 1
        resources:
            mem_mb=grows(1000),
            runtime="10m",
        params:
            code=digest("views_tabulate_results", env="statistics"),
            layout={name: TABLES[name]["layout"] for name in names},
            captions={name: TABLES[name]["caption"] for name in names},
        script:
            "../workflow_scripts/views/tabulate_results.py"


for first, names in DRAWN.items():

    rule:
        name:
            f"views_draw_figures_{first}"
        input:
            **{name: FIGURES[name]["files"] for name in names},
        output:
            **{name: [view("figures", name, kind) for kind in ("svg", "png", "pdf")] for name in names},
            sidecar=f"<results>/provenance/views_draw_figures/{first}.json",
        log:
            f"<results>/logs/views_draw_figures/{first}.log",
        conda:
            "../envs/statistics.yaml"
        threads: 1
        resources:
            mem_mb=grows(1000),
            runtime="10m",
        params:
            code=digest("views_draw_figures", env="statistics"),
            where={name: FIGURES[name]["where"] for name in names},
            captions={name: FIGURES[name]["caption"] for name in names},
        script:
            "../workflow_scripts/views/draw_figures.py"

"""Tables, figures, verdicts and headlines: views of tidy results, the same four scripts for every study.

INPUT   tidy results, as config/views/<study>.yaml names them
OUTPUT  <results>/tables/{table}.{csv,md,tex}, <results>/figures/{figure}.{svg,png,pdf}
"""


rule views_state_headlines:
    input:
        lambda wildcards: VIEWS[wildcards.study].headlines["files"],
    output:
        "<results>/scores/{study}/headlines.parquet",
        sidecar="<results>/provenance/views_state_headlines/{study}.json",
    log:
        "<results>/logs/views_state_headlines/{study}.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("views_state_headlines", env="statistics"),
        headlines=lambda wildcards: VIEWS[wildcards.study].headlines["sentences"],
    script:
        "../workflow_scripts/views/state_headlines.py"


rule views_judge_claims:
    input:
        claims=ancient(RUN.in_project("config/claims.yaml")),
        results=lambda wildcards: VIEWS[wildcards.study].claims,
    output:
        "<results>/scores/{study}/claims.parquet",
        sidecar="<results>/provenance/views_judge_claims/{study}.json",
    log:
        "<results>/logs/views_judge_claims/{study}.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("views_judge_claims", env="statistics"),
        claims=sha256(RUN.in_project("config/claims.yaml")),
    script:
        "../workflow_scripts/views/judge_claims.py"


# One job makes all tables of a study: its start is most of what it costs. Each file can be requested by its path.
for study, view in VIEWS.items():

    rule:
        name:
            f"views_tabulate_results_{study}"
        input:
            **{name: table["files"] for name, table in view.tables.items()},
        output:
            **{
                name: [
                    report(
                        f"<results>/tables/{name}.{kind}",
                        caption="../docs/captions/view.rst",
                        category=view.study["title"],
                        subcategory="tables",
                        labels={"name": name, "format": kind},
                    )
                    for kind in ("csv", "md", "tex")
                ]
                for name in view.tables
            },
            sidecar=f"<results>/provenance/views_tabulate_results/{study}.json",
        log:
            f"<results>/logs/views_tabulate_results/{study}.log",
        conda:
            "../envs/statistics.yaml"
        resources:
            mem_mb=grows(1000),
            runtime="10m",
        params:
            code=digest("views_tabulate_results", env="statistics"),
            layout={name: table["layout"] for name, table in view.tables.items()},
            captions={name: table["caption"] for name, table in view.tables.items()},
        script:
            "../workflow_scripts/views/tabulate_results.py"


# One job draws the figures of a study that show the same results, and is called by them: views_draw_figures_lira_roc.
for drawing, names, view in [
    (drawing, names, view) for view in VIEWS.values() for drawing, names in view.drawings.items()
]:

    rule:
        name:
            f"views_draw_figures_{drawing}"
        input:
            **{name: view.figures[name]["files"] for name in names},
        output:
            **{
                name: [
                    report(
                        f"<results>/figures/{name}.{kind}",
                        caption="../docs/captions/view.rst",
                        category=view.study["title"],
                        subcategory="figures",
                        labels={"name": name, "format": kind},
                    )
                    for kind in ("svg", "png", "pdf")
                ]
                for name in names
            },
            sidecar=f"<results>/provenance/views_draw_figures/{drawing}.json",
        log:
            f"<results>/logs/views_draw_figures/{drawing}.log",
        conda:
            "../envs/statistics.yaml"
        resources:
            mem_mb=grows(1000),
            runtime="10m",
        params:
            code=digest("views_draw_figures", env="statistics", loads=view.drawn_by),
            where={name: view.figures[name]["where"] for name in names},
            captions={name: view.figures[name]["caption"] for name in names},
        script:
            "../workflow_scripts/views/draw_figures.py"

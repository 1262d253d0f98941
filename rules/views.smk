"""Tables, figures, verdicts and headlines: views of tidy results, the same two scripts for every study.

INPUT   tidy results, as config/views/<study>.yaml names them; config/claims.yaml
OUTPUT  <results>/tables/{table}.{csv,md,tex}, <results>/figures/{figure}.{svg,png,pdf}
        <results>/scores/{study}/claims.parquet, headlines.parquet    verdicts on claims, main results as sentences
"""

# One job makes all tables of a study, with the verdicts and sentences in them: its start is most of what it costs. Each
# file can be requested by its path.
for study, view in VIEWS.items():

    rule:
        name:
            f"views_tabulate_results_{study}"
        input:
            **view.tabulated,
            **({"claims": ancient(RUN.in_project("config/claims.yaml"))} if view.claims else {}),
        output:
            **view.concluded,
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
                for name in [*view.tables, *view.facts]
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
            code=digest("views_tabulate_results", env="statistics", loads=view.words),
            study=study,
            words=view.words,
            claims=sha256(RUN.in_project("config/claims.yaml")) if view.claims else None,
            headlines=view.headlines and view.headlines["sentences"],
            judged=lambda wildcards, input: several(input.get("judged", [])),
            stated=lambda wildcards, input: several(input.get("stated", [])),
            layout={name: table["layout"] for name, table in view.tables.items()},
            facts={name: {key: facts[key] for key in ("columns", "rows")} for name, facts in view.facts.items()},
            captions={name: table["caption"] for name, table in (view.tables | view.facts).items()},
        script:
            "../workflow_scripts/views/tabulate_results.py"


# One job draws the figures of a study whose results the same jobs make, and is called by these results:
# views_draw_figures_lira_roc.
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

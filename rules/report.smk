"""One page for readers: every study's answers, figures, tables and verdicts, and where each of them comes from.

INPUT   <results>/tables, <results>/figures and their sidecars, as registered by the studies
OUTPUT  <results>/report/index.html
"""

costs("report_write_page", [""], no_size)


localrules:
    report_write_page,
    report,


rule report_write_page:
    input:
        expand("<results>/tables/{table}.csv", table=TABLES),
        expand("<results>/figures/{figure}.{kind}", figure=FIGURES, kind=["svg", "png"]),
        expand("<results>/provenance/views_tabulate_results/{first}.json", first=TABULATED),
        expand("<results>/provenance/views_draw_figures/{first}.json", first=DRAWN),
        claims=ancient(in_project("config/claims.yaml")),
        config="<results>/config.yaml",
    output:
        report("<results>/report/index.html", caption="../docs/captions/page.rst", category="Report"),
        sidecar="<results>/provenance/report_write_page.json",
    log:
        "<results>/logs/report_write_page.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime="10m",
    params:
        code=digest("report_write_page", env="statistics"),
        claims=sha256(in_project("config/claims.yaml")),
        command=command(),
        studies=[readable(name, study) for name, study in STUDIES.items()],
        tables=[without_files(name, table) for name, table in TABLES.items()],
        figures=[without_files(name, figure) for name, figure in FIGURES.items()],
    script:
        "../workflow_scripts/report/write_page.py"


rule report:
    input:
        rules.report_write_page.output,

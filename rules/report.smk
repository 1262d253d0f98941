"""One page for readers: every study's answers, figures, tables and verdicts, and where each of them comes from.

INPUT   <results>/tables, <results>/figures and their sidecars
OUTPUT  <results>/report/index.html
"""

PAGE = Page(RUN, VIEWS, merged=bool(workflow.config_settings.overwrite_config))


localrules:
    report_write_page,
    report,


rule report_write_page:
    input:
        PAGE.files,
        claims=ancient(RUN.in_project("config/claims.yaml")),
        config="<results>/config.yaml",
    output:
        report("<results>/report/index.html", caption="../docs/captions/page.rst", category="Report"),
        sidecar="<results>/provenance/report_write_page.json",
    log:
        "<results>/logs/report_write_page.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime="10m",
    params:
        code=digest("report_write_page", env="statistics"),
        claims=sha256(RUN.in_project("config/claims.yaml")),
        command=PAGE.command,
        studies=PAGE.studies,
        tables=PAGE.tables,
        figures=PAGE.figures,
    script:
        "../workflow_scripts/report/write_page.py"


rule report:
    input:
        rules.report_write_page.output,

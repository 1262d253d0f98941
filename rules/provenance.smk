"""Provenance: the merged config, the check of all results back to raw data, and the archive of a run.

INPUT   none is declared: Snakemake would rebuild a figure from the tampered file before anybody looked
OUTPUT  <results>/config.yaml; a line for the terminal, exit code not 0 at the first file that does not match;
        <results>/<run>.tar.gz (`snakemake archive`), undeclared too: it is made anew whenever it is asked for
"""


localrules:
    provenance_write_config,
    provenance,
    archive,


rule provenance_write_config:
    output:
        "<results>/config.yaml",
        sidecar="<results>/provenance/provenance_write_config.json",
    log:
        "<results>/logs/provenance_write_config.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        code=digest("provenance_write_config", env="statistics"),
        config=config,
    script:
        "../workflow_scripts/provenance/write_config.py"


rule provenance:
    log:
        "<results>/logs/provenance.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        code=digest("provenance_verify_results", env="statistics"),
        run=RUN.folder,
        settings=snakemake_handlers.given_settings(workflow),
    script:
        "../workflow_scripts/provenance/verify_results.py"


rule archive:
    log:
        "<results>/logs/archive.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=500,
        runtime="2h",
    params:
        code=digest("provenance_archive_run", env="statistics"),
        run=RUN.folder,
    script:
        "../workflow_scripts/provenance/archive_run.py"

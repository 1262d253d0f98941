"""Follow every result of the run back to raw data, hash by hash.

INPUT   none is declared: Snakemake would rebuild a figure from the tampered file before anybody looked
OUTPUT  a line for the terminal; exit code not 0 at the first file that does not match
"""


localrules:
    provenance,


rule provenance:
    log:
        "<results>/logs/provenance.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        code=digest("provenance", env="statistics"),
        run=f"results/{config['run']}",
    script:
        "../workflow_scripts/provenance.py"

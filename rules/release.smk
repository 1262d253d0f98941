"""A private context from a table of one's own, charged to the table's ledger (docs/release.md): `snakemake release`.

INPUT   <results>/data/{dataset}/raw.parquet, raw.json; a file of public facts; a model folder; the section `release`
OUTPUT  <results>/release/{dataset}/context.parquet, statement.md, statement.json; a copy beside the ledger; `release_plan`:
        lines for the terminal; `release_bounds`: <results>/release_bounds/{dataset}/bounds.yaml, statement.json, paid bounds
"""

RELEASE = STUDIES["release"]


localrules:
    release,
    release_bounds,
    release_plan,


rule release_write_context:
    input:
        # Inputs are `ancient`: a newer file must not trigger a second, paid release.
        table=ancient("<results>/data/{dataset}/raw.parquet"),
        facts=ancient("<results>/data/{dataset}/raw.json"),
        public=ancient(RELEASE.public),
        model=ancient(RELEASE.model),
        weights=ancient(RELEASE.weights),
    output:
        # What stands is not deleted before the script has looked: it refuses to release twice.
        context=update("<results>/release/{dataset}/context.parquet"),
        words=update("<results>/release/{dataset}/statement.md"),
        statement=update("<results>/release/{dataset}/statement.json"),
        sidecar=update("<results>/provenance/release_write_context/{dataset}.json"),
    log:
        "<results>/logs/release_write_context/{dataset}.log",
    benchmark:
        "<results>/benchmarks/release_write_context/{dataset}.jsonl"
    wildcard_constraints:
        dataset=RELEASE.dataset,
    # A second try would pay a second time.
    retries: 0
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        # No digest: new code must not spend again. The sidecar has it.
        run=config["run"],
        seed=config["seed"],
        entry=RELEASE.entry,
        release=RELEASE.settings,
        ledger=RELEASE.ledger,
    script:
        "../workflow_scripts/release/write_context.py"


rule release_write_bounds:
    input:
        table=ancient("<results>/data/{dataset}/raw.parquet"),
        facts=ancient("<results>/data/{dataset}/raw.json"),
        public=ancient(RELEASE.public),
    output:
        # As of a release: only who moves them away spends again.
        bounds=update("<results>/release_bounds/{dataset}/bounds.yaml"),
        statement=update("<results>/release_bounds/{dataset}/statement.json"),
        sidecar=update("<results>/provenance/release_write_bounds/{dataset}.json"),
    log:
        "<results>/logs/release_write_bounds/{dataset}.log",
    benchmark:
        "<results>/benchmarks/release_write_bounds/{dataset}.jsonl"
    wildcard_constraints:
        dataset=RELEASE.dataset,
    retries: 0
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="30m",
    params:
        run=config["run"],
        entry=RELEASE.entry,
        release=RELEASE.with_bounds,
        ledger=RELEASE.ledger,
    script:
        "../workflow_scripts/release/write_bounds.py"


rule release:
    input:
        RELEASE.target,


rule release_bounds:
    input:
        RELEASE.bounds_target,


rule release_plan:
    input:
        table=RELEASE.table,
        facts=RELEASE.facts,
        public=RELEASE.public,
        gains=RELEASE.gains,
    log:
        "<results>/logs/release_plan.log",
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=2000,
        runtime="10m",
    params:
        code=digest("release_print_plan", env="tabular"),
        dataset=RELEASE.dataset,
        entry=RELEASE.entry,
        release=RELEASE.with_bounds,
    script:
        "../workflow_scripts/release/print_plan.py"

"""Tables: fetched as they are, typed, given ids, deduplicated, and split into sides that are checked.

INPUT   config/datasets.yaml and where it points: scikit-learn, OpenML, a local file, an address
OUTPUT  <results>/data/{dataset}/records.parquet, schema.json      records with ids (0600, in a folder of 0700)
        <results>/data/{dataset}/splits/{split}.parquet            disjoint sides; kept only if all checks hold
"""

DATA = STUDIES["data"]


localrules:
    data_make_key,
    data_fetch_table,


rule data_make_key:
    output:
        "<results>/data/id.key",
    log:
        "<results>/logs/data_make_key.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        # No digest: new code would draw a new secret, and ids of earlier reports could not be matched any more.
        public_id_key=DATA.config["public_id_key"],
    script:
        "../workflow_scripts/data/make_key.py"


rule data_fetch_table:
    input:
        DATA.file,
    output:
        table="<results>/data/{dataset}/raw.parquet",
        facts="<results>/data/{dataset}/raw.json",
        sidecar="<results>/provenance/data_fetch_table/{dataset}.json",
    log:
        "<results>/logs/data_fetch_table/{dataset}.log",
    conda:
        "../envs/data.yaml"
    threads: two_if_large
    resources:
        mem_mb=4000,
        runtime="2h",
    params:
        code=digest("data_fetch_table", env="data"),
        entry=RUN.dataset_keys(
            "source",
            "name",
            "id",
            "version",
            "path",
            "url",
            "sha256",
            "delimiter",
            "encoding",
        ),
        openml_cache=DATA.config["openml_cache"],
        downloads=f"{RUN.folder}/data/downloads",
    script:
        "../workflow_scripts/data/fetch_table.py"


rule data_deduplicate_table:
    input:
        table="<results>/data/{dataset}/raw.parquet",
        facts="<results>/data/{dataset}/raw.json",
        key="<results>/data/id.key",
    output:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        counts="<results>/data/{dataset}/dedup.parquet",
        sidecar="<results>/provenance/data_deduplicate_table/{dataset}.json",
    log:
        "<results>/logs/data_deduplicate_table/{dataset}.log",
    benchmark:
        "<results>/benchmarks/data_deduplicate_table/{dataset}.jsonl"
    conda:
        "../envs/data.yaml"
    threads: two_if_large
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("data_deduplicate_table", env="data"),
        policy=DATA.policy,
    script:
        "../workflow_scripts/data/deduplicate_table.py"


rule data_split_records:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
    output:
        split="<results>/data/{dataset}/splits/{split}.parquet",
        checks="<results>/data/{dataset}/splits/{split}.checks.parquet",
        sidecar="<results>/provenance/data_split_records/{dataset}/{split}.json",
    log:
        "<results>/logs/data_split_records/{dataset}/{split}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="1h",
    params:
        code=digest("data_split_records", env="data"),
        seed=config["seed"],
        settings=DATA.split,
        limits=lambda wildcards: config["datasets"][wildcards.dataset]["limits"],
    script:
        "../workflow_scripts/data/split_records.py"

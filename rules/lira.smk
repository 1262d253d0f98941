"""How far can a LiRA evaluation be trusted? (papers: On Reliability of Efficient Membership Inference Evaluation)

INPUT   <results>/data/{dataset}/records.parquet, schema.json, splits/{split}.parquet and its .ok; a model folder
OUTPUT  <results>/signals/lira/{dataset}/{grid}.nc    who was in which context, and what each model answered
"""


wildcard_constraints:
    grid=r"efficient|population|superset\d+",


rule lira_draw_designs:
    input:
        records="<results>/data/{dataset}/records.parquet",
        split=f"<results>/data/{{dataset}}/splits/{LIRA['split']}.parquet",
        ok=f"<results>/data/{{dataset}}/splits/{LIRA['split']}.ok",
    output:
        "<results>/signals/lira/{dataset}/{grid}/design.nc",
        sidecar="<results>/provenance/lira_draw_designs/{dataset}/{grid}.json",
    log:
        "<results>/logs/lira_draw_designs/{dataset}/{grid}.log",
    conda:
        "../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime="10m",
    params:
        code=digest("lira_draw_designs", env="data"),
        seed=config["seed"],
        grid=lira_grid,
    script:
        "../workflow_scripts/lira/draw_designs.py"


rule lira_query_shadows:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/lira/{dataset}/{grid}/design.nc",
        model=f"<results>/models/{LIRA['model']}/model.json",
        weights=f"<results>/models/{LIRA['model']}/weights",
    output:
        "<results>/signals/lira/{dataset}/{grid}/{shard}.nc",
        sidecar="<results>/provenance/lira_query_shadows/{dataset}/{grid}/{shard}.json",
    log:
        "<results>/logs/lira_query_shadows/{dataset}/{grid}/{shard}.log",
    benchmark:
        "<results>/benchmarks/lira_query_shadows/{dataset}/{grid}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    threads: 1
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("lira_query_shadows", env="tabular"),
        shard=lira_shard,
    script:
        "../workflow_scripts/lira/query_shadows.py"


rule lira_gather_grid:
    input:
        "<results>/signals/lira/{dataset}/{grid}/design.nc",
        lira_shard_files,
    output:
        "<results>/signals/lira/{dataset}/{grid}.nc",
        sidecar="<results>/provenance/lira_gather_grid/{dataset}/{grid}.json",
    log:
        "<results>/logs/lira_gather_grid/{dataset}/{grid}.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=grows(4000),
        runtime="10m",
    params:
        code=digest("lira_gather_grid", env="statistics"),
    script:
        "../workflow_scripts/lira/gather_grid.py"

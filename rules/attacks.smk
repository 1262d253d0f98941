"""What does a record in the context leak? Shadow contexts, asked and attacked (papers: TabPATE, Section 3, Appendix A)

INPUT   <results>/data/{dataset}/records.parquet, schema.json, splits/{split}.parquet and its .ok; model folders
OUTPUT  <results>/signals/attacks/{dataset}/designs/{arm}.nc            who stands how often in which context
        <results>/signals/attacks/{dataset}/{arm}/{shard}.nc            what each context's model answers
        <results>/signals/attacks/{dataset}/perturbed/{shard}.nc        how stable its labels are near the targets
        <results>/signals/attacks/{dataset}/poisoned/{arm}/{shard}.nc   what it answers with mislabelled copies in it
        <results>/signals/attacks/{dataset}/attribute/{shard}.nc        what it answers for values of a sensitive column
"""


include: "attacks_common.smk"


wildcard_constraints:
    arm="|".join(ATTACKS["arms"]),


rule attacks_draw_designs:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        split=f"<results>/data/{{dataset}}/splits/{ATTACKS['split']}.parquet",
        ok=f"<results>/data/{{dataset}}/splits/{ATTACKS['split']}.ok",
    output:
        "<results>/signals/attacks/{dataset}/designs/{arm}.nc",
        sidecar="<results>/provenance/attacks_draw_designs/{dataset}/{arm}.json",
    log:
        "<results>/logs/attacks_draw_designs/{dataset}/{arm}.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="10m",
    params:
        code=digest("attacks_draw_designs", env="data"),
        seed=config["seed"],
        block=ATTACKS["sizes"][0],
        targets=ATTACKS["active"]["targets"],
        sensitive=lambda wildcards: ATTACKS["inference"]["sensitive"][wildcards.dataset],
        sets=attacks_arm("sets"),
        variants=attacks_arm("variants"),
    script:
        "../workflow_scripts/attacks/draw_designs.py"


rule attacks_query_contexts:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/{arm}.nc",
        model=lambda wildcards: attacks_model(wildcards.arm, "model.json"),
        weights=lambda wildcards: attacks_model(wildcards.arm, "weights"),
        ranks=attacks_ranks,
    output:
        "<results>/signals/attacks/{dataset}/{arm}/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_contexts/{dataset}/{arm}/{shard}.json",
    log:
        "<results>/logs/attacks_query_contexts/{dataset}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_contexts/{dataset}/{arm}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_contexts", env="tabular"),
        seed=config["seed"],
        shard=ATTACKS["shard"],
        layer=attacks_layer,
    script:
        "../workflow_scripts/attacks/query_contexts.py"


rule attacks_query_perturbed:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/main.nc",
        model=attacks_model("main", "model.json"),
        weights=attacks_model("main", "weights"),
    output:
        "<results>/signals/attacks/{dataset}/perturbed/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_perturbed/{dataset}/{shard}.json",
    log:
        "<results>/logs/attacks_query_perturbed/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_perturbed/{dataset}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_perturbed", env="tabular"),
        seed=config["seed"],
        perturbation=ATTACKS["perturbation"],
    script:
        "../workflow_scripts/attacks/query_perturbed.py"


rule attacks_query_poisoned:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/{arm}.nc",
        model=lambda wildcards: attacks_model(wildcards.arm, "model.json"),
        weights=lambda wildcards: attacks_model(wildcards.arm, "weights"),
    output:
        "<results>/signals/attacks/{dataset}/poisoned/{arm}/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_poisoned/{dataset}/{arm}/{shard}.json",
    log:
        "<results>/logs/attacks_query_poisoned/{dataset}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_poisoned/{dataset}/{arm}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_poisoned", env="tabular"),
        seed=config["seed"],
        active={key: value for key, value in ATTACKS["active"].items() if key != "arms"},
    script:
        "../workflow_scripts/attacks/query_poisoned.py"


rule attacks_query_attribute:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/main.nc",
        model=attacks_model("main", "model.json"),
        weights=attacks_model("main", "weights"),
    output:
        "<results>/signals/attacks/{dataset}/attribute/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_attribute/{dataset}/{shard}.json",
    log:
        "<results>/logs/attacks_query_attribute/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_attribute/{dataset}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_attribute", env="tabular"),
        seed=config["seed"],
        shard=ATTACKS["shard"],
        inference={key: ATTACKS["inference"][key] for key in ("sensitive", "levels", "sets")},
    script:
        "../workflow_scripts/attacks/query_attribute.py"


include: "attacks_evaluate.smk"
include: "attacks_views.smk"

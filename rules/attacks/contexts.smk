"""Shadow contexts of the attacks on in-context learning, and the predictions of models (paper: TabPATE, Section 3, Appendix A)

INPUT   <results>/data/{dataset}/records.parquet, schema.json, splits/{split}.parquet; model folders
OUTPUT  <results>/signals/attacks/{dataset}/designs/{arm}.nc            how often each record is in each context;
                                                                        arms with the same contexts share them
        <results>/signals/attacks/{dataset}/{arm}/{shard}.nc            answers of each context's model
        <results>/signals/attacks/{dataset}/families.nc                 answers of estimators fitted on the same contexts
        <results>/signals/attacks/{dataset}/perturbed/{shard}.nc        its labels near the targets
        <results>/signals/attacks/{dataset}/attention/{arm}/{shard}.nc  how its model attends to the context
        <results>/signals/attacks/{dataset}/poisoned/{arm}/{shard}.nc   its answers with mislabelled copies in the context
        <results>/signals/attacks/{dataset}/attribute/{shard}.nc        its answers for values of a sensitive column
"""

ATTACKS = STUDIES["attacks"]


wildcard_constraints:
    arm="|".join(ATTACKS.config["arms"]),


rule attacks_draw_contexts:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        split=f"<results>/data/{{dataset}}/splits/{ATTACKS.config['split']}.parquet",
    output:
        "<results>/signals/attacks/{dataset}/designs/{arm}.nc",
        sidecar="<results>/provenance/attacks_draw_contexts/{dataset}/{arm}.json",
    log:
        "<results>/logs/attacks_draw_contexts/{dataset}/{arm}.log",
    conda:
        "../../envs/data.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="10m",
    params:
        code=digest("attacks_draw_contexts", env="data"),
        seed=config["seed"],
        block=ATTACKS.config["sizes"][0],
        targets=ATTACKS.config["active"]["targets"],
        sensitive=ATTACKS.sensitive,
        sets=ATTACKS.arm("sets"),
        variants=ATTACKS.arm("variants"),
    script:
        "../../workflow_scripts/attacks/draw_contexts.py"


rule attacks_query_contexts:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design=ATTACKS.design,
        model=ATTACKS.model("model.json"),
        weights=ATTACKS.model("weights"),
        ranks=ATTACKS.ranks,
    output:
        "<results>/signals/attacks/{dataset}/{arm}/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_contexts/{dataset}/{arm}/{shard}.json",
    log:
        "<results>/logs/attacks_query_contexts/{dataset}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_contexts/{dataset}/{arm}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(ATTACKS.memory),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_contexts", env="tabular"),
        seed=config["seed"],
        sets=ATTACKS.arm("sets"),
        shard=ATTACKS.config["shard"],
        layer=ATTACKS.layer,
    script:
        "../../workflow_scripts/attacks/query_contexts.py"


rule attacks_fit_families:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/main.nc",
    output:
        "<results>/signals/attacks/{dataset}/families.nc",
        sidecar="<results>/provenance/attacks_fit_families/{dataset}.json",
    log:
        "<results>/logs/attacks_fit_families/{dataset}.log",
    benchmark:
        "<results>/benchmarks/attacks_fit_families/{dataset}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
    params:
        code=digest("attacks_fit_families", env="tabular"),
        seed=config["seed"],
        sets=ATTACKS.config["families"]["sets"],
        models=ATTACKS.estimators(),
    script:
        "../../workflow_scripts/attacks/fit_families.py"


rule attacks_query_perturbed:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/main.nc",
        model=ATTACKS.model_file("main", "model.json"),
        weights=ATTACKS.model_file("main", "weights"),
    output:
        "<results>/signals/attacks/{dataset}/perturbed/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_perturbed/{dataset}/{shard}.json",
    log:
        "<results>/logs/attacks_query_perturbed/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_perturbed/{dataset}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(ATTACKS.memory),
        runtime="24h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_perturbed", env="tabular"),
        seed=config["seed"],
        perturbation=ATTACKS.perturbing(),
    script:
        "../../workflow_scripts/attacks/query_perturbed.py"


rule attacks_query_attention:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design=ATTACKS.design,
        model=ATTACKS.model_inside("model.json"),
        weights=ATTACKS.model_inside("weights"),
    output:
        "<results>/signals/attacks/{dataset}/attention/{arm}/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_attention/{dataset}/{arm}/{shard}.json",
    log:
        "<results>/logs/attacks_query_attention/{dataset}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_attention/{dataset}/{arm}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(ATTACKS.memory),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_attention", env="tabular"),
        seed=config["seed"],
        attention={key: ATTACKS.config["attention"][key] for key in ("sets", "shard")},
    script:
        "../../workflow_scripts/attacks/query_attention.py"


rule attacks_query_poisoned:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design=ATTACKS.design,
        model=ATTACKS.model("model.json"),
        weights=ATTACKS.model("weights"),
    output:
        "<results>/signals/attacks/{dataset}/poisoned/{arm}/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_poisoned/{dataset}/{arm}/{shard}.json",
    log:
        "<results>/logs/attacks_query_poisoned/{dataset}/{arm}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_poisoned/{dataset}/{arm}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(ATTACKS.memory),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_poisoned", env="tabular"),
        seed=config["seed"],
        sets=ATTACKS.arm("sets"),
        active=ATTACKS.poisoning(),
    script:
        "../../workflow_scripts/attacks/query_poisoned.py"


rule attacks_query_attribute:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/main.nc",
        model=ATTACKS.model_file("main", "model.json"),
        weights=ATTACKS.model_file("main", "weights"),
    output:
        "<results>/signals/attacks/{dataset}/attribute/{shard}.nc",
        sidecar="<results>/provenance/attacks_query_attribute/{dataset}/{shard}.json",
    log:
        "<results>/logs/attacks_query_attribute/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/attacks_query_attribute/{dataset}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(ATTACKS.memory),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("attacks_query_attribute", env="tabular"),
        seed=config["seed"],
        shard=ATTACKS.config["shard"],
        inference=ATTACKS.attribute_inference(),
    script:
        "../../workflow_scripts/attacks/query_attribute.py"

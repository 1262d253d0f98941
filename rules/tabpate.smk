"""What does a private context cost, and does it protect? Every method's releases, and what students say with them
(paper: TabPATE, Sections 4 and 5, Appendices B to D). The noise has no seed: made again, releases differ.

INPUT   <results>/data/{dataset}/records.parquet, schema.json, id.key; config/public/{dataset}.yaml; model folders
OUTPUT  <results>/signals/tabpate/{dataset}/contexts/{shard}.nc   released records and labels
        <results>/signals/tabpate/{dataset}/students.nc           what the model says with them of the test records
        <results>/signals/tabpate/{dataset}/answers/{shard}.nc    what methods say that release no context
        <results>/signals/tabpate/{dataset}/shadows/{shard}.nc    what students say whose contexts rest on shadow sets
"""


include: "tabpate_common.smk"


rule tabpate_release_contexts:
    input:
        **TABPATE_TABLE,
    output:
        "<results>/signals/tabpate/{dataset}/contexts/{shard}.nc",
        sidecar="<results>/provenance/tabpate_release_contexts/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_release_contexts/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_release_contexts/{dataset}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **tabpate_params("contexts"),
        code=digest("tabpate_release_contexts", env="tabular"),
        seed=config["seed"],
    script:
        "../workflow_scripts/tabpate/release_contexts.py"


rule tabpate_ask_students:
    input:
        **TABPATE_TABLE,
        contexts=tabpate_files("contexts"),
        synthetic=tabpate_synthetic_files,
    output:
        "<results>/signals/tabpate/{dataset}/students.nc",
        sidecar="<results>/provenance/tabpate_ask_students/{dataset}.json",
    log:
        "<results>/logs/tabpate_ask_students/{dataset}.log",
    benchmark:
        "<results>/benchmarks/tabpate_ask_students/{dataset}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("tabpate_ask_students", env="tabular"),
        seed=config["seed"],
        roles=TABPATE["roles"],
        repeats=TABPATE["repeats"],
        synthetic=tabpate_synthetic_facts,
    script:
        "../workflow_scripts/tabpate/ask_students.py"


rule tabpate_code_records:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        key="<results>/data/id.key",
        public=tabpate_public,
    output:
        codes="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.parquet",
        counts="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.json",
        sidecar="<results>/provenance/tabpate_code_records/{dataset}/{synthesizer}.json",
    log:
        "<results>/logs/tabpate_code_records/{dataset}/{synthesizer}.log",
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="30m",
    params:
        code=digest("tabpate_code_records", env="tabular"),
        seed=config["seed"],
        roles=TABPATE["roles"],
        repeats=TABPATE["repeats"],
        held_out=lambda wildcards: TABPATE_ARMS[wildcards.synthesizer]["held_out"],
        settings=lambda wildcards: TABPATE_ARMS[wildcards.synthesizer]["settings"],
    script:
        "../workflow_scripts/tabpate/code_records.py"


rule tabpate_synthesize_records:
    input:
        codes="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.parquet",
        counts="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.json",
    output:
        "<results>/signals/tabpate/{dataset}/synthetic/{synthesizer}/{epsilon}.parquet",
        sidecar="<results>/provenance/tabpate_synthesize_records/{dataset}/{synthesizer}/{epsilon}.json",
    log:
        "<results>/logs/tabpate_synthesize_records/{dataset}/{synthesizer}/{epsilon}.log",
    benchmark:
        "<results>/benchmarks/tabpate_synthesize_records/{dataset}/{synthesizer}/{epsilon}.jsonl"
    conda:
        "../envs/synth.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
    params:
        code=digest("tabpate_synthesize_records", env="synth"),
        delta=TABPATE["delta"],
        epsilon=lambda wildcards: float(wildcards.epsilon),
        method=lambda wildcards: TABPATE_ARMS[wildcards.synthesizer]["method"],
        iterations=tabpate_setting("iterations"),
        rounds=tabpate_setting("rounds"),
        rows=tabpate_setting("rows"),
    script:
        "../workflow_scripts/tabpate/synthesize_records.py"


rule tabpate_answer_queries:
    input:
        **TABPATE_TABLE,
    output:
        "<results>/signals/tabpate/{dataset}/answers/{shard}.nc",
        sidecar="<results>/provenance/tabpate_answer_queries/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_answer_queries/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_answer_queries/{dataset}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **tabpate_params("answers"),
        code=digest("tabpate_answer_queries", env="tabular"),
        seed=config["seed"],
    script:
        "../workflow_scripts/tabpate/answer_queries.py"


rule tabpate_release_shadows:
    input:
        **TABPATE_TABLE,
    output:
        "<results>/signals/tabpate/{dataset}/shadows/{shard}.nc",
        sidecar="<results>/provenance/tabpate_release_shadows/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_release_shadows/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_release_shadows/{dataset}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("tabpate_release_shadows", env="tabular"),
        seed=config["seed"],
        delta=TABPATE["delta"],
        roles=TABPATE["roles"],
        arms=tabpate_shadow_arms(),
        pairs=tabpate_pairs("epsilons"),
        sets=TABPATE["shadows"]["sets"],
        shard=TABPATE["shadows"]["shard"],
    script:
        "../workflow_scripts/tabpate/release_shadows.py"


rule tabpate_poison_shadows:
    input:
        **TABPATE_TABLE,
    output:
        "<results>/signals/tabpate/{dataset}/poisoned/{shard}.nc",
        sidecar="<results>/provenance/tabpate_poison_shadows/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_poison_shadows/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_poison_shadows/{dataset}/{shard}.jsonl"
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("tabpate_poison_shadows", env="tabular"),
        seed=config["seed"],
        delta=TABPATE["delta"],
        roles=TABPATE["roles"],
        arms=tabpate_shadow_arms(),
        pairs=tabpate_pairs("poisoned"),
        sets=TABPATE["shadows"]["poisoned"]["sets"],
        shard=TABPATE["shadows"]["shard"],
        targets=TABPATE["shadows"]["poisoned"]["targets"],
        budgets=TABPATE["shadows"]["poisoned"]["budgets"],
    script:
        "../workflow_scripts/tabpate/poison_shadows.py"


include: "tabpate_evaluate.smk"
include: "tabpate_views.smk"

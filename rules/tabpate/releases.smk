"""Private contexts by every method, and predictions of PATE students with them (TabPATE, Sections 4 and 5,
Appendices B to D). The noise has no seed: another run releases other contexts.

INPUT   <results>/data/{dataset}/records.parquet, schema.json, id.key; config/public/{dataset}.yaml; model folders
OUTPUT  <results>/signals/tabpate/{dataset}/noted.json            a private table's line in its ledger
        <results>/signals/tabpate/{dataset}/contexts/{shard}.nc   released records and labels
        <results>/signals/tabpate/{dataset}/students.nc           predictions of the test records with each context
        <results>/signals/tabpate/{dataset}/answers/{shard}.nc    predictions of methods that release no context
        <results>/signals/tabpate/{dataset}/shadows/{shard}.nc    predictions of students of shadow contexts
"""

TABPATE = STUDIES["tabpate"]


rule tabpate_note_table:
    input:
        "<results>/data/{dataset}/raw.parquet",
    output:
        "<results>/signals/tabpate/{dataset}/noted.json",
        sidecar="<results>/provenance/tabpate_note_table/{dataset}.json",
    log:
        "<results>/logs/tabpate_note_table/{dataset}.log",
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("tabpate_note_table", env="tabular"),
        run=config["run"],
        ledger=TABPATE.ledger,
    script:
        "../../workflow_scripts/tabpate/note_table.py"


rule tabpate_release_contexts:
    input:
        **TABPATE.table,
    output:
        "<results>/signals/tabpate/{dataset}/contexts/{shard}.nc",
        sidecar="<results>/provenance/tabpate_release_contexts/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_release_contexts/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_release_contexts/{dataset}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **TABPATE.release_params("contexts"),
        code=digest("tabpate_release_contexts", env="tabular"),
        seed=config["seed"],
    script:
        "../../workflow_scripts/tabpate/release_contexts.py"


rule tabpate_query_students:
    input:
        **TABPATE.table,
        contexts=TABPATE.files("contexts"),
        synthetic=TABPATE.synthetic_files,
        bins=TABPATE.synthetic_bins,
    output:
        "<results>/signals/tabpate/{dataset}/students.nc",
        sidecar="<results>/provenance/tabpate_query_students/{dataset}.json",
    log:
        "<results>/logs/tabpate_query_students/{dataset}.log",
    benchmark:
        "<results>/benchmarks/tabpate_query_students/{dataset}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(TABPATE.memory),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("tabpate_query_students", env="tabular"),
        seed=config["seed"],
        roles=TABPATE.config["roles"],
        repeats=TABPATE.config["repeats"],
        synthetic=TABPATE.synthetic_settings,
    script:
        "../../workflow_scripts/tabpate/query_students.py"


rule tabpate_code_records:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        key="<results>/data/id.key",
        public=TABPATE.public,
    output:
        codes="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.parquet",
        bins="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.json",
        sidecar="<results>/provenance/tabpate_code_records/{dataset}/{synthesizer}.json",
    log:
        "<results>/logs/tabpate_code_records/{dataset}/{synthesizer}.log",
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="30m",
    params:
        code=digest("tabpate_code_records", env="tabular"),
        seed=config["seed"],
        roles=TABPATE.config["roles"],
        repeats=TABPATE.config["repeats"],
        arm=TABPATE.synthesizer,
        delta=TABPATE.config["delta"],
        epsilons=TABPATE.synthesized_epsilons,
    script:
        "../../workflow_scripts/tabpate/code_records.py"


rule tabpate_synthesize_records:
    input:
        codes="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.parquet",
        bins="<results>/signals/tabpate/{dataset}/codes/{synthesizer}.json",
    output:
        "<results>/signals/tabpate/{dataset}/synthetic/{synthesizer}/{epsilon}.parquet",
        sidecar="<results>/provenance/tabpate_synthesize_records/{dataset}/{synthesizer}/{epsilon}.json",
    log:
        "<results>/logs/tabpate_synthesize_records/{dataset}/{synthesizer}/{epsilon}.log",
    benchmark:
        "<results>/benchmarks/tabpate_synthesize_records/{dataset}/{synthesizer}/{epsilon}.jsonl"
    conda:
        "../../envs/synth.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
    params:
        code=digest("tabpate_synthesize_records", env="synth"),
        delta=TABPATE.config["delta"],
        epsilon=lambda wildcards: float(wildcards.epsilon),
        method=TABPATE.synthesizer_method,
        iterations=TABPATE.synthesizer_setting("iterations"),
        rounds=TABPATE.synthesizer_setting("rounds"),
        rows=TABPATE.synthesizer_setting("rows"),
    script:
        "../../workflow_scripts/tabpate/synthesize_records.py"


rule tabpate_answer_queries:
    input:
        **TABPATE.table,
    output:
        "<results>/signals/tabpate/{dataset}/answers/{shard}.nc",
        sidecar="<results>/provenance/tabpate_answer_queries/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_answer_queries/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_answer_queries/{dataset}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(TABPATE.memory),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **TABPATE.release_params("answers"),
        code=digest("tabpate_answer_queries", env="tabular"),
        seed=config["seed"],
    script:
        "../../workflow_scripts/tabpate/answer_queries.py"


rule tabpate_release_shadows:
    input:
        **TABPATE.table,
    output:
        "<results>/signals/tabpate/{dataset}/shadows/{shard}.nc",
        sidecar="<results>/provenance/tabpate_release_shadows/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_release_shadows/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_release_shadows/{dataset}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **TABPATE.shadow_params(),
        code=digest("tabpate_release_shadows", env="tabular"),
        seed=config["seed"],
        pairs=TABPATE.attacked_pairs(),
        sets=TABPATE.shadow["sets"],
    script:
        "../../workflow_scripts/tabpate/release_shadows.py"


rule tabpate_poison_shadows:
    input:
        **TABPATE.table,
    output:
        "<results>/signals/tabpate/{dataset}/poisoned/{shard}.nc",
        sidecar="<results>/provenance/tabpate_poison_shadows/{dataset}/{shard}.json",
    log:
        "<results>/logs/tabpate_poison_shadows/{dataset}/{shard}.log",
    benchmark:
        "<results>/benchmarks/tabpate_poison_shadows/{dataset}/{shard}.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(720),
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        **TABPATE.shadow_params(),
        code=digest("tabpate_poison_shadows", env="tabular"),
        seed=config["seed"],
        pairs=TABPATE.poisoned_pairs(),
        sets=TABPATE.shadow["poisoned"]["sets"],
        targets=TABPATE.shadow["poisoned"]["targets"],
        budgets=TABPATE.shadow["poisoned"]["budgets"],
    script:
        "../../workflow_scripts/tabpate/poison_shadows.py"

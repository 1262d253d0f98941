"""What private students are worth, and what attacks find in them.

INPUT   <results>/signals/tabpate/{dataset}/**.nc, records and public facts
OUTPUT  <results>/scores/tabpate/**.parquet     tidy results; `tabpate_views.smk` says how they are shown
"""


rule tabpate_measure_utility:
    input:
        records="<results>/data/{dataset}/records.parquet",
        public=tabpate_public,
        answers=tabpate_answers,
    output:
        "<results>/scores/tabpate/{dataset}/utility.parquet",
        sidecar="<results>/provenance/tabpate_measure_utility/{dataset}.json",
    log:
        "<results>/logs/tabpate_measure_utility/{dataset}.log",
    benchmark:
        "<results>/benchmarks/tabpate_measure_utility/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("tabpate_measure_utility", env="statistics"),
        seed=config["seed"],
        replicates=TABPATE["replicates"],
        arms=tabpate_methods(),
    script:
        "../workflow_scripts/tabpate/measure_utility.py"


rule tabpate_average_datasets:
    input:
        tabpate_scores("utility"),
    output:
        "<results>/scores/tabpate/average.parquet",
        sidecar="<results>/provenance/tabpate_average_datasets.json",
    log:
        "<results>/logs/tabpate_average_datasets.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("tabpate_average_datasets", env="statistics"),
        published=PUBLISHED["tabpate"],
    script:
        "../workflow_scripts/tabpate/average_datasets.py"


rule tabpate_attack_students:
    input:
        shadows=tabpate_shadow_files("shadows", "sets"),
        poisoned=tabpate_shadow_files("poisoned", "poisoned", "sets"),
    output:
        tidy="<results>/scores/tabpate/{dataset}/attack.parquet",
        roc="<results>/scores/tabpate/{dataset}/roc.parquet",
        sidecar="<results>/provenance/tabpate_attack_students/{dataset}.json",
    log:
        "<results>/logs/tabpate_attack_students/{dataset}.log",
    benchmark:
        "<results>/benchmarks/tabpate_attack_students/{dataset}.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("tabpate_attack_students", env="statistics"),
        seed=config["seed"],
        delta=TABPATE["delta"],
        fpr=TABPATE["shadows"]["fpr"],
        replicates=TABPATE["replicates"],
        permutations=TABPATE["shadows"]["permutations"],
    script:
        "../workflow_scripts/tabpate/attack_students.py"


rule tabpate_audit_mechanism:
    output:
        "<results>/scores/tabpate/audit.parquet",
        sidecar="<results>/provenance/tabpate_audit_mechanism.json",
    log:
        "<results>/logs/tabpate_audit_mechanism.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="30m",
    params:
        code=digest("tabpate_audit_mechanism", env="statistics"),
        runs=TABPATE["audit"],
    script:
        "../workflow_scripts/tabpate/audit_mechanism.py"

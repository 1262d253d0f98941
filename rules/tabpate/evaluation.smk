"""Utility of PATE students, and attacks on them.

INPUT   <results>/signals/tabpate/{dataset}/**.nc, records and public facts
OUTPUT  <results>/scores/tabpate/**.parquet     tidy results
        <results>/signals/tabpate/refits/{synthesizer}.parquet   scores of refits with and without a canary
"""


rule tabpate_measure_utility:
    input:
        records="<results>/data/{dataset}/records.parquet",
        public=TABPATE.public,
        answers=TABPATE.answers,
    output:
        "<results>/scores/tabpate/{dataset}/utility.parquet",
        sidecar="<results>/provenance/tabpate_measure_utility/{dataset}.json",
    log:
        "<results>/logs/tabpate_measure_utility/{dataset}.log",
    benchmark:
        "<results>/benchmarks/tabpate_measure_utility/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("tabpate_measure_utility", env="statistics"),
        seed=config["seed"],
        replicates=TABPATE.config["replicates"],
        arms=TABPATE.method_names(),
    script:
        "../../workflow_scripts/tabpate/measure_utility.py"


rule tabpate_average_datasets:
    input:
        TABPATE.results["utility"],
    output:
        "<results>/scores/tabpate/average.parquet",
        sidecar="<results>/provenance/tabpate_average_datasets.json",
    log:
        "<results>/logs/tabpate_average_datasets.log",
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="10m",
    params:
        code=digest("tabpate_average_datasets", env="statistics"),
        published=RUN.published("tabpate"),
    script:
        "../../workflow_scripts/tabpate/average_datasets.py"


rule tabpate_attack_students:
    input:
        shadows=TABPATE.shadow_files("shadows", TABPATE.shadow["sets"]),
        poisoned=TABPATE.shadow_files("poisoned", TABPATE.shadow["poisoned"]["sets"]),
    output:
        tidy="<results>/scores/tabpate/{dataset}/attack.parquet",
        roc="<results>/scores/tabpate/{dataset}/roc.parquet",
        sidecar="<results>/provenance/tabpate_attack_students/{dataset}.json",
    log:
        "<results>/logs/tabpate_attack_students/{dataset}.log",
    benchmark:
        "<results>/benchmarks/tabpate_attack_students/{dataset}.jsonl"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("tabpate_attack_students", env="statistics"),
        seed=config["seed"],
        delta=TABPATE.config["delta"],
        fpr=TABPATE.shadow["fpr"],
        replicates=TABPATE.config["replicates"],
        permutations=TABPATE.shadow["permutations"],
    script:
        "../../workflow_scripts/tabpate/attack_students.py"


rule tabpate_audit_mechanism:
    output:
        "<results>/scores/tabpate/audit.parquet",
        sidecar="<results>/provenance/tabpate_audit_mechanism.json",
    log:
        "<results>/logs/tabpate_audit_mechanism.log",
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="30m",
    params:
        code=digest("tabpate_audit_mechanism", env="statistics"),
        runs=TABPATE.config["audit"],
    script:
        "../../workflow_scripts/tabpate/audit_mechanism.py"


rule tabpate_refit_synthesizers:
    output:
        "<results>/signals/tabpate/refits/{synthesizer}.parquet",
        sidecar="<results>/provenance/tabpate_refit_synthesizers/{synthesizer}.json",
    log:
        "<results>/logs/tabpate_refit_synthesizers/{synthesizer}.log",
    benchmark:
        "<results>/benchmarks/tabpate_refit_synthesizers/{synthesizer}.jsonl"
    conda:
        "../../envs/synth.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="4h",
    params:
        **TABPATE.refit_params(),
        code=digest("tabpate_refit_synthesizers", env="synth"),
    script:
        "../../workflow_scripts/tabpate/refit_synthesizers.py"


rule tabpate_audit_synthesizers:
    input:
        TABPATE.refit_files,
    output:
        "<results>/scores/tabpate/synthesizers.parquet",
        sidecar="<results>/provenance/tabpate_audit_synthesizers.json",
    log:
        "<results>/logs/tabpate_audit_synthesizers.log",
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=grows(1000),
        runtime="30m",
    params:
        code=digest("tabpate_audit_synthesizers", env="statistics"),
        seed=config["seed"],
        arms=TABPATE.refitted,
        delta=TABPATE.config["delta"],
    script:
        "../../workflow_scripts/tabpate/audit_synthesizers.py"

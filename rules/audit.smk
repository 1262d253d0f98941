"""The audit of a user's table: vulnerability of its records, precision of positive predictions, groups, and the page.

INPUT   <results>/signals/attacks/{dataset}/**.nc; the section `audit`
OUTPUT  <results>/data/{dataset}/rows.parquet                                 which row of the table a record is
        <results>/scores/audit/{dataset}/threats.parquet, groups.parquet, mitigations.parquet
        <results>/signals/audit/{dataset}/candidates.nc                       answers for tried values and joins (--infer)
        <results>/scores/audit/{dataset}/inference.parquet                    what is inferred and linked by them
        <results>/audit/{dataset}/index.html, summary.json, risk.parquet      what `./memaudit audit` hands over
"""

AUDIT = STUDIES["audit"]


localrules:
    audit_write_page,
    audit,


rule audit_locate_records:
    input:
        table="<results>/data/{dataset}/raw.parquet",
        facts="<results>/data/{dataset}/raw.json",
        key="<results>/data/id.key",
    output:
        "<results>/data/{dataset}/rows.parquet",
        sidecar="<results>/provenance/audit_locate_records/{dataset}.json",
    log:
        "<results>/logs/audit_locate_records/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT.dataset,
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="1h",
    params:
        code=digest("audit_locate_records", env="data"),
        policy=DATA.policy_of_all_rows,
    script:
        "../workflow_scripts/audit/locate_records.py"


rule audit_rate_records:
    input:
        **ATTACKS.grids(AUDIT.other_models),
        main=ATTACKS.grid("main"),
        perturbed=AUDIT.complete(ATTACKS.perturbed, threat="labels"),
        poisoned=AUDIT.complete(ATTACKS.poisoned("main"), threat="poison"),
        settings=AUDIT.complete(ATTACKS.grid("settings")),
        attention=AUDIT.complete(ATTACKS.attention("main"), threat="white-box"),
        rows="<results>/data/{dataset}/rows.parquet",
    output:
        risk="<results>/audit/{dataset}/risk.parquet",
        tidy="<results>/scores/audit/{dataset}/threats.parquet",
        sidecar="<results>/provenance/audit_rate_records/{dataset}.json",
    log:
        "<results>/logs/audit_rate_records/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT.dataset,
    conda:
        "../envs/statistics.yaml"
    threads: 2
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("audit_rate_records", env="statistics"),
        seed=config["seed"],
        attacks=ATTACKS.keys("fpr", "replicates", "permutations", "perturbation", "rmia", "detectable"),
        audit=AUDIT.section("fpr", "base_rates", "threats", "models", "shown", "context_rows", "smallest"),
    script:
        "../workflow_scripts/audit/rate_records.py"


rule audit_compare_groups:
    input:
        main=ATTACKS.grid("main"),
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
    output:
        tidy="<results>/scores/audit/{dataset}/groups.parquet",
        names="<results>/data/{dataset}/groups.json",
        sidecar="<results>/provenance/audit_compare_groups/{dataset}.json",
    log:
        "<results>/logs/audit_compare_groups/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT.dataset,
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("audit_compare_groups", env="statistics"),
        seed=config["seed"],
        attacks=ATTACKS.keys("fpr", "replicates", "rmia"),
        audit=AUDIT.section("by", "groups", "permutations", "fpr", "threats"),
    script:
        "../workflow_scripts/audit/compare_groups.py"


rule audit_judge_mitigations:
    input:
        main=ATTACKS.grid("main"),
        settings=ATTACKS.grid("settings"),
        defended=ATTACKS.grid("defended"),
        perturbed=ATTACKS.perturbed,
        attention=AUDIT.complete(ATTACKS.attention("defended"), threat="white-box"),
    output:
        "<results>/scores/audit/{dataset}/mitigations.parquet",
        sidecar="<results>/provenance/audit_judge_mitigations/{dataset}.json",
    log:
        "<results>/logs/audit_judge_mitigations/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT.dataset,
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("audit_judge_mitigations", env="statistics"),
        seed=config["seed"],
        attacks=ATTACKS.keys("fpr", "replicates", "decimals", "perturbation", "rmia"),
        audit=AUDIT.section("fpr", "threats"),
    script:
        "../workflow_scripts/audit/judge_mitigations.py"


rule audit_query_candidates:
    input:
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
        design="<results>/signals/attacks/{dataset}/designs/main.nc",
        model=ATTACKS.model_file("main", "model.json"),
        weights=ATTACKS.model_file("main", "weights"),
    output:
        "<results>/signals/audit/{dataset}/candidates.nc",
        sidecar="<results>/provenance/audit_query_candidates/{dataset}.json",
    log:
        "<results>/logs/audit_query_candidates/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT.dataset,
    conda:
        "../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
        gpu=1,
        forward_mb=config["memory_mb"],
    params:
        code=digest("audit_query_candidates", env="tabular"),
        seed=config["seed"],
        audit=AUDIT.section("infer", "threats", "inference"),
    script:
        "../workflow_scripts/audit/query_candidates.py"


rule audit_judge_inference:
    input:
        candidates="<results>/signals/audit/{dataset}/candidates.nc",
        schema="<results>/data/{dataset}/schema.json",
    output:
        "<results>/scores/audit/{dataset}/inference.parquet",
        sidecar="<results>/provenance/audit_judge_inference/{dataset}.json",
    log:
        "<results>/logs/audit_judge_inference/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT.dataset,
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(2000),
        runtime="1h",
    params:
        code=digest("audit_judge_inference", env="statistics"),
        seed=config["seed"],
        attacks=ATTACKS.keys("replicates", "permutations"),
    script:
        "../workflow_scripts/audit/judge_inference.py"


rule audit_write_page:
    input:
        risk="<results>/audit/{dataset}/risk.parquet",
        threats="<results>/scores/audit/{dataset}/threats.parquet",
        groups=AUDIT.complete(AUDIT.group_scores),
        names=AUDIT.complete(AUDIT.group_names),
        mitigations=AUDIT.complete(AUDIT.mitigations),
        private=AUDIT.complete(AUDIT.private),
        public=AUDIT.complete(AUDIT.public),
        tuned=AUDIT.complete(AUDIT.tuned),
        inference=AUDIT.complete(AUDIT.inference),
        dedup="<results>/data/{dataset}/dedup.parquet",
        checks=f"<results>/data/{{dataset}}/splits/{ATTACKS.config['split']}.checks.parquet",
        cards=lambda wildcards: [ATTACKS.model_file(arm, "model.json") for arm in AUDIT.config["models"]],
        facts=AUDIT.facts,
    output:
        page="<results>/audit/{dataset}/index.html",
        summary="<results>/audit/{dataset}/summary.json",
        sidecar="<results>/provenance/audit_write_page/{dataset}.json",
    log:
        "<results>/logs/audit_write_page/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT.dataset,
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime="10m",
    params:
        code=digest("audit_write_page", env="statistics"),
        audit=AUDIT.section(),
        attacks=ATTACKS.keys(
            "sets", "fpr", "replicates", "permutations", "perturbation", "active", "attention", "layer"
        ),
        seed=config["seed"],
    script:
        "../workflow_scripts/audit/write_page.py"


rule audit:
    input:
        AUDIT.target,

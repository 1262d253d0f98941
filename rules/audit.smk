"""The audit of somebody's table: who is exposed, what an accusation is worth, which groups leak, and the page.

INPUT   <results>/signals/attacks/{dataset}/**.nc, <results>/scores/attacks/{dataset}/mitigations.parquet; the section `audit`
OUTPUT  <results>/data/{dataset}/rows.parquet                                 which row of the table a record is
        <results>/scores/audit/{dataset}/threats.parquet, groups.parquet      tidy results
        <results>/audit/{dataset}/index.html, summary.json, risk.parquet      what `./memaudit audit` hands over
"""


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
        dataset=AUDIT["dataset"] if AUDIT else "-",
    conda:
        "../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=grows(4000),
        runtime="1h",
    params:
        code=digest("audit_locate_records", env="data"),
        policy=audit_policy,
    script:
        "../workflow_scripts/audit/locate_records.py"


rule audit_rate_records:
    input:
        **{arm: attacks_grid(arm) for arm in AUDIT_MODELS},
        main=attacks_grid("main"),
        perturbed=audit_if("labels", attacks_perturbed),
        poisoned=audit_if("poison", attacks_poisoned("main")),
        rows="<results>/data/{dataset}/rows.parquet",
    output:
        risk="<results>/audit/{dataset}/risk.parquet",
        tidy="<results>/scores/audit/{dataset}/threats.parquet",
        sidecar="<results>/provenance/audit_rate_records/{dataset}.json",
    log:
        "<results>/logs/audit_rate_records/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT["dataset"] if AUDIT else "-",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("audit_rate_records", env="statistics"),
        seed=config["seed"],
        attacks=attacks_settings("fpr", "replicates", "permutations", "perturbation"),
        audit=audit_asked("fpr", "base_rates", "threats", "models"),
    script:
        "../workflow_scripts/audit/rate_records.py"


rule audit_compare_groups:
    input:
        main=attacks_grid("main"),
        records="<results>/data/{dataset}/records.parquet",
        schema="<results>/data/{dataset}/schema.json",
    output:
        tidy="<results>/scores/audit/{dataset}/groups.parquet",
        names="<results>/data/{dataset}/groups.json",
        sidecar="<results>/provenance/audit_compare_groups/{dataset}.json",
    log:
        "<results>/logs/audit_compare_groups/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT["dataset"] if AUDIT else "-",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=grows(3000),
        runtime="1h",
    params:
        code=digest("audit_compare_groups", env="statistics"),
        seed=config["seed"],
        attacks=attacks_settings("fpr", "replicates"),
        audit=audit_asked("by", "groups", "permutations"),
    script:
        "../workflow_scripts/audit/compare_groups.py"


rule audit_write_page:
    input:
        risk="<results>/audit/{dataset}/risk.parquet",
        threats="<results>/scores/audit/{dataset}/threats.parquet",
        groups=audit_if(None, lambda wildcards: [f"<results>/scores/audit/{wildcards.dataset}/groups.parquet"]),
        names=audit_if(None, lambda wildcards: [f"<results>/data/{wildcards.dataset}/groups.json"]),
        mitigations=audit_if(None, audit_mitigations),
        private=audit_if(None, audit_private),
        public=audit_if(None, audit_public),
        tuned=audit_if(None, audit_tuned),
        dedup="<results>/data/{dataset}/dedup.parquet",
        checks=f"<results>/data/{{dataset}}/splits/{ATTACKS['split']}.checks.parquet",
        cards=lambda wildcards: [attacks_model(arm, "model.json") for arm in AUDIT["models"]],
        facts=audit_facts,
    output:
        page="<results>/audit/{dataset}/index.html",
        summary="<results>/audit/{dataset}/summary.json",
        sidecar="<results>/provenance/audit_write_page/{dataset}.json",
    log:
        "<results>/logs/audit_write_page/{dataset}.log",
    wildcard_constraints:
        dataset=AUDIT["dataset"] if AUDIT else "-",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime="10m",
    params:
        code=digest("audit_write_page", env="statistics"),
        audit=audit_asked(*AUDIT) if AUDIT else None,
        attacks=attacks_settings("sets", "fpr", "replicates", "permutations", "perturbation", "active", "layer"),
        seed=config["seed"],
    script:
        "../workflow_scripts/audit/write_page.py"


rule audit:
    input:
        audit_target,

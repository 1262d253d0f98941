"""Judge fine-tuned models task by task, then decide about all of them together (paper: Section 5, Appendices B to D).

INPUT   <results>/signals/iclmem/{dataset}/reference_{labels}.nc, <results>/signals/iclmem/{task}/{arm}/{shard}.nc
OUTPUT  <results>/scores/iclmem/{task}/results.parquet, <results>/scores/iclmem/outcomes.parquet
"""


rule iclmem_judge_runs:
    input:
        unpack(iclmem_judged),
        reference=iclmem_references,
    output:
        runs="<results>/scores/iclmem/{task}/runs.parquet",
        results="<results>/scores/iclmem/{task}/results.parquet",
        null="<results>/scores/iclmem/{task}/null.nc",
        sidecar="<results>/provenance/iclmem_judge_runs/{task}.json",
    log:
        "<results>/logs/iclmem_judge_runs/{task}.log",
    benchmark:
        "<results>/benchmarks/iclmem_judge_runs/{task}.jsonl"
    wildcard_constraints:
        task="|".join(["joint", *config["datasets"]]),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="4h",
    params:
        code=digest("iclmem_judge_runs", env="statistics"),
        seed=config["seed"],
        arms=lambda wildcards: {arm: iclmem_arm(wildcards.task, arm) for arm in iclmem_arms(wildcards.task)},
        iclmem=iclmem_asked("fpr", "replicates", "permutations", "bins", "rules"),
    script:
        "../workflow_scripts/iclmem/judge_runs.py"


rule iclmem_decide_outcomes:
    input:
        runs=expand("<results>/scores/iclmem/{task}/runs.parquet", task=ICLMEM_TASKS),
        null=expand("<results>/scores/iclmem/{task}/null.nc", task=ICLMEM_TASKS),
    output:
        tidy="<results>/scores/iclmem/outcomes.parquet",
        sidecar="<results>/provenance/iclmem_decide_outcomes.json",
    log:
        "<results>/logs/iclmem_decide_outcomes.log",
    benchmark:
        "<results>/benchmarks/iclmem_decide_outcomes.jsonl"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("iclmem_decide_outcomes", env="statistics"),
        seed=config["seed"],
        iclmem=iclmem_asked("fpr", "replicates", "rules"),
        published=PUBLISHED["iclmem"],
    script:
        "../workflow_scripts/iclmem/decide_outcomes.py"

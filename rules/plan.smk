"""What a run costs, before anything is submitted; and how what jobs have cost is measured.

INPUT   none is declared: the config says how large the jobs are, results/bench/unit_costs.json what they cost
OUTPUT  plan: a table for the terminal; costs: results/bench/unit_costs.json, from the sidecars of a finished run
"""


localrules:
    plan,
    costs,


rule plan:
    log:
        "<results>/logs/plan.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        code=digest("maintenance_print_plan", env="statistics"),
        run=f"results/{config['run']}",
        unit_costs=in_project(UNIT_COSTS),
        jobs=lambda wildcards: job_sizes(),
        gpu=lambda wildcards: sorted(rule_of(rule.script) for rule in workflow.rules if "gpu" in rule.resources),
        tables=lambda wildcards: {name: table_size(name) for name in COSTS["data_fetch_table"]},
        shadows=lambda wildcards: {study: needs() for study, needs in SHADOWS.items()},
        uncounted=lambda wildcards: uncounted(USES),
        cores=lambda wildcards: workflow.cores,
        settings=config["plan"],
    script:
        "../workflow_scripts/maintenance/print_plan.py"


rule costs:
    log:
        "<results>/logs/costs.log",
    conda:
        "../envs/statistics.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        code=digest("maintenance_measure_costs", env="statistics"),
        run=f"results/{config['run']}",
        unit_costs=in_project(UNIT_COSTS),
        jobs=lambda wildcards: job_sizes(),
    script:
        "../workflow_scripts/maintenance/measure_costs.py"

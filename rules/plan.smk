"""Cost of a run, predicted before anything is submitted, and the measured costs of jobs that it rests on.

INPUT   none is declared: the config says how large the jobs are, results/bench/unit_costs.json what they cost
OUTPUT  plan: a table for the terminal; costs: results/bench/unit_costs.json, from the sidecars of a finished run
"""


localrules:
    plan,
    costs,


rule plan:
    log:
        ".snakemake/log/plan.log",  # a plan leaves no folder of results
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        code=digest("maintenance_print_plan", env="statistics"),
        run=RUN.folder,
        unit_costs=RUN.unit_costs,
        jobs=WORKLOAD.sizes,
        gpu=lambda wildcards: sorted(rule_of(rule.script) for rule in workflow.rules if "gpu" in rule.resources),
        minutes=lambda wildcards: snakemake_handlers.requested_minutes(workflow),
        missing=lambda wildcards: [
            *WORKLOAD.missing().values(),
            *snakemake_handlers.unfit_rules(WORKLOAD, workflow),
        ],
        tables=WORKLOAD.tables,
        shadows=WORKLOAD.shadows,
        uncounted=WORKLOAD.uncounted,
        downloads=WORKLOAD.downloads,
        cores=lambda wildcards: workflow.cores,
        settings=config["plan"],
    script:
        "../workflow_scripts/maintenance/print_plan.py"


rule costs:
    log:
        "<results>/logs/costs.log",
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=500,
        runtime="10m",
    params:
        code=digest("maintenance_measure_costs", env="statistics"),
        run=RUN.folder,
        known=RUN.unit_costs,
        unit_costs=UNIT_COSTS,
        jobs=WORKLOAD.sizes,
    script:
        "../workflow_scripts/maintenance/measure_costs.py"

"""memaudit: what has a model memorized, how far can that be trusted, and what does a private defence cost?"""


include: "rules/setup.smk"
include: "rules/data.smk"
include: "rules/models.smk"
include: "rules/lira.smk"
include: "rules/attacks/contexts.smk"
include: "rules/attacks/scores.smk"
include: "rules/tabpate/releases.smk"
include: "rules/tabpate/evaluation.smk"
include: "rules/iclmem.smk"
include: "rules/ltmia/targets.smk"
include: "rules/ltmia/attacks.smk"
include: "rules/predict/settings.smk"
include: "rules/predict/evaluation.smk"
include: "rules/views.smk"
include: "rules/report.smk"
include: "rules/provenance.smk"
include: "rules/plan.smk"
include: "rules/release.smk"
include: "rules/audit.smk"
include: "rules/predictions.smk"


report: "docs/captions/workflow.rst"


for study, view in VIEWS.items():

    rule:
        name:
            study
        input:
            view.files,
            rules.provenance_write_config.output[0],
        localrule: True


rule all:
    default_target: True
    input:
        [view.files for view in VIEWS.values()],
        rules.report.input,
    localrule: True


onstart:
    snakemake_handlers.before_jobs(WORKLOAD, workflow, logger)


onsuccess:
    snakemake_handlers.after_jobs(RUN, VIEWS, workflow)


onerror:
    snakemake_handlers.after_failure(RUN, VIEWS, workflow)

"""Draw figures from tidy results. No statistics are computed here: estimates and intervals are read.

python workflow_scripts/views/draw_figures.py --input lira_roc=roc.parquet \
    --output lira_roc=lira_roc.svg lira_roc=lira_roc.png lira_roc=lira_roc.pdf \
    --params '{"where": {"lira_roc": {}}}'
"""

from importlib import import_module
from pathlib import Path

from memaudit.common import tidy
from memaudit.common.job_inputs import several
from memaudit.plotting import figure_style, result_tables
from memaudit.workflow.job import run


def main(job):
    for figure, where in job.params.where.items():
        study, _, name = figure.partition("_")
        # By name, so that the digest of a study's figures covers the functions of this study alone (rules/views.smk).
        functions = import_module(f"memaudit.plotting.{study}_figures")
        results = result_tables.chosen(tidy.shown(*several(job.input.get(figure))), where)
        figure_style.save(getattr(functions, name)(results), Path(job.output.get(figure)[0]).with_suffix(""))


if __name__ == "__main__":
    run(main, globals())

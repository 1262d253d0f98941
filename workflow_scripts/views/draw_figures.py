"""Draw figures from tidy results. No statistics are computed here: estimates and intervals are read.

python workflow_scripts/views/draw_figures.py --input lira_roc=roc.parquet \
    --output lira_roc=lira_roc.svg lira_roc=lira_roc.png lira_roc=lira_roc.pdf \
    --params '{"where": {"lira_roc": {}}}'
"""

from pathlib import Path

from memaudit import tidy
from memaudit.plotting import (
    attacks_figures,
    figure_style,
    iclmem_figures,
    lira_figures,
    ltmia_figures,
    predict_figures,
    result_tables,
    tabpate_figures,
)
from memaudit.workflow.job import run, several

STUDIES = {
    "lira": lira_figures,
    "attacks": attacks_figures,
    "tabpate": tabpate_figures,
    "iclmem": iclmem_figures,
    "ltmia": ltmia_figures,
    "predict": predict_figures,
}


def main(job):
    for figure, where in job.params.where.items():
        study, _, name = figure.partition("_")
        results = result_tables.chosen(tidy.shown(*several(job.input.get(figure))), where)
        figure_style.save(getattr(STUDIES[study], name)(results), Path(job.output.get(figure)[0]).with_suffix(""))


if __name__ == "__main__":
    run(main, globals())

"""Draw figures from tidy results: values and bands come in, no statistics are made.

python workflow_scripts/views_draw_figures.py --input lira_roc=roc.parquet \
    --output lira_roc=lira_roc.svg lira_roc=lira_roc.png lira_roc=lira_roc.pdf \
    --params '{"where": {"lira_roc": {}}}'
"""

from pathlib import Path

from memaudit import tables, tidy
from memaudit.job import run, several
from memaudit.plotting import attacks, iclmem, lira, ltmia, predict, style, tabpate

STUDIES = {"lira": lira, "attacks": attacks, "tabpate": tabpate, "iclmem": iclmem, "ltmia": ltmia, "predict": predict}


def main(job):
    for figure, where in job.params.where.items():
        study, _, name = figure.partition("_")
        results = tables.chosen(tidy.shown(*several(job.input.get(figure))), where)
        style.save(getattr(STUDIES[study], name)(results), Path(job.output.get(figure)[0]).with_suffix(""))


if __name__ == "__main__":
    run(main, globals())

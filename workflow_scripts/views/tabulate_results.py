"""Write tidy results as tables: CSV in full precision, Markdown and LaTeX in the layout for readers.

python workflow_scripts/views/tabulate_results.py --input lira_fpc=population.parquet \
    --output lira_fpc=lira_fpc.csv lira_fpc=lira_fpc.md lira_fpc=lira_fpc.tex \
    --params '{"layout": {"lira_fpc": {"rows": ["dataset"], "columns": ["models"]}}}'
"""

from pathlib import Path

from memaudit.common import tidy
from memaudit.common.job_inputs import several
from memaudit.plotting import result_tables
from memaudit.workflow.job import run


def main(job):
    for name, layout in job.params.layout.items():
        results = tidy.shown(*several(job.input.get(name)))
        result_tables.write(results, Path(job.output.get(name)[0]).with_suffix(""), layout)


if __name__ == "__main__":
    run(main, globals())

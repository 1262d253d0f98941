"""Synthesize samples of tuning tables with AIM or MST, each with settings of its own (a step of tune_tabpate.py).

python workflow_scripts/maintenance/synthesize_samples.py --input samples=samples.json --output synthetic.json \
    --params '{"code": "by hand"}'

samples: those of studies/tabpate/synthesizer_tuning.py. Output: the synthetic codes of each, by column. The noise has
no seed. Where dpmm is not installed, the script runs itself again in .venv-synth.
"""

import pandas as pd

from memaudit.common.io import read_json, write_json
from memaudit.common.progress_bar import steps
from memaudit.privacy.synthesizers import Synthesizer
from memaudit.workflow.job import run
from memaudit.workflow.synthesizer_environment import handed_over, is_here, versions


def main(job):
    if not is_here():
        return handed_over(job, __file__, ("samples",))
    write_json([synthesized(one) for one in steps(read_json(job.input.samples), "samples")], job.output[0])
    return {"seed": None, "versions": versions()}


def synthesized(sample):
    """Synthetic codes of a sample, by column."""
    settings = (sample[key] for key in ("method", "epsilon", "delta", "iterations", "rounds"))
    rows = Synthesizer(*settings).synthesized(pd.DataFrame(sample["codes"]), sample["counts"], sample["rows"])
    return rows.astype(int).to_dict("list")


if __name__ == "__main__":
    run(main, globals())

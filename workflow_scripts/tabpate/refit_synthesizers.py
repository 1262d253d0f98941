"""Refit AIM or MST with and without a canary, and with its noise switched off, for its empirical epsilon.

python workflow_scripts/tabpate/refit_synthesizers.py --output refits.parquet --params '{"code": "by hand",
    "method": "mst", "epsilons": [1.0], "delta": 1e-5, "iterations": 20, "rounds": 16, "refits": 24}'

refits: with the canary, and as many without it, of each condition. What an adversary sees of each is one row
(studies/tabpate/synthetic_shadows.py). The noise has no seed. Each finished refit is kept, and a killed job continues.
Where dpmm is not installed, the script runs itself again in .venv-synth: the refits are kept there, beside the output.
"""

from memaudit.common.io import write_table
from memaudit.privacy.synthesizers import Synthesizer
from memaudit.studies.tabpate.synthetic_shadows import refits
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable
from memaudit.workflow.synthesizer_environment import handed_over, is_here, versions


def main(job):
    if not is_here():
        return handed_over(job, __file__)
    return resumable(refitted)(job)


def refitted(job, scratch):
    params = job.params
    synthesizer = Synthesizer(params.method, min(params.epsilons), params.delta, params.iterations, params.rounds)
    write_table(refits(synthesizer, params.epsilons, params.refits, scratch.part), job.output[0])
    return {"seed": None, "versions": versions()}


if __name__ == "__main__":
    run(main, globals())

"""Make the secret key of a run's record ids (or, for a demo, use the fixed public one).

python workflow_scripts/data/make_key.py --output results/demo/data/id.key --params '{"public_id_key": null}'
"""

from memaudit.data.record_ids import make_key
from memaudit.workflow.job import run


def main(job):
    make_key(job.output[0], job.params.public_id_key)


if __name__ == "__main__":
    run(main, globals())

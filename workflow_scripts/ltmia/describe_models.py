"""Write how much the base models have learnt: their losses beside those of unigram and bigram tables.

python workflow_scripts/ltmia/describe_models.py --input gpt2/training.json opt/training.json --output models.parquet \
    --params '{"models": ["gpt2", "opt"]}'

Inputs: facts of each model by `ltmia_prepare_model`, in the order of `models`. A model of a hub or a folder has its
number of parameters alone, for it has another tokenizer and its training texts are not known here.
"""

from memaudit.common import tidy
from memaudit.common.io import read_json, write_table
from memaudit.workflow.job import run

LOSSES = {"before": "untrained", "after": "pre-trained", "bigram": "bigram table", "unigram": "unigram table"}


def main(job):
    rows = []
    for name, path in zip(job.params.models, job.input, strict=True):
        rows += described({"source": "here", "model": name}, read_json(path))
    write_table(tidy.frame(rows), job.output[0])
    return {}


def described(keys, facts):
    """Tidy rows of one model."""
    yield tidy.row("ltmia", keys, "parameters", facts["parameters"], unit="weights")
    if "losses" not in facts:
        return
    yield tidy.row("ltmia", keys, "pre-training texts", facts["texts"], unit="texts")
    for kind, words in LOSSES.items():
        yield tidy.row("ltmia", keys, f"loss, {words}", facts["losses"][kind], unit="nats")
    learnt = facts["losses"]["after"] < facts["losses"]["bigram"]
    yield tidy.row("ltmia", keys, "below the bigram table", learnt, unit="yes or no")


if __name__ == "__main__":
    run(main, globals())

"""Pre-train the small language model that reads tables as text, and benchmark it; a killed run resumes.

python workflow_scripts/models/pretrain_text.py --output text-small --params '{"settings": {...}, "contexts": 40}'

Output: a folder that `transformers` opens, with model.json, benchmark.json and README.md; the state lies beside it
until the end. Params: settings, as in the model.json of resources/text-small: seed, steps, cadence, tokenizer,
architecture, prior, optimiser; contexts, of each table and size in the benchmark.
"""

from pathlib import Path

import torch

from memaudit.common.io import read_json, replacing, write_json
from memaudit.models.model_cards import text_card
from memaudit.models.text_benchmark import measure
from memaudit.models.text_pretraining import Run, facts, write_model
from memaudit.statistics.roc import auc
from memaudit.workflow.job import run


def main(job):
    torch.set_num_threads(1)  # with several threads sums have no fixed order
    torch.set_flush_denormal(True)
    folder = Path(job.output[0])
    # Other code is another run with another state file. Run by hand, there is no digest and no protection.
    state = folder.with_suffix(f".{getattr(job.params, 'code', 'state')}.state")
    training = Run(job.params.settings, state)
    training.train()
    write_model(training, folder)
    write_json(facts(training, folder), folder / "model.json")
    measured = measure(folder, job.params.contexts, training.settings["seed"], auc)
    write_json(measured, folder / "benchmark.json")
    with replacing(folder / "README.md") as temporary:
        # Read back: the card must be the text that the files give.
        page = text_card(read_json(folder / "model.json"), read_json(folder / "benchmark.json"))
        temporary.write_text(page, encoding="utf-8")
    state.unlink()
    return {"device": "cpu", "dtype": "float32", "seed": training.settings["seed"]}


if __name__ == "__main__":
    run(main, globals())

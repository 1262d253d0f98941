"""Pre-train the small TabICL on synthetic tables; a killed run continues from the state file beside its checkpoint.

python workflow_scripts/models/pretrain_tabicl.py --output tabicl-small.ckpt model.json --params '{"settings": {...}}'

Params: settings, the block `pretrain` of the config: seed, steps, cadence, architecture, prior, optimiser.
"""

from pathlib import Path

import torch

from memaudit.common.io import write_json
from memaudit.models.tabicl_pretraining import Run, facts, write_checkpoint
from memaudit.workflow.job import run


def main(job):
    torch.set_num_threads(1)  # with several threads sums have no fixed order
    torch.set_flush_denormal(True)
    checkpoint, report = map(Path, job.output[:2])
    # Other code is another run with another state file. Run by hand, there is no digest and no protection.
    state = checkpoint.with_suffix(f".{getattr(job.params, 'code', 'state')}.state")
    training = Run(job.params.settings, state)
    training.train()
    write_checkpoint(training.model, training.settings["architecture"], checkpoint)
    write_json(facts(training, checkpoint), report)
    state.unlink()
    return {"device": "cpu", "dtype": "float32", "seed": training.settings["seed"]}


if __name__ == "__main__":
    run(main, globals())

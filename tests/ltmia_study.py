"""A small study ltmia: two base models to learn from, one held out, and no controls."""

from conftest import PROJECT, load

from memaudit.workflow.run_config import RunConfig

TRAINING = [{"models": ["gpt2", "opt"], "corpora": ["docs-scipy"], "tuning": "full"}]
HELD_OUT = [{"models": ["mamba2"], "corpora": ["code-numpy", "docs-pandas", "planted"], "tuning": "lora"}]
SHIFTED = {
    "planted": {"members": "docs-scipy", "nonmembers": "docs-sympy"},
    "unused": {"members": "a", "nonmembers": "b"},
}
PARTS = {"pretraining": 7, "selection": 5, "member": 100, "nonmember": 200}


def small_run() -> RunConfig:
    """The default config with these targets, of few texts of 64 tokens."""
    run = RunConfig(load(), PROJECT)
    run.config["ltmia"] |= {"training": TRAINING, "held_out": HELD_OUT, "controls": {}, "shifted": SHIFTED}
    run.config["ltmia"] |= {"fpr": [0.01, 0.001], "targets_per_job": 2}
    run.config["ltmia"]["texts"] |= {"parts": PARTS, "length": 64}
    return run

"""A pre-training run of any family: its schedule, its state file and its facts."""

import pytest
import torch

from memaudit.common.errors import AuditError
from memaudit.models.pretraining_run import PretrainingRun, learning_rate

SETTINGS = {"steps": 6, "validate_every": 2, "save_every": 4}
SETTINGS |= {"optimiser": {"learning_rate": 0.1, "warmup": 1, "decay": 0.5, "clip_norm": 1.0}}


class Line(PretrainingRun):
    """Fits the slope of a line to one random point a step."""

    def __init__(self, settings, path):
        torch.manual_seed(0)
        model = torch.nn.Linear(1, 1)
        super().__init__(settings, path, model, torch.optim.AdamW(model.parameters()))

    def batch_loss(self, step):
        x = torch.full((1, 1), float(step))
        loss = (self.model(x) - 3 * x).square().mean()
        return loss, loss, {"tables": 2}

    def validation_set(self):
        return torch.ones(1, 1)

    def validate(self, held_out):
        return {"held_out": self.model(held_out).item()}


def test_learning_rate_warms_up_stays_and_falls_to_zero():
    rates = [learning_rate(step, 100, {"learning_rate": 1.0, "warmup": 10, "decay": 0.4}) for step in range(101)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[10:60] == [1.0] * 50
    assert rates[80] == pytest.approx(0.5)
    assert rates[100] == 0


def test_a_killed_run_continues_from_its_state_and_ends_with_the_same_bits(tmp_path):
    whole = Line(SETTINGS, tmp_path / "a.state")
    whole.train()
    Line(SETTINGS, tmp_path / "b.state").train(until=5)
    resumed = Line(SETTINGS, tmp_path / "b.state")
    assert resumed.done["step"] == 4
    resumed.train()
    assert all(map(torch.equal, whole.model.parameters(), resumed.model.parameters()))
    assert resumed.done["history"] == whole.done["history"]
    assert [entry["step"] for entry in whole.done["history"]] == [2, 4, 6]


def test_facts_hold_steps_counts_and_the_file(tmp_path):
    run = Line(SETTINGS, tmp_path / "a.state")
    run.train()
    (tmp_path / "weights").write_bytes(b"12")
    facts = run.facts(tmp_path / "weights", ("torch",))
    assert (facts["steps"], facts["tables"], facts["bytes"], facts["parameters"]) == (6, 12, 2, 2)
    assert facts["settings"] == SETTINGS
    assert not {"running", "step"} & facts.keys()


def test_a_state_of_other_settings_is_refused(tmp_path):
    Line(SETTINGS, tmp_path / "a.state").save()
    with pytest.raises(AuditError, match="other settings"):
        Line(SETTINGS | {"steps": 7}, tmp_path / "a.state")

"""Pre-training: resumable to the bit, checkpoints that tabicl loads."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from small_tabicl import TINY

from memaudit.common.errors import AuditError
from memaudit.models.tabicl_pretraining import (
    Run,
    batch_shape,
    facts,
    validate,
    validation_set,
    write_checkpoint,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def weights(run):
    return {name: value.clone() for name, value in run.model.state_dict().items()}


def test_killed_and_resumed_run_ends_with_the_same_bits(tmp_path):
    undisturbed = Run(TINY, tmp_path / "a.state")
    undisturbed.train()
    killed = Run(TINY, tmp_path / "b.state")
    killed.train(until=5)  # the state on disk is that of step 3: steps 4 and 5 are lost and made again
    resumed = Run(TINY, tmp_path / "b.state")
    assert resumed.done["step"] == 3
    resumed.train()
    assert all(torch.equal(value, weights(resumed)[name]) for name, value in weights(undisturbed).items())
    assert resumed.done["history"] == undisturbed.done["history"]
    assert resumed.done["tables"] == undisturbed.done["tables"]


def test_state_of_other_settings_is_refused(tmp_path):
    Run(TINY, tmp_path / "a.state").save()
    other = deepcopy(TINY)
    other["optimiser"]["learning_rate"] = 0.1
    with pytest.raises(AuditError, match="other settings"):
        Run(other, tmp_path / "a.state")


def test_seed_changes_the_run(tmp_path):
    first, second = Run(TINY, tmp_path / "a.state"), Run({**TINY, "seed": 4}, tmp_path / "b.state")
    assert not torch.equal(first.model.row_interactor.cls_tokens, second.model.row_interactor.cls_tokens)
    assert not torch.equal(validation_set(TINY)[0][0], validation_set({**TINY, "seed": 4})[0][0])


def test_training_predicts_held_out_tables_better_than_chance(tmp_path):
    settings = deepcopy(TINY) | {"steps": 150, "validation_batches": 4, "validate_every": 1000}
    settings["prior"] |= {"binary": 1.0, "families": dict.fromkeys(TINY["prior"]["families"], 0.0) | {"clusters": 1.0}}
    settings["prior"] |= {"cells": 2000}
    settings["optimiser"]["learning_rate"] = 0.01
    run = Run(settings, tmp_path / "a.state")
    assert validate(run.model, validation_set(settings)) > 0.68
    run.train()
    assert run.done["history"][-1]["held_out"] < 0.64


def test_checkpoint_loads_through_the_packaged_classifier(tmp_path):
    from tabicl import TabICLClassifier

    run = Run(TINY, tmp_path / "a.state")
    path = tmp_path / "tiny.ckpt"
    write_checkpoint(run.model, TINY["architecture"], path)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 5)), np.repeat([0, 1, 2], 10)
    classifier = TabICLClassifier(model_path=path, allow_auto_download=False, device="cpu", n_estimators=2)
    probability = classifier.fit(x, y).predict_proba(x[:4])
    assert probability.shape == (4, 3)
    np.testing.assert_allclose(probability.sum(1), 1, rtol=1e-5)
    assert facts(run, path)["parameters"] == sum(p.numel() for p in classifier.model_.parameters())


@pytest.mark.parametrize("progress", [0.0, 0.5, 0.51, 1.0])
def test_batch_sizes_follow_the_curriculum(progress):
    rng = np.random.default_rng(0)
    shapes = [batch_shape(TINY["prior"], progress, rng) for _ in range(200)]
    stage = TINY["prior"]["curriculum"][progress > 0.5]
    assert max(shape.features for shape in shapes) == stage["features"]
    assert min(shape.features for shape in shapes) == 2
    assert all(stage["context"][0] <= shape.context <= stage["context"][1] for shape in shapes)
    assert all(2 <= shape.tables <= 8 and shape.query >= 8 for shape in shapes)

"""Base models: the same weights from the same seed, and a loss that falls."""

from types import SimpleNamespace

import pytest
import torch
from ltmia_pipeline import ENTRY, LENGTH, make_all

from memaudit.common.errors import AuditError
from memaudit.studies.ltmia.base_models import pretrained

pytestmark = pytest.mark.usefixtures("one_thread")
TRAINING = {"epochs": 1, "batch": 16, "learning_rate": 5e-3, "warmup": 0.1}


def test_pretraining_is_a_function_of_its_seed_and_lowers_the_loss(tmp_path_factory, tmp_path):
    made = make_all(tmp_path_factory.getbasetemp())
    models = []
    for number, seed in enumerate((1, 1, 2)):
        params = SimpleNamespace(seed=seed, length=LENGTH, entry=ENTRY, training=TRAINING)
        model, tokenizer, facts = pretrained("gpt2", params, made / "texts.parquet", made, tmp_path / f"{number}.state")
        assert facts["losses"]["after"] < facts["losses"]["before"]
        assert facts["tokens"] <= facts["texts"] * LENGTH
        assert len(tokenizer) == model.config.vocab_size
        models.append(torch.cat([weight.flatten() for weight in model.parameters()]))
    assert torch.equal(models[0], models[1])
    assert not torch.equal(models[0], models[2])


def test_a_model_that_has_hardly_learnt_is_refused_where_a_bigram_is_required(tmp_path_factory, tmp_path):
    made = make_all(tmp_path_factory.getbasetemp())
    training = TRAINING | {"learning_rate": 1e-6, "below_bigram": True}
    params = SimpleNamespace(seed=1, length=LENGTH, entry=ENTRY, training=training)
    with pytest.raises(AuditError, match=r"base model gpt2: its loss is .* raise ltmia/pretraining/epochs"):
        pretrained("gpt2", params, made / "texts.parquet", made, tmp_path / "0.state")

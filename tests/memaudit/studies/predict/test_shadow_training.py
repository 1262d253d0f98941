"""Training of a setting's models: from the catalogue, and small language models."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT
from predict_pipeline import (
    RECORDS,
    SETTING,
    TRAINING,
    prepared,
    text_setting,
)
from transformers import AutoTokenizer

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_json
from memaudit.studies.predict.setting_records import prepare
from memaudit.studies.predict.shadow_training import PreparedSetting

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_model_of_the_catalogue_reads_questions_in_words(tmp_path):
    """Tokens of its own tokenizer, the letter as one token, and LoRA on top."""
    weights = tmp_path / "weights"
    weights.symlink_to(PROJECT / "resources" / "text-small")
    card = {"name": "text-small", "family": "text", "mode": "raw", "task": "classification", "options": {}}
    write_json(card | {"version": None, "sha256": sha256(weights)}, tmp_path / "model.json")
    questions = {
        "question": [*(f"Is {number} even?" for number in range(24)), "Long? " * 20],
        "choices": [["yes", "no"]] * 25,
    }
    pd.DataFrame(questions | {"answer": np.arange(25) % 2}).to_json(tmp_path / "q.jsonl", orient="records", lines=True)
    (tmp_path / "key").write_text("secret")
    data = {"kind": "choices", "path": tmp_path / "q.jsonl", "longest": 60, "options": None}
    network = {"kind": "text", "model": "text-small", "small": None, "adapter": {"rank": 2, "alpha": 4.0}}
    training = TRAINING | {"epochs": 6, "every": 6, "until": 6, "later": 0, "learning_rate": 0.01, "batch": 6}
    setting = SETTING | {"network": network, "training": training, "canaries": 0, "models": 8}
    setting["data"] = data | {name: name for name in ("question", "choices", "answer")}
    files = SimpleNamespace(key=tmp_path / "key", model=tmp_path / "model.json")
    grid = prepare(setting, "words", 3, files)
    assert grid.sizes["record"] == 24
    with pytest.raises(AuditError, match="no question is as short as 10 characters"):
        prepare(setting | {"data": setting["data"] | {"longest": 10}}, "words", 3, files)
    tokenizer = AutoTokenizer.from_pretrained(weights)
    assert [tokenizer.decode([token]).strip() for token in grid.answer.values] == ["A", "B"]
    read = grid.x.values[3]
    assert tokenizer.decode(read[read >= 0]).strip().endswith("Question: Is 3 even?\nA. yes\nB. no\nAnswer:")
    opened = PreparedSetting(grid, setting, 3, "", str(tmp_path / "model.json"), 1)
    trace = opened.group(range(1), tmp_path / "one").train()
    places = [
        {weight.data_ptr() for weight in opened.build(n).parameters() if not weight.requires_grad} for n in (0, 1)
    ]
    assert places[0] == places[1]  # the frozen weights of all models are in memory once
    assert trace.loss[1, 0].mean() < trace.loss[0, 0].mean() - 0.3
    assert len(trace.states[0]) == 4


def test_a_table_becomes_questions_that_a_small_language_model_learns(table, tmp_path):
    setting = text_setting({"pretraining": {"steps": 30, "batch": 16, "learning_rate": 0.01}})
    ready = prepared(table, tmp_path, setting)
    grid = read_grid(ready["records"])
    cells = grid.x.values[:, :3] - np.arange(3) * 4
    assert ((cells >= 0) & (cells < 4)).all()
    natural = ~grid.canary.values.astype(bool)
    assert (np.abs([np.bincount(column, minlength=4) - RECORDS / 4 for column in cells[natural].T]) <= 1).all()
    # The two informative columns are among the chosen ones.
    assert np.corrcoef(cells[natural].sum(1), grid.clean.values[natural])[0, 1] > 0.5
    opened = PreparedSetting(grid, setting, 3, str(ready["weights"]), None, 1)
    trace = opened.group(range(1), tmp_path / "one").train()
    assert len(trace.states[0]) == 2
    assert trace.loss.shape == (3, 1, RECORDS + 4)
    assert trace.loss[0].mean() < 1.5  # of 18 tokens it has learned which ones are answers

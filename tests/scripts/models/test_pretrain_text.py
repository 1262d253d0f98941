"""The script that pre-trains a small language model: a folder that `transformers` opens, with benchmark and card."""

from types import SimpleNamespace

import pytest
from conftest import load_script
from small_text_settings import TINY
from transformers import AutoModelForCausalLM, AutoTokenizer

from memaudit.common.io import read_json

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_folder_holds_a_model_its_benchmark_and_its_card(tmp_path, monkeypatch):
    script, folder = load_script("models_pretrain_text"), tmp_path / "text-tiny"
    measured = read_json(script.__file__.rpartition("workflow_scripts")[0] + "resources/text-small/benchmark.json")
    calls = []
    # A model of 512 words cannot hold the benchmark's records.
    monkeypatch.setattr(script, "measure", lambda *arguments: calls.append(arguments) or measured)
    params = SimpleNamespace(settings=TINY, contexts=2, code="0123")
    facts = script.main(SimpleNamespace(output=[str(folder)], params=params))
    assert facts["seed"] == TINY["seed"]
    assert calls == [(folder, 2, TINY["seed"], script.auc)]
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    assert model.config.hidden_size == TINY["architecture"]["hidden_size"]
    assert AutoTokenizer.from_pretrained(folder, local_files_only=True)("a: 1").input_ids
    assert read_json(folder / "model.json")["history"][-1]["step"] == TINY["steps"]
    assert read_json(folder / "benchmark.json") == measured
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("#")
    assert not list(tmp_path.glob("*.state"))

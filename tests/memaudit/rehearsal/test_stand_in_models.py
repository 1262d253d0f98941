"""Tiny checkpoints are opened by the library as the published ones would be."""

import pytest
from conftest import load

from memaudit.common.errors import AuditError
from memaudit.models.language_models import open_model, open_tokenizer
from memaudit.models.tabicl import TabICLBranch
from memaudit.models.tabpfn_checkpoint import open_checkpoint
from memaudit.rehearsal.stand_in_models import (
    ARCHITECTURES,
    tokenizer_of,
    write_language_model,
    write_model,
    write_tabicl,
    write_tabpfn,
)

TEXTS = ["the answer is A. B. C. D. not wrong"] * 20
CATALOGUE = load("config")
TABICL = {"embed_dim": 8, "row_nhead": 2, "icl_num_blocks": 2}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_tabicl_and_tabpfn_are_opened(tmp_path, task):
    file = tmp_path / "tabicl" / "tabicl-classifier-v2-20260212.ckpt"
    write_tabicl(file, task, 0, TABICL)
    branch = TabICLBranch.of_file(file, {"task": task, "version": "v2", "options": {}}, "cpu")
    assert branch.task == task
    write_tabpfn(tmp_path / "tabpfn" / "tabpfn-v2-model.ckpt", "v2", task, 0)
    assert open_checkpoint(tmp_path / "tabpfn", task, "v2").version == "v2"


def test_every_language_model_of_the_hub_has_an_architecture():
    repos = [entry["hub"]["repo"] for entry in CATALOGUE["language_models"].values() if "hub" in entry]
    assert not set(repos) - ARCHITECTURES.keys()


@pytest.mark.parametrize("repo", ["openai-community/gpt2", "mistralai/Mistral-7B-v0.1", "RWKV/rwkv-4-3b-pile"])
def test_a_repository_is_opened_with_its_tokenizer(tmp_path, repo):
    write_language_model(tmp_path, repo, TEXTS, 64, 0)
    model, tokenizer = open_model(tmp_path), open_tokenizer(tmp_path)
    assert model.config.model_type == ARCHITECTURES[repo][0]
    assert model.num_parameters() < 200_000
    ids = tokenizer("the answer is A", return_tensors="pt", return_token_type_ids=False)
    assert model(**ids).logits.shape[-1] == len(tokenizer)


def test_tokenizers_are_of_two_kinds_and_read_every_text():
    for repo, first in (("openai-community/gpt2", "Ġ"), ("mistralai/Mistral-7B-v0.1", "▁")):
        tokenizer = tokenizer_of(repo, TEXTS)
        assert any(token.startswith(first) for token in tokenizer.get_vocab())
        assert tokenizer.decode(tokenizer("émigré B", add_special_tokens=False)["input_ids"]).strip() == "émigré B"


def test_an_entry_of_the_catalogue_gets_the_file_that_it_names(tmp_path):
    entry = CATALOGUE["models"]["tabpfn-v2-regression"]
    write_model(entry, tmp_path, TEXTS, 0, TABICL)
    assert (tmp_path / entry["hub"]["file"]).is_file()
    with pytest.raises(AuditError, match="no architecture is stated"):
        write_language_model(tmp_path, "nobody/none", TEXTS, None, 0)

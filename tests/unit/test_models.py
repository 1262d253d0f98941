"""Checkpoints: fetched from a path or a hub, opened safely, and asked deterministically."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from tabicl import TabICLClassifier
from tabicl._model.inference_config import InferenceConfig
from tabicl._model.tabicl import TabICL

from memaudit.attacks.shadow import logit_signals
from memaudit.digest import sha256
from memaudit.errors import AuditError
from memaudit.io import write_json
from memaudit.models.load import load
from memaudit.models.preprocess import standardize
from memaudit.models.tabicl import TabICLBranch

SMALL = {"max_classes": 4, "embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
SMALL |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False}


@pytest.fixture
def folder(tmp_path):
    """A model folder as the fetch rule leaves it, with a random TabICL."""
    torch.manual_seed(0)
    torch.save({"config": SMALL, "state_dict": TabICL(**SMALL).state_dict()}, tmp_path / "weights.ckpt")
    describe(tmp_path)
    return tmp_path


def describe(folder, family="tabicl"):
    """Write the card of the weights that lie in a folder."""
    facts = {"family": family, "file": "weights.ckpt", "sha256": sha256(folder / "weights.ckpt")}
    write_json(facts, folder / "model.json")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.normal(size=(40, 5)).astype(np.float32)), torch.from_numpy(rng.integers(0, 3, 40))


def test_answers_are_the_packages_own(folder, rows):
    """Our forward pass equals the module as the official classifier runs it, in fp32."""
    x, y = rows
    model = load(folder / "model.json")
    ours = model.logits(x[None, :30], y[None, :30], x[None, 30:])[..., :3]
    official = TabICLClassifier(model_path=folder / "weights.ckpt", allow_auto_download=False)
    official._load_model()
    plain = {"device": "cpu", "use_amp": False, "use_fa3": False}
    scaled = torch.cat(standardize(x[None, :30], x[None, 30:]), 1)
    with torch.no_grad():
        theirs = official.model_.eval()(
            scaled,
            y[None, :30].float(),
            inference_config=InferenceConfig(COL_CONFIG=plain, ROW_CONFIG=plain, ICL_CONFIG=plain),
        )
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_a_neighbour_does_not_change_my_prediction(folder, rows):
    x, y = rows
    model = load(folder / "model.json")
    together = model.logits(x[None, :30], y[None, :30], x[None, 30:])
    alone = torch.cat([model.logits(x[None, :30], y[None, :30], x[None, i : i + 1]) for i in range(30, 40)], 1)
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


def test_the_same_question_has_the_same_answer(folder, rows):
    x, y = rows
    contexts = np.random.default_rng(1).random((6, 40)) < 0.5
    asked = torch.ones(40, dtype=torch.bool)
    first, second = (logit_signals(load(folder / "model.json"), x, y, contexts, asked, 3) for _ in range(2))
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert first.shape == (6, 40)
    assert np.isfinite(first).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_a_gpu_answers_as_the_cpu_does(folder, rows):
    """In fp32 on both: the limit that docs/platforms.md states."""
    x, y = rows
    on_cpu, on_gpu = (TabICLBranch.load(folder / "weights.ckpt", device) for device in ("cpu", "cuda"))
    load(folder / "model.json")  # switches the GPU's shorter float format off
    answers = (model.logits(x[None, :30], y[None, :30], x[None, 30:])[..., :3].cpu() for model in (on_cpu, on_gpu))
    torch.testing.assert_close(*answers, atol=1e-4, rtol=0)


def test_a_record_in_its_own_context_is_answered_otherwise(folder, rows):
    """The grid sees membership: with the record's row in the context its signal differs."""
    x, y = rows
    out = np.zeros((1, 40), dtype=bool)
    out[0, 1:30] = True
    inside = out.copy()
    inside[0, 0] = True
    asked = torch.arange(40) == 0
    model = load(folder / "model.json")
    assert logit_signals(model, x, y, out, asked, 3) != logit_signals(model, x, y, inside, asked, 3)


def test_missing_and_constant_columns_are_finite(folder, rows):
    x, y = rows
    x = x.clone()
    x[:, 1], x[::3, 2] = 7.0, float("nan")
    assert load(folder / "model.json").logits(x[None, :30], y[None, :30], x[None, 30:])[..., :3].isfinite().all()


def test_a_class_that_the_context_lacks_is_impossible_and_shifts_no_other(folder, rows):
    x, y = rows
    model = load(folder / "model.json")
    without = 2 * (y[None, :30] > 0).long()
    logits = model.logits(x[None, :30], without, x[None, 30:])
    assert torch.isneginf(logits[..., [1, 3]]).all()
    dense = model.logits(x[None, :30], without // 2, x[None, 30:])
    torch.testing.assert_close(logits[..., [0, 2]], dense[..., [0, 1]])


def test_other_weights_beside_the_card_are_refused(folder):
    torch.save({"config": SMALL, "state_dict": TabICL(**SMALL).state_dict()}, folder / "weights.ckpt")
    with pytest.raises(AuditError, match="not the weights that"):
        load(folder / "model.json")


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04broken"])
def test_what_is_no_checkpoint_is_named(folder, content):
    (folder / "weights.ckpt").write_bytes(content)
    describe(folder)
    with pytest.raises(AuditError, match=r"weights.ckpt: no TabICL checkpoint"):
        load(folder / "model.json")


def test_a_pickle_that_would_run_code_is_refused(folder):
    class Evil:
        def __reduce__(self):
            return os.system, ("touch " + str(folder / "owned"),)

    torch.save({"config": SMALL, "state_dict": Evil()}, folder / "weights.ckpt")
    describe(folder)
    with pytest.raises(AuditError, match="no TabICL checkpoint"):
        load(folder / "model.json")
    assert not (folder / "owned").exists()


def test_a_regressor_is_refused_where_a_classifier_is_needed(folder):
    config = SMALL | {"max_classes": 0, "num_quantiles": 9}
    torch.save({"config": config, "state_dict": TabICL(**config).state_dict()}, folder / "weights.ckpt")
    describe(folder)
    with pytest.raises(AuditError, match="a TabICL regressor"):
        load(folder / "model.json")


def test_an_unknown_family_is_named(folder):
    describe(folder, family="gpt")
    with pytest.raises(AuditError, match="unknown family 'gpt'; known: tabicl"):
        load(folder / "model.json")


class Hub(http.server.BaseHTTPRequestHandler):
    """What a model hub answers about one file of one repository."""

    content = b"weights" * 1000
    refusal: tuple[int, str] | None = None  # status and error code for whoever brings no token

    def do_HEAD(self):
        self._answer(body=False)

    def do_GET(self):
        self._answer(body=True)

    def _answer(self, body):
        if self.refusal and self.headers.get("Authorization") != "Bearer hf_accepted":
            self.send_response(self.refusal[0])
            self.send_header("X-Error-Code", self.refusal[1])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path != "/owner/name/resolve/main/small.ckpt":
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha256(self.content).hexdigest()}"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        if body:
            self.wfile.write(self.content)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(project, folder, address, file="small.ckpt", sha256=None, terms=None, **variables):
    entry = {"family": "tabicl", "task": "classification", "licence": "MIT", "path": None, "sha256": sha256}
    entry["terms"] = terms
    entry["hub"] = {"repo": "owner/name", "file": file, "revision": "main"}
    command = [sys.executable, str(project / "workflow_scripts/models_fetch_checkpoint.py"), "--output"]
    command += [f"card={folder}/model.json", f"weights={folder}/weights.ckpt"]
    command += ["--wildcards", '{"model": "small"}', "--params", json.dumps({"entry": entry})]
    environment = {
        "PATH": "/usr/bin:/bin",
        "HF_ENDPOINT": address,
        "HF_HOME": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        **variables,
    }
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_checkpoint_comes_from_a_hub(project, tmp_path, hub):
    done = fetch(project, tmp_path, hub)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "weights.ckpt").read_bytes() == Hub.content
    card = json.loads((tmp_path / "model.json").read_text())
    assert card["sha256"] == hashlib.sha256(Hub.content).hexdigest()
    assert card["origin"] == "owner/name/small.ckpt@main"


def test_a_file_that_the_hub_lacks_is_named(project, tmp_path, hub):
    done = fetch(project, tmp_path, hub, file="large.ckpt")
    assert done.returncode == 1
    assert "models/small: owner/name/large.ckpt cannot be fetched" in done.stderr
    assert "Traceback" not in done.stderr


REFUSALS = [(401, "GatedRepo"), (403, "GatedRepo"), (401, "RepoNotFound"), (401, ""), (403, "")]


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("variables", [{}, {"HF_TOKEN": "hf_of_somebody_else"}], ids=["no token", "wrong token"])
def test_gated_weights_without_accepted_terms_say_where_to_accept_them(
    project, tmp_path, hub, monkeypatch, refusal, variables
):
    monkeypatch.setattr(Hub, "refusal", refusal)
    done = fetch(project, tmp_path, hub, terms="https://example.org/terms", **variables)
    assert done.returncode == 1
    assert "accept the terms on https://example.org/terms with your account and set HF_TOKEN" in done.stderr
    assert "hf_of_somebody_else" not in done.stderr
    assert "Traceback" not in done.stderr
    assert f"{hub}/owner/name with your account" in fetch(project, tmp_path, hub).stderr


def test_gated_weights_come_with_the_token_of_the_environment_alone(project, tmp_path, hub, monkeypatch):
    monkeypatch.setattr(Hub, "refusal", (401, "GatedRepo"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/token").write_text("hf_accepted")
    assert fetch(project, tmp_path, hub).returncode == 1, "a login's token is not taken"
    done = fetch(project, tmp_path, hub, HF_TOKEN="hf_accepted")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "weights.ckpt").read_bytes() == Hub.content
    assert "hf_accepted" not in (tmp_path / "model.json").read_text() + done.stderr + done.stdout


def test_a_checkpoint_in_the_hubs_cache_needs_no_network(project, tmp_path, hub):
    assert fetch(project, tmp_path, hub).returncode == 0
    (tmp_path / "weights.ckpt").unlink()
    done = fetch(project, tmp_path, "http://127.0.0.1:9")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "weights.ckpt").read_bytes() == Hub.content


def test_no_network_is_named(project, tmp_path):
    done = fetch(project, tmp_path, "http://127.0.0.1:9")
    assert done.returncode == 1
    assert "cannot be fetched" in done.stderr
    assert "give its `path` in config/models.yaml" in done.stderr


def test_a_wrong_checksum_is_named_and_nothing_is_left(project, tmp_path, hub):
    done = fetch(project, tmp_path, hub, sha256="0" * 64)
    assert done.returncode == 1
    assert "the catalogue says 0000" in done.stderr
    assert not (tmp_path / "weights.ckpt").exists()

"""Checkpoints from a hub: whole repositories, gated weights, no network, a wrong checksum. The hub is on 127.0.0.1."""

import hashlib
import http.server
import json
import shutil
import subprocess
import sys
import threading

import pytest

from memaudit.common.checksums import sha256

ENTRY = {"family": "tabicl", "task": "classification", "mode": "raw", "version": None, "options": {}, "licence": "MIT"}
ENTRY |= {"estimator": None, "params": {}, "path": None}


class Hub(http.server.BaseHTTPRequestHandler):
    """What a model hub answers about one file of one repository."""

    content = b"weights" * 1000
    repository = ("config.json", "model.safetensors", "pytorch_model.bin", "small.ckpt", "tokenizer.json")
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
        if self.path.startswith("/api/models/owner/name/"):
            self._list()
            return
        if self.path.rpartition("/")[2] not in self.repository or "/owner/name/resolve/" not in self.path:
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

    def _list(self):
        """The files of a revision, or of its tree: what the client's snapshot asks for."""
        files = [{"rfilename": name, "path": name, "type": "file", "oid": "1", "size": 1} for name in self.repository]
        tree = "/tree/" in self.path
        answer = json.dumps(files if tree else {"id": "owner/name", "sha": "a" * 40, "siblings": files}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

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
    entry = ENTRY | {"sha256": sha256, "terms": terms, "hub": {"repo": "owner/name", "file": file, "revision": "main"}}
    command = [sys.executable, str(project / "workflow_scripts/models/fetch_checkpoint.py"), "--output"]
    command += [f"card={folder}/model.json", f"weights={folder}/weights"]
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
    assert (tmp_path / "weights/small.ckpt").read_bytes() == Hub.content
    card = json.loads((tmp_path / "model.json").read_text())
    assert card["sha256"] == sha256(tmp_path / "weights")
    assert card["origin"] == "owner/name/small.ckpt@main"


def test_a_language_model_is_a_whole_repository_without_its_pickles(project, tmp_path, hub):
    done = fetch(project, tmp_path, hub, file=None)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "weights").iterdir()}
    assert names == {"config.json", "model.safetensors", "tokenizer.json"}
    assert json.loads((tmp_path / "model.json").read_text())["origin"] == "owner/name@main"


def test_a_language_model_of_the_hub_is_fetched_by_a_rule_of_its_own(project, tmp_path, hub):
    """Jobs that fine-tune run where there may be no network."""

    def run(repo):
        command = [sys.executable, str(project / "workflow_scripts/ltmia/fetch_model.py")]
        command += ["--output", f"fetched={tmp_path}/fetched", "--wildcards", '{"model": "distilgpt2"}']
        command += ["--params", json.dumps({"hub": {"repo": repo, "revision": "main"}})]
        environment = {"PATH": "/usr/bin:/bin", "HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "cache")}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    done = run("owner/name")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "fetched").iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    refused = run("owner/other")
    assert refused.returncode == 1
    assert "language_models/distilgpt2: owner/other@main cannot be fetched" in refused.stderr
    assert "config/language_models.yaml" in refused.stderr


def test_a_file_that_the_hub_lacks_is_named(project, tmp_path, hub):
    done = fetch(project, tmp_path, hub, file="large.ckpt")
    assert done.returncode == 1
    assert "models/small: owner/name/large.ckpt@main cannot be fetched" in done.stderr
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
    assert (tmp_path / "weights/small.ckpt").read_bytes() == Hub.content
    assert "hf_accepted" not in (tmp_path / "model.json").read_text() + done.stderr + done.stdout


def test_a_checkpoint_in_the_hubs_cache_needs_no_network(project, tmp_path, hub):
    assert fetch(project, tmp_path, hub).returncode == 0
    shutil.rmtree(tmp_path / "weights")
    done = fetch(project, tmp_path, "http://127.0.0.1:9")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "weights/small.ckpt").read_bytes() == Hub.content


def test_no_network_is_named(project, tmp_path):
    # The hub's client tries again after pauses of 23 seconds in all.
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep = lambda seconds: None\n")
    done = fetch(project, tmp_path, "http://127.0.0.1:9", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "cannot be fetched" in done.stderr
    assert "give its `path` in config/models.yaml" in done.stderr


def test_a_wrong_checksum_is_named_and_nothing_is_left(project, tmp_path, hub):
    done = fetch(project, tmp_path, hub, sha256="0" * 64)
    assert done.returncode == 1
    assert "the config says 0000" in done.stderr
    assert not list(tmp_path.glob("*weights*"))

"""The copy of a hub's model into the run's folder, without the hub."""

from conftest import load_script
from ltmia_pipeline import call, make_all


def test_the_fetched_folder_is_copied_whole(tmp_path_factory, tmp_path, monkeypatch):
    base, requested = make_all(tmp_path_factory.getbasetemp()) / "base", []
    script = load_script("ltmia_fetch_model")
    monkeypatch.setattr(script, "fetched", lambda hub, where: requested.append((hub["repo"], where)) or base)
    hub = {"repo": "someone/small", "revision": "main"}
    call("ltmia_fetch_model", [], [f"fetched={tmp_path}/fetched"], tmp_path, {"hub": hub}, model="small")
    assert requested == [("someone/small", "language_models/small")]
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        assert (tmp_path / "fetched" / name).read_bytes() == (base / name).read_bytes()

"""`make gpu` without a GPU: refused in one line, and in its smallest form every part runs, once."""

import io
import pickle
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from importlib.metadata import version
from types import SimpleNamespace

import pytest
import torch
from conftest import load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.report import gpu_section

pytestmark = pytest.mark.long

script = load_script("bench_measure_gpu")
PARTS = script.PARTS
SMALLEST = {"device": "cpu", "size": "smallest"}


def measure(folder, **params):
    """Run the script's main in this process, which spares the imports; returns the lines on its parts."""
    job = SimpleNamespace(params=SimpleNamespace(**params), output=[str(folder)])
    with redirect_stdout(io.StringIO()) as printed:
        script.main(job)
    return [line for line in printed.getvalue().splitlines() if line.startswith("memaudit: ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu")
    with pytest.MonkeyPatch.context() as patched:
        for name, part in PARTS.items():  # the limits are those of a GPU that has nothing else to do
            patched.setitem(script.PARTS, name, replace(part, limit=10 * part.limit))
        lines = measure(folder, **SMALLEST)
    assert [line.split()[3].rstrip(":") for line in lines] == list(PARTS), "one line a part"
    return folder


@pytest.mark.parametrize("part", PARTS)
def test_every_part_writes_a_finished_file_that_says_what_was_measured(folder, part):
    record = read_json(folder / f"gpu_{part}.json")
    assert (record["part"], record["status"], record["device"]) == (part, "finished", "cpu")
    assert record["versions"]["torch"] == version("torch")
    assert record["machine"]["matmul_tflops"]["fp32"] > 0
    assert {case["outcome"] for case in record["cases"]} <= {"measured", "left out"}
    for case in record["cases"]:
        assert case["dtype"] in {"fp32", "bf16", "fp64"}
        assert case["sizes"]
        if case["outcome"] == "measured":
            assert case["seconds"] > 0
            assert case["repetitions"] >= 1


def test_the_page_can_show_every_part_and_leaves_tiny_networks_out(folder):
    records = {f"gpu_{part}": read_json(folder / f"gpu_{part}.json") for part in PARTS}
    assert gpu_section.section(records) == gpu_section.NONE
    page = gpu_section.section({name: record | {"size": "published"} for name, record in records.items()})
    assert "Not measured yet" not in page
    for record in records.values():
        assert page.count("\n| ") >= len([case for case in record["cases"] if case["outcome"] == "measured"])


def test_a_second_run_measures_only_what_is_missing(folder):
    paths = {part: folder / f"gpu_{part}.json" for part in ("fine_tuning", "token_features")}
    record = read_json(paths["token_features"])
    lost, kept = record["cases"][0], record["cases"][1:]
    write_json(record | {"status": "unfinished", "cases": kept}, paths["token_features"])
    before = paths["fine_tuning"].read_bytes()
    assert "fine_tuning: finished before" in measure(folder, **SMALLEST, parts=list(paths))[0]
    assert paths["fine_tuning"].read_bytes() == before
    again = read_json(paths["token_features"])
    assert again["status"] == "finished"
    assert again["cases"][:-1] == kept
    assert again["cases"][-1]["name"] == lost["name"]


def test_a_package_of_another_version_is_measured_anew(folder, monkeypatch):
    part = PARTS["token_features"]
    monkeypatch.setitem(script.PARTS, part.name, replace(part, versions=lambda: {"tabfm": "0"}))
    line = measure(folder, **SMALLEST, parts=[part.name])[0]
    assert "finished before" not in line
    assert read_json(folder / "gpu_token_features.json")["versions"]["tabfm"] == "0"


def test_force_measures_anew(folder):
    path = folder / "gpu_token_features.json"
    before = read_json(path)["cases"]
    measure(folder, **SMALLEST, parts=["token_features"], force=True)
    assert all(new["seconds"] != old["seconds"] for new, old in zip(read_json(path)["cases"], before, strict=True))


def test_an_unfinished_part_is_an_error_that_says_how_to_go_on(tmp_path, monkeypatch):
    hurried = replace(PARTS["token_features"], limit=0.0)
    monkeypatch.setitem(script.PARTS, "token_features", hurried)
    with pytest.raises(AuditError, match="unfinished: token_features; run the same command again"):
        measure(tmp_path, **SMALLEST, parts=["token_features"])
    assert read_json(tmp_path / "gpu_token_features.json")["cause"] == "its 0 s are over"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_ends_in_one_line(project, tmp_path):
    command = [sys.executable, "workflow_scripts/bench/measure_gpu.py", "--output", str(tmp_path / "bench")]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().startswith("memaudit: gpu: PyTorch finds no GPU here")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("params", "line"),
    [
        ({"parts": ["speed"]}, "unknown: speed"),
        ({"fast": True}, "unknown: fast"),
        ({"device": "cpu"}, "the published sizes need a GPU"),
        ({"size": "tiny"}, "size 'tiny'"),
    ],
)
def test_params_that_cannot_be_are_refused(params, line):
    with pytest.raises(AuditError, match=line):
        script.check(script.DEFAULTS | params)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_part_can_be_sent_to_a_fresh_process(part):
    """On a GPU parts are spawned, which pickles them; here they are forked."""
    assert pickle.loads(pickle.dumps(part)) == part


def test_all_limits_together_stay_below_forty_minutes():
    assert sum(part.limit for part in PARTS.values()) <= 38 * 60, "two minutes are for the starts of processes"

"""An archive holds one run whole, says what is wrong with it in one line, and keeps the key of the ids at home."""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.workflow import archive

KEY = "0123456789 key of the record ids"
ODD = "../elsewhere/our customers (2).csv"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A finished run of three rules, with inputs inside and outside the project's folder, and a key."""
    (tmp_path / "elsewhere").mkdir()
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    write(ODD, "name,income\nAda,1\n")
    write("config/claims.yaml", "[]\n")
    write("results/mine/data/id.key", KEY)
    step("data/records.parquet", [ODD, "results/mine/data/id.key"])
    step("figures/roc.svg", ["results/mine/data/records.parquet"])
    step("tables/claims.csv", ["config/claims.yaml", "results/mine/figures/roc.svg"])
    step("config.yaml", [])
    return "results/mine"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def step(name, inputs):
    output = f"results/mine/{name}"
    write(output, f"content of {name}")
    record = {"inputs": {path: sha256(path) for path in inputs}, "outputs": {output: sha256(output)}}
    record |= {"started": "2026-11-27T10:00:00+00:00", "wall_seconds": 90.25}
    write_json(record, f"results/mine/provenance/rule/{name.replace('/', '_')}.json")


@pytest.fixture
def packed(run, tmp_path):
    archive.write(run, tmp_path / "mine.tar.gz")
    return tmp_path / "mine.tar.gz"


def members(path):
    with tarfile.open(path) as content:
        return {entry.name: content.extractfile(entry).read() for entry in content}


def repack(path, entries):
    """An archive of these members: name -> bytes, or a TarInfo for what is no plain file."""
    with tarfile.open(path, "w:gz") as content:
        for name, data in entries.items():
            if isinstance(data, tarfile.TarInfo):
                content.addfile(data)
            else:
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                content.addfile(entry, io.BytesIO(data))


def test_it_verifies_where_neither_the_run_nor_its_inputs_are(run, packed, tmp_path, monkeypatch):
    shutil.rmtree(tmp_path / "project")
    shutil.rmtree(tmp_path / "elsewhere")
    monkeypatch.chdir("/")
    checked = archive.check(packed)
    assert checked.results == 3
    assert {ODD, "config/claims.yaml"} <= checked.hashes.keys()


def test_it_verifies_unpacked_by_sha256sum_too(packed, tmp_path):
    subprocess.run(["tar", "xzf", packed, "-C", tmp_path], check=True)
    assert archive.check(tmp_path / "mine").results == 3
    subprocess.run(["sha256sum", "--quiet", "--check", "SHA256SUMS"], cwd=tmp_path / "mine", check=True)


def test_it_holds_inputs_pins_and_sidecars_and_not_the_key(packed):
    found = {name.removeprefix("mine/") for name in members(packed)}
    assert {"config/claims.yaml", "requirements.lock", "envs/data.yaml", "results/mine/config.yaml"} <= found
    assert {"Snakefile", "rules/setup.smk", "rules/ltmia/targets.smk"} <= found
    assert "results/mine/provenance/rule/figures_roc.svg.json" in found
    assert any(name.startswith("outside/") and name.endswith("our_customers__2_.csv") for name in found)
    assert KEY.encode() not in b"".join(members(packed).values())
    assert not any(name.endswith("id.key") for name in found)


def test_the_same_run_gives_the_same_bytes_for_its_owner_alone(run, packed, tmp_path):
    os.utime("results/mine/figures/roc.svg", (1, 1))
    archive.write(run, tmp_path / "again.tar.gz")
    assert (tmp_path / "again.tar.gz").read_bytes() == packed.read_bytes()
    assert list(members(packed))[1:] == sorted(list(members(packed))[1:])
    assert packed.stat().st_mode & 0o777 == 0o600
    assert packed.read_bytes()[4:8] == bytes(4), "the gzip header has no time"


def test_a_run_that_does_not_verify_is_not_archived(run, tmp_path):
    write("results/mine/data/records.parquet", "other rows")
    with pytest.raises(AuditError, match=r"records.parquet: changed since it was made"):
        archive.write(run, tmp_path / "x.tar.gz")
    assert not (tmp_path / "x.tar.gz").exists()


def test_a_file_that_changes_while_it_is_packed_leaves_no_archive(run, tmp_path, monkeypatch):
    verify = archive.verify

    def then_edit(folder):
        checked = verify(folder)
        write("results/mine/figures/roc.svg", "Content of figures/roc.svg")
        return checked

    monkeypatch.setattr(archive, "verify", then_edit)
    with pytest.raises(AuditError, match=r"results/mine/figures/roc.svg was changed"):
        archive.write(run, tmp_path / "x.tar.gz")
    assert list(tmp_path.glob("*x.tar.gz*")) == []


def test_an_unfinished_run_is_not_archived(run, tmp_path):
    os.remove("results/mine/config.yaml")
    with pytest.raises(AuditError, match=r"config.yaml: not there, the run is not finished"):
        archive.write(run, tmp_path / "x.tar.gz")


def link(name, target):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    return entry


def sums_of(entries):
    lines = [
        f"{archive.hashlib.sha256(data).hexdigest()}  {name.partition('/')[2]}\n"
        for name, data in entries.items()
        if name != "mine/SHA256SUMS"
    ]
    return entries | {"mine/SHA256SUMS": "".join(lines).encode()}


FIGURE = "mine/results/mine/figures/roc.svg"
CRATE = "mine/ro-crate-metadata.json"
SIDECAR = "mine/results/mine/provenance/rule/figures_roc.svg.json"
FAULTS = {
    "changed": (lambda m: m | {FIGURE: b"Content of figures/roc.svg"}, "results/mine/figures/roc.svg was changed"),
    "missing": (lambda m: {k: m[k] for k in m if k != FIGURE}, "results/mine/figures/roc.svg is missing"),
    "extra": (lambda m: m | {"mine/results/mine/figures/x.svg": b""}, "figures/x.svg does not belong to it"),
    "a description of other files": (
        lambda m: sums_of(m | {CRATE: m[CRATE].replace(sha256("config/claims.yaml").encode(), b"0" * 64)}),
        "ro-crate-metadata.json: config/claims.yaml is not the file that ro-crate-metadata.json describes",
    ),
    "a description cut off": (lambda m: sums_of(m | {CRATE: m[CRATE][:-9]}), "ro-crate-metadata.json: Expecting"),
    "no description": (lambda m: sums_of(m | {CRATE: b"[1]"}), "is no description that `snakemake archive` made"),
    "a changed lock": (lambda m: m | {"mine/requirements.lock": b""}, "requirements.lock was changed"),
    "no run": (lambda m: sums_of({"mine/requirements.lock": b"x"}), "holds no run with its sidecars"),
    "no sums": (lambda m: {k: m[k] for k in m if "SUMS" not in k}, "has no readable SHA256SUMS"),
    "climbing": (lambda m: m | {"mine/../../etc/x": b""}, r"'mine/../../etc/x' is a link, leads out"),
    "absolute": (lambda m: m | {"/etc/x": b""}, r"'/etc/x' is a link, leads out"),
    "beside": (lambda m: sums_of(m | {".ssh/authorized_keys": b""}), "'.ssh' stands beside its one folder 'mine'"),
    "another top": (lambda m: {k.replace("mine/", "your/", 1): m[k] for k in m}, "'your' stands beside its one folder"),
    "of no result": (
        lambda m: sums_of(m | {"mine/run.sh": b""}),
        "run.sh does not belong to it .no result rests on it",
    ),
    "a key": (lambda m: sums_of(m | {"mine/results/mine/data/id.key": b""}), "id.key does not belong to it"),
    "no results": (
        lambda m: sums_of({k: m[k] for k in m if "mine/figures" not in k and "mine/tables" not in k}),
        "holds no results",
    ),
    "an odd sidecar": (lambda m: sums_of(m | {SIDECAR: b"[]"}), "figures_roc.svg.json: is no sidecar"),
    "a cut sidecar": (lambda m: sums_of(m | {SIDECAR: b"{"}), "holds a sidecar that is no JSON"),
    "a link": (lambda m: m | {"mine/l": link("mine/l", "/etc/passwd")}, "'mine/l' is a link"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_member_is_one_line(packed, fault):
    change, message = FAULTS[fault]
    repack(packed, change(members(packed)))
    with pytest.raises(AuditError, match=message) as caught:
        archive.check(packed)
    assert "\n" not in str(caught.value)


def test_a_change_that_the_sums_know_of_is_found_by_the_sidecars(packed):
    """Whoever edits a result can edit SHA256SUMS too; what the result was made from does not follow."""
    content = members(packed)
    old, new = content[FIGURE], b"Content of figures/roc.svg"
    hashes = [archive.hashlib.sha256(part).hexdigest().encode() for part in (old, new)]
    content |= {FIGURE: new, "mine/SHA256SUMS": content["mine/SHA256SUMS"].replace(*hashes)}
    repack(packed, content)
    with pytest.raises(
        AuditError, match=r"results/mine/figures/roc.svg: changed since it was made \(results/mine/prov"
    ):
        archive.check(packed)


def test_a_member_that_stands_twice_is_refused(packed):
    with tarfile.open(packed) as content:
        entries = [(entry, content.extractfile(entry).read()) for entry in content]
    with tarfile.open(packed, "w:gz") as content:
        for entry, data in [*entries, entries[-1]]:
            content.addfile(entry, io.BytesIO(data))
    with pytest.raises(AuditError, match="stands twice"):
        archive.check(packed)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.99])
def test_a_truncated_archive_says_so(packed, share):
    content = packed.read_bytes()
    packed.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(AuditError, match="cannot be read to its end"):
        archive.check(packed)


@pytest.mark.parametrize("content", [b"", b"no archive", gzip.compress(b"no tar")], ids=["empty", "text", "gzip"])
def test_what_is_no_archive_says_so(tmp_path, content):
    (tmp_path / "x.tar.gz").write_bytes(content)
    with pytest.raises(AuditError, match=r"x.tar.gz: cannot be read to its end"):
        archive.check(tmp_path / "x.tar.gz")


def test_the_command_ends_with_one_line(project, packed):
    command = [sys.executable, str(project / "workflow_scripts/provenance/verify_archive.py"), "--input", str(packed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "3 results and the 6 files behind them agree" in done.stderr
    repack(packed, members(packed) | {FIGURE: b""})
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [line for line in done.stderr.splitlines() if line.startswith("memaudit: ")]

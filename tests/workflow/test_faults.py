"""Whatever stops a run, one line says what is wrong, where, and how to fix it; a rerun gives the undisturbed result.

One grid is made in a copy of the project, as a single shard of four parts; each test breaks something, fixes it as the
line says, and finds the same bytes again.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from functools import partial

import pytest
from conftest import mounted

from memaudit.workflow.sidecar import read_all
from workflow.conftest import SMOKE, SNAKEMAKE, Checkout

pytestmark = [pytest.mark.xdist_group("faults"), pytest.mark.long]

GRID = "results/smoke/signals/lira/wine/efficient.nc"
SHARD = "results/smoke/signals/lira/wine/efficient/0.nc"
LOG = "results/smoke/logs/lira_query_shadows/wine/efficient/0.log"
WEIGHTS = "results/smoke/models/tabicl-small/weights"


class Faulty(Checkout):
    """A checkout in which GRID was made once, undisturbed."""

    def __init__(self, folder):
        super().__init__(folder)
        config = folder / "config/smoke.yaml"
        config.write_text(config.read_text().replace("shard: 32", "shard: 64"))
        self.remedy()
        self.undisturbed = (folder / GRID).read_bytes()

    def remedy(self):
        """A run that succeeds; scratch folders of finished shards go, as they do after a whole run."""
        self.snakemake(GRID)
        for scratch in self.scratch():
            shutil.rmtree(scratch)

    def lose(self, *paths):
        """Remove what has to be made again."""
        for path in (GRID, *paths):
            (self.folder / path).unlink()

    def fails(self, *arguments):
        """A run that fails; returns its lines that speak to the user, each once, and all that it printed."""
        printed = self.snakemake(*arguments, check=False)
        return said(printed), printed

    def start(self, *arguments):
        """A run of its own, in a process group of its own, as a terminal starts it."""
        command = [*SNAKEMAKE, *SMOKE, "--cores", "1", *arguments]
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        # A shell's background job ignores interrupts, and so would all that it starts.
        heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        pipe |= {"start_new_session": True, "preexec_fn": heard}
        return subprocess.Popen(command, cwd=self.folder, **pipe)

    def scratch(self):
        return list((self.folder / SHARD).parent.glob(".scratch-*"))

    def leftovers(self):
        return list(self.results.rglob(".*.part"))


def said(printed):
    """The lines that say what is wrong, each once: not those that count jobs or name the log of one that failed."""
    lines = re.findall(r"memaudit: (?!\d+ of \d+ jobs|\w+ has failed; see ).*", printed)
    return list(dict.fromkeys(lines))


def appears(process, checkout, name):
    """The file of that name in the scratch folder of a running job, as soon as it is there."""
    while process.poll() is None:
        for path in (folder / name for folder in checkout.scratch()):
            if path.exists():
                return path
        time.sleep(0.005)
    raise AssertionError(process.communicate()[0])


def writer(part, number):
    return json.loads((part.parent / f"writer-{number}.json").read_text())["pid"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return Faulty(tmp_path_factory.mktemp("faults") / "memaudit")


@pytest.fixture
def checkout(prepared):
    """The prepared checkout; after each test the same command must have made the same bytes, and nothing else."""
    yield prepared
    prepared.remedy()
    assert (prepared.folder / GRID).read_bytes() == prepared.undisturbed
    assert not prepared.leftovers()


@contextmanager
def replaced(path, content):
    """The file with another content, its bytes and times back afterwards."""
    kept, stat = path.read_bytes(), path.stat()
    path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(kept)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@contextmanager
def closed(folder):
    """A folder that this user cannot write: read-only rights, or for root, whom they do not stop, a read-only mount."""
    if os.geteuid():
        mode = folder.stat().st_mode
        folder.chmod(0o555)
        yield
        folder.chmod(mode)
    else:
        with mounted(folder, "--bind", str(folder)):
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
            yield


def test_a_shard_that_is_killed_and_then_interrupted_goes_on_each_time(checkout):
    checkout.lose(SHARD)
    process = checkout.start(GRID)
    part = appears(process, checkout, "000000.npy")
    os.kill(writer(part, 0), signal.SIGKILL)
    printed = process.communicate()[0]
    assert process.returncode == 1
    assert "query_shadows.py' died with <Signals.SIGKILL: 9>" in printed
    assert f"memaudit: lira_query_shadows has failed; see {LOG}" in printed
    made = part.stat().st_ino, part.stat().st_mtime_ns

    process = checkout.start(GRID)
    appears(process, checkout, "000032.npy")
    assert (part.stat().st_ino, part.stat().st_mtime_ns) == made
    os.killpg(process.pid, signal.SIGINT)
    printed = process.communicate()[0]
    assert process.returncode == 1
    again = "interrupted; run the same command again, it goes on from here"
    assert sorted(said(printed)) == [f"memaudit: {again}", f"memaudit: lira_query_shadows: {again}"]
    assert "Traceback" not in printed

    checkout.remedy()
    sidecar = read_all(checkout.results / "provenance/lira_query_shadows").popitem()[1]
    assert [bool(each["ended"]) for each in sidecar["writers"]] == [False, True, True]


def test_a_second_workflow_in_the_same_folder_is_turned_away_and_the_first_goes_on(checkout):
    checkout.lose(SHARD)
    first = checkout.start(GRID)
    part = appears(first, checkout, "000000.npy")
    os.kill(writer(part, 0), signal.SIGSTOP)
    _, printed = checkout.fails(GRID)
    os.kill(writer(part, 0), signal.SIGCONT)
    assert "Directory cannot be locked" in printed
    assert "It can be removed with the --unlock argument" in printed
    assert first.communicate()[0].count("Finished jobid") == 2
    assert first.returncode == 0


def test_a_full_disk_is_named_even_if_the_log_lies_on_it(checkout):
    results, kept = checkout.folder / "results", checkout.folder / "kept"
    shutil.copytree(results, kept)
    with mounted(results, "-t", "tmpfs", "-o", "size=64m", "tmpfs"):
        shutil.copytree(kept, results, dirs_exist_ok=True)
        checkout.lose(SHARD)
        free = shutil.disk_usage(results).free
        (results / "filler").write_bytes(bytes(free - 5 * os.sysconf("SC_PAGE_SIZE")))
        lines, _ = checkout.fails(GRID)
        assert len(lines) == 1
        assert lines[0].startswith("memaudit: results/smoke/")
        assert lines[0].endswith(
            ": no space left on device; free some, and run the same command again, it goes on from here"
        )
        assert not (checkout.folder / SHARD).exists()
        assert not checkout.leftovers()
        (results / "filler").unlink()
        checkout.remedy()
        assert (checkout.folder / GRID).read_bytes() == checkout.undisturbed
    shutil.rmtree(kept)


def test_a_damaged_intermediate_is_named_and_made_again_once_it_is_deleted(checkout):
    shard = checkout.folder / SHARD
    shard.write_bytes(shard.read_bytes()[:-100])
    lines, _ = checkout.fails(GRID)
    assert len(lines) == 1
    assert lines[0].startswith(f"memaudit: {SHARD}: cannot be read ([Errno -101] NetCDF: HDF error")
    assert lines[0].endswith("); delete it and run the same command again, it is made anew")
    shard.unlink()


def test_results_of_an_earlier_config_are_not_up_to_date_after_a_failure(checkout):
    records = "results/smoke/data/wine/records.parquet"
    wrong = "--config", "datasets={wine: {drop: [nowhere]}}"
    for _ in range(2):
        lines, _ = checkout.fails(GRID, *wrong)
        assert any("drop: there is no column 'nowhere'" in line for line in lines)
        assert not (checkout.folder / records).exists()


def test_a_truncated_checkpoint_is_found_where_it_is_read_and_where_it_is_fetched(checkout):
    weights = checkout.folder / WEIGHTS
    checkpoint = weights / "tabicl-small.ckpt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    for path in (GRID, SHARD):
        (checkout.folder / path).unlink(missing_ok=True)
    card = WEIGHTS.replace("weights", "model.json")
    again = "delete it and run the same command again, it is made anew"
    lines, _ = checkout.fails(GRID)
    assert lines == [f"memaudit: {WEIGHTS}: not the weights that {card} describes; {again}"]
    shutil.rmtree(weights)
    source = checkout.folder / "resources/tabicl-small/tabicl-small.ckpt"
    with replaced(source, source.read_bytes()[:-1]):
        lines, _ = checkout.fails(GRID)
    assert len(lines) == 1
    assert "memaudit: models/tabicl-small: sha256 of resources/tabicl-small/tabicl-small.ckpt is " in lines[0]
    assert lines[0].endswith("; fetch it again")
    assert not weights.exists()


def test_results_that_cannot_be_written_stop_the_run_before_its_first_job(checkout):
    checkout.lose()
    with closed(checkout.results / "signals"):
        lines, printed = checkout.fails(GRID)
    assert lines == [
        "memaudit: results/smoke/signals: this user cannot write there; change its permissions or use another folder"
    ]
    assert "rule lira_gather_grid" not in printed
    assert "Traceback" not in printed


def test_a_job_that_runs_out_of_memory_says_how_to_give_it_more(checkout):
    script = checkout.folder / "workflow_scripts/lira/query_shadows.py"
    limit = (
        "    import resource\n"
        '    pages = int(open("/proc/self/statm").read().split()[0])\n'
        "    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**24,) * 2)\n"
    )
    limited = script.read_text().replace("    parts = [\n", f"{limit}    parts = [\n")
    with replaced(script, limited.encode()):
        lines, printed = checkout.fails(GRID)
    assert lines == [
        "memaudit: lira_query_shadows: out of memory, having requested 4000 MB; give it more with "
        "`--set-resources lira_query_shadows:mem_mb=8000`, or run fewer jobs at once with `--cores 1`"
    ], printed
    assert "Traceback" not in printed
    assert "Traceback" in (checkout.folder / LOG).read_text()
    for echo in ("CalledProcessError", "Look above", "did not complete"):
        assert echo not in printed


def test_a_package_that_is_missing_stops_the_run_before_its_first_job(checkout):
    pins = checkout.folder / "envs/tabular.yaml"
    with replaced(pins, pins.read_bytes() + b"      - no-such-package==1.0\n"):
        lines, printed = checkout.fails("--forcerun", "lira_gather_grid", "--", GRID)
    assert len(lines) == 1
    assert "lacks no-such-package; install there what requirements.lock names" in lines[0]
    assert "Traceback" not in printed


def test_results_from_a_clock_that_was_ahead_are_set_back_and_what_reads_them_is_made_once(checkout):
    records = checkout.results / "data/wine/records.parquet"
    then = time.time() + 9 * 3600
    os.utime(records, (then, then))
    checkout.lose(SHARD)
    printed = checkout.snakemake(GRID)
    assert "memaudit: results/smoke: files with times ahead of the clock, set back to now: 1\n" in printed
    assert records.stat().st_mtime <= time.time()
    assert "Nothing to be done" in checkout.snakemake(GRID)


def test_a_table_that_is_newer_than_now_is_named_before_the_first_job(checkout):
    table = checkout.folder / "resources/ahead.csv"
    table.write_text("x,y\n1,a\n2,b\n" * 20)
    then = time.time() + 9 * 3600
    os.utime(table, (then, then))
    entry = (
        "--config",
        "datasets={ahead: {source: file, path: resources/ahead.csv, target: y, task: classification, licence: ours}}",
    )
    lines, printed = checkout.fails(*entry, "--", "results/smoke/data/ahead/records.parquet")
    assert lines == [
        "memaudit: resources/ahead.csv: was changed 9.0 h from now, by the clock of the disk of results/smoke, and "
        "jobs that read it would fail; set the clock right, or run `touch resources/ahead.csv`"
    ], printed

"""Run a config with all its counts made smaller on local stand-ins of everything that it fetches, and say what failed.

python workflow_scripts/maintenance/rehearse.py --params '{"config": "config/paper.yaml",
    "rules": "config/rehearsal.yaml", "folder": "results/rehearsal", "studies": "lira predict", "cores": 2,
    "warm": false, "card": "results/bench/rehearsal.json"}'

folder: where stand-ins, the overlay, results and Snakemake's output stand; a second run goes on there. studies: names
of studies, or files, with blanks between; none is the whole run, whose outcome is written to `card` for
docs/performance.md. Nothing outside this machine is reached. It ends with code 1 if a job failed. warm: jobs are forked
from one process that has imported what they import, which takes a fraction of the time; their CPU time is then without
imports, and says little beside the plan's.
"""

import fcntl
import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path

import yaml
from snakemake.utils import update_config

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.common.project_paths import PROJECT, config_path
from memaudit.common.snakemake_command import snakemake_command
from memaudit.rehearsal import shrunk_counts, stand_ins
from memaudit.rehearsal.rehearsed_run import outcome, summary
from memaudit.rehearsal.stand_in_server import server_of
from memaudit.workflow import warm_interpreter
from memaudit.workflow.job import run

BASE = ("datasets", "models", "language_models", "config")


def main(job):
    folder, card = (Path(path).resolve() for path in (job.params.folder, job.params.card))
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder) as lock:
        _rehearse(job.params, folder, card, lock)


def _rehearse(params, folder: Path, card: Path, lock: int) -> None:
    rules = _read(config_path(params.rules))
    files = [PROJECT / "config" / f"{name}.yaml" for name in BASE]
    config = _composed([*files, config_path(params.config)])
    overlay = shrunk_counts.shrunk(config, rules["at_most"])
    update_config(overlay, rules["besides"])
    small = _composed([*files, config_path(params.config)], overlay)
    server = server_of(folder / "stand_ins", _port(folder / "port"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    public = PROJECT / "config" / "public"
    update_config(overlay, stand_ins.make(small, rules["stand_ins"], public, folder / "stand_ins", url))
    overlay["run"] = "rehearsal"
    (folder / "overlay.yaml").write_text(yaml.safe_dump(overlay, sort_keys=False), encoding="utf-8")
    targets = params.studies.split()
    ended = _snakemake(params, targets, folder, stand_ins.environment(folder, url), lock)
    server.shutdown()
    update_config(small, overlay)
    os.chdir(folder)
    log = (folder / "snakemake.log").read_text(encoding="utf-8")
    found = outcome(small, targets, log)
    print(text := summary(found), flush=True)
    (folder / "summary.txt").write_text(text + "\n", encoding="utf-8")
    if not targets:
        write_json({"date": date.today().isoformat(), "warm": params.warm, **found}, card)
    if ended:
        raise AuditError(f"the rehearsal failed: see above, and {folder}/snakemake.log")


@contextmanager
def _alone(folder: Path) -> Iterator[int]:
    """Lock the folder and yield the lock's descriptor.

    It ends with the processes that have it open, where Snakemake's own lock outlives a run that is killed.
    """
    with open(folder / "lock", "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AuditError(f"{folder}: another rehearsal runs there; wait for it, or name another with OUT") from None
        yield file.fileno()


def _snakemake(params, targets: list[str], folder: Path, environment: dict[str, str], lock: int) -> int:
    """Run Snakemake in the folder, which it keeps locked; its output goes to a log. Returns its exit code."""
    arguments = ["--cores", str(params.cores), "--directory", str(folder), "--keep-going", "--rerun-incomplete"]
    files = [str(config_path(params.config).resolve()), f"{folder}/overlay.yaml"]
    arguments += ["--nolock", *targets, "--configfile", *files]
    own = os.environ | {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1", "MEMAUDIT_DEVICE": "cpu"} | environment
    with ExitStack() as stack:
        log = stack.enter_context(open(folder / "snakemake.log", "w", encoding="utf-8"))
        if params.warm:
            own = stack.enter_context(warm_interpreter.warm(folder, own))
        command = snakemake_command(arguments)
        streams = {"stdout": log, "stderr": subprocess.STDOUT}
        return subprocess.run(command, env=own, pass_fds=[lock], check=False, **streams).returncode


def _port(file: Path) -> int:
    """A port that is the same whenever a folder is used again: addresses are part of the config."""
    if not file.exists():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            file.write_text(json.dumps(probe.getsockname()[1]), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))


def _composed(files: list[Path], over: dict | None = None) -> dict:
    """The contents of config files laid over one another, as Snakemake does it."""
    config: dict = {}
    for part in [*map(_read, files), *([over] if over else [])]:
        update_config(config, part)
    return config


def _read(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    run(main, globals())

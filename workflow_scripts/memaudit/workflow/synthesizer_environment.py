"""Jobs of the synthesizers, whose package dpmm needs older packages, in an environment of their own: .venv-synth."""

import json
import os
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.common.project_paths import PROJECT, SCRIPTS, python_of
from memaudit.workflow.sidecar import items

# Of a job there, for the sidecar of the job here; the last two are those of a resumable job (workflow/scratch.py).
FACTS = ("seed", "versions", "python", "packages", "modules", "writers", "adopted")
ENVIRONMENT = ".venv-synth"


def interpreter() -> Path:
    """Python of .venv-synth, as `python_of`."""
    return python_of(ENVIRONMENT)


def is_here() -> bool:
    """Whether dpmm can be imported."""
    return find_spec("dpmm") is not None


def versions() -> dict[str, str]:
    """Versions of the packages that synthesize, for the sidecar."""
    return {name: version(name) for name in ("dpmm", "opendp")}


def handed_over(job: Any, script: str, inputs: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run the job's script in .venv-synth, which writes the output, and return facts on it for the sidecar.

    inputs: names of the job's inputs. Raises AuditError with the last line of a job that fails there, and where the
    environment is missing.
    """
    python = interpreter()
    if not python.exists():
        raise AuditError(
            f"{python}: does not exist; `make .venv-synth` builds it, or let `--sdm conda` do so, or where there is no "
            f"checkout install {PROJECT}/requirements-synth.lock into a virtual environment .venv-synth in this folder"
        )
    with TemporaryDirectory() as folder:
        sidecar = Path(folder, "sidecar.json")
        command = [python, script, "--params", json.dumps(dict(items(job.params)))]
        command += ["--wildcards", json.dumps(dict(items(job.wildcards)))]
        command += ["--input", *(f"{name}={job.input.get(name)}" for name in inputs)]
        command += ["--output", str(job.output[0]), f"sidecar={sidecar}"]
        # The library is installed in .venv alone.
        env = os.environ | {"PYTHONPATH": str(SCRIPTS)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr, sep="")
        if done.returncode:
            killed = f"synthesis: ended with code {done.returncode}; give it more memory or fewer columns"
            raise AuditError((done.stderr.splitlines() or [killed])[-1].removeprefix("memaudit: "))
        facts = read_json(sidecar)
    return {name: facts[name] for name in FACTS if name in facts}

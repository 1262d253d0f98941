"""Synthesize private records with AIM or MST (McKenna et al. 2022, 2021; TabPATE, Appendix C, "DP-Synthetic Data").

python workflow_scripts/tabpate/synthesize_records.py --input codes=codes.parquet bins=bins.json \
    --output synthetic.parquet --params '{"code": "by hand", "method": "mst", "epsilon": 1.0, "delta": 1e-5,
        "iterations": 100, "rounds": 16, "rows": 500}'

codes: private records as categorical codes, with columns `epsilon` and `seed` that name their sample; bins: number of
codes of each column, and the epsilon that is left after the release of their bins (both from code_records.py). For each
sample, `rows` records are synthesized with (epsilon, delta)-DP for adding or removing one row, bins included.
iterations: per fit of a graphical model to noisy counts; rounds: of AIM, for each column. Smaller values take less time
and cost accuracy, never privacy.

The synthesizers are those of dpmm, whose noise is OpenDP's and has no seed. dpmm needs older packages: where it is not
installed, the script runs itself again in .venv-synth.
"""

import json
import os
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table, write_table
from memaudit.common.project_paths import PROJECT, SCRIPTS
from memaudit.workflow.job import run
from memaudit.workflow.sidecar import items

PYTHON = PROJECT / ".venv-synth" / "bin" / "python"
MEBIBYTES = 80  # of AIM's graphical model: the package's own limit


def main(job):
    if find_spec("dpmm") is None:
        return handed_over(job)
    codes, params = read_table(job.input.codes), job.params
    bins = read_json(job.input.bins)[str(float(params.epsilon))]
    codes = codes[codes["epsilon"] == params.epsilon].drop(columns="epsilon")
    parts = [
        synthesized(sample.drop(columns="seed"), bins[str(seed)], params).assign(seed=seed)
        for seed, sample in codes.groupby("seed")
    ]
    write_table(pd.concat(parts, ignore_index=True), job.output[0])
    return {"seed": None, "versions": {name: version(name) for name in ("dpmm", "opendp")}}


def synthesized(codes: pd.DataFrame, bins: dict[str, Any], params: Any) -> pd.DataFrame:
    """`params.rows` synthetic rows in the columns of `codes`. Raises AuditError for settings that dpmm misses."""
    if not (0 < params.epsilon < float("inf") and 0 < params.delta < 1):
        raise AuditError(
            f"synthesis: ({params.epsilon}, {params.delta}) guarantees nothing; use epsilon > 0, 0 < delta < 1"
        )
    # AIM begins with the counts of each column: 0.9 of a round's budget for each, above the budget with fewer rounds.
    if params.rounds < 1:
        raise AuditError(f"synthesis: {params.rounds} rounds for each column exceed the budget of AIM; give at least 1")
    import dpmm.models.mst
    from dpmm.models.base.mbi import FactoredInference
    from dpmm.pipelines import AIMPipeline, MSTPipeline

    # MST ignores n_iters and selects pairs with 2,500 iterations, which takes most of its time.
    dpmm.models.mst.FactoredInference = lambda domain, iters, **options: FactoredInference(
        domain, iters=min(iters, params.iterations), **options
    )
    options = {"epsilon": bins["epsilon"], "delta": params.delta, "disable_processing": True, "n_jobs": 1}
    fitting = {"n_iters": params.iterations}
    if params.method == "aim":
        fitting["rounds"] = params.rounds * codes.shape[1]
        options["max_model_size"] = MEBIBYTES
    pipeline = {"aim": AIMPipeline, "mst": MSTPipeline}[params.method](**options, gen_kwargs=fitting)
    domain = {name: bins["counts"][name] for name in codes.columns}
    # Histograms of dpmm ignore a code that is too large, and its check would reveal a single row.
    pipeline.fit(codes.clip(0, pd.Series(domain) - 1, axis=1), domain=domain)
    return pipeline.generate(n_records=params.rows)[list(codes.columns)]


def handed_over(job) -> dict[str, Any]:
    """Run the job in .venv-synth, which writes the output, and return facts on that environment for the sidecar."""
    if not PYTHON.exists():
        raise AuditError(f"{PYTHON}: does not exist; `make .venv-synth` builds it, or let `--sdm conda` do so")
    with TemporaryDirectory() as folder:
        sidecar = Path(folder, "sidecar.json")
        command = [PYTHON, __file__, "--params"]
        command += [json.dumps(dict(items(job.params)))]
        command += ["--input", f"codes={job.input.codes}", f"bins={job.input.bins}"]
        command += ["--output", str(job.output[0]), f"sidecar={sidecar}"]
        # The library is installed in .venv alone.
        env = os.environ | {"PYTHONPATH": str(SCRIPTS)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr, sep="")
        if done.returncode:
            killed = f"synthesis: ended with code {done.returncode}; give it more memory or fewer columns"
            raise AuditError((done.stderr.splitlines() or [killed])[-1].removeprefix("memaudit: "))
        facts = read_json(sidecar)
    return {name: facts[name] for name in ("seed", "versions", "python", "packages", "modules")}


if __name__ == "__main__":
    run(main, globals())

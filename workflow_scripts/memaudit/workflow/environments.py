"""The environments of rules: their files come from the locks, and a check builds each and imports what its rules do.

python -m memaudit.workflow.environments            write envs/*.yaml
python -m memaudit.workflow.environments --check    install each afresh (minutes; needs the index)
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import requires
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from memaudit.common.project_paths import PROJECT, SCRIPTS
from memaudit.workflow.digest import closure, imports, rule_of, script_of

PYTHON, PIP = "3.11.9", "24.0"
BASE = ["numpy", "pandas", "pyarrow", "xarray", "netcdf4"]
PRIVACY = ["dp-accounting", "opendp", "pydantic", "pyyaml"]
FAMILIES = {
    "data": [*BASE, "duckdb", "openml", "requests", "scipy", "scikit-learn", "huggingface_hub"],
    "tabular": [
        *BASE,
        "torch",
        "tabicl",
        "tabpfn",
        "structured-data-models",
        "tabfm",
        "transformers",
        "peft",
        "opacus",
        "scikit-learn",
        "tqdm",
        "duckdb",
        *PRIVACY,
    ],
    "statistics": ["duckdb", *BASE, "scipy", "scikit-learn", "matplotlib", "jinja2", "tqdm", *PRIVACY],
    "synth": ["dpmm", "pandas", "pyarrow", "xarray"],
    "deployed": ["autogluon.tabular", "tabdpt"],
}

# On no package index, or in an environment of its own: the code that imports it says how to get it.
OPTIONAL = {"sap_rpt_oss", "autogluon", "tabdpt"}


def render(family: str) -> str:
    """The conda environment file of one family, pinned like its lock. KeyError where the lock lacks a package."""
    lock = lock_file(family)
    pins = read_lock(lock)
    names = _closure(FAMILIES[family], pins) if lock.name == "requirements.lock" else pins
    head = [
        f"# Generated from {lock.name} by `make envs`.",
        "channels: [conda-forge]",
        "dependencies:",
        f"  - python={PYTHON}",
        f"  - pip={PIP}",
        "  - pip:",
    ]
    return "\n".join([*head, *(f"      - {pins[name]}" for name in sorted(names))]) + "\n"


def lock_file(family: str) -> Path:
    """The family's own lock, all of which it takes, or else the project's, of which it takes what it needs."""
    own = PROJECT / f"requirements-{family}.lock"
    return own if own.exists() else PROJECT / "requirements.lock"


def read_lock(path: Path) -> dict[str, str]:
    """Pins of a lock by canonical package name."""
    return _by_name(path.read_text(encoding="utf-8").split())


def read_pins(family: str) -> dict[str, str]:
    """Pins of the pip part of a family's file by canonical package name."""
    text = (PROJECT / "envs" / f"{family}.yaml").read_text(encoding="utf-8")
    return _by_name(yaml.safe_load(text)["dependencies"][-1]["pip"])


def scripts(family: str) -> set[str]:
    """Scripts of the rules that name the family's file."""
    texts = [path.read_text(encoding="utf-8") for path in (PROJECT / "rules").rglob("*.smk")]
    rules = [rule for text in texts for rule in re.split(r"^rule ", text, flags=re.MULTILINE)]
    mine = [rule for rule in rules if f"/envs/{family}.yaml" in rule]
    return {rule_of(name) for rule in mine for name in re.findall(r"workflow_scripts/(\w+/\w+\.py)", rule)}


def modules(script: str) -> set[str]:
    """All that a script imports, directly or not, at a file's top or inside a function; the standard library apart."""
    files = [path for path in closure(script) if path.name != "__init__.py"]
    own = {".".join(path.relative_to(SCRIPTS).with_suffix("").parts) for path in files}
    others = {name for path in files for name in imports(path)}
    return own | {
        name for name in others if name.split(".")[0] not in {*sys.stdlib_module_names, "memaudit", *OPTIONAL}
    }


def check(family: str) -> list[str]:
    """A line for each module that the family's rules import and its own packages do not give.

    Builds the environment's Python part in a temporary folder.
    """
    wanted = {script: modules(script) for script in scripts(family)}
    # A family whose rules are still to come is asked for its packages alone.
    names = sorted(set().union(*wanted.values()) or FAMILIES[family])
    with TemporaryDirectory(prefix=f"memaudit-{family}-") as folder:
        python = str(Path(folder, "bin", "python"))
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [python, "-m", "pip", "install", "--quiet", *read_pins(family).values()]
        installed = subprocess.run(install, capture_output=True, text=True, check=False)
        if installed.returncode:
            return [f"envs/{family}.yaml: {line}" for line in installed.stderr.splitlines() if line.startswith("ERROR")]
        answer = subprocess.run(
            [python, "-s", "-m", "memaudit.workflow.check_imports", *names],
            env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
            stdout=subprocess.PIPE,
            check=True,
        )
    return described(family, json.loads(answer.stdout), wanted)


def described(family: str, found: Mapping[str, str], wanted: Mapping[str, set[str]]) -> list[str]:
    """A line for each reason why modules fail, which are `found`, with the scripts that reach them, as in `wanted`."""
    reasons: dict[str, set[str]] = {}
    for module, why in found.items():
        reasons.setdefault(why, set()).update(_path(script) for script in wanted if module in wanted[script])
    return [f"envs/{family}.yaml: {why}; reached by: {', '.join(sorted(reasons[why]))}" for why in sorted(reasons)]


def _path(rule: str) -> str:
    return script_of(rule).relative_to(SCRIPTS).as_posix()


def _by_name(pins: list[str]) -> dict[str, str]:
    return {canonicalize_name(pin.split("==")[0]): pin for pin in pins}


def _closure(names: list[str], pins: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    todo = [canonicalize_name(name) for name in names]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        needs = [Requirement(text) for text in requires(name) or []]
        todo += [
            canonicalize_name(need.name) for need in needs if not need.marker or need.marker.evaluate({"extra": ""})
        ]
    return {name for name in found if name in pins}


def main() -> None:
    """Write every family's file, or check them all: a line for each environment, exit 1 if one lacks something."""
    if sys.argv[1:] != ["--check"]:
        for family in FAMILIES:
            (PROJECT / "envs" / f"{family}.yaml").write_text(render(family), encoding="utf-8")
        return
    bad = False
    for family in FAMILIES:
        problems = check(family)
        bad |= bool(problems)
        summary = f"{len(scripts(family))} scripts, {len(read_pins(family))} packages"
        print(f"envs/{family}.yaml: {summary}: {'FAILED' if problems else 'ok'}", *problems, sep="\n", flush=True)
    sys.exit(bad)


if __name__ == "__main__":
    main()
